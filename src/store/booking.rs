//! A ledger entry that is to be booked: its account, and the payment, deposit or transfer that it books.

use crate::domain::{Currency, Mode, RefType};

/// Account and origin of a ledger entry that is to be booked.
pub struct Booking<'a> {
    /// Account, by its `seq`.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// Currency of the account's balance.
    pub currency: Currency,
    /// Type of the object that the entry refers to.
    pub ref_type: RefType,
    /// Id of the referenced object.
    pub ref_id: &'a str,
    /// Payment, deposit or transfer that the entry books, if any.
    pub source: BookingSource,
}

/// The payment, deposit or transfer that a ledger entry books. Each of them has at most one entry of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookingSource {
    /// A payment of an invoice, by its `seq`.
    Payment(i64),
    /// A deposit of a customer, by its `seq`.
    Deposit(i64),
    /// A payout or a refund, by its `seq`.
    Transfer(i64),
    /// An adjustment by the operator, which belongs to no payment, deposit or transfer.
    Operator,
}

impl BookingSource {
    /// Returns the values of the columns `payment`, `deposit` and `transfer`.
    pub(super) fn columns(self) -> [Option<i64>; 3] {
        match self {
            BookingSource::Payment(seq) => [Some(seq), None, None],
            BookingSource::Deposit(seq) => [None, Some(seq), None],
            BookingSource::Transfer(seq) => [None, None, Some(seq)],
            BookingSource::Operator => [None, None, None],
        }
    }
}
