//! Finds open invoices that expire, and the time of the next expiry.
//!
//! Invariant: invoices that wait for the same chains are looked up together, by deadline. Invoices that wait for a
//! lagging chain are not read.

use crate::domain::asset::Chain;
use crate::domain::scanned::is_chain_awaited;
use crate::domain::{LaggingChains, Time};
use crate::store::statement::statements;
use crate::store::{Reader, StoreError};

statements! {
    fn due_waiting_for(db, waits_for: &str, up_to: Time, limit: u32) -> Vec<(expires_at: Time, seq: i64)> =
        "select expires_at, seq from invoices \
            where waits_for = :waits_for and status in ('created', 'awaiting_payment') and expires_at <= :up_to \
            order by expires_at limit :limit";

    fn first_expiry_after(db, waits_for: &str, after: Time) -> (expires_at: Option<Time>) =
        "select min(expires_at) as expires_at from invoices \
            where waits_for = :waits_for and status in ('created', 'awaiting_payment') and expires_at > :after";

    fn awaited_chain_lists(db) -> Vec<(waits_for: String)> = file "sql/invoices/waited_for.sql";
}

/// SQL statements of the expiry worker.
#[cfg(test)]
pub(in crate::store) const EXPIRY: [&str; 3] =
    [due_waiting_for::SQL, first_expiry_after::SQL, awaited_chain_lists::SQL];

/// Returns open invoices whose deadline has passed, longest overdue first. Leaves out invoices that wait for a chain
/// that lags.
pub fn list_overdue_invoices(
    db: &Reader<'_>,
    scanned: &LaggingChains,
    now: Time,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    let mut due: Vec<(Time, i64)> = Vec::new();
    for waits_for in awaited_chain_lists(db)? {
        let up_to = scanned.latest_expired_deadline(&waits_for, now);
        due.extend(due_waiting_for(db, &waits_for, up_to, limit)?);
    }
    due.sort_unstable();
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(due.into_iter().take(most).map(|(_, seq)| seq).collect())
}

/// Returns the time at which the next open invoice expires.
pub fn next_expiry_time(
    db: &Reader<'_>,
    scanned: &LaggingChains,
) -> Result<Option<Time>, StoreError> {
    let mut next: Option<Time> = None;
    for waits_for in awaited_chain_lists(db)? {
        let first = first_expiry_after(db, &waits_for, Time(i64::MIN))?;
        // If none of these chains lags, there is no scan time to search after, and the first deadline is the next
        // one.
        let beyond_scan = match scanned.earliest_scanned_to(&waits_for) {
            Some(to) => first_expiry_after(db, &waits_for, to)?,
            None => None,
        };
        for deadline in [first, beyond_scan].into_iter().flatten() {
            let at = scanned.expires_at(&waits_for, deadline);
            next = Some(next.map_or(at, |next| next.min(at)));
        }
    }
    Ok(next)
}

/// Returns `true` if an open invoice would wait for this chain while the chain lags.
pub fn has_waiting_invoice(db: &Reader<'_>, chain: Chain) -> Result<bool, StoreError> {
    let sets = awaited_chain_lists(db)?;
    Ok(sets.iter().any(|set| is_chain_awaited(set, chain)))
}
