//! Money that arrives for invoices and customers: payments, deposits, and payments that match nobody.
//!
//! Invariant: each confirmation is booked once, and each booking is reversed if the confirmation is reverted.

pub mod assign;
pub(super) mod deposit;
pub(super) mod payment;
pub mod undo;
pub mod unmatched;
