//! The operator interface: who may do what in it, and each of its lists.

mod accounts;
mod checkout_settings;
mod deliveries;
mod endpoints;
pub mod exports;
mod guessing;
mod invoices;
mod keys;
mod ledger;
mod links;
pub mod password_queue;
mod private_keys;
mod reauthentication;
mod sales;
mod second_factor;
mod second_factor_asked;
mod sent_by_hand;
mod settings;
mod setup_page;
mod sign_in;
mod summary;
mod test_networks;
mod tokens;
mod transfers;
mod users;
pub mod wallets;
mod who_may;
