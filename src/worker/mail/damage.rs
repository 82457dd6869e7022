//! Tells operators that the file is damaged. Such a message is not stored, because nothing is written to that file.
//!
//! Invariant: while the process runs, each operator gets the message once.

use super::{MailWorker, NextStep, OpenOutlet, STOP_GRACE, content, recorded};
use crate::domain::Time;
use crate::outbound::smtp::{PreparedMail, SmtpFailure};
use crate::service::Service;
use crate::service::activity::ActivityEntry;
use crate::service::mail::DueMail;

/// Operators to tell of damage.
#[derive(Default)]
pub(super) struct DamageAlarm {
    /// Operators who want alarms, as last read. Reading them from a damaged file may fail.
    recipients: Vec<String>,
    /// Messages that are not sent yet; `None` before the damage.
    waiting: Option<Vec<DueMail>>,
}

impl DamageAlarm {
    /// Reads the operators who want alarms. Keeps the earlier ones if that fails.
    pub(super) fn read_recipients(&mut self, service: &Service) {
        if let Ok(recipients) = service.alarm_recipients() {
            self.recipients = recipients;
        }
    }

    /// Returns the messages that are not sent yet.
    fn waiting(&mut self, service: &Service, now: Time) -> &mut Vec<DueMail> {
        if self.waiting.is_none() {
            self.read_recipients(service);
        }
        let recipients = &mut self.recipients;
        self.waiting.get_or_insert_with(|| {
            recipients
                .drain(..)
                .filter_map(|recipient| service.damage_mail(recipient, now))
                .collect()
        })
    }
}

impl MailWorker {
    pub(super) async fn tell_of_damage(&mut self, now: Time) -> NextStep {
        if *self.stop.borrow() || self.pause().is_some() {
            return NextStep::Idle;
        }
        let Some(mail) = self.damage.waiting(&self.service, now).pop() else {
            if let OpenOutlet::Server(thread) = &self.outlet {
                thread.rest();
            }
            return NextStep::Idle;
        };
        match self.send_unstored(&mail).await {
            Ok(()) => {
                log::info!("mail sent: id={} kind={}", mail.id, mail.kind);
                self.note_server(None);
            }
            Err(SmtpFailure::Server(problem) | SmtpFailure::Deferred(problem)) => {
                self.note_server(Some(&problem));
                self.damage.waiting(&self.service, now).push(mail);
            }
            Err(SmtpFailure::Refused(problem) | SmtpFailure::Unknown(problem)) => {
                let DueMail { id, kind, .. } = mail;
                log::warn!("mail given up: id={id} kind={kind} attempts=1 error={problem:?}");
            }
        }
        NextStep::Again
    }

    /// Sends a message without a mark in the file. A server that stops gives the attempt up.
    async fn send_unstored(&self, mail: &DueMail) -> Result<(), SmtpFailure> {
        let thread = match &self.outlet {
            OpenOutlet::Server(thread) => thread,
            OpenOutlet::Activity(activity) => {
                activity.add(ActivityEntry::Mail(recorded(mail)));
                return Ok(());
            }
        };
        let prepared = PreparedMail::new(thread.settings(), &content(mail));
        let prepared = prepared.map_err(SmtpFailure::Refused)?;
        let mut stop = self.stop.clone();
        let grace = async {
            // The wait fails only if the server has stopped.
            let _ = stop.wait_for(|stop| *stop).await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        let sent = async {
            thread.offer(prepared).await?;
            thread.deliver().await
        };
        tokio::select! {
            () = grace => Err(SmtpFailure::Server("the server stops".to_owned())),
            sent = sent => sent,
        }
    }
}
