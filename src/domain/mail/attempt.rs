//! Attempts to send a message: outcomes, the schedule of attempts, and what is done if an outcome is not known.
//!
//! Invariant: the mail server may have accepted a message at most twice. An attempt whose outcome is not known, because
//! the server ended or did not answer, counts as accepted, and a second one ends the message.

use super::MailState;
use crate::domain::time::{DAY_MS, HOUR_MS, MINUTE_MS, Time};

/// Time from each refused attempt to the next, in milliseconds. Servers that greylist accept after minutes.
const GAPS_MS: [i64; 9] = [
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
    8 * HOUR_MS,
    12 * HOUR_MS,
];
/// Wait after an attempt whose outcome is not known, in milliseconds.
const DOUBT_MS: i64 = 5 * MINUTE_MS;
/// Number of attempts without a known outcome after which a message is given up.
const DOUBTS_MAX: u32 = 2;
/// Age at which a message that waits for an unreachable mail server is given up, in milliseconds.
pub const WAITING_MS_MAX: i64 = 3 * DAY_MS;
/// Longest stored reason of a failure, in characters.
pub const PROBLEM_CHARS_MAX: usize = 200;

/// Outcome of an attempt to send a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailOutcome {
    /// The mail server has accepted the message.
    Accepted,
    /// The mail server refuses the message now (4xx).
    Deferred(String),
    /// The mail server refuses the message for good (5xx), or it cannot be sent.
    Refused(String),
    /// It is not known whether the mail server has accepted the message.
    Unknown(String),
}

/// State of a message after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailProgress {
    /// New state of the message.
    pub state: MailState,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Number of attempts whose outcome is not known.
    pub doubts: u32,
    /// Start of the next attempt, for a pending message.
    pub next_attempt_at: Option<Time>,
    /// Reason why the attempt failed.
    pub problem: Option<String>,
}

impl MailProgress {
    /// Returns the state of a message after an attempt. `attempts` and `doubts` are the numbers before it.
    pub fn after(outcome: MailOutcome, attempts: u32, doubts: u32, now: Time) -> MailProgress {
        let attempts = attempts.saturating_add(1);
        let end = |state, doubts, problem| MailProgress {
            state,
            attempts,
            doubts,
            next_attempt_at: None,
            problem,
        };
        let again = |wait_ms, doubts, problem| MailProgress {
            state: MailState::Pending,
            attempts,
            doubts,
            next_attempt_at: Some(now.plus_ms(wait_ms)),
            problem: Some(problem),
        };
        match outcome {
            MailOutcome::Accepted => end(MailState::Sent, doubts, None),
            MailOutcome::Refused(problem) => end(MailState::Failed, doubts, Some(problem)),
            MailOutcome::Deferred(problem) => {
                let made = usize::try_from(attempts).unwrap_or(usize::MAX).saturating_sub(1);
                match GAPS_MS.get(made) {
                    Some(gap_ms) => again(*gap_ms, doubts, problem),
                    None => end(MailState::Failed, doubts, Some(problem)),
                }
            }
            MailOutcome::Unknown(problem) => match doubts.saturating_add(1) {
                doubts @ DOUBTS_MAX.. => {
                    let problem = format!("its outcome is not known twice: {problem}");
                    end(MailState::Failed, doubts, Some(problem))
                }
                doubts => again(DOUBT_MS, doubts, problem),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GAPS_MS, MINUTE_MS, MailOutcome, MailProgress, MailState, Time};

    fn deferred() -> MailOutcome {
        MailOutcome::Deferred("450 later".to_owned())
    }

    #[test]
    fn deferred_message_is_sent_again_for_a_bounded_time() {
        let (mut now, mut attempts) = (Time(0), 0);
        while let Some(at) = MailProgress::after(deferred(), attempts, 0, now).next_attempt_at {
            assert!(at > now);
            (now, attempts) = (at, attempts + 1);
        }
        assert_eq!(
            (attempts, now.0 / MINUTE_MS),
            (9, 1 + 5 + 15 + 30 + 60 + 120 + 240 + 480 + 720)
        );
        let last = MailProgress::after(deferred(), attempts, 0, now);
        assert_eq!((last.state, last.attempts), (MailState::Failed, 10));
        assert_eq!(GAPS_MS.len(), 9);
    }

    #[test]
    fn refused_message_is_not_sent_again() {
        let refused = MailOutcome::Refused("550 no such user".to_owned());
        let after = MailProgress::after(refused, 0, 0, Time(7));
        assert_eq!((after.state, after.next_attempt_at), (MailState::Failed, None));
        assert_eq!(after.problem.as_deref(), Some("550 no such user"));
        let accepted = MailProgress::after(MailOutcome::Accepted, 3, 1, Time(7));
        assert_eq!(
            (accepted.state, accepted.problem, accepted.attempts),
            (MailState::Sent, None, 4)
        );
    }

    #[test]
    fn second_unknown_outcome_ends_a_message() {
        let unknown = || MailOutcome::Unknown("no answer".to_owned());
        let first = MailProgress::after(unknown(), 0, 0, Time(0));
        assert_eq!((first.state, first.doubts), (MailState::Pending, 1));
        assert_eq!(first.next_attempt_at, Some(Time(5 * MINUTE_MS)));
        let between = MailProgress::after(deferred(), 1, first.doubts, Time(0));
        assert_eq!((between.state, between.doubts), (MailState::Pending, 1));
        let second = MailProgress::after(unknown(), 2, between.doubts, Time(0));
        assert_eq!((second.state, second.doubts), (MailState::Failed, 2));
    }
}
