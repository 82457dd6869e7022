//! A sandbox inside a test's own process.
//!
//! Invariant: dropping the handle removes the file and its snapshots. A sandbox may be started and dropped anywhere,
//! also inside an asynchronous runtime.

use super::{Config, Server};
use crate::service::{Error, sandbox};

/// A throwaway service for tests: simulated chains, fixed rates and a clock that can be moved.
///
/// A sandbox answers HTTP as `coffer sandbox` does, on a free loopback port. Sandboxes are independent: a test may use
/// several, and tests may run at the same time. Dropping the value stops the sandbox and removes its file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use coffer::Sandbox;
///
/// let sandbox = Sandbox::start()?;
/// let mut created = ureq::post(format!("{}/v1/invoices", sandbox.url()))
///     .header("X-API-Key", Sandbox::SECRET_TEST)
///     .send(r#"{"amount": "20.00", "currency": "EUR"}"#)?;
/// assert_eq!(created.status(), 201);
/// assert!(created.body_mut().read_to_string()?.contains(r#""status":"created""#));
///
/// // A request moves the clock. The response arrives after the invoice has expired.
/// ureq::post(format!("{}/sandbox/clock", sandbox.url())).send(r#"{"advance": "20m"}"#)?;
/// let mut listed = ureq::get(format!("{}/v1/invoices", sandbox.url()))
///     .header("X-API-Key", Sandbox::SECRET_TEST)
///     .call()?;
/// assert!(listed.body_mut().read_to_string()?.contains(r#""status":"expired""#));
/// # Ok(())
/// # }
/// ```
pub struct Sandbox {
    /// `Some` until the sandbox is dropped.
    server: Option<Server>,
    url: String,
}

impl Sandbox {
    /// Secret key of test mode.
    pub const SECRET_TEST: &str = sandbox::SECRET_TEST;
    /// Secret key of live mode. A sandbox simulates live mode.
    pub const SECRET_LIVE: &str = sandbox::SECRET_LIVE;
    /// Public key of test mode.
    pub const PUBLIC_TEST: &str = sandbox::PUBLIC_TEST;
    /// Public key of live mode.
    pub const PUBLIC_LIVE: &str = sandbox::PUBLIC_LIVE;
    /// Legacy key of live mode.
    pub const LEGACY: &str = sandbox::LEGACY;
    /// Secret of webhook endpoints that were created without one.
    pub const WEBHOOK_SECRET: &str = sandbox::ENDPOINT_SECRET;
    /// Secret of an invoice's own `webhookUrl`.
    pub const LEGACY_SECRET: &str = sandbox::LEGACY_SECRET;

    /// Starts a sandbox and returns when it accepts requests, after a few milliseconds.
    ///
    /// # Errors
    /// [`Error::Failed`] if no temporary file can be created or no address can be bound.
    pub fn start() -> Result<Sandbox, Error> {
        let server = run_on_own_thread(|| Server::start(Config::sandbox()))??;
        let url = server.url().to_owned();
        Ok(Sandbox { server: Some(server), url })
    }

    /// Returns the base URL, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let server = self.server.take();
        if let Err(error) = run_on_own_thread(|| drop(server)) {
            log::error!("unclean stop of a sandbox: error={error}");
        }
    }
}

/// Runs `work` on a new thread, because a thread of another runtime must not block on the server's runtime.
fn run_on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Error::Failed(error.to_string()))?;
        thread.join().map_err(|_| Error::Failed("it panicked".to_owned()))
    })
}
