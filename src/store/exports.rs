//! Rows for exports, page by page in the order of insertion.
//!
//! What always holds: a page is a short read of its own, so an export of any length holds back no checkpoint.

use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::export::{Cell, Export};
use crate::domain::time::Time;
use rusqlite::types::ValueRef;
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

/// The next rows: where each stands, and its cells.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    export: Export,
    page: &Page,
) -> Result<Vec<(i64, Vec<Cell>)>, StoreError> {
    let sql = match export {
        Export::Invoices => include_str!("../../sql/exports/invoices.sql"),
        Export::Payments => include_str!("../../sql/exports/payments.sql"),
        Export::Ledger => include_str!("../../sql/exports/ledger.sql"),
        Export::Payouts => include_str!("../../sql/exports/payouts.sql"),
        Export::Refunds => include_str!("../../sql/exports/refunds.sql"),
        Export::Deposits => include_str!("../../sql/exports/deposits.sql"),
    };
    let params = named_params! {
        ":account": account, ":mode": mode, ":from": page.from, ":to": page.to, ":after": page.after,
        ":limit": page.limit,
    };
    let columns = export.columns().len();
    db.all(sql, params, |row| {
        let cells = (1..=columns).map(|at| cell(row, at));
        Ok((row.get(0)?, cells.collect::<Result<_, _>>()?))
    })
}

/// One cell as it is stored.
fn cell(row: &Row<'_>, at: usize) -> rusqlite::Result<Cell> {
    let value = row.get_ref(at)?;
    Ok(match value {
        ValueRef::Null => Cell::Nothing,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Text(_) => Cell::Text(value.as_str()?.to_owned()),
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            return Err(rusqlite::Error::InvalidColumnType(
                at,
                "export".to_owned(),
                value.data_type(),
            ));
        }
    })
}
