//! What only a sandbox has: the handle on itself, the hosts that it answers to, its simulated faults.
//!
//! What lives here: their state, and who may reach the controls. What does not: the controls (`sandbox`). What
//! always holds: outside `coffer sandbox` none of it exists.

use super::faults::FaultState;
use super::inbox::InboxState;
use super::{Boxed, Operation};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::url::Site;
use crate::http::hosts::{AllowedHost, Hosts};
use crate::service::Error;
use crate::service::activity::Activity;
use hyper::HeaderMap;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// What is said to pages of other sites.
pub(in crate::http) const NOT_FOR_PAGES: &str =
    "the sandbox's controls are not for pages of other sites";
/// What the sandbox can do to itself: given by `app`, which alone knows clock, workers and file together.
pub trait Control: Send + Sync {
    /// Moves the clock forward, from due time to due time; answers when all that fell due is done.
    fn advance(&self, step: ClockStep) -> Boxed<'_, Result<(), Error>>;
    /// Resets the state to the seed, and the clock to real time.
    fn reset(&self) -> Boxed<'_, Result<(), Error>>;
    /// Keeps the whole state under a name.
    fn snapshot(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Restores the state that was kept under a name.
    fn restore(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Where inboxes are kept.
    fn inboxes(&self) -> &InboxState;
}

/// What makes a sandbox's front different.
pub struct SandboxSettings {
    /// Its handle on itself.
    pub control: Arc<dyn Control>,
    /// The addresses it listens on.
    pub listen: Vec<IpAddr>,
    /// Hosts that it answers to beside those it always does.
    pub allow_host: Vec<AllowedHost>,
    /// May it be reached off loopback? Then every address is a host that it answers to.
    pub allow_remote: bool,
}

/// What is done to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// So many milliseconds further.
    Advance(i64),
    /// To this moment, which must not be past.
    Set(Time),
    /// Stand still, or run on.
    Freeze(bool),
}

/// The sandbox's part of the front.
pub(in crate::http) struct Sandbox {
    pub(in crate::http) control: Arc<dyn Control>,
    pub(in crate::http) hosts: Hosts,
    pub(in crate::http) faults: FaultState,
    /// Wakes who listens to what happens.
    news: Arc<watch::Sender<()>>,
}

impl Sandbox {
    /// A sandbox that is known by this url.
    pub(super) fn new(
        settings: SandboxSettings,
        public_url: &str,
        operations: &[Operation],
    ) -> Sandbox {
        let SandboxSettings {
            control,
            listen,
            allow_host,
            allow_remote,
        } = settings;
        Sandbox {
            control,
            hosts: Hosts::new(&listen, public_url, allow_host, allow_remote),
            faults: FaultState::new(operations),
            news: Arc::new(watch::Sender::new(())),
        }
    }

    /// Listens to what happens, from now on.
    pub(in crate::http) fn listen(&self, activity: Option<&Activity>) -> watch::Receiver<()> {
        let news = Arc::clone(&self.news);
        if let Some(activity) = activity {
            activity.heard_by(|| Box::new(move || news.send_replace(())));
        }
        self.news.subscribe()
    }

    /// Keeps pages of other sites out of the controls: browsers tell their `Origin`. Their `Host` is checked before.
    pub(in crate::http) fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let forbidden = |message: &str| Err(Refusal::new(Code::Forbidden, message));
        if text("sec-fetch-site").is_some_and(|site| site.eq_ignore_ascii_case("cross-site")) {
            return forbidden(NOT_FOR_PAGES);
        }
        let host = text("host").unwrap_or_default();
        let is_own = |origin: &str| {
            let origin = Site::parse(origin)
                .ok()
                .filter(|site| site.rest().is_empty());
            origin.is_some_and(|origin| origin.is_at(host))
        };
        if headers.contains_key("origin") && !text("origin").is_some_and(is_own) {
            return forbidden("Origin must be the sandbox's own");
        }
        Ok(())
    }

    /// The same for the forms of pages that tell nobody where they are: of those a browser says `Origin: null`, and by
    /// `Sec-Fetch-Site` whether it is a page of this service.
    pub(in crate::http) fn admit_form(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is = |name: &str, value: &str| headers.get(name).is_some_and(|sent| sent == value);
        match is("origin", "null") && is("sec-fetch-site", "same-origin") {
            true => Ok(()),
            false => self.admit(headers),
        }
    }
}
