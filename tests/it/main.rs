//! Integration tests against a real server on a free port, with a manual clock and real webhook receivers.

#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod answers;
mod browser;
mod chain;
mod checkout;
mod coins;
mod customers;
mod file;
mod guides;
mod http;
mod https;
mod invoices;
mod mail;
mod operator;
mod payments;
mod process;
mod random;
mod reseller;
mod sandbox;
mod support;
mod transfers;
mod webhooks;
