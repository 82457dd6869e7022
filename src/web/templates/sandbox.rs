//! The page of a sandbox: its keys, and commands for a first payment.
//!
//! Invariant: only a sandbox shows this page, because the page contains keys.

use askama::Template;

/// A sandbox's page. Its script adds the activity and the buttons.
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
    /// Legacy key of the sandbox's account.
    pub legacy: &'a str,
    /// Token for the reseller operations.
    pub reseller: &'a str,
    /// Secret that signs webhooks to endpoints that were created without a secret.
    pub webhook_secret: &'a str,
    /// Email address of the operator.
    pub operator: &'a str,
}
