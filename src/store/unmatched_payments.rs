//! The table `unmatched_payments`.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::unmatched::{Unmatched, UnmatchedReason};
use rusqlite::named_params;

/// A payment that has just matched nothing.
pub struct NewUnmatched<'a> {
    /// The name outside the file.
    pub id: &'a str,
    /// What was seen, by its `seq`.
    pub observation: i64,
    /// Why it matched nothing.
    pub reason: UnmatchedReason,
    /// Whose address it is, where it is somebody's: the account, by its `seq`.
    pub account: Option<i64>,
    /// And the invoice, where it is one's.
    pub invoice: Option<i64>,
}

rows! {
    fn read(
        u.seq, u.id, u.observation, o.state, o.mode, o.asset, o.txid, o.position, o.address, o.amount, u.reason,
        account_id = "a.id", invoice_id = "i.id", o.seen_at, u.resolved_at, u.note,
    ) -> Unmatched {
        Ok(Unmatched {
            seq, id, observation, state, mode, asset, txid, position, address, amount, reason, account_id,
            invoice_id, seen_at, resolved_at, note,
        })
    }
    BY_ID = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.id = :id";
    OF_OBSERVATION = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.observation = :observation";
    PAGE = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.seq < :before order by u.seq desc limit :limit";
    PAGE_OF_OPEN = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.resolved_at is null and u.seq < :before order by u.seq desc limit :limit";
}

commands! {
    INSERT = "insert into unmatched_payments (id, observation, reason, account, invoice) \
        values (:id, :observation, :reason, :account, :invoice)";
    RESOLVE = "update unmatched_payments set resolved_at = ifnull(resolved_at, :now), note = :note where id = :id";
    REMOVE = "delete from unmatched_payments where seq = :seq";
}

/// Adds a payment that matched nothing.
pub fn insert(tx: &Tx<'_>, new: &NewUnmatched<'_>) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": new.id,
        ":observation": new.observation,
        ":reason": new.reason,
        ":account": new.account,
        ":invoice": new.invoice,
    };
    INSERT.insert(tx, params).map(drop)
}

/// The payment with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Unmatched>, StoreError> {
    BY_ID.first(db, named_params! { ":id": id })
}

/// The payment that an observation came to, where it matched nothing.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<Unmatched>, StoreError> {
    OF_OBSERVATION.first(db, named_params! { ":observation": observation })
}

/// Those older than `before`, newest first; all, or only those nobody has looked at.
pub fn page(
    db: &Reader<'_>,
    only_open: bool,
    before: i64,
    limit: u32,
) -> Result<Vec<Unmatched>, StoreError> {
    let query = if only_open { PAGE_OF_OPEN } else { PAGE };
    query.all(db, named_params! { ":before": before, ":limit": limit })
}

/// Notes what looking at it came to; when it was looked at first stays. False where there is no such payment.
pub fn resolve(tx: &Tx<'_>, id: &str, note: &str, now: Time) -> Result<bool, StoreError> {
    let changed = RESOLVE.run(tx, named_params! { ":id": id, ":note": note, ":now": now })?;
    Ok(changed == 1)
}

/// Removes a payment that has come to be somebody's.
pub fn remove(tx: &Tx<'_>, seq: i64) -> Result<(), StoreError> {
    REMOVE.run(tx, named_params! { ":seq": seq }).map(drop)
}
