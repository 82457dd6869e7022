//! Order of the deliveries to one receiver in a sandbox.
//!
//! Invariant: the order depends only on the deliveries, so a test that runs twice sees the same order.

use crate::domain::Time;
use crate::service::webhooks::{DeliveryQueue, DueDelivery};
use crate::service::{Error, Service};
use crate::store::deliveries::{self, DeliveryHead};

/// Maximum number of due deliveries that are compared. More of them are due only behind a receiver that hangs.
const HEADS_MAX: usize = 1_024;

impl Service {
    /// Returns the next due delivery of one queue of a sandbox: first attempts in the order of their insertion, or
    /// shuffled if that fault is set, and retries when they are due.
    pub(super) fn next_delivery_in_order(
        &self,
        queue: &DeliveryQueue,
        now: Time,
    ) -> Result<Vec<DueDelivery>, Error> {
        let is_shuffled = self.faults().deliveries_shuffled;
        self.read(|db| {
            let heads = deliveries::due_heads(db, queue.seq, now, HEADS_MAX)?;
            Ok(match next_head(&heads, is_shuffled) {
                Some(head) => deliveries::due(db, queue.seq, now, Some(head.seq), 1)?,
                None => Vec::new(),
            })
        })
    }
}

/// Returns the delivery to send next. The heads are ordered by due time. A retry goes before the first attempts that
/// became due later.
fn next_head(heads: &[DeliveryHead], is_shuffled: bool) -> Option<DeliveryHead> {
    let firsts = || heads.iter().filter(|head| head.attempts == 0);
    let place = |head: &&DeliveryHead| (if is_shuffled { mix(head.seq) } else { 0 }, head.seq);
    let first = firsts().min_by_key(place);
    let retry = heads.iter().find(|head| head.attempts > 0);
    let first_due = firsts().map(|head| head.next_attempt_at).min();
    match (retry, first_due) {
        (Some(retry), Some(first_due)) if retry.next_attempt_at < first_due => Some(*retry),
        _ => first.or(retry).copied(),
    }
}

/// Returns a number that looks random and depends only on `seq`: a step of SplitMix64.
fn mix(seq: i64) -> u64 {
    let mixed = seq.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::{DeliveryHead, Time, next_head};

    fn next(heads: &[(i64, u32, i64)]) -> Option<i64> {
        let head = |&(seq, attempts, at): &(i64, u32, i64)| DeliveryHead {
            seq,
            attempts,
            next_attempt_at: Time(at),
        };
        let heads: Vec<DeliveryHead> = heads.iter().map(head).collect();
        next_head(&heads, false).map(|head| head.seq)
    }

    #[test]
    fn first_attempts_go_by_insertion_and_retries_by_due_time() {
        assert_eq!(next(&[]), None);
        // The clock of the later insertion was behind.
        assert_eq!(next(&[(8, 0, 1), (7, 0, 2)]), Some(7));
        assert_eq!(next(&[(3, 1, 1), (8, 0, 2), (7, 0, 3)]), Some(3));
        assert_eq!(next(&[(8, 0, 2), (3, 1, 2), (7, 0, 3)]), Some(7));
        assert_eq!(next(&[(9, 2, 1), (3, 1, 2)]), Some(9));
    }
}
