//! Payouts and refunds: requested, sent, told of, and safe from a kill.

mod durability;
mod events;
mod payouts;
mod refunds;
mod sending;
pub mod signer;
mod steps;
