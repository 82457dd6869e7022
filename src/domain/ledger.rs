//! The ledger: which entries are booked when money comes in, goes away again, and comes back.
//!
//! What lives here: the kinds of entries, and which entries a payment causes. What does not: the running balance,
//! which `store` moves in the same transaction. What always holds: an entry is never changed; another entry
//! reverses it.

pub mod adjustment;

use super::money::{Bps, Cents, Currency, Overflow, Total};
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// What an entry is for.
    pub enum LedgerKind {
        /// Gross value of a confirmed payment.
        Sale = "sale",
        /// The service's fee on it; negative.
        Fee = "fee",
        /// Money leaving to the merchant; negative.
        Payout = "payout",
        /// A payout put back.
        PayoutReversal = "payout_reversal",
        /// Money leaving to a customer; negative.
        Refund = "refund",
        /// A refund put back.
        RefundReversal = "refund_reversal",
        /// A correction, of either sign.
        Adjustment = "adjustment",
    }
}

text_enum! {
    /// What an entry refers to.
    pub enum RefType {
        /// An invoice.
        Invoice = "invoice",
        /// A deposit of a customer.
        Deposit = "deposit",
        /// A payout.
        Payout = "payout",
        /// A refund.
        Refund = "refund",
        /// The operator.
        Admin = "admin",
    }
}

/// An entry as it stands in the ledger.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Order of insertion; pages go by it.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// EUR or USD.
    pub currency: Currency,
    /// Signed.
    pub amount: Cents,
    /// What it is for.
    pub kind: LedgerKind,
    /// What it refers to.
    pub ref_type: RefType,
    /// Which one.
    pub ref_id: Option<String>,
    /// The fee's rate, on fees.
    pub fee_bps: Option<Bps>,
    /// Why, where it needs a word.
    pub memo: Option<String>,
    /// When it was booked.
    pub created_at: Time,
}

/// An entry about to be booked for a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// What it is for.
    pub kind: LedgerKind,
    /// Signed, never zero.
    pub amount: Cents,
    /// The fee's rate, on fees.
    pub fee_bps: Option<Bps>,
    /// Fee rate at which a sale is booked, whether or not its fee comes to anything.
    pub sale_fee_bps: Option<Bps>,
    /// The entry it takes back.
    pub reverses: Option<i64>,
    /// Why.
    pub memo: Option<&'static str>,
}

/// What a payment books when it is confirmed for the first time: its sale, and its fee where there is one.
pub fn booked(value: Cents, fee_bps: Bps) -> Result<Vec<Posting>, Overflow> {
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
    Ok([sale, fee]
        .into_iter()
        .filter(|posting| posting.amount != Cents::ZERO)
        .collect())
}

/// Takes back what was booked: one adjustment of the opposite sign for each entry (its `seq` and amount) that nothing has
/// taken back yet.
///
/// Entries that were taken back are undone the same way, by taking back what took them back.
pub fn taken_back(
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

/// The sums of one currency in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    /// EUR or USD.
    pub currency: Currency,
    /// May be paid out now.
    pub available: Cents,
    /// Expected net of what is seen and not confirmed.
    pub pending: Total,
    /// Open payouts and refunds.
    pub reserved: Cents,
    /// Lifetime gross.
    pub sales: Cents,
    /// Lifetime fees; negative.
    pub fees: Cents,
    /// Lifetime payouts less reversals; negative.
    pub payouts: Cents,
    /// Lifetime refunds less reversals; negative.
    pub refunds: Cents,
}

impl Balance {
    /// Nothing booked yet.
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
    use super::{Bps, Cents, LedgerKind, booked, taken_back};

    #[test]
    fn a_payment_books_its_sale_and_its_fee() {
        let postings = booked(Cents(2000), Bps(100)).unwrap_or_default();
        let amounts: Vec<_> = postings
            .iter()
            .map(|posting| (posting.kind, posting.amount, posting.fee_bps))
            .collect();
        assert_eq!(
            amounts,
            [
                (LedgerKind::Sale, Cents(2000), None),
                (LedgerKind::Fee, Cents(-20), Some(Bps(100)))
            ]
        );
    }

    #[test]
    fn nothing_is_booked_for_nothing() {
        assert_eq!(booked(Cents(0), Bps(100)), Ok(vec![]));
        assert_eq!(
            booked(Cents(10), Bps(0)).map(|postings| postings.len()),
            Ok(1),
            "no fee, no entry"
        );
    }

    #[test]
    fn what_is_taken_back_twice_stands_again() {
        let back = taken_back(&[(1, Cents(2000)), (2, Cents(-20))], "gone").unwrap_or_default();
        let amounts: Vec<_> = back
            .iter()
            .map(|posting| (posting.amount, posting.reverses))
            .collect();
        assert_eq!(amounts, [(Cents(-2000), Some(1)), (Cents(20), Some(2))]);
        let again = taken_back(&[(3, Cents(-2000)), (4, Cents(20))], "back").unwrap_or_default();
        assert_eq!(
            again.iter().map(|posting| posting.amount.0).sum::<i64>(),
            1980
        );
    }
}
