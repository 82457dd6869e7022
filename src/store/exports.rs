//! Rows of exports, in pages by the order of insertion.
//!
//! Invariant: each page is a separate short read, because a long read would delay checkpoints.

use super::invoices::{self, SearchScope, TextPatterns};
use super::row::Columns;
use super::statement::{Query, query, statements};
use super::{Reader, StoreError};
use crate::domain::{Cell, Currency, ExportKind, Mode, Time, TransferKind};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Row, named_params};

statements! {
    fn last_searched(db, account: i64, mode: Mode, after: i64, count: u32, bytes: u32) -> Option<(seq: i64)> =
        file "sql/exports/reach.sql";
}

/// A query for a page of an export.
pub struct ExportQuery<'a> {
    /// Only rows that were created at this time or later.
    pub from: Option<Time>,
    /// Only rows that were created before this time.
    pub to: Option<Time>,
    /// Only invoices, payouts or refunds of this status.
    pub status: Option<&'a str>,
    /// Only invoices or ledger entries in this currency.
    pub currency: Option<Currency>,
    /// Only deposits of the customer with this reference.
    pub customer: Option<&'a str>,
    /// Only invoices that contain this text.
    pub text: Option<&'a str>,
    /// Only invoices, payouts or refunds with a `seq` of this JSON list.
    pub named: Option<&'a str>,
    /// Only rows after this `seq`.
    pub after: i64,
    /// Maximum number of rows.
    pub limit: u32,
    /// Limits on the invoices that a page with a text reads.
    pub scope: SearchScope,
}

/// A page of an export.
pub struct ExportPage {
    /// Cells of each row.
    pub rows: Vec<Vec<Cell>>,
    /// `seq` of the last row that was read, which may be no row of the page.
    pub last: i64,
}

/// Returns the query of an export. Its rows have a `seq` and the columns of the export.
fn query_for(export: ExportKind) -> Query<(i64, Vec<Cell>)> {
    match export {
        ExportKind::Invoices => query!(read, file "sql/exports/invoices.sql"),
        ExportKind::Payments => query!(read, file "sql/exports/payments.sql"),
        ExportKind::Ledger => query!(read, file "sql/exports/ledger.sql"),
        ExportKind::Payouts | ExportKind::Refunds => {
            query!(read, file "sql/exports/transfers.sql")
        }
        ExportKind::Deposits => query!(read, file "sql/exports/deposits.sql"),
    }
}

/// Reads the `seq` and the cells of a row.
fn read(row: &Row<'_>) -> rusqlite::Result<(i64, Vec<Cell>)> {
    let mut next = Columns::new(row);
    Ok((next.take()?, next.take_remaining()?))
}

/// Returns a page of an export. `None` at the end.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    export: ExportKind,
    query: &ExportQuery<'_>,
) -> Result<Option<ExportPage>, StoreError> {
    let ExportQuery { status, currency, customer, text, named, after, limit, .. } = *query;
    // A `like` pattern ends at a NUL character, so a text with a NUL would match too many invoices.
    if text.is_some_and(|text| text.contains('\0')) {
        return Ok(None);
    }
    let reach = match text {
        Some(_) => {
            let SearchScope { count, bytes } = query.scope;
            last_searched(db, account, mode, after, count, bytes)?
        }
        None => None,
    };
    let newest = reach.unwrap_or(i64::MAX);
    let TextPatterns { like, in_json, key, value } = TextPatterns::new(text);
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":from": query.from, ":to": query.to, ":after": after, ":limit": limit,
    }
    .to_vec();
    match export {
        ExportKind::Payouts => params.push((":kind", &TransferKind::Payout)),
        ExportKind::Refunds => params.push((":kind", &TransferKind::Refund)),
        ExportKind::Invoices => params.extend_from_slice(named_params! {
            ":status": status, ":currency": currency, ":named": named, ":reach": newest, ":like": like,
            ":in_json": in_json, ":key": key, ":value": value,
        }),
        ExportKind::Ledger => params.push((":currency", &currency)),
        ExportKind::Deposits => params.push((":customer", &customer)),
        ExportKind::Payments => {}
    }
    if matches!(export, ExportKind::Payouts | ExportKind::Refunds) {
        params.extend_from_slice(named_params! { ":status": status, ":named": named });
    }
    let found: Vec<(i64, Vec<Cell>)> = query_for(export).get(db, params.as_slice())?;
    let is_full = found.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
    let last = found.last().map(|(seq, _)| *seq);
    let Some(last) = reach.filter(|_| !is_full).or(last) else {
        return Ok(None);
    };
    let mut rows = Vec::with_capacity(found.len());
    for (seq, cells) in found {
        let is_wanted = match text {
            Some(text) => invoices::has_text(text, &invoices::by_seq(db, seq)?)?,
            None => true,
        };
        if is_wanted {
            rows.push(cells);
        }
    }
    Ok(Some(ExportPage { rows, last }))
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
