//! The table `audit_log`: who did what. Rows are only added.

use super::history::append;
use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::history::ChainedLog;
use crate::domain::time::Time;
use rusqlite::{Connection, named_params};

/// Something that somebody did.
pub struct NewEntry<'a> {
    /// The user's email, or what else acted.
    pub actor: &'a str,
    /// What was done, like `account.approve`.
    pub action: &'a str,
    /// Whose account it concerns, where it is one's.
    pub account: Option<i64>,
    /// What it was done to.
    pub object_id: Option<&'a str>,
    /// JSON object without secrets.
    pub detail: &'a str,
}

/// Something that was done, as it was noted.
pub struct Entry {
    /// Order of insertion.
    pub seq: i64,
    /// When.
    pub at: Time,
    /// The user's email, or what else acted.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// The id of the account it concerns, where it is one's.
    pub account: Option<String>,
    /// What it was done to.
    pub object_id: Option<String>,
    /// JSON object without secrets.
    pub detail: String,
}

rows! {
    fn read(l.seq, l.at, l.actor, l.action, account = "a.id", l.object_id, l.detail) -> Entry {
        Ok(Entry { seq, at, actor, action, account, object_id, detail })
    }
    PAGE_OF_ACCOUNT = select "from audit_log l join accounts a on a.seq = l.account \
        where l.account = :account and l.seq < :before and l.action <> 'state.note' order by l.seq desc limit :limit";
    PAGE = select "from audit_log l left join accounts a on a.seq = l.account \
        where l.seq < :before and l.action <> 'state.note' order by l.seq desc limit :limit";
}

values! {
    /// Every entry of an action, oldest first: its time and its detail.
    pub fn of_action(db, action: &str) -> Vec<(at: Time, detail: String)> =
        "select at, detail from audit_log where action = :action order by seq";

    /// Returns `true` if a payment that a person gave to an invoice was taken away again.
    pub fn was_taken_away(db, account: i64, invoice: &str) -> (found: bool) =
        "select exists (select 1 from audit_log \
            where account = :account and action = 'unmatched_payment.undo' \
            and json_extract(detail, '$.from.invoice') = :invoice) as found";

    /// Who did this to that thing of an account last, and when.
    pub fn last(db, account: i64, object_id: &str, action: &str) -> Option<(actor: String, at: Time)> =
        "select actor, at from audit_log \
            where account = :account and object_id = :object_id and action = :action order by seq desc limit 1";
}

commands! {
    INSERT = "insert into audit_log (seq, link, at, actor, action, account, object_id, detail, states) \
        values (:seq, :link, :at, :actor, :action, :account, :object_id, :detail, :states)";
}

/// What was done before the entry with this `seq`, newest first; only to this account where one is named.
pub fn page(
    db: &Reader<'_>,
    account: Option<i64>,
    before: i64,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    match account {
        Some(account) => PAGE_OF_ACCOUNT.all(
            db,
            named_params! { ":account": account, ":before": before, ":limit": limit },
        ),
        None => PAGE.all(db, named_params! { ":before": before, ":limit": limit }),
    }
}

/// Adds an entry, with the hashes of the values that the transaction has changed.
pub fn insert(tx: &Tx<'_>, entry: &NewEntry<'_>, now: Time) -> Result<(), StoreError> {
    let states = tx.take_states()?;
    tx.told(|conn| insert_on(conn, entry, states.as_deref(), now))
}

/// [`insert`] with hashes that were made, by any connection.
pub(super) fn insert_on(
    conn: &Connection,
    entry: &NewEntry<'_>,
    states: Option<&str>,
    now: Time,
) -> rusqlite::Result<()> {
    let params = named_params! {
        ":at": now,
        ":actor": entry.actor,
        ":action": entry.action,
        ":account": entry.account,
        ":object_id": entry.object_id,
        ":detail": entry.detail,
        ":states": states,
    };
    append(conn, ChainedLog::AuditLog, &INSERT, params).map(drop)
}
