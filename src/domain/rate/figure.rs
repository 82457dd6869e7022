//! Figures: prices of a coin from one source, direct or through another pair of the same source.
//!
//! Invariant: no figure treats USDT as USD. Numbers are read from their decimal digits.

use crate::domain::asset::coin_symbols;
use crate::domain::fields::{Schema, ViewField, view};
use crate::domain::money::Currency;
use crate::domain::money::coin::Rate;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use rust_decimal::Decimal;
use serde::Serialize;
use std::str::FromStr;

text_enum! {
    /// A source of prices.
    pub enum FigureSource {
        /// Public ticker of Kraken.
        Kraken = "kraken",
        /// Exchange rates of Coinbase.
        Coinbase = "coinbase",
        /// Price ticker of Binance.
        Binance = "binance",
        /// Simple price of CoinGecko.
        Coingecko = "coingecko",
        /// File of the operator. It is trusted without a second source.
        File = "file",
    }
}

impl FigureSource {
    /// Sources that are queried over the network.
    pub const PUBLIC: [FigureSource; 4] = [
        FigureSource::Kraken,
        FigureSource::Coinbase,
        FigureSource::Binance,
        FigureSource::Coingecko,
    ];
}

const NUMBER_CHARS_MAX: usize = 64;

/// Parses a positive decimal number; `None` for any other text.
pub fn parse_number(text: &str) -> Option<Decimal> {
    let is_plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && text.bytes().any(|byte| byte.is_ascii_digit())
    };
    if text.len() > NUMBER_CHARS_MAX {
        return None;
    }
    let number = match text.split_once(['e', 'E']) {
        None if is_plain(text) => Decimal::from_str(text).ok(),
        Some((mantissa, _)) if is_plain(mantissa) => Decimal::from_scientific(text).ok(),
        None | Some(_) => None,
    };
    number.filter(|number| *number > Decimal::ZERO)
}

/// Returns the mean of two numbers; `None` if `lower` is above `upper`, or if the sum overflows.
pub fn mean_of_ordered(lower: Decimal, upper: Decimal) -> Option<Decimal> {
    if lower > upper {
        return None;
    }
    lower.checked_add(upper)?.checked_div(Decimal::TWO)
}

/// Price of one `base` in `quote`. Both are symbols, such as BTC, EUR or USDT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticker {
    /// Symbol of the coin or currency that is priced.
    pub base: &'static str,
    /// Symbol of the currency or coin in which the price is stated.
    pub quote: &'static str,
    /// Amount of `quote` for one `base`.
    pub price: Decimal,
    /// Time of the price.
    pub at: Time,
}

/// Price of one coin in one currency, from one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateFigure {
    /// Source of the price.
    pub source: FigureSource,
    /// Exchange rate, fiat per whole coin.
    pub rate: Rate,
    /// Pairs from which the rate was computed, like `BTC/EUR`, or `BTC/USD by EUR/USD`.
    pub via: String,
    /// Time of the price.
    pub at: Time,
}

view! {
    /// A rate of one source.
    pub RateFigureView<'a> as "RateFigure" {
        /// The source.
        source: FigureSource = "kraken";
        /// Fiat per whole coin.
        rate: String [Schema::COINS] = "60000.1";
        /// Pairs of the source behind the rate, like BTC/EUR, or BTC/USD by EUR/USD.
        via: &'a str = "BTC/EUR";
        /// Time of the rate, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
    }
}

impl ViewField for RateFigure {
    const SCHEMA: Schema = RateFigureView::SCHEMA;
}

impl Serialize for RateFigure {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let view = RateFigureView {
            source: self.source,
            rate: self.rate.to_string(),
            via: &self.via,
            at: self.at,
        };
        view.serialize(out)
    }
}

/// A price with its coin and currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoinFigure {
    /// Symbol of the coin.
    pub coin: &'static str,
    /// Currency of the price.
    pub currency: Currency,
    /// The price.
    pub figure: RateFigure,
}

/// Symbols through which a coin can be priced in EUR, the preferred one first.
const THROUGH: [&str; 2] = ["USD", "USDT"];

/// Returns the prices that follow from a source's tickers.
///
/// Each coin has a direct price in EUR and in USD if the source has that pair. Without a direct EUR pair, the EUR
/// price is computed through a symbol of `THROUGH`.
pub fn figures_of_tickers(source: FigureSource, tickers: &[Ticker]) -> Vec<CoinFigure> {
    let mut told = Vec::new();
    for coin in coin_symbols() {
        for currency in Currency::ALL {
            let found = direct_price(tickers, coin, *currency).or_else(|| match currency {
                Currency::Eur => THROUGH.iter().find_map(|via| price_via(tickers, coin, via)),
                Currency::Usd => None,
            });
            if let Some((price, via, at)) = found
                && let Ok(rate) = Rate::new(price)
            {
                let figure = RateFigure { source, rate, via, at };
                told.push(CoinFigure { coin, currency: *currency, figure });
            }
        }
    }
    told
}

fn find_ticker<'a>(tickers: &'a [Ticker], base: &str, quote: &str) -> Option<&'a Ticker> {
    let is = |ticker: &&Ticker| ticker.base == base && ticker.quote == quote;
    tickers.iter().find(is)
}

fn direct_price(
    tickers: &[Ticker],
    coin: &str,
    currency: Currency,
) -> Option<(Decimal, String, Time)> {
    let ticker = find_ticker(tickers, coin, currency.as_str())?;
    Some((ticker.price, format!("{coin}/{currency}"), ticker.at))
}

/// Returns the price of a coin in EUR through another symbol, with the used pairs and the time.
fn price_via(tickers: &[Ticker], coin: &str, via: &str) -> Option<(Decimal, String, Time)> {
    let euro = find_ticker(tickers, "EUR", via)?;
    let by = format!("EUR/{via}");
    if coin == via {
        let price = Decimal::ONE.checked_div(euro.price)?;
        return Some((price, by, euro.at));
    }
    let ticker = find_ticker(tickers, coin, via)?;
    let price = ticker.price.checked_div(euro.price)?;
    let at = ticker.at.min(euro.at);
    Some((price, format!("{coin}/{via} by {by}"), at))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{
        Currency, Decimal, FigureSource, Ticker, Time, figures_of_tickers, mean_of_ordered,
        parse_number,
    };

    #[test]
    fn number_is_parsed_from_its_digits() {
        for (text, number) in [
            ("60000.10", "60000.10"),
            ("0.1", "0.1"),
            ("1.5e-5", "0.000015"),
            ("2E3", "2000"),
            (".5", "0.5"),
        ] {
            assert_eq!(parse_number(text), Some(number.parse().unwrap()), "{text}");
        }
        let long = "1".repeat(65);
        for text in [
            "",
            ".",
            "0",
            "0.000",
            "-1",
            "+1",
            "1_000",
            " 1",
            "1 ",
            "1,5",
            "NaN",
            "inf",
            "0x10",
            "1.2.3",
            "1e",
            "e5",
            "1e400",
            "1e-400",
            "1e4294967296",
            "1e99999999999999999999",
            "1e2e3",
            "-1e2",
            "٣",
            &long,
            "99999999999999999999999999999999999999999999",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn mean_is_half_the_sum_of_both_numbers() {
        for (upper, lower, expected) in [
            ("60010.20000", "60010.10000", Some("60010.15")),
            ("2", "1", Some("1.5")),
            ("1", "1", Some("1")),
            ("0.00000003", "0.00000002", Some("0.000000025")),
            (
                "0.0000000000000000000000000003",
                "0.0000000000000000000000000001",
                Some("0.0000000000000000000000000002"),
            ),
            ("60010.1", "60010.2", None),
            ("79228162514264337593543950335", "1", None),
        ] {
            let number = |text: &str| text.parse::<Decimal>().unwrap();
            let found = mean_of_ordered(number(lower), number(upper));
            assert_eq!(found, expected.map(number), "{lower} {upper}");
        }
    }

    #[test]
    fn coin_is_priced_directly_or_through_a_shared_symbol() {
        let ticker = |base, quote, price: &str, at| Ticker {
            base,
            quote,
            price: price.parse().unwrap(),
            at: Time(at),
        };
        let tickers = [
            ticker("BTC", "EUR", "60000", 9),
            ticker("BTC", "USD", "66000", 8),
            ticker("EUR", "USD", "1.1", 5),
            ticker("LTC", "USD", "88", 7),
            ticker("EUR", "USDT", "1.25", 6),
            ticker("DOGE", "USDT", "0.25", 3),
            // This price is too large for a rate.
            ticker("SOL", "EUR", "99999999999999999999", 1),
        ];
        let told: Vec<String> = figures_of_tickers(FigureSource::Binance, &tickers)
            .into_iter()
            .map(|told| {
                let (figure, currency) = (told.figure, told.currency);
                format!("{} {currency} {} {} {}", told.coin, figure.rate, figure.via, figure.at.0)
            })
            .collect();
        assert_eq!(
            told,
            [
                "BTC EUR 60000 BTC/EUR 9",
                "BTC USD 66000 BTC/USD 8",
                "LTC EUR 80 LTC/USD by EUR/USD 5",
                "LTC USD 88 LTC/USD 7",
                // USDT never counts as USD, although it is worth nearly one dollar.
                "DOGE EUR 0.2 DOGE/USDT by EUR/USDT 3",
                "USDT EUR 0.8 EUR/USDT 6",
            ]
        );
        assert_eq!(Currency::ALL.len(), 2);
    }
}
