//! The page of a sandbox: its keys, and the commands for a first payment.
//!
//! Invariant: only sandboxes show it, because their keys are public.

use askama::Template;

/// A sandbox's page. Its script adds activity and buttons.
#[derive(Template)]
#[template(path = "sandbox/page.html", config = "src/web/askama.toml")]
pub struct SandboxPage<'a> {
    /// Base URL of the server.
    pub url: &'a str,
    /// Secret key of test mode.
    pub secret_test: &'a str,
    /// Secret key of live mode.
    pub secret_live: &'a str,
    /// Public key of test mode.
    pub public_test: &'a str,
    /// Public key of live mode.
    pub public_live: &'a str,
    /// Legacy key.
    pub legacy: &'a str,
    /// Token of the reseller API.
    pub reseller: &'a str,
    /// Secret that signs webhooks to endpoints created without one.
    pub webhook_secret: &'a str,
    /// Email address of the operator.
    pub operator: &'a str,
}
