//! Queues the messages of new events, and sends e-mail: one message after the other through the operator's mail server. A
//! sandbox only shows messages.
//!
//! Invariant: a message is marked in the file before its text is sent. So a message that was being sent when the
//! process ended is known, and is sent once more at most.

mod damage;
mod smtp_thread;

use super::{NextStep, Worker};
use crate::clock::{Clock, Stopwatch};
use crate::domain::{MailOutcome, MailState, Time};
use crate::outbound::smtp::{MailContent, PreparedMail, SmtpFailure, SmtpSettings};
use crate::render::activity::MailView;
use crate::service::activity::{Activity, ActivityEntry};
use crate::service::mail::DueMail;
use crate::service::{Error, Service};
use damage::DamageAlarm;
use smtp_thread::SmtpThread;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Pauses after consecutive failures to use the mail server, in milliseconds of real time. The last one repeats.
const PAUSES_MS: [i64; 5] = [5_000, 15_000, 60_000, 120_000, 300_000];
/// Maximum time that a stopping server waits for the reply to a text that is on its way.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// Interval in real time at which the worker looks whether the file is damaged.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Destination of the messages.
pub enum MailOutlet {
    /// The operator's mail server.
    Server(SmtpSettings),
    /// The activity of a sandbox.
    Activity(Arc<Activity>),
}

/// The worker that sends e-mail.
pub struct MailWorker {
    service: Arc<Service>,
    clock: Arc<Clock>,
    outlet: OpenOutlet,
    stop: watch::Receiver<bool>,
    /// `true` once the messages that an earlier attempt left marked are dealt with.
    has_recovered: bool,
    /// Time since the start of the server, in real time.
    uptime: Stopwatch,
    /// Number of consecutive failures to use the mail server.
    failures: usize,
    /// Time since the start until which the mail server is left alone, in milliseconds.
    paused_until_ms: i64,
    /// Last logged problem of the mail server.
    problem: Option<String>,
    damage: DamageAlarm,
}

enum OpenOutlet {
    Server(SmtpThread),
    Activity(Arc<Activity>),
}

impl MailWorker {
    /// Creates a worker.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        outlet: MailOutlet,
        stop: watch::Receiver<bool>,
    ) -> Result<MailWorker, Error> {
        let outlet = match outlet {
            MailOutlet::Server(settings) => OpenOutlet::Server(SmtpThread::start(settings)?),
            MailOutlet::Activity(activity) => OpenOutlet::Activity(activity),
        };
        let uptime = clock.stopwatch();
        Ok(MailWorker {
            service,
            clock,
            outlet,
            stop,
            has_recovered: false,
            uptime,
            failures: 0,
            paused_until_ms: 0,
            problem: None,
            damage: DamageAlarm::default(),
        })
    }

    /// Makes one attempt. Returns `None` if the mail server cannot be used or this server stops. The message is then
    /// unchanged, or marked.
    async fn attempt(&mut self, mail: &DueMail) -> Result<Option<MailOutcome>, Error> {
        let thread = match &self.outlet {
            OpenOutlet::Activity(activity) => {
                activity.add(ActivityEntry::Mail(recorded(mail)));
                return Ok(Some(MailOutcome::Accepted));
            }
            OpenOutlet::Server(thread) => thread,
        };
        let prepared = match PreparedMail::new(thread.settings(), &content(mail)) {
            Ok(prepared) => prepared,
            Err(problem) => return Ok(Some(MailOutcome::Refused(problem))),
        };
        let mut stop = self.stop.clone();
        let offered = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return Ok(None),
            offered = thread.offer(prepared) => offered,
        };
        if let Err(failure) = offered {
            return Ok(self.outcome_of(failure));
        }
        match self.service.mark_mail_sending(mail.seq).await {
            Ok(true) => {}
            unmarked => {
                // Without its end, the server drops the announced message.
                thread.abandon();
                return unmarked.map(|_| None);
            }
        }
        let grace = async {
            let _ = stop.wait_for(|stop| *stop).await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        let delivered = tokio::select! {
            () = grace => return Ok(None),
            delivered = thread.deliver() => delivered,
        };
        match delivered {
            Ok(()) => {
                self.note_server(None);
                Ok(Some(MailOutcome::Accepted))
            }
            // Once marked, a message gets an outcome in any case.
            Err(SmtpFailure::Server(problem)) => {
                self.note_server(Some(&problem));
                Ok(Some(MailOutcome::Deferred(problem)))
            }
            Err(failure) => Ok(self.outcome_of(failure)),
        }
    }

    /// Returns the outcome of an attempt that failed. Pauses if the mail server cannot be used.
    fn outcome_of(&mut self, failure: SmtpFailure) -> Option<MailOutcome> {
        match failure {
            SmtpFailure::Server(problem) => {
                self.note_server(Some(&problem));
                None
            }
            SmtpFailure::Deferred(problem) => {
                self.note_server(None);
                Some(MailOutcome::Deferred(problem))
            }
            SmtpFailure::Refused(problem) => {
                self.note_server(None);
                Some(MailOutcome::Refused(problem))
            }
            SmtpFailure::Unknown(problem) => {
                self.note_server(Some(&problem));
                Some(MailOutcome::Unknown(problem))
            }
        }
    }

    /// Notes whether the mail server can be used, and pauses after a problem. Logs a problem when it changes.
    fn note_server(&mut self, problem: Option<&str>) {
        let Some(problem) = problem else {
            if self.problem.take().is_some() {
                log::info!("mail server works again");
            }
            (self.failures, self.paused_until_ms) = (0, 0);
            return;
        };
        let [.., last] = PAUSES_MS;
        let pause_ms = PAUSES_MS.get(self.failures).copied().unwrap_or(last);
        self.failures = self.failures.saturating_add(1);
        self.paused_until_ms = self.uptime.elapsed_ms().saturating_add(pause_ms);
        if self.problem.as_deref() != Some(problem) {
            log::warn!("mail server cannot be used: error={problem:?}");
            self.problem = Some(problem.to_owned());
        }
    }

    fn pause(&self) -> Option<Duration> {
        let left_ms = self.paused_until_ms.saturating_sub(self.uptime.elapsed_ms());
        u64::try_from(left_ms).ok().filter(|left_ms| *left_ms > 0).map(Duration::from_millis)
    }

    /// Makes one attempt and stores its outcome. Returns `false` if none was made.
    async fn send(&mut self, mail: &DueMail) -> Result<bool, Error> {
        let Some(outcome) = self.attempt(mail).await? else {
            return Ok(false);
        };
        let (id, kind) = (&mail.id, mail.kind);
        let progress = self.service.record_mail(mail, outcome, self.clock.now()).await?;
        let problem = progress.problem.as_deref().unwrap_or_default();
        let attempts = progress.attempts;
        match progress.state {
            MailState::Sent => log::debug!("mail sent: id={id} kind={kind} attempts={attempts}"),
            MailState::Pending => {
                log::info!(
                    "mail deferred: id={id} kind={kind} attempts={attempts} error={problem:?}"
                );
            }
            MailState::Failed => {
                log::warn!(
                    "mail given up: id={id} kind={kind} attempts={attempts} error={problem:?}"
                );
            }
        }
        Ok(true)
    }
}

impl Worker for MailWorker {
    const NAME: &'static str = "mail";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        if self.service.is_damaged() {
            return Ok(self.tell_of_damage(now).await);
        }
        self.damage.read_recipients(&self.service);
        // No attempt starts while the file cannot be written: its outcome could not be stored.
        self.service.check_writes()?;
        if !self.has_recovered {
            let count = self.service.record_interrupted_mail(now).await?;
            if count > 0 {
                log::warn!("mail was being sent when the server ended: count={count}");
            }
            self.has_recovered = true;
        }
        if *self.stop.borrow() {
            return Ok(NextStep::Idle);
        }
        if self.service.queue_mail_of_events(now).await? {
            return Ok(NextStep::Again);
        }
        if self.pause().is_some() {
            return Ok(NextStep::Idle);
        }
        let Some(mail) = self.service.next_due_mail(now)? else {
            if let OpenOutlet::Server(thread) = &self.outlet {
                thread.rest();
            }
            return Ok(self.service.next_mail_at()?.map_or(NextStep::Idle, NextStep::At));
        };
        match self.send(&mail).await {
            Ok(false) if *self.stop.borrow() || self.pause().is_some() => Ok(NextStep::Idle),
            Ok(_) => Ok(NextStep::Again),
            Err(error) => {
                // The message may be marked.
                self.has_recovered = false;
                Err(error)
            }
        }
    }

    fn time_until_step(&self) -> Option<Duration> {
        self.pause().or(Some(LOOK_EVERY))
    }
}

fn content(mail: &DueMail) -> MailContent<'_> {
    MailContent {
        id: &mail.id,
        to: &mail.recipient,
        subject: &mail.text.subject,
        body: &mail.text.body,
        language: mail.language.as_str(),
        date_s: mail.created_at.unix_seconds(),
    }
}

fn recorded(mail: &DueMail) -> MailView {
    MailView {
        kind: "mail",
        id: mail.id.clone(),
        about: mail.kind,
        at: mail.created_at,
        to: mail.recipient.clone(),
        language: mail.language,
        subject: mail.text.subject.clone(),
        text: mail.text.body.clone(),
    }
}
