//! Coins and what they cost.

mod rates;
pub mod table;
