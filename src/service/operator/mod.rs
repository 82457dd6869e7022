//! What the operator interface asks for: accounts and their settings, people, keys, endpoints, lists, exports, numbers.
//!
//! What does not live here: what money does, which the rest of `service` is about. What always holds: who changed
//! something is in the audit log, in the transaction of the change.

mod adjustments;
pub mod deliveries;
pub mod endpoints;
pub mod exports;
pub mod invoices;
pub mod keys;
pub mod links;
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
