//! Operations of the operator interface, `/dashboard/api/…`.

pub mod accounts;
pub mod audit_log;
pub mod chains;
pub mod coins;
pub mod customers;
pub mod deliveries;
pub mod endpoints;
pub mod events;
pub mod first_steps;
pub mod invoices;
pub mod keys;
pub mod ledger;
pub mod legacy_secret;
pub mod matches;
pub mod own_addresses;
pub mod payment_links;
pub mod pools;
pub mod rates;
pub mod sales;
pub mod servers;
pub mod settings;
pub mod summary;
pub mod tokens;
pub mod transfers;
pub mod unmatched_payments;
pub mod wallets;
