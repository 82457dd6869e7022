//! State of a sandbox: its controls and its hosts.
//!
//! Invariant: a server has this state only under `coffer sandbox`.

use super::inbox::Inboxes;
use crate::domain::{Refusal, RefusalCode, SiteUrl};
use crate::http::hosts::{AcceptedHosts, AllowedHost};
use crate::service::activity::Activity;
use crate::service::sandbox::controls::SandboxControls;
use hyper::HeaderMap;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::watch;

/// Error message for requests from pages of other sites.
pub(in crate::http) const NOT_FOR_PAGES: &str =
    "the sandbox's controls are not for pages of other sites";
/// Settings of a sandbox.
pub struct SandboxSettings {
    /// Controls of the sandbox.
    pub control: Arc<dyn SandboxControls>,
    /// Inboxes, which a reset empties.
    pub inboxes: Arc<Inboxes>,
    /// Addresses on which the sandbox listens.
    pub listen: Vec<IpAddr>,
    /// Further hosts that the sandbox accepts, from `--allow-host`.
    pub allow_host: Vec<AllowedHost>,
    /// `true` if the sandbox accepts connections from other machines. In this case every IP address is an accepted
    /// host.
    pub allow_remote: bool,
}

pub(in crate::http) struct Sandbox {
    pub(in crate::http) control: Arc<dyn SandboxControls>,
    pub(in crate::http) inboxes: Arc<Inboxes>,
    pub(in crate::http) hosts: AcceptedHosts,
    /// Channel that wakes the listeners of the sandbox's activity.
    activity_sender: Arc<watch::Sender<()>>,
}

impl Sandbox {
    /// Creates the state of a sandbox with these settings and this public URL.
    pub(super) fn new(settings: SandboxSettings, public_url: &str) -> Sandbox {
        let SandboxSettings { control, inboxes, listen, allow_host, allow_remote } = settings;
        Sandbox {
            control,
            inboxes,
            hosts: AcceptedHosts::new(&listen, public_url, allow_host, allow_remote),
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
