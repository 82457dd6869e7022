//! Customers: their addresses and their deposits.

pub mod addresses;
mod deposit_steps;
mod deposits;
mod refused_rows;
