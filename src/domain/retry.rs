//! Schedule of the attempts to deliver a webhook.
//!
//! Invariant: a round has eleven attempts, and the last attempt starts within a day of the first.

use super::time::{HOUR_MS, MINUTE_MS, SECOND_MS, Time};

/// Time from the start of each attempt to the start of the next, in milliseconds.
const GAPS_MS: [i64; 10] = [
    10 * SECOND_MS,
    30 * SECOND_MS,
    2 * MINUTE_MS,
    10 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
    4 * HOUR_MS,
    6 * HOUR_MS,
    10 * HOUR_MS,
];

/// Largest number of attempts of a delivery in one round. A manual resend starts a new round.
pub const ATTEMPTS_MAX: u32 = 11;

/// Largest number of attempts that the API returns for one delivery: the newest attempts, up to three rounds.
///
/// Equal responses to these attempts are stored only once.
pub const RETURNED_ATTEMPTS_MAX: u32 = 3 * ATTEMPTS_MAX;

/// Largest number of attempts of a delivery. After this number, the delivery cannot be sent again.
pub const DELIVERY_ATTEMPTS_MAX: u32 = 1000;

/// Returns the start of the next attempt. `attempts` is the number of attempts in the round so far, and the newest of
/// them started at `began`.
///
/// `None` after the last attempt of the round. `shorter_per_cent` (0 to 10) shortens the wait, so that failed
/// deliveries are not all retried at once.
pub fn next_attempt(attempts: u32, began: Time, shorter_per_cent: u8) -> Option<Time> {
    let gap = usize::try_from(attempts).ok()?.checked_sub(1).and_then(|made| GAPS_MS.get(made))?;
    let kept = 100_i64.saturating_sub(i64::from(shorter_per_cent.min(10)));
    Some(began.plus_ms(gap.saturating_mul(kept) / 100))
}

#[cfg(test)]
mod tests {
    use super::{ATTEMPTS_MAX, Time, next_attempt};

    #[test]
    fn round_has_eleven_attempts_within_a_day() {
        let mut at = Time(0);
        let mut starts = vec![at.0 / 1000];
        for attempts in 1..=ATTEMPTS_MAX {
            let Some(next) = next_attempt(attempts, at, 0) else {
                break;
            };
            at = next;
            starts.push(at.0 / 1000);
        }
        assert_eq!(starts, [0, 10, 40, 160, 760, 2560, 6160, 13_360, 27_760, 49_360, 85_360]);
        assert_eq!(next_attempt(ATTEMPTS_MAX, at, 0), None);
        assert_eq!(next_attempt(0, at, 0), None);
    }

    #[test]
    fn wait_is_shortened_by_at_most_a_tenth() {
        assert_eq!(next_attempt(1, Time(0), 10), Some(Time(9_000)));
        assert_eq!(next_attempt(1, Time(0), 200), Some(Time(9_000)));
    }
}
