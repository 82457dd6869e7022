//! Starts the workers for e-mail: one looks for alarms and sums up days, one sends.

use super::{Config, SharedParts};
use crate::domain::SiteUrl;
use crate::service::Error;
use crate::service::mail::MailIdentity;
use crate::store::FileKind;
use crate::worker::mail::{MailOutlet, MailWorker};
use crate::worker::mail_alarms::MailAlarmWorker;
use crate::worker::run_worker;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Domain of the Message-IDs in a sandbox.
const SANDBOX_DOMAIN: &str = "sandbox.test";

/// Returns the settings of e-mail for the service. `None` without a mail server. A sandbox needs none.
pub(super) fn identity(config: &Config) -> Option<MailIdentity> {
    let domain = match config.kind {
        FileKind::Sandbox => SANDBOX_DOMAIN,
        FileKind::Production => config.smtp.as_ref()?.sender_domain(),
    };
    Some(MailIdentity { domain: domain.to_owned() })
}

impl SharedParts {
    /// Starts the workers for e-mail. `url` is the public URL.
    pub(super) fn start_mail_workers(
        &self,
        runtime: &Runtime,
        config: &Config,
        url: &str,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<JoinHandle<()>>, Error> {
        let outlet = match config.kind {
            FileKind::Sandbox => self.service.activity().cloned().map(MailOutlet::Activity),
            FileKind::Production => config.smtp.clone().map(|settings| {
                let site = SiteUrl::parse(url).ok();
                let host = site.map_or("", |site| site.host_text());
                MailOutlet::Server(settings.with_client_name(host))
            }),
        };
        let Some(outlet) = outlet else {
            return Ok(None);
        };
        let (service, clock) = (&self.service, &self.clock);
        let alarms = MailAlarmWorker { service: Arc::clone(service) };
        let mail = MailWorker::new(Arc::clone(service), Arc::clone(clock), outlet, stop.clone())?;
        let (alarm_waker, mail_waker) = (self.wakers.mail_alarms.clone(), self.wakers.mail.clone());
        let alarms = run_worker(alarms, Arc::clone(clock), alarm_waker, stop.clone());
        let mail = run_worker(mail, Arc::clone(clock), mail_waker, stop.clone());
        Ok(Some(runtime.spawn(async {
            tokio::join!(alarms, mail);
        })))
    }
}
