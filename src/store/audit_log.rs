//! The table `audit_log`: actions of users and workers. Rows are only added.

use super::history::append;
use super::statement::statements;
use super::{PageBounds, Reader, StoreError, Tx};
use crate::domain::{ChainedLog, Time};
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

statements! {
    row read(l.seq, l.at, l.actor, l.action, account = "a.id", l.object_id, l.detail) -> AuditEntry {
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

    /// Returns `true` if a person took back a payment that was assigned to an invoice, by the invoice and the audit log.
    pub fn was_assignment_undone(db, invoice: i64) -> (found: bool) =
        "select exists (select 1 from invoices i join audit_log l on l.account = i.account \
            where i.seq = :invoice and l.at = i.assignment_undone_at and l.action = 'unmatched_payment.undo') as found";

    fn insert_row() -> Statement =
        "insert into audit_log (seq, link, at, actor, action, account, object_id, detail, states) \
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
    tx.run_on_conn(|conn| insert_on_conn(conn, entry, states.as_deref(), now)).map(drop)
}

pub(super) fn insert_on_conn(
    conn: &Connection,
    entry: &NewAuditEntry<'_>,
    states: Option<&str>,
    now: Time,
) -> rusqlite::Result<i64> {
    let params = named_params! {
        ":at": now, ":actor": entry.actor, ":action": entry.action, ":account": entry.account,
        ":object_id": entry.object_id, ":detail": entry.detail, ":states": states,
    };
    append(conn, ChainedLog::AuditLog, &insert_row(), params)
}

#[cfg(test)]
mod tests {
    use super::{page_of_account, page_of_all, was_assignment_undone};
    use crate::domain::AuditedAction;

    #[test]
    fn statements_look_only_for_listed_actions() {
        let mut listed = AuditedAction::TEXTS.to_vec();
        for sql in [
            page_of_account::SQL,
            page_of_all::SQL,
            was_assignment_undone::SQL,
            include_str!("../../sql/audit/addresses.sql"),
            include_str!("../../sql/audit/modes.sql"),
            include_str!("../../sql/audit/noted_transfers.sql"),
            include_str!("../../sql/audit/requests.sql"),
        ] {
            let after = sql.split("action ").skip(1);
            let texts = after.flat_map(|rest| {
                rest.split(')').next().unwrap_or("").split('\'').skip(1).step_by(2)
            });
            for text in texts.filter(|text| text.contains('.') && !text.contains(' ')) {
                assert!(AuditedAction::TEXTS.contains(&text), "{text}");
                listed.retain(|listed| *listed != text);
            }
        }
        assert_eq!(listed, [""; 0], "no statement looks for it");
    }
}
