//! Gives the HTTP routes of a sandbox its controls.

use super::{Config, SharedParts};
use crate::app::control::SandboxControl;
use crate::http::{Inboxes, SandboxSettings};
use crate::store::FileKind;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;

impl SharedParts {
    /// Returns the settings of the sandbox's HTTP routes, or `None` outside the sandbox. A clock move in progress ends
    /// when `stop` is `true`.
    pub(super) fn sandbox_settings(
        &self,
        config: &Config,
        file: &Path,
        listen: [Option<SocketAddr>; 2],
        stop: &watch::Receiver<bool>,
    ) -> Option<SandboxSettings> {
        let listen = listen.into_iter().flatten();
        let inboxes = Arc::<Inboxes>::default();
        (config.kind == FileKind::Sandbox).then(|| SandboxSettings {
            control: Arc::new(SandboxControl::new(
                Arc::clone(&self.service),
                Arc::clone(&self.clock),
                self.wakers.clone(),
                file.to_owned(),
                Arc::clone(&inboxes),
                Arc::clone(&self.throttle),
                stop.clone(),
            )),
            inboxes,
            listen: listen.map(|address| address.ip()).collect(),
            allow_host: config.allow_host.clone(),
            allow_remote: config.allow_remote,
        })
    }
}
