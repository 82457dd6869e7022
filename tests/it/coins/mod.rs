//! Coins and what they cost.

mod live_rates;
mod rate_settings;
mod rates;
pub mod table;
