//! Operations of the service: one file for each resource.
//!
//! A file contains the inputs, the declarations and the functions of the operations. `http` authenticates the caller,
//! calls the function of an operation, and sends the outcome.

pub mod account;
pub mod currencies;
pub mod customers;
pub mod deposits;
pub mod events;
pub mod invoices;
pub mod operation;
pub mod operator;
mod outcome;
pub mod params;
pub mod payouts;
pub mod public;
pub mod query;
pub mod refunds;
pub mod reseller;
pub mod sandbox;
pub mod tag;
pub mod transfers;
