//! The table `quotes`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::quote::Quote;
use rusqlite::named_params;

/// The quotes of an invoice, oldest first.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<Quote>, StoreError> {
    db.all(
        include_str!("../../sql/quotes/of_invoice.sql"),
        named_params! { ":invoice": invoice },
        |row| {
            let mut next = Columns::of(row);
            Ok(Quote {
                seq: next.take()?,
                asset: next.take()?,
                quoted: next.quoted()?,
                amount_expected: next.take()?,
                address: next.take()?,
                created_at: next.take()?,
            })
        },
    )
}

/// Adds a quote; its `seq`.
pub fn insert(tx: &Tx<'_>, invoice: i64, quote: &Quote) -> Result<i64, StoreError> {
    let params = named_params! {
        ":invoice": invoice,
        ":asset": quote.asset.id,
        ":rate": quote.quoted.rate,
        ":rate_source": quote.quoted.source,
        ":rate_at": quote.quoted.at,
        ":amount_expected": quote.amount_expected,
        ":address": quote.address,
        ":created_at": quote.created_at,
    };
    tx.insert(include_str!("../../sql/quotes/insert.sql"), params)
}
