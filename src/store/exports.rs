//! Rows of exports, in pages by the order of insertion.
//!
//! Invariant: each page is a separate short read, because a long read would delay checkpoints.

use super::row::Columns;
use super::statement::{Query, made, text};
use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::export::{Cell, ExportKind};
use crate::domain::time::Time;
use crate::domain::transfer::TransferKind;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Row, named_params};

/// A query for a page of an export.
#[derive(Clone, Copy, Debug)]
pub struct ExportQuery {
    /// Only rows that were created at this time or later.
    pub from: Option<Time>,
    /// Only rows that were created before this time.
    pub to: Option<Time>,
    /// Only rows after this `seq`.
    pub after: i64,
    /// Maximum number of rows.
    pub limit: u32,
}

/// Returns the query of an export. Its rows have a `seq` and the columns of the export.
fn query_for(export: ExportKind) -> Query<(i64, Vec<Cell>)> {
    match export {
        ExportKind::Invoices => made!(Query, text!(file "sql/exports/invoices.sql"), read),
        ExportKind::Payments => made!(Query, text!(file "sql/exports/payments.sql"), read),
        ExportKind::Ledger => made!(Query, text!(file "sql/exports/ledger.sql"), read),
        ExportKind::Payouts | ExportKind::Refunds => {
            made!(Query, text!(file "sql/exports/transfers.sql"), read)
        }
        ExportKind::Deposits => made!(Query, text!(file "sql/exports/deposits.sql"), read),
    }
}

/// Reads the `seq` and the cells of a row.
fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Vec<Cell>)> {
    let mut next = Columns::new(row);
    Ok((next.take()?, next.take_remaining()?))
}

/// Returns the `seq` and the cells of each row of a page.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    export: ExportKind,
    query: &ExportQuery,
) -> Result<Vec<(i64, Vec<Cell>)>, StoreError> {
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":from": query.from, ":to": query.to, ":after": query.after,
        ":limit": query.limit,
    }
    .to_vec();
    match export {
        ExportKind::Payouts => params.push((":kind", &TransferKind::Payout)),
        ExportKind::Refunds => params.push((":kind", &TransferKind::Refund)),
        ExportKind::Invoices | ExportKind::Payments | ExportKind::Ledger | ExportKind::Deposits => {
        }
    }
    query_for(export).all(db, params.as_slice())
}

impl FromSql for Cell {
    /// Reads a column without converting it. A REAL or BLOB is an error.
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Cell> {
        match value {
            ValueRef::Null => Ok(Cell::Nothing),
            ValueRef::Integer(number) => Ok(Cell::Number(number)),
            ValueRef::Text(_) => Ok(Cell::Text(value.as_str()?.to_owned())),
            ValueRef::Real(_) | ValueRef::Blob(_) => Err(FromSqlError::InvalidType),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportKind, query_for};
    use crate::store::statement::check;

    #[test]
    fn every_export_query_returns_its_columns() {
        for &export in ExportKind::ALL {
            let names = export.columns().iter().map(|(name, _)| *name);
            let columns: Vec<&str> = std::iter::once("seq").chain(names).collect();
            check(query_for(export).sql(), &columns);
        }
    }
}
