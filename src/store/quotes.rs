//! The table `quotes`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx, invoice_steps};
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
    /// A quote that a person's giving made, which nobody has asked for and nothing was paid at.
    UNUSED(seq: i64) = "select q.seq from quotes q where q.seq = :seq and q.by_person = 1 \
        and not exists (select 1 from payments p where p.quote = q.seq)";
    NEXT_SEQ(seq: i64) = "select ifnull(max(seq), 0) + 1 as seq from quotes";
}

commands! {
    INSERT = "insert into quotes (invoice, asset, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, \
        amount_expected, address, given, created_at) values (:invoice, :asset, :rate, :rate_source, :rate_at, \
        :rate_spread_bps, :rate_evidence, :amount_expected, :address, :given, :created_at)";
    BY_PERSON = "update quotes set by_person = :by_person where seq = :seq";
    REMOVE = "delete from quotes where seq = :seq";
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

/// Notes whether a quote is there only because a person gave its invoice what came.
pub fn by_person(tx: &Tx<'_>, seq: i64, by_person: bool) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":by_person": by_person };
    BY_PERSON.run(tx, params).map(drop)
}

/// Removes a quote that a person's giving made, if nobody has asked for it and nothing was paid at it.
pub fn remove_unused(tx: &Tx<'_>, seq: i64) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq };
    if UNUSED.first(tx, params)?.is_some() {
        invoice_steps::remove_quote(tx, seq)?;
        REMOVE.run(tx, params)?;
    }
    Ok(())
}
