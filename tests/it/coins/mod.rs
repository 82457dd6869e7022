//! Coins and what they cost.

mod rates;
mod table;
