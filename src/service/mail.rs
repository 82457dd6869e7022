//! E-mail: queues messages that follow from events and alarms, and stores what became of them. The worker sends them.
//!
//! Invariant: without a mail server nothing is queued. A sandbox queues messages too, and sends none.

mod alarms;
mod receipts;
mod sales;
mod summaries;

use super::{Error, Member, Service, Step};
use crate::domain::mail::SetMailPreferences;
use crate::domain::mail::attempt::WAITING_MS_MAX;
use crate::domain::time::DAY_MS;
use crate::domain::{
    Language, MailKind, MailOutcome, MailPreferences, MailProgress, MailText, Mode, Time, id,
};
use crate::render::mail::MailPreferencesView;
use crate::store::mail_messages::{self, NewMail};
pub use crate::store::mail_messages::{DueMail, MailCounts};
use crate::store::{FileKind, Reader, mail_preferences, receipts as receipts_table};
pub(super) use sales::start_cursor;
use std::sync::Arc;

/// Maximum number of messages, and of languages, that one pruning step removes.
const PRUNE_BATCH_MAX: u32 = 250;
/// Time for which the languages of payers are kept, in milliseconds.
const KEEP_LANGUAGES_MS: i64 = 30 * DAY_MS;

/// Settings of e-mail that the service needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailIdentity {
    /// Domain of the sender's address, which ends each Message-ID.
    pub domain: String,
}

/// A message to the team or to a payer, before it is queued.
struct OutgoingMail<'a> {
    kind: MailKind,
    account: Option<i64>,
    recipient: &'a str,
    language: Language,
    text: &'a MailText,
}

impl Service {
    /// Makes the service queue e-mail. `None`: no mail server is set, and nothing is queued.
    #[must_use]
    pub fn with_mail(self, mail: Option<MailIdentity>) -> Service {
        Service { mail, ..self }
    }

    /// Returns `true` if e-mail is queued.
    pub fn has_mail(&self) -> bool {
        self.mail.is_some()
    }

    /// Returns `true` if a user wants messages that only a check finds: tasks, alarms, or the sales of each day.
    pub fn is_mail_check_wanted(&self) -> Result<bool, Error> {
        self.read(|db| {
            Ok(mail_preferences::wants_alarms(db)? || mail_preferences::wants_summaries(db)?)
        })
    }

    /// Returns `true` if messages are queued about objects of this mode. In production, a test payment causes none.
    fn mails_about(&self, mode: Mode) -> bool {
        self.mail.is_some() && (mode.is_live() || self.kind == FileKind::Sandbox)
    }

    fn dashboard_url(&self, page: &str) -> String {
        format!("{}/dashboard#/{page}", self.links.public_url)
    }

    /// Returns the preferences of the user who makes the request.
    pub fn mail_preferences(&self, member: &Member) -> Result<MailPreferencesView, Error> {
        self.read(|db| self.preferences_view(db, member))
    }

    /// Changes the preferences of the user who makes the request.
    pub async fn set_mail_preferences(
        self: &Arc<Self>,
        member: Member,
        changes: SetMailPreferences,
    ) -> Result<MailPreferencesView, Error> {
        let service = Arc::clone(self);
        self.store
            .write(move |tx| {
                let user = member.user();
                let before = mail_preferences::of_user(tx, user.seq)?;
                let preferences = before.unwrap_or(MailPreferences::NONE).changed_by(&changes);
                mail_preferences::put(tx, user, &preferences)?;
                service.preferences_view(tx, &member)
            })
            .await
    }

    fn preferences_view(
        &self,
        db: &Reader<'_>,
        member: &Member,
    ) -> Result<MailPreferencesView, Error> {
        let found = mail_preferences::of_user(db, member.user().seq)?;
        let MailPreferences { sales, tasks, alarms } = found.unwrap_or(MailPreferences::NONE);
        let email = member.user().email.clone();
        Ok(MailPreferencesView { available: self.has_mail(), email, sales, tasks, alarms })
    }
}

fn queue_mail(step: &Step<'_>, mail: &OutgoingMail<'_>) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    let Some(identity) = &service.mail else {
        return Ok(());
    };
    let new = NewMail {
        id: &format!("{}@{}", id::new(now), identity.domain),
        kind: mail.kind,
        account: mail.account,
        recipient: mail.recipient,
        language: mail.language,
        text: mail.text,
    };
    Ok(mail_messages::insert(tx, &new, now)?)
}

/// Queues a message to every user who gets this kind of message about an account, or about the service.
fn queue_for_team(
    step: &Step<'_>,
    kind: MailKind,
    account: Option<i64>,
    text: impl FnOnce() -> MailText,
) -> Result<(), Error> {
    let mut subscribers = mail_preferences::subscribers(step.tx, account)?;
    subscribers.retain(|subscriber| subscriber.gets(kind, account));
    if subscribers.is_empty() {
        return Ok(());
    }
    let text = &text();
    let language = Language::English;
    subscribers.iter().try_for_each(|subscriber| {
        let recipient = subscriber.email.as_str();
        queue_mail(step, &OutgoingMail { kind, account, recipient, language, text })
    })
}

impl Service {
    /// Returns the due message that is sent first.
    pub fn next_due_mail(&self, now: Time) -> Result<Option<DueMail>, Error> {
        self.read(|db| Ok(mail_messages::next_due(db, now)?))
    }

    /// Returns the time at which the next message is due.
    pub fn next_mail_at(&self) -> Result<Option<Time>, Error> {
        self.read(|db| Ok(mail_messages::next_due_at(db)?))
    }

    /// Returns the numbers of messages that wait and that were given up.
    pub fn mail_counts(&self) -> Result<MailCounts, Error> {
        self.read(|db| Ok(mail_messages::counts(db)?))
    }

    /// Records that the text of a message is about to be sent. Returns `false` if the message is no longer pending.
    pub async fn mark_mail_sending(self: &Arc<Self>, seq: i64) -> Result<bool, Error> {
        self.store.write_repeatable(move |tx| Ok(mail_messages::mark_sending(tx, seq)?)).await
    }

    /// Stores the outcome of an attempt. Returns what follows from it.
    pub async fn record_mail(
        self: &Arc<Self>,
        mail: &DueMail,
        outcome: MailOutcome,
        now: Time,
    ) -> Result<MailProgress, Error> {
        let progress = MailProgress::after(outcome, mail.attempts, mail.doubts, now);
        let (seq, stored) = (mail.seq, progress.clone());
        self.write_repeatable(now, move |step| {
            Ok(mail_messages::record(step.tx, seq, &stored, now)?)
        })
        .await?;
        Ok(progress)
    }

    /// Ends the attempts that an earlier process, or a failed write, left without an outcome. Returns their number.
    pub async fn record_interrupted_mail(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        if self.read(|db| Ok::<_, Error>(mail_messages::marked(db)?.is_empty()))? {
            return Ok(0);
        }
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let marked = mail_messages::marked(tx)?;
            for mail in &marked {
                let outcome = MailOutcome::Unknown("the server ended while it was sent".to_owned());
                let progress = MailProgress::after(outcome, mail.attempts, mail.doubts, now);
                mail_messages::record(tx, mail.seq, &progress, now)?;
            }
            Ok(marked.len())
        })
        .await
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

/// Gives up messages that have waited too long, and deletes old ones. Returns `true` if there may be more to
/// delete. `keep_ms` is the time for which an ended message is kept, in milliseconds.
pub(super) fn prune_mail(step: &Step<'_>, keep_ms: i64) -> Result<bool, Error> {
    let Step { tx, now, .. } = *step;
    let before = now.plus_ms(WAITING_MS_MAX.saturating_neg());
    let problem = "the mail server could not be used in time";
    mail_messages::give_up_old(tx, before, now, problem)?;
    let before = now.plus_ms(keep_ms.saturating_neg());
    let messages = mail_messages::prune(tx, before, PRUNE_BATCH_MAX)?;
    let before = now.plus_ms(KEEP_LANGUAGES_MS.saturating_neg());
    let languages = receipts_table::prune_languages(tx, before, PRUNE_BATCH_MAX)?;
    let full = usize::try_from(PRUNE_BATCH_MAX).unwrap_or(usize::MAX);
    Ok(messages >= full || languages >= full)
}
