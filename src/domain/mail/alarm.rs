//! Alarms and work that waits: when a message tells that it begins, goes on and ends.
//!
//! Invariant: about one subject there is at most one message an hour, besides the one that says that it ended. An end
//! is told only if the beginning was.

use super::MailKind;
use crate::domain::text_enum::text_enum;
use crate::domain::time::{DAY_MS, HOUR_MS, MINUTE_MS, Time};

/// Shortest time between two messages about one subject, in milliseconds.
const REPEAT_MS: i64 = HOUR_MS;
/// Time after which a message tells again of what goes on, in milliseconds.
const REMINDER_MS: i64 = DAY_MS;
/// Time for which something must last before it is told, in milliseconds. Many chains and sources recover by
/// themselves, and an operator at work needs no message.
const PATIENCE_MS: i64 = 5 * MINUTE_MS;
/// Time for which an endpoint must fail, in milliseconds.
pub const ENDPOINT_FAILS_MS: i64 = HOUR_MS;

text_enum! {
    /// Subject of an alarm or of a waiting task.
    pub enum AlarmKind {
        /// Payouts wait for approval.
        PayoutsToApprove = "payouts_to_approve",
        /// Refunds wait for approval.
        RefundsToApprove = "refunds_to_approve",
        /// Payouts and refunds need a review.
        TransfersToReview = "transfers_to_review",
        /// It is not known whether payouts or refunds were sent.
        TransfersUnknown = "transfers_unknown",
        /// Approved payouts and refunds wait for a signer that is not set.
        TransfersWithoutSigner = "transfers_without_signer",
        /// Payments matched nothing.
        UnmatchedPayments = "unmatched_payments",
        /// Accounts wait for approval.
        AccountsPending = "accounts_pending",
        /// Ordered servers wait for a person.
        ServersWaiting = "servers_waiting",
        /// It is not known whether servers were created or removed.
        ServersUnknown = "servers_unknown",
        /// A webhook endpoint fails.
        Endpoint = "endpoint",
        /// A chain lags.
        Chain = "chain",
        /// The certificate is missing or ends.
        Certificate = "certificate",
        /// Rates are missing.
        Rates = "rates",
        /// The database file is damaged. Its message is sent at once, because nothing can be stored in the file.
        FileDamaged = "file_damaged",
    }
}

impl AlarmKind {
    /// Returns the kind of the messages.
    pub const fn mail_kind(self) -> MailKind {
        self.message_rule().0
    }

    /// Returns the kind of the messages, and the time for which the subject must last before it is told, in
    /// milliseconds. An endpoint has failed for an hour already, and a certificate for a day.
    const fn message_rule(self) -> (MailKind, i64) {
        match self {
            AlarmKind::PayoutsToApprove
            | AlarmKind::RefundsToApprove
            | AlarmKind::TransfersToReview
            | AlarmKind::TransfersUnknown
            | AlarmKind::TransfersWithoutSigner
            | AlarmKind::UnmatchedPayments
            | AlarmKind::AccountsPending
            | AlarmKind::ServersWaiting
            | AlarmKind::ServersUnknown => (MailKind::Task, PATIENCE_MS),
            AlarmKind::Chain | AlarmKind::Rates => (MailKind::Alarm, PATIENCE_MS),
            AlarmKind::Endpoint | AlarmKind::Certificate | AlarmKind::FileDamaged => {
                (MailKind::Alarm, 0)
            }
        }
    }
}

/// Something that is wrong or waits now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmCondition {
    /// Subject of the alarm.
    pub kind: AlarmKind,
    /// Id of the object, or an empty text if there is only one.
    pub object: String,
    /// `seq` of the account that it concerns; `None` for the service.
    pub account: Option<i64>,
    /// Short name for messages, for example the URL of an endpoint.
    pub about: String,
    /// Number of waiting objects; 1 for an alarm.
    pub count: i64,
    /// Further explanation; empty if there is none.
    pub detail: String,
}

impl AlarmCondition {
    /// Returns the name under which the alarm is stored.
    pub fn name(&self) -> String {
        format!("{} {}", self.kind, self.object).trim_end().to_owned()
    }
}

/// Stored state of an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmState {
    /// Name of the alarm.
    pub name: String,
    /// Subject of the alarm.
    pub kind: AlarmKind,
    /// `seq` of the account that it concerns; `None` for the service.
    pub account: Option<i64>,
    /// Short name for messages.
    pub about: String,
    /// Time at which it was noticed.
    pub since: Time,
    /// `false` once it has ended.
    pub is_on: bool,
    /// `true` once a message has told of this occurrence.
    pub is_told: bool,
    /// Time of the last message that it begins or goes on, also of an earlier occurrence.
    pub told_at: Option<Time>,
    /// Number of waiting objects in the last message.
    pub told_count: i64,
}

/// Message that follows from a change of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmNews {
    /// It has begun.
    Begins,
    /// More objects wait than in the last message.
    Grows,
    /// It goes on for another day.
    GoesOn,
    /// It has ended.
    Ends,
}

/// Returns the next state of an alarm, `None` if it is to be forgotten, and the message to send.
///
/// `state` is the stored state, and `condition` what is wrong now.
pub fn next_alarm_state(
    state: Option<AlarmState>,
    condition: Option<&AlarmCondition>,
    now: Time,
) -> (Option<AlarmState>, Option<AlarmNews>) {
    match (state, condition) {
        (None, None) => (None, None),
        (state, Some(condition)) => {
            let (state, news) = continued(current_state(state, condition, now), condition, now);
            (Some(state), news)
        }
        (Some(state), None) => ended(state, now),
    }
}

/// Returns the state of the present occurrence. A new occurrence keeps the time of the last message.
fn current_state(state: Option<AlarmState>, condition: &AlarmCondition, now: Time) -> AlarmState {
    let told_at = state.as_ref().and_then(|state| state.told_at);
    let before = state.filter(|state| state.is_on).unwrap_or_else(|| AlarmState {
        name: condition.name(),
        kind: condition.kind,
        account: condition.account,
        about: String::new(),
        since: now,
        is_on: true,
        is_told: false,
        told_at,
        told_count: 0,
    });
    // A count that has shrunk may grow again.
    let told_count = before.told_count.min(condition.count);
    AlarmState { about: condition.about.clone(), told_count, ..before }
}

fn continued(
    state: AlarmState,
    condition: &AlarmCondition,
    now: Time,
) -> (AlarmState, Option<AlarmNews>) {
    let (_, patience_ms) = condition.kind.message_rule();
    let news = match (state.is_told, state.told_at) {
        (_, Some(at)) if is_within(at, REPEAT_MS, now) => None,
        (false, _) if is_within(state.since, patience_ms, now) => None,
        (false, _) => Some(AlarmNews::Begins),
        (true, _) if condition.count > state.told_count => Some(AlarmNews::Grows),
        (true, Some(at)) if is_within(at, REMINDER_MS, now) => None,
        (true, _) => Some(AlarmNews::GoesOn),
    };
    match news {
        None => (state, None),
        Some(news) => {
            let told_count = condition.count;
            (AlarmState { is_told: true, told_at: Some(now), told_count, ..state }, Some(news))
        }
    }
}

fn ended(state: AlarmState, now: Time) -> (Option<AlarmState>, Option<AlarmNews>) {
    let news = (state.is_on && state.is_told).then_some(AlarmNews::Ends);
    let is_kept = state.told_at.is_some_and(|at| is_within(at, REPEAT_MS, now));
    let kept = AlarmState { is_on: false, is_told: false, ..state };
    (is_kept.then_some(kept), news)
}

/// Returns `true` if less than `span_ms` has passed since a time. A time in the future, which a corrected clock
/// leaves, counts as long ago.
fn is_within(at: Time, span_ms: i64, now: Time) -> bool {
    (0..span_ms).contains(&now.since_ms(at))
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::{
        AlarmCondition, AlarmKind, AlarmNews, AlarmState, DAY_MS, HOUR_MS, MINUTE_MS, Time,
        next_alarm_state,
    };

    const START: Time = Time(1_795_253_400_000);

    fn condition(kind: AlarmKind, count: i64) -> AlarmCondition {
        AlarmCondition {
            kind,
            object: "x".to_owned(),
            account: None,
            about: "x".to_owned(),
            count,
            detail: String::new(),
        }
    }

    /// An alarm that is checked every minute.
    struct Checked {
        kind: AlarmKind,
        state: Option<AlarmState>,
        minute: i64,
        told: Vec<(i64, AlarmNews)>,
    }

    impl Checked {
        fn new(kind: AlarmKind) -> Checked {
            Checked { kind, state: None, minute: 0, told: Vec::new() }
        }

        /// Checks each minute until this one, with a number of waiting objects; 0 if nothing is wrong.
        fn until(&mut self, minute: i64, count: i64) {
            while self.minute < minute {
                let found = condition(self.kind, count);
                let found = (count > 0).then_some(&found);
                let now = START.plus_ms(self.minute * MINUTE_MS);
                let (state, news) = next_alarm_state(self.state.take(), found, now);
                self.state = state;
                self.told.extend(news.map(|news| (self.minute, news)));
                self.minute += 1;
            }
        }
    }

    #[test]
    fn beginning_and_end_are_told_once() {
        let mut chain = Checked::new(AlarmKind::Chain);
        chain.until(200, 1);
        chain.until(400, 0);
        assert_eq!(chain.told, [(5, AlarmNews::Begins), (200, AlarmNews::Ends)]);
        assert_eq!(chain.state, None);
        let mut short = Checked::new(AlarmKind::Chain);
        short.until(5, 1);
        short.until(100, 0);
        assert_eq!((short.told, short.state), (Vec::new(), None), "within the patience");
    }

    #[test]
    fn alarm_that_comes_and_goes_is_told_at_most_hourly() {
        let mut endpoint = Checked::new(AlarmKind::Endpoint);
        for ten in 1..=60 {
            endpoint.until(ten * 10, ten % 2);
        }
        let begins = endpoint.told.iter().filter(|(_, news)| *news != AlarmNews::Ends);
        let begins: Vec<i64> = begins.map(|(minute, _)| *minute).collect();
        assert!(begins.windows(2).all(|pair| pair[1] - pair[0] >= 60), "{begins:?}");
        assert_eq!(begins.first(), Some(&0));
        assert!(begins.len() >= 5, "{begins:?}");
        let ends = endpoint.told.len() - begins.len();
        assert!(ends <= begins.len(), "an end follows a beginning");
    }

    #[test]
    fn growing_work_is_told_hourly_and_lasting_work_daily() {
        let mut work = Checked::new(AlarmKind::PayoutsToApprove);
        work.until(10, 1);
        work.until(30, 2);
        work.until(70, 3);
        work.until(71, 1);
        work.until(140, 2);
        let (begins, grows) = (AlarmNews::Begins, AlarmNews::Grows);
        assert_eq!(work.told, [(5, begins), (65, grows), (125, grows)]);
        work.until(125 + 1441, 2);
        assert_eq!(work.told.last(), Some(&(125 + 1440, AlarmNews::GoesOn)));
    }

    #[test]
    fn corrected_clock_does_not_silence_an_alarm() {
        let found = condition(AlarmKind::Endpoint, 1);
        let (state, news) = next_alarm_state(None, Some(&found), START);
        assert_eq!(news, Some(AlarmNews::Begins));
        let (state, news) = next_alarm_state(state, None, START.plus_ms(-DAY_MS));
        assert_eq!((news, state), (Some(AlarmNews::Ends), None));
        let (state, _) = next_alarm_state(None, Some(&found), START);
        let earlier = START.plus_ms(-2 * HOUR_MS);
        let (state, news) = next_alarm_state(state, Some(&found), earlier);
        assert_eq!(news, Some(AlarmNews::GoesOn));
        assert_eq!(state.unwrap().told_at, Some(earlier));
    }
}
