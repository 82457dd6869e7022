//! The page of a sandbox: its keys, and the lines of the first payment.
//!
//! What always holds: it is made in a sandbox only, whose keys everybody knows.

use askama::Template;

/// A sandbox's page; its script adds what happens, and buttons.
#[derive(Template)]
#[template(path = "sandbox/page.html", config = "src/web/askama.toml")]
pub struct SandboxPage<'a> {
    /// The server's url.
    pub url: &'a str,
    /// The secret key of test mode.
    pub secret_test: &'a str,
    /// The secret key of live mode.
    pub secret_live: &'a str,
    /// The public key of test mode.
    pub public_test: &'a str,
    /// The public key of live mode.
    pub public_live: &'a str,
    /// The key of the older form.
    pub legacy: &'a str,
    /// The token of the reseller interface.
    pub reseller: &'a str,
    /// What signs webhooks to endpoints that name no secret.
    pub webhook_secret: &'a str,
    /// Who may sign in.
    pub operator: &'a str,
}
