//! Customers: addresses and deposits.

pub mod addresses;
mod deposit_steps;
mod deposits;
mod refused_rows;
