//! The table `quotes`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::quote::Quote;
use crate::domain::rate::Quoted;
use rusqlite::named_params;

rows! {
    fn read(
        seq, asset, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, amount_expected, address, given,
        created_at,
    ) -> Quote {
        Ok(Quote {
            seq, asset,
            quoted: Quoted {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            amount_expected, address, given, created_at,
        })
    }
    OF_INVOICE = select "from quotes where invoice = :invoice order by seq";
}

values! {
    NEXT_SEQ(seq: i64) = "select ifnull(max(seq), 0) + 1 as seq from quotes";
}

commands! {
    INSERT = "insert into quotes (invoice, asset, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, \
        amount_expected, address, given, created_at) values (:invoice, :asset, :rate, :rate_source, :rate_at, \
        :rate_spread_bps, :rate_evidence, :amount_expected, :address, :given, :created_at)";
}

/// The quotes of an invoice, oldest first.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<Quote>, StoreError> {
    OF_INVOICE.all(db, named_params! { ":invoice": invoice })
}

/// The `seq` that the next quote gets.
pub fn next_seq(tx: &Tx<'_>) -> Result<i64, StoreError> {
    NEXT_SEQ.only(tx, &[])
}

/// Adds a quote; its `seq`.
pub fn insert(tx: &Tx<'_>, invoice: i64, quote: &Quote) -> Result<i64, StoreError> {
    let params = named_params! {
        ":invoice": invoice,
        ":asset": quote.asset.id,
        ":rate": quote.quoted.rate,
        ":rate_source": quote.quoted.source,
        ":rate_at": quote.quoted.at,
        ":rate_spread_bps": quote.quoted.spread,
        ":rate_evidence": quote.quoted.evidence,
        ":amount_expected": quote.amount_expected,
        ":address": quote.address,
        ":given": quote.given,
        ":created_at": quote.created_at,
    };
    INSERT.insert(tx, params)
}
