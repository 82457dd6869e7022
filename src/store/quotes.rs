//! The table `quotes`: coin amounts that invoices expect, with their rates.

use super::statement::statements;
use super::{StoreError, Tx, invoice_steps};
use crate::domain::{Quote, RateQuote};

statements! {
    row read(
        seq, asset, rate, rate_source, rate_at, rate_spread_bps, rate_evidence, amount_expected, address, given,
        created_at,
    ) -> Quote {
        Ok(Quote {
            seq, asset,
            quoted: RateQuote {
                rate, source: rate_source, at: rate_at, spread: rate_spread_bps, evidence: rate_evidence,
            },
            amount_expected, address, given, created_at,
        })
    }

    /// Returns the quotes of an invoice, oldest first.
    pub fn of_invoice(db, invoice: i64) -> Vec<Quote> = select "from quotes where invoice = :invoice order by seq";

    /// Returns the `seq` of a quote that exists only for an assigned payment, if no payment refers to the quote any
    /// more.
    fn seq_if_unused(db, seq: i64) -> Option<(seq: i64)> =
        "select q.seq from quotes q where q.seq = :seq and q.by_person = 1 \
            and not exists (select 1 from payments p where p.quote = q.seq)";

    /// Returns the `seq` that the next quote will get.
    pub fn next_seq(db) -> (seq: i64) = "select ifnull(max(seq), 0) + 1 as seq from quotes";

    /// Inserts a quote and returns its `seq`.
    pub fn insert(tx, invoice: i64, quote: &Quote) -> i64 = insert into quotes {
        invoice, asset: quote.asset.id, rate: quote.quoted.rate, rate_source: quote.quoted.source,
        rate_at: quote.quoted.at, rate_spread_bps: quote.quoted.spread, rate_evidence: quote.quoted.evidence,
        amount_expected: quote.amount_expected, address: quote.address, given: quote.given,
        created_at: quote.created_at,
    };

    /// Sets whether a quote exists only because a person assigned a payment to its invoice.
    pub fn set_made_for_assignment(tx, seq: i64, by_person: bool) = "update quotes set by_person = :by_person where seq = :seq";

    fn remove(tx, seq: i64) = "delete from quotes where seq = :seq";
}

/// Deletes a quote that exists only for an assigned payment, if no payment refers to the quote any more.
pub fn remove_unused(tx: &Tx<'_>, seq: i64) -> Result<(), StoreError> {
    if seq_if_unused(tx, seq)?.is_some() {
        invoice_steps::remove_of_quote(tx, seq)?;
        remove(tx, seq)?;
    }
    Ok(())
}
