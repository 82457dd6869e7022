//! The table `mail_messages`: e-mail that waits, and what became of it.
//!
//! Invariant: a message is marked before its text is sent, in a transaction of its own. After a crash, a marked message
//! may have been accepted.

use super::row::enum_as_text;
use super::statement::statements;
use super::{Reader, StoreError, Tx};
use crate::domain::{Language, MailKind, MailProgress, MailState, MailText, Time};

enum_as_text!(MailKind, MailState, Language);

/// A message to be stored.
pub struct NewMail<'a> {
    /// Message-ID without its angle brackets.
    pub id: &'a str,
    /// Kind of the message.
    pub kind: MailKind,
    /// `seq` of the account that it is about; `None` for the service.
    pub account: Option<i64>,
    /// Address that it is sent to.
    pub recipient: &'a str,
    /// Language of the text.
    pub language: Language,
    /// Subject and text.
    pub text: &'a MailText,
}

/// A message that is due.
#[derive(Clone, Debug)]
pub struct DueMail {
    /// Row number.
    pub seq: i64,
    /// Message-ID without its angle brackets.
    pub id: String,
    /// Kind of the message.
    pub kind: MailKind,
    /// Address that it is sent to.
    pub recipient: String,
    /// Language of the text.
    pub language: Language,
    /// Subject and text.
    pub text: MailText,
    /// Time of creation, which is the date of the message.
    pub created_at: Time,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Number of attempts whose outcome is not known.
    pub doubts: u32,
}

/// Numbers of messages, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailCounts {
    /// Number of messages that wait.
    pub waiting: i64,
    /// Number of messages that were given up and are still stored.
    pub failed: i64,
}

statements! {
    row read_due(
        seq, id, kind, recipient, language, subject, body, created_at, attempts, doubts,
    ) -> DueMail {
        Ok(DueMail {
            seq, id, kind, recipient, language, text: MailText { subject, body }, created_at, attempts, doubts,
        })
    }

    fn first_due(db, priority: u8, now: Time) -> Option<DueMail> =
        select "from mail_messages \
            where state = 'pending' and is_sending = 0 and priority = :priority and next_attempt_at <= :now \
            order by next_attempt_at, seq limit 1";

    /// Returns the messages that are marked as being sent.
    pub fn marked(db) -> Vec<DueMail> = select "from mail_messages where is_sending = 1 order by seq";

    fn next_at(db, priority: u8) -> Option<(at: Time)> =
        "select next_attempt_at as at from mail_messages \
            where state = 'pending' and is_sending = 0 and priority = :priority order by next_attempt_at limit 1";

    row read_counts(
        waiting = "(select count(*) from mail_messages where state = 'pending')",
        failed = "(select count(*) from mail_messages where state = 'failed')",
    ) -> MailCounts {
        Ok(MailCounts { waiting, failed })
    }

    /// Returns the numbers of messages that wait and that were given up.
    pub fn counts(db) -> only MailCounts = select "";

    /// Inserts a message that is due now.
    pub fn insert(tx, mail: &NewMail<'_>, now: Time) = insert into mail_messages {
        id: mail.id, kind: mail.kind, account: mail.account, priority: mail.kind.priority(), recipient: mail.recipient,
        language: mail.language, subject: mail.text.subject, body: mail.text.body, created_at: now,
        state: MailState::Pending, attempts: 0, doubts: 0, is_sending: false, next_attempt_at: now,
    } noting { tx.record_change(|changes| changes.mail = true); };

    /// Marks a pending message before its text is sent. Returns `false` if it is no longer pending.
    pub fn mark_sending(tx, seq: i64) -> bool =
        "update mail_messages set is_sending = 1 where seq = :seq and state = 'pending' and is_sending = 0";

    fn update(tx, seq: i64, progress: &MailProgress, ended_at: Option<Time>) -> bool =
        "update mail_messages set state = :state, attempts = :attempts, doubts = :doubts, is_sending = 0, \
            next_attempt_at = :next_attempt_at, ended_at = :ended_at, problem = :problem \
            where seq = :seq and state = 'pending'"
        with {
            state: progress.state, attempts: progress.attempts, doubts: progress.doubts,
            next_attempt_at: progress.next_attempt_at, ended_at, problem: progress.problem, seq,
        };

    /// Gives up the waiting messages that were created before a time. Returns their number.
    pub fn give_up_old(tx, before: Time, now: Time, problem: &str) -> usize =
        "update mail_messages set state = 'failed', next_attempt_at = null, ended_at = :now, \
            problem = ifnull(problem, :problem) \
            where state = 'pending' and is_sending = 0 and created_at < :before";

    /// Deletes at most `limit` messages that ended before a time, and returns their number.
    pub fn prune(tx, before: Time, limit: u32) -> usize =
        "delete from mail_messages where seq in (select seq from mail_messages \
            where ended_at < :before order by ended_at limit :limit)";
}

/// Number of priorities. The index has the priority before the time, so each is read by itself.
const PRIORITIES: [u8; 3] = [0, 1, 2];

/// Returns the due message that is sent first.
pub fn next_due(db: &Reader<'_>, now: Time) -> Result<Option<DueMail>, StoreError> {
    for priority in PRIORITIES {
        if let Some(found) = first_due(db, priority, now)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the time at which the next message is due.
pub fn next_due_at(db: &Reader<'_>) -> Result<Option<Time>, StoreError> {
    let mut earliest = None;
    for priority in PRIORITIES {
        earliest = earliest.into_iter().chain(next_at(db, priority)?).min();
    }
    Ok(earliest)
}

/// Stores what follows from an attempt. Returns `false` if the message was no longer pending.
pub fn record(
    tx: &Tx<'_>,
    seq: i64,
    progress: &MailProgress,
    now: Time,
) -> Result<bool, StoreError> {
    let ended_at = (progress.state != MailState::Pending).then_some(now);
    update(tx, seq, progress, ended_at)
}
