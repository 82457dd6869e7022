//! Ledger entries for payments that were confirmed, that disappeared, or that came back.
//!
//! The store inserts an entry and updates the balance in one database transaction.
//!
//! Invariant: an entry never changes. A later entry may reverse an earlier one.

pub mod adjustment;

use super::money::{Bps, Cents, Currency, Overflow, Total};
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Kind of a ledger entry: the reason for the booking.
    pub enum LedgerKind {
        /// Gross value of a confirmed payment.
        Sale = "sale",
        /// The service's fee on a sale; negative.
        Fee = "fee",
        /// Payout to the merchant; negative.
        Payout = "payout",
        /// Reversal of a payout.
        PayoutReversal = "payout_reversal",
        /// Refund to a customer; negative.
        Refund = "refund",
        /// Reversal of a refund.
        RefundReversal = "refund_reversal",
        /// Correction, positive or negative.
        Adjustment = "adjustment",
    }
}

text_enum! {
    /// Type of the object that a ledger entry refers to.
    pub enum RefType {
        /// An invoice.
        Invoice = "invoice",
        /// A deposit of a customer.
        Deposit = "deposit",
        /// A payout.
        Payout = "payout",
        /// A refund.
        Refund = "refund",
        /// A correction by the operator.
        Admin = "admin",
    }
}

/// A stored ledger entry.
#[derive(Clone, Debug)]
pub struct LedgerEntry {
    /// Row number, in order of insertion. Lists are paged in this order.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Currency of the amount.
    pub currency: Currency,
    /// Amount; negative if money leaves the balance.
    pub amount: Cents,
    /// Kind of the entry.
    pub kind: LedgerKind,
    /// Type of the object that the entry refers to.
    pub ref_type: RefType,
    /// Id of the object that the entry refers to.
    pub ref_id: Option<String>,
    /// Fee rate in basis points, on entries of kind `fee` only.
    pub fee_bps: Option<Bps>,
    /// Explanation, for entries that need one.
    pub memo: Option<String>,
    /// Time of booking.
    pub created_at: Time,
}

/// A ledger entry to be booked for a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// Kind of the entry.
    pub kind: LedgerKind,
    /// Amount; negative if money leaves the balance; never zero.
    pub amount: Cents,
    /// Fee rate in basis points, on entries of kind `fee` only.
    pub fee_bps: Option<Bps>,
    /// Fee rate in basis points, on entries of kind `sale` only. It is present even if the fee rounds to zero.
    pub sale_fee_bps: Option<Bps>,
    /// `seq` of the entry that this entry reverses.
    pub reverses: Option<i64>,
    /// Explanation for people.
    pub memo: Option<&'static str>,
}

/// Returns the entries for the first confirmation of a payment: the sale, and the fee unless it is zero.
pub fn confirmation_postings(value: Cents, fee_bps: Bps) -> Result<Vec<Posting>, Overflow> {
    let fee = value.fee(fee_bps)?.negated()?;
    let sale = Posting {
        kind: LedgerKind::Sale,
        amount: value,
        fee_bps: None,
        sale_fee_bps: Some(fee_bps),
        reverses: None,
        memo: None,
    };
    let fee = Posting {
        kind: LedgerKind::Fee,
        amount: fee,
        fee_bps: Some(fee_bps),
        sale_fee_bps: None,
        ..sale.clone()
    };
    Ok([sale, fee].into_iter().filter(|posting| posting.amount != Cents::ZERO).collect())
}

/// Returns one adjustment with the opposite amount for each of these entries, which are not reversed yet.
///
/// An entry is given as its `seq` and amount. Reversing the adjustments in the same way restores the original
/// amounts.
pub fn reversal_postings(
    unreversed: &[(i64, Cents)],
    memo: &'static str,
) -> Result<Vec<Posting>, Overflow> {
    let adjust = |(seq, amount): &(i64, Cents)| {
        Ok(Posting {
            kind: LedgerKind::Adjustment,
            amount: amount.negated()?,
            fee_bps: None,
            sale_fee_bps: None,
            reverses: Some(*seq),
            memo: Some(memo),
        })
    };
    unreversed.iter().map(adjust).collect()
}

/// Balance of one account in one currency and mode, with lifetime totals.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// Currency of all amounts.
    pub currency: Currency,
    /// Amount that can be paid out now.
    pub available: Cents,
    /// Expected net amount of payments that are seen but not confirmed.
    pub pending: Total,
    /// Amount reserved for open payouts and refunds.
    pub reserved: Cents,
    /// Lifetime gross sales.
    pub sales: Cents,
    /// Lifetime fees; negative.
    pub fees: Cents,
    /// Lifetime payouts less reversals; negative.
    pub payouts: Cents,
    /// Lifetime refunds less reversals; negative.
    pub refunds: Cents,
}

impl Balance {
    /// Returns a balance of zero.
    pub const fn empty(currency: Currency) -> Balance {
        let zero = Cents::ZERO;
        Balance {
            currency,
            available: zero,
            pending: Total::ZERO,
            reserved: zero,
            sales: zero,
            fees: zero,
            payouts: zero,
            refunds: zero,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bps, Cents, LedgerKind, confirmation_postings, reversal_postings};

    #[test]
    fn payment_books_a_sale_and_a_fee() {
        let postings = confirmation_postings(Cents(2000), Bps(100)).unwrap_or_default();
        let amounts: Vec<_> = postings
            .iter()
            .map(|posting| (posting.kind, posting.amount, posting.fee_bps))
            .collect();
        assert_eq!(
            amounts,
            [(LedgerKind::Sale, Cents(2000), None), (LedgerKind::Fee, Cents(-20), Some(Bps(100)))]
        );
    }

    #[test]
    fn zero_value_books_nothing() {
        assert_eq!(confirmation_postings(Cents(0), Bps(100)), Ok(vec![]));
        assert_eq!(
            confirmation_postings(Cents(10), Bps(0)).map(|postings| postings.len()),
            Ok(1),
            "no fee, no entry"
        );
    }

    #[test]
    fn reversal_of_a_reversal_restores_the_entry() {
        let back =
            reversal_postings(&[(1, Cents(2000)), (2, Cents(-20))], "gone").unwrap_or_default();
        let amounts: Vec<_> =
            back.iter().map(|posting| (posting.amount, posting.reverses)).collect();
        assert_eq!(amounts, [(Cents(-2000), Some(1)), (Cents(20), Some(2))]);
        let again =
            reversal_postings(&[(3, Cents(-2000)), (4, Cents(20))], "back").unwrap_or_default();
        assert_eq!(again.iter().map(|posting| posting.amount.0).sum::<i64>(), 1980);
    }
}
