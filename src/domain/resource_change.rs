//! Changes of objects that operator pages show. A change has no data of its object.

use super::asset::Mode;
use super::text_enum::text_enum;

text_enum! {
    /// Kind of objects that operator pages show.
    pub enum ResourceKind {
        /// Invoices and their payments.
        Invoices = "invoices",
        /// Payouts and refunds.
        Transfers = "transfers",
        /// Webhook deliveries and their attempts.
        Deliveries = "deliveries",
        /// Deposits of customers.
        Deposits = "deposits",
        /// Payments that match no invoice and no customer. Only operators see them.
        Unmatched = "unmatched",
    }
}

/// A change of at least one object of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceChange {
    /// Account that owns the object, by its `seq`; `None` for an object that only operators see.
    pub account: Option<i64>,
    /// Mode of the object.
    pub mode: Mode,
    /// Kind of the object.
    pub kind: ResourceKind,
}
