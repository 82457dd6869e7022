//! State of a sandbox: its controls, its hosts, its simulated faults.
//!
//! Invariant: a server has this state only under `coffer sandbox`.

use super::faults::FaultState;
use super::inbox::Inboxes;
use super::{Boxed, OperationInfo};
use crate::domain::{Refusal, RefusalCode, SiteUrl, Time};
use crate::http::hosts::{AcceptedHosts, AllowedHost};
use crate::service::Error;
use crate::service::activity::Activity;
use hyper::HeaderMap;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// Error message for requests from pages of other sites.
pub(in crate::http) const NOT_FOR_PAGES: &str =
    "the sandbox's controls are not for pages of other sites";
/// Controls of a whole sandbox. `app` implements this trait, because only `app` has access to the clock, the workers
/// and the database file.
pub trait SandboxControls: Send + Sync {
    /// Moves, stops or restarts the clock. Returns when all work that became due is done.
    fn move_clock(&self, step: ClockChange) -> Boxed<'_, Result<(), Error>>;
    /// Resets the state to the seed data, and the clock to real time.
    fn reset(&self) -> Boxed<'_, Result<(), Error>>;
    /// Saves the whole state under a name.
    fn snapshot(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Restores the state that was saved under a name.
    fn restore(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Returns the inboxes.
    fn inboxes(&self) -> &Inboxes;
}

/// Settings of a sandbox.
pub struct SandboxSettings {
    /// Controls of the sandbox.
    pub control: Arc<dyn SandboxControls>,
    /// Addresses on which the sandbox listens.
    pub listen: Vec<IpAddr>,
    /// Further hosts that the sandbox accepts, from `--allow-host`.
    pub allow_host: Vec<AllowedHost>,
    /// `true` if the sandbox accepts connections from other machines. In this case every IP address is an accepted
    /// host.
    pub allow_remote: bool,
}

/// A change of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// Moves the clock forward by this many milliseconds.
    Advance(i64),
    /// Moves the clock forward to this time, which must not be in the past.
    Set(Time),
    /// Stops the clock if `true`, restarts the clock if `false`.
    Freeze(bool),
}

pub(in crate::http) struct Sandbox {
    pub(in crate::http) control: Arc<dyn SandboxControls>,
    pub(in crate::http) hosts: AcceptedHosts,
    pub(in crate::http) faults: FaultState,
    /// Channel that wakes the listeners of the sandbox's activity.
    activity_sender: Arc<watch::Sender<()>>,
}

impl Sandbox {
    pub(super) fn new(
        settings: SandboxSettings,
        public_url: &str,
        operations: &[OperationInfo],
    ) -> Sandbox {
        let SandboxSettings { control, listen, allow_host, allow_remote } = settings;
        Sandbox {
            control,
            hosts: AcceptedHosts::new(&listen, public_url, allow_host, allow_remote),
            faults: FaultState::new(operations),
            activity_sender: Arc::new(watch::Sender::new(())),
        }
    }

    /// Subscribes to the sandbox's activity. Later activity wakes the receiver.
    pub(in crate::http) fn subscribe(&self, activity: Option<&Activity>) -> watch::Receiver<()> {
        let news = Arc::clone(&self.activity_sender);
        if let Some(activity) = activity {
            activity.register_listener(|| Box::new(move || news.send_replace(())));
        }
        self.activity_sender.subscribe()
    }

    /// Refuses requests from pages of other sites, recognized by `Origin` and `Sec-Fetch-Site`. The dispatcher has
    /// already checked `Host`.
    pub(in crate::http) fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let forbidden = |message: &str| Err(Refusal::new(RefusalCode::Forbidden, message));
        if text("sec-fetch-site").is_some_and(|site| site.eq_ignore_ascii_case("cross-site")) {
            return forbidden(NOT_FOR_PAGES);
        }
        let host = text("host").unwrap_or_default();
        let is_own = |origin: &str| {
            let origin =
                SiteUrl::parse(origin).ok().filter(|site| site.text_after_authority().is_empty());
            origin.is_some_and(|origin| origin.matches_host_header(host))
        };
        if headers.contains_key("origin") && !text("origin").is_some_and(is_own) {
            return forbidden("Origin must be the sandbox's own");
        }
        Ok(())
    }

    /// Refuses forms from pages of other sites. Our own pages send no referrer, so browsers send `Origin: null` with
    /// the forms of these pages. For such a form, `Sec-Fetch-Site` shows whether the page is ours.
    pub(in crate::http) fn admit_form(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|sent| sent == value);
        match is("origin", "null") && is("sec-fetch-site", "same-origin") {
            true => Ok(()),
            false => self.admit(headers),
        }
    }
}
