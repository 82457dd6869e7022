//! The table `unmatched_payments`.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::unmatched::{Resolution, Unmatched, UnmatchedReason};
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
        account_id = "a.id", invoice_id = "i.id", o.seen_at, u.outcome, u.resolved_at, u.note,
        u.return_txid,
    ) -> Unmatched {
        Ok(Unmatched {
            seq, id, observation, state, mode, asset, txid, position, address, amount, reason, account_id,
            invoice_id, seen_at, outcome, resolved_at, note, return_txid,
        })
    }

    /// The payment with this id.
    pub fn by_id(db, id: &str) -> Option<Unmatched> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.id = :id";

    /// The payment that an observation came to, where it matched nothing and was given to nobody.
    pub fn of_observation(db, observation: i64) -> Option<Unmatched> =
        select "from unmatched_payments u join observations o on o.seq = u.observation \
            left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
            where u.observation = :observation and u.outcome is not 'assigned'";

    PAGE = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.seq < :before order by u.seq desc limit :limit";

    PAGE_OF_OPEN = select "from unmatched_payments u join observations o on o.seq = u.observation \
        left join accounts a on a.seq = u.account left join invoices i on i.seq = u.invoice \
        where u.resolved_at is null and u.seq < :before order by u.seq desc limit :limit";
}

commands! {
    /// Adds a payment that matched nothing.
    pub fn insert(tx, new: &NewUnmatched<'_>) = insert into unmatched_payments {
        id: new.id, observation: new.observation, reason: new.reason, account: new.account, invoice: new.invoice,
    };

    RESOLVE = "update unmatched_payments set outcome = :outcome, resolved_at = ifnull(resolved_at, :now), note = :note, \
        return_txid = :return_txid where seq = :seq";

    /// Nobody has made anything of it any more.
    pub fn reopen(tx, seq: i64) =
        "update unmatched_payments set outcome = null, resolved_at = null, note = null, return_txid = null \
            where seq = :seq";
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

/// Notes what a person made of it; when that was first stays.
pub fn resolve(
    tx: &Tx<'_>,
    seq: i64,
    outcome: Resolution,
    (note, return_txid): (Option<&str>, Option<&str>),
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": seq, ":outcome": outcome, ":note": note, ":return_txid": return_txid, ":now": now,
    };
    RESOLVE.run(tx, params)
}
