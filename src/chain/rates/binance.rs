//! Binance: `GET /api/v3/ticker/price`, with prices in EUR and USDT, and with the price of the euro in USDT. Binance
//! has no USD pairs, so there are no prices in USD.

use super::{RateClient, RatesError, Ticker, add_ticker, parse_response};
use crate::domain::Time;
use crate::domain::asset::coin_symbols;
use serde::Deserialize;
use std::collections::HashMap;

const EURO: (&str, &str) = ("EUR", "USDT");
/// Error code for a delisted pair. Binance rejects the whole request if any of its pairs is delisted.
const UNKNOWN: i64 = -1121;
/// Error code for a rate limit.
const BUSY: i64 = -1003;

#[derive(Deserialize)]
struct BinancePrice {
    symbol: String,
    price: String,
}

#[derive(Deserialize)]
struct BinanceError {
    code: i64,
    #[serde(default)]
    msg: String,
}

/// Returns all pairs to request: coins in EUR and in USDT, and the euro in USDT. Stablecoins are not requested in EUR.
fn requested_pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let in_euro = coin_symbols().filter(|coin| !["USDT", "USDC"].contains(coin));
    let in_tether = coin_symbols().filter(|coin| *coin != "USDT");
    let in_euro = in_euro.map(|coin| (coin, "EUR"));
    let in_tether = in_tether.map(|coin| (coin, "USDT"));
    in_euro.chain(in_tether).chain([EURO])
}

pub(super) fn fetch_tickers(
    client: &RateClient,
    base: &str,
    now: Time,
) -> Result<Vec<Ticker>, RatesError> {
    let list: Vec<String> =
        requested_pairs().map(|(base, quote)| format!("%22{base}{quote}%22")).collect();
    let all = format!("{base}/api/v3/ticker/price");
    let (status, body) =
        client.get_response(&format!("{all}?symbols=%5B{}%5D", list.join("%2C")))?;
    let (status, body) = match parse_error(&body) {
        Some(problem) if problem.code == UNKNOWN => client.get_response(&all)?,
        Some(_) | None => (status, body),
    };
    if let Some(BinanceError { code, msg }) = parse_error(&body) {
        return Err(RatesError {
            retry_after_s: (code == BUSY).then_some(0),
            ..RatesError::new(format!("answered an error: {code} {msg}"))
        });
    }
    let prices: Vec<BinancePrice> = parse_response(status, &body)?;
    let prices: HashMap<&str, &str> =
        prices.iter().map(|one| (one.symbol.as_str(), one.price.as_str())).collect();
    let mut tickers = Vec::new();
    for (base, quote) in requested_pairs() {
        if let Some(price) = prices.get(format!("{base}{quote}").as_str()) {
            add_ticker(&mut tickers, base, quote, price, now)?;
        }
    }
    Ok(tickers)
}

/// Returns the error in a response body, whatever the HTTP status.
fn parse_error(body: &[u8]) -> Option<BinanceError> {
    let is_object = body.trim_ascii_start().starts_with(b"{");
    is_object.then(|| serde_json::from_slice(body).ok())?
}
