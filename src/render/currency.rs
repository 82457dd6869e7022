//! JSON of the list of currencies.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, view};
use crate::domain::{Asset, AssetKind};
use serde_json::value::to_raw_value;

view! {
    /// A coin that invoices can be paid in.
    pub(crate) CurrencyView as "Currency" {
        /// Asset id, as in every field named asset.
        id: &'static str [Schema::ASSET] = "LTC";
        /// Ticker symbol, the same on every chain of the coin.
        symbol: &'static str = "LTC";
        /// Name of the coin, for people.
        name: &'static str = "Litecoin";
        /// Chain of the coin.
        chain: Chain [Schema::CHAIN] = "litecoin";
        /// Whether it is the chain's own coin or a token, and the token's standard.
        kind: AssetKind = "native";
        /// Decimal places of one whole coin on its chain.
        decimals: u32 = 8;
        /// Minimum amount of a payment, in whole coins.
        min_amount: String [Schema::COINS] = "0.01";
    }
}

/// Returns the JSON of a coin in the list of currencies.
pub fn currency(asset: &Asset) -> Rendered {
    to_raw_value(&CurrencyView {
        id: asset.id,
        symbol: asset.symbol,
        name: asset.name,
        chain: asset.chain,
        kind: asset.kind,
        decimals: asset.decimals,
        min_amount: asset.format_units(asset.min_amount),
    })
}
