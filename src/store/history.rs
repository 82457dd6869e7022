//! The hash chains of `ledger` and `audit_log`: appends rows and reads them back.
//!
//! Invariant: the transaction that inserts a row also reads the previous row, because another process may have
//! written it.

use super::statement::{Params, Statement, statements};
use super::{Reader, StoreError};
use crate::domain::{Cell, ChainedLog, HashLink, HashedFields, HashedValue, LogHead};
use rusqlite::Connection;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A row of the ledger or the audit log, with its link in the hash chain.
pub struct LogRow {
    /// Link of the row.
    pub link: HashLink,
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// All fields of the row, `seq` first.
    pub form: HashedFields,
}

statements! {
    fn last_of_ledger(conn) -> Option<(seq: i64, link: HashLink)> =
        "select seq, link from ledger order by seq desc limit 1";

    fn last_of_audit_log(conn) -> Option<(seq: i64, link: HashLink)> =
        "select seq, link from audit_log order by seq desc limit 1";
}

/// Creates a row of the ledger or the audit log. The hash of the row covers `seq`, then `fields`.
fn create_log_row(link: HashLink, seq: i64, fields: &[(&str, Cell)]) -> LogRow {
    let mut form = HashedFields::default();
    form.add("seq", HashedValue::Number(seq));
    for (name, cell) in fields {
        form.add(name, HashedValue::from(cell));
    }
    LogRow { link, seq, form }
}

statements! {
    row read_ledger(
        link, seq, id, account, mode, currency, amount, kind, ref_type, ref_id, fee_bps, memo, payment, deposit, transfer,
        reverses, sale_fee_bps, created_at,
    ) -> LogRow {
        Ok(create_log_row(link, seq, &[
            ("id", id), ("account", account), ("mode", mode), ("currency", currency), ("amount", amount), ("kind", kind),
            ("ref_type", ref_type), ("ref_id", ref_id), ("fee_bps", fee_bps), ("memo", memo), ("payment", payment),
            ("deposit", deposit), ("transfer", transfer), ("reverses", reverses), ("sale_fee_bps", sale_fee_bps),
            ("created_at", created_at),
        ]))
    }

    fn each_of_ledger(db) -> each LogRow = select "from ledger order by seq";

    row read_audit_log(link, seq, at, actor, action, account, object_id, detail, states) -> LogRow {
        Ok(create_log_row(link, seq, &[
            ("at", at), ("actor", actor), ("action", action), ("account", account), ("object_id", object_id),
            ("detail", detail), ("states", states),
        ]))
    }

    fn each_of_audit_log(db) -> each LogRow = select "from audit_log order by seq";
}

/// Appends a row to a log and returns the `seq` of the row. `fields` must have the names and the order with which the
/// row is read, because the hash depends on them.
pub(super) fn append(
    conn: &Connection,
    log: ChainedLog,
    insert: &Statement,
    fields: Params<'_>,
) -> rusqlite::Result<i64> {
    let head = log_head(conn, log)?;
    let seq = head.seq.saturating_add(1);
    let mut form = HashedFields::default();
    form.add("seq", HashedValue::Number(seq));
    for (name, value) in fields {
        let value = value.to_sql()?;
        let value = match &value {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => ValueRef::from(value),
            other => {
                let problem = format!("{name} cannot be hashed: {other:?}");
                return Err(rusqlite::Error::ToSqlConversionFailure(problem.into()));
            }
        };
        form.add(name.trim_start_matches(':'), to_hashed_value(value)?);
    }
    let link = head.link.next_link(log, &form);
    let mut params: Vec<(&str, &dyn ToSql)> = vec![(":seq", &seq), (":link", &link)];
    params.extend_from_slice(fields);
    insert.run(conn, &params)
}

/// Returns the `seq` and the hash chain link of the newest row of a log.
fn log_head(conn: &Connection, log: ChainedLog) -> rusqlite::Result<LogHead> {
    let last = match log {
        ChainedLog::Ledger => last_of_ledger(conn)?,
        ChainedLog::AuditLog => last_of_audit_log(conn)?,
    };
    let (seq, link) = last.unwrap_or_else(|| (0, HashLink::before_first_row(log)));
    Ok(LogHead { log, seq, link })
}

/// Returns the `seq` and the hash chain link of the newest row of every log.
pub fn log_heads(db: &Reader<'_>) -> Result<Vec<LogHead>, StoreError> {
    db.run_on_conn(log_heads_on_conn)
}

/// Returns the result of [`log_heads`]. An error does not change the health of the store.
pub(super) fn log_heads_on_conn(conn: &Connection) -> rusqlite::Result<Vec<LogHead>> {
    ChainedLog::ALL.iter().map(|log| log_head(conn, *log)).collect()
}

/// Passes every row of a log to `each`, oldest first.
pub fn each_row(
    db: &Reader<'_>,
    log: ChainedLog,
    each: impl FnMut(LogRow),
) -> Result<(), StoreError> {
    match log {
        ChainedLog::Ledger => each_of_ledger(db, each),
        ChainedLog::AuditLog => each_of_audit_log(db, each),
    }
}

/// Converts a value of SQLite to the form in which it is hashed.
fn to_hashed_value(value: ValueRef<'_>) -> rusqlite::Result<HashedValue<'_>> {
    match value {
        ValueRef::Null => Ok(HashedValue::Nothing),
        ValueRef::Integer(number) => Ok(HashedValue::Number(number)),
        ValueRef::Text(text) => Ok(HashedValue::Text(text)),
        ValueRef::Blob(_) | ValueRef::Real(_) => Err(FromSqlError::InvalidType.into()),
    }
}

impl FromSql for HashLink {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<HashLink> {
        match value.as_blob()?.split_first_chunk::<1>() {
            Some(([version], hash)) => Ok(HashLink {
                version: *version,
                hash: hash.try_into().map_err(|_| FromSqlError::InvalidType)?,
            }),
            None => Err(FromSqlError::InvalidType),
        }
    }
}

impl ToSql for HashLink {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bytes = [&[self.version][..], &self.hash].concat();
        Ok(ToSqlOutput::from(bytes))
    }
}
