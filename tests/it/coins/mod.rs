//! Coins and exchange rates.

mod live_rates;
mod rate_settings;
mod rates;
pub mod table;
