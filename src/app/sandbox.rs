//! A sandbox inside a test's own process.
//!
//! What always holds: dropping its handle removes its file and its snapshots. It may be started and dropped
//! anywhere, also inside an asynchronous runtime.

use super::{Config, Server};
use crate::service::{Error, sandbox};

/// A throwaway service for a test: simulated chains, fixed rates, a clock that can be moved.
///
/// It answers HTTP as `coffer sandbox` does, on a free port of loopback. Each one is by itself: a test may have
/// several, and tests that run at once do not meet. Dropping it stops it and removes its file.
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
/// // Time is moved as everything else is: by a call. The invoice is expired when this answers.
/// ureq::post(format!("{}/sandbox/clock", sandbox.url())).send(r#"{"advance": "20m"}"#)?;
/// let mut listed = ureq::get(format!("{}/v1/invoices", sandbox.url()))
///     .header("X-API-Key", Sandbox::SECRET_TEST)
///     .call()?;
/// assert!(listed.body_mut().read_to_string()?.contains(r#""status":"expired""#));
/// # Ok(())
/// # }
/// ```
pub struct Sandbox {
    /// There until it is dropped.
    server: Option<Server>,
    url: String,
}

impl Sandbox {
    /// The secret key of test mode.
    pub const SECRET_TEST: &str = sandbox::SECRET_TEST;
    /// The secret key of live mode, which is simulated too.
    pub const SECRET_LIVE: &str = sandbox::SECRET_LIVE;
    /// The public key of test mode.
    pub const PUBLIC_TEST: &str = sandbox::PUBLIC_TEST;
    /// The public key of live mode.
    pub const PUBLIC_LIVE: &str = sandbox::PUBLIC_LIVE;
    /// A key of the older form; live mode.
    pub const LEGACY: &str = sandbox::LEGACY;
    /// The secret of webhook endpoints that name none.
    pub const WEBHOOK_SECRET: &str = sandbox::ENDPOINT_SECRET;
    /// The secret of an invoice's own `webhookUrl`.
    pub const LEGACY_SECRET: &str = sandbox::LEGACY_SECRET;

    /// Starts one and returns once it answers, which takes milliseconds.
    ///
    /// # Errors
    /// [`Error::Failed`] with a text for a person: no temporary file can be made, no address bound.
    pub fn start() -> Result<Sandbox, Error> {
        let server = by_itself(|| Server::start(Config::sandbox()))??;
        let url = server.url().to_owned();
        Ok(Sandbox {
            server: Some(server),
            url,
        })
    }

    /// The url it is known by, without `/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let server = self.server.take();
        if let Err(error) = by_itself(|| drop(server)) {
            log::error!("a sandbox did not stop cleanly: {error}");
        }
    }
}

/// Does something on a thread of its own: a server waits for its runtime, which a thread of another runtime must not.
fn by_itself<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Error::Failed(error.to_string()))?;
        thread
            .join()
            .map_err(|_| Error::Failed("it panicked".to_owned()))
    })
}
