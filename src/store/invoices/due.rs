//! Which open invoices are closed by time, and when.
//!
//! What always holds: invoices that wait for the same chains are looked up together, in the order of their deadlines, so
//! that those that still wait are passed over without being read, however many they are.

use crate::domain::asset::Chain;
use crate::domain::scanned::{LaggingChains, is_waited_for};
use crate::domain::time::Time;
use crate::store::statement::values;
use crate::store::{Reader, StoreError};
use rusqlite::named_params;

values! {
    /// Of those that wait for these chains, whose deadline has come up to a moment.
    DUE(expires_at: Time, seq: i64) = "select expires_at, seq from invoices \
        where waits_for = :waits_for and status in ('created', 'awaiting_payment') and expires_at <= :up_to \
        order by expires_at limit :limit";
    FIRST_AFTER(expires_at: Option<Time>) = "select min(expires_at) as expires_at from invoices \
        where waits_for = :waits_for and status in ('created', 'awaiting_payment') and expires_at > :after";
    WAITED_FOR(waits_for: String) = file "sql/invoices/waited_for.sql";
}

/// The statements of the expiry worker.
#[cfg(test)]
pub(in crate::store) const fn expiry() -> [&'static str; 3] {
    [DUE.sql(), FIRST_AFTER.sql(), WAITED_FOR.sql()]
}

/// Open invoices whose time is up, the longest overdue first; those that wait for a chain that lags are not.
pub fn due(
    db: &Reader<'_>,
    scanned: &LaggingChains,
    now: Time,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    let mut due: Vec<(Time, i64)> = Vec::new();
    for waits_for in waited_for(db)? {
        let up_to = scanned.expired_up_to(&waits_for, now);
        let params = named_params! { ":waits_for": waits_for, ":up_to": up_to, ":limit": limit };
        due.extend(DUE.all(db, params)?);
    }
    due.sort_unstable();
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(due.into_iter().take(most).map(|(_, seq)| seq).collect())
}

/// When the next open invoice's time is up.
pub fn next_due(db: &Reader<'_>, scanned: &LaggingChains) -> Result<Option<Time>, StoreError> {
    let mut next: Option<Time> = None;
    for waits_for in waited_for(db)? {
        let scanned_to = scanned.all_scanned_to(&waits_for);
        // Without a chain that lags no deadline is behind what has been looked at.
        let in_sight = first_after(db, &waits_for, Time(i64::MIN))?;
        let waiting = match scanned_to {
            Some(to) => first_after(db, &waits_for, to)?,
            None => None,
        };
        for deadline in [in_sight, waiting].into_iter().flatten() {
            let at = scanned.expires_at(&waits_for, deadline);
            next = Some(next.map_or(at, |next| next.min(at)));
        }
    }
    Ok(next)
}

/// Does any open invoice wait for this chain where it lags: can it be paid there in time?
pub fn is_any_waiting(db: &Reader<'_>, chain: Chain) -> Result<bool, StoreError> {
    let sets = waited_for(db)?;
    Ok(sets.iter().any(|set| is_waited_for(set, chain)))
}

/// The sets of chains that open invoices wait for.
fn waited_for(db: &Reader<'_>) -> Result<Vec<String>, StoreError> {
    WAITED_FOR.all(db, &[])
}

/// The first deadline after a moment, of the open invoices that wait for these chains.
fn first_after(db: &Reader<'_>, waits_for: &str, after: Time) -> Result<Option<Time>, StoreError> {
    let params = named_params! { ":waits_for": waits_for, ":after": after };
    FIRST_AFTER.only(db, params)
}
