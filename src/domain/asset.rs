//! The supported coins, and the two modes of an account.
//!
//! Invariant: a published id names the same coin forever.

pub use super::chain::Chain;
use super::money::coin::{Rate, Units};
use super::money::{Currency, Overflow};
use super::text_enum::text_enum;
use rust_decimal::Decimal;

text_enum! {
    /// Mode: real or simulated money. An object keeps the mode of the API key that created the object.
    pub enum Mode {
        /// Real money.
        Live = "live",
        /// Simulated payments.
        Test = "test",
    }
}

impl Mode {
    /// Returns the value of the `livemode` field: `true` for real money.
    pub const fn is_live(self) -> bool {
        matches!(self, Mode::Live)
    }
}

text_enum! {
    /// Kind of a coin on its chain.
    pub enum AssetKind {
        /// The chain's own coin.
        Native = "native",
        /// A token of Solana's token program.
        Spl = "spl",
        /// An ERC-20 token of an EVM chain.
        Erc20 = "erc20",
        /// A TRC-20 token of Tron.
        Trc20 = "trc20",
    }
}

impl AssetKind {
    /// Returns `true` for a token. A token has the address of a contract or mint, and a chain's own coin has none.
    pub const fn has_contract(self) -> bool {
        !matches!(self, AssetKind::Native)
    }
}

/// One coin on one chain.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    /// Id of the coin in the API, for example `USDC-BASE`.
    pub id: &'static str,
    /// Ticker symbol.
    pub symbol: &'static str,
    /// Name of the coin, for people.
    pub name: &'static str,
    /// Chain of the coin.
    pub chain: Chain,
    /// Kind of the coin on its chain.
    pub kind: AssetKind,
    /// Number of decimal places of the coin: one whole coin is 10^decimals base units.
    pub decimals: u32,
    /// Smallest amount that a quote can have, in base units.
    pub min_amount: Units,
    /// Fixed rate of the coin for simulated money, in EUR per whole coin.
    fixed_rate_eur: &'static str,
}

/// Fixed exchange rate for simulated money: 1.08 USD for one EUR.
const FIXED_USD_PER_EUR: Decimal = Decimal::from_parts(108, 0, 0, false, 2);

impl Asset {
    /// Finds the coin with this id.
    pub fn find(id: &str) -> Option<&'static Asset> {
        ASSETS.iter().find(|asset| asset.id == id)
    }

    /// Returns the ids of all coins.
    pub fn ids() -> Vec<&'static str> {
        ASSETS.iter().map(|asset| asset.id).collect()
    }

    /// Returns the rate of the coin for simulated money, in fiat per whole coin.
    ///
    /// # Errors
    ///
    /// [`Overflow`]. A test of every coin proves that this error does not occur.
    pub fn fixed_rate(&self, currency: Currency) -> Result<Rate, Overflow> {
        let eur: Rate = self.fixed_rate_eur.parse()?;
        match currency {
            Currency::Eur => Ok(eur),
            Currency::Usd => eur.times(FIXED_USD_PER_EUR),
        }
    }

    /// Formats an amount of base units as a plain decimal of whole coins.
    pub fn format_units(&self, amount: Units) -> String {
        amount.to_decimal_text(self.decimals)
    }
}

/// Returns the symbols of all coins, without duplicates, in table order. A coin has the same price on all its chains.
pub fn coin_symbols() -> impl Iterator<Item = &'static str> {
    let first = |(place, asset): &(usize, &'static Asset)| {
        let before = ASSETS.iter().take(*place);
        !before.into_iter().any(|other| other.symbol == asset.symbol)
    };
    let of = |(_, asset): (usize, &'static Asset)| asset.symbol;
    ASSETS.iter().enumerate().filter(first).map(of)
}

macro_rules! asset {
    ($id:literal $symbol:literal $name:literal $chain:ident $kind:ident $decimals:literal min $min:literal eur $rate:literal) => {
        Asset {
            id: $id,
            symbol: $symbol,
            name: $name,
            chain: Chain::$chain,
            kind: AssetKind::$kind,
            decimals: $decimals,
            min_amount: Units($min),
            fixed_rate_eur: $rate,
        }
    };
}

/// All supported coins, in the order in which the API lists them.
pub static ASSETS: [Asset; 13] = [
    asset!("BTC" "BTC" "Bitcoin" Bitcoin Native 8 min 2_000 eur "60000"),
    asset!("LTC" "LTC" "Litecoin" Litecoin Native 8 min 1_000_000 eur "80"),
    asset!("DOGE" "DOGE" "Dogecoin" Dogecoin Native 8 min 500_000_000 eur "0.20"),
    asset!("ETH" "ETH" "Ether" Ethereum Native 18 min 300_000_000_000_000 eur "3000"),
    asset!("USDT-ERC20" "USDT" "Tether USD on Ethereum" Ethereum Erc20 6 min 1_000_000 eur "0.92"),
    asset!("USDC-ERC20" "USDC" "USD Coin on Ethereum" Ethereum Erc20 6 min 1_000_000 eur "0.92"),
    asset!("USDC-BASE" "USDC" "USD Coin on Base" Base Erc20 6 min 1_000_000 eur "0.92"),
    asset!("USDC-POLYGON" "USDC" "USD Coin on Polygon" Polygon Erc20 6 min 1_000_000 eur "0.92"),
    asset!("TRX" "TRX" "Tron" Tron Native 6 min 8_000_000 eur "0.12"),
    asset!("USDT-TRC20" "USDT" "Tether USD on Tron" Tron Trc20 6 min 1_000_000 eur "0.92"),
    asset!("SOL" "SOL" "Solana" Solana Native 9 min 5_000_000 eur "150"),
    asset!("USDC-SPL" "USDC" "USD Coin on Solana" Solana Spl 6 min 1_000_000 eur "0.92"),
    asset!("USDT-SPL" "USDT" "Tether USD on Solana" Solana Spl 6 min 1_000_000 eur "0.92"),
];

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{ASSETS, Asset, Currency, Units};
    use crate::domain::money::Cents;
    use crate::domain::transfer::terms::{TransferTerms, fixed_network_fee};

    #[test]
    fn every_coin_has_a_rate_in_each_currency_and_a_unique_id() {
        for asset in &ASSETS {
            for currency in Currency::ALL {
                assert!(asset.fixed_rate(*currency).is_ok(), "{} {currency}", asset.id);
            }
            assert_eq!(Asset::find(asset.id), Some(asset));
        }
        assert_eq!(
            ASSETS[0].fixed_rate(Currency::Usd).map(|rate| rate.to_string()),
            Ok("64800".to_owned())
        );
        assert_eq!(ASSETS[1].format_units(ASSETS[1].min_amount), "0.01");
    }

    #[test]
    fn smallest_payout_can_be_sent_in_every_coin() {
        for asset in &ASSETS {
            let rate = asset.fixed_rate(Currency::Usd).unwrap();
            let fee = fixed_network_fee(asset);
            assert!(fee > Units::ZERO, "{}", asset.id);
            let terms = TransferTerms::new(Cents(2_000), asset, rate, fee).unwrap();
            let sent = rate.value(terms.amount_crypto, asset.decimals).unwrap();
            assert!(sent > Cents(1_700), "{} of 20.00 in {}", sent, asset.id);
        }
    }
}
