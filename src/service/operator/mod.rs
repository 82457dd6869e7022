//! Use cases of the operator interface: accounts, users, keys, endpoints, lists, exports and summaries.
//!
//! Invariant: a change and its entry in the audit log are written in one transaction.

mod adjustments;
mod codes;
pub mod deliveries;
pub mod endpoints;
pub mod exports;
mod first_steps;
pub mod invoices;
pub mod keys;
pub mod links;
mod matches;
pub mod members;
pub mod own_addresses;
pub mod passwords;
pub mod second_factor;
mod summary;
pub mod transfers;
pub mod unmatched;
pub mod users;
pub mod wallet_addresses;
pub mod wallets;
