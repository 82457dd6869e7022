//! The table `audit_log`: actions of users and workers. Rows are only added.

use super::history::append;
use super::statement::{commands, rows, values};
use super::{PageBounds, Reader, StoreError, Tx};
use crate::domain::history::ChainedLog;
use crate::domain::time::Time;
use rusqlite::{Connection, named_params};

/// An audit log entry to be inserted.
pub struct NewAuditEntry<'a> {
    /// Email of the user, or the name of the worker that acted.
    pub actor: &'a str,
    /// Name of the action, for example `account.approve`.
    pub action: &'a str,
    /// Account that the action concerns, by its `seq`.
    pub account: Option<i64>,
    /// Id of the object that was changed.
    pub object_id: Option<&'a str>,
    /// Details as a JSON object, without secrets.
    pub detail: &'a str,
}

/// A stored audit log entry.
pub struct AuditEntry {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Time of the action, in Unix milliseconds.
    pub at: Time,
    /// Email of the user, or the name of the worker that acted.
    pub actor: String,
    /// Name of the action, for example `account.approve`.
    pub action: String,
    /// Id of the account that the action concerns.
    pub account: Option<String>,
    /// Id of the object that was changed.
    pub object_id: Option<String>,
    /// Details as a JSON object, without secrets.
    pub detail: String,
}

rows! {
    fn read(l.seq, l.at, l.actor, l.action, account = "a.id", l.object_id, l.detail) -> AuditEntry {
        Ok(AuditEntry { seq, at, actor, action, account, object_id, detail })
    }

    fn page_of_account(db, account: i64, page: PageBounds) -> Vec<AuditEntry> =
        select "from audit_log l join accounts a on a.seq = l.account \
            where l.account = :account and l.seq < :before and l.action <> 'state.note' order by l.seq desc limit :limit"
        with { account, before: page.before, limit: page.limit };

    fn page_of_all(db, page: PageBounds) -> Vec<AuditEntry> =
        select "from audit_log l left join accounts a on a.seq = l.account \
            where l.seq < :before and l.action <> 'state.note' order by l.seq desc limit :limit"
        with { before: page.before, limit: page.limit };
}

values! {
    /// Returns the time and the detail of every entry with this action, oldest first.
    pub fn of_action(db, action: &str) -> Vec<(at: Time, detail: String)> =
        "select at, detail from audit_log where action = :action order by seq";

    /// Returns `true` if a person assigned a payment to an invoice, and the assignment was undone.
    pub fn was_assignment_undone(db, account: i64, invoice: &str) -> (found: bool) =
        "select exists (select 1 from audit_log \
            where account = :account and action = 'unmatched_payment.undo' \
            and json_extract(detail, '$.from.invoice') = :invoice) as found";

    /// Returns the actor and the time of the newest entry with this action on an object of an account.
    pub fn last_action(db, account: i64, object_id: &str, action: &str) -> Option<(actor: String, at: Time)> =
        "select actor, at from audit_log \
            where account = :account and object_id = :object_id and action = :action order by seq desc limit 1";
}

commands! {
    INSERT = "insert into audit_log (seq, link, at, actor, action, account, object_id, detail, states) \
        values (:seq, :link, :at, :actor, :action, :account, :object_id, :detail, :states)";
}

/// Returns a page of entries, newest first. With `account`, only entries about this account.
pub fn page(
    db: &Reader<'_>,
    account: Option<i64>,
    page: PageBounds,
) -> Result<Vec<AuditEntry>, StoreError> {
    match account {
        Some(account) => page_of_account(db, account, page),
        None => page_of_all(db, page),
    }
}

/// Inserts an entry with the hashes of the values that the transaction has changed.
pub fn insert(tx: &Tx<'_>, entry: &NewAuditEntry<'_>, now: Time) -> Result<(), StoreError> {
    let states = tx.take_hashes()?;
    tx.run_on_conn(|conn| insert_on_conn(conn, entry, states.as_deref(), now))
}

pub(super) fn insert_on_conn(
    conn: &Connection,
    entry: &NewAuditEntry<'_>,
    states: Option<&str>,
    now: Time,
) -> rusqlite::Result<()> {
    let params = named_params! {
        ":at": now, ":actor": entry.actor, ":action": entry.action, ":account": entry.account,
        ":object_id": entry.object_id, ":detail": entry.detail, ":states": states,
    };
    append(conn, ChainedLog::AuditLog, &INSERT, params).map(drop)
}
