//! Rows for exports, page by page in the order of insertion.
//!
//! What always holds: a page is a short read of its own, so an export of any length holds back no checkpoint.

use super::row::Columns;
use super::statement::{Query, made, text};
use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::export::{Cell, ExportKind};
use crate::domain::time::Time;
use crate::domain::transfer::TransferKind;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Row, named_params};

/// Which rows are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Only made at this moment or later.
    pub from: Option<Time>,
    /// Only made before this moment.
    pub to: Option<Time>,
    /// Only behind this one.
    pub after: i64,
    /// How many at most.
    pub limit: u32,
}

/// The rows of an export: `seq`, and then its columns by their names.
fn rows(export: ExportKind) -> Query<(i64, Vec<Cell>)> {
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

/// A row: where it stands, and its cells.
fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Vec<Cell>)> {
    let mut next = Columns::of(row);
    Ok((next.take()?, next.rest()?))
}

/// The next rows: where each stands, and its cells.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    export: ExportKind,
    page: &Page,
) -> Result<Vec<(i64, Vec<Cell>)>, StoreError> {
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":from": page.from, ":to": page.to, ":after": page.after,
        ":limit": page.limit,
    }
    .to_vec();
    match export {
        ExportKind::Payouts => params.push((":kind", &TransferKind::Payout)),
        ExportKind::Refunds => params.push((":kind", &TransferKind::Refund)),
        ExportKind::Invoices | ExportKind::Payments | ExportKind::Ledger | ExportKind::Deposits => {
        }
    }
    rows(export).all(db, params.as_slice())
}

impl FromSql for Cell {
    /// One cell as it is stored.
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
    use super::{ExportKind, rows};
    use crate::store::statement::check;

    #[test]
    fn every_export_is_prepared_and_answers_its_columns() {
        for &export in ExportKind::ALL {
            let names = export.columns().iter().map(|(name, _)| *name);
            let columns: Vec<&str> = std::iter::once("seq").chain(names).collect();
            check(rows(export).sql(), &columns);
        }
    }
}
