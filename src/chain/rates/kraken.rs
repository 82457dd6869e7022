//! Kraken: `GET /0/public/Ticker`, in EUR and USD. The price is the middle of the current ask and bid. The price of
//! the last trade (`c`) is not used, because it may be old.

use super::{RateClient, RatesError, Ticker, invalid_price, parse_response};
use crate::domain::Time;
use crate::domain::asset::coin_symbols;
use crate::domain::rate::{mean_of_ordered, parse_number};
use serde::Deserialize;
use std::collections::HashMap;

/// Currencies in which prices are requested.
const IN: [&str; 2] = ["EUR", "USD"];
const EURO: (&str, &str) = ("EUR", "USD");
/// Error message for a delisted pair. Kraken rejects the whole request if any of its pairs is delisted.
const UNKNOWN: &str = "EQuery:Unknown asset pair";
const BUSY: [&str; 2] = ["EAPI:Rate limit exceeded", "EGeneral:Too many requests"];

#[derive(Deserialize)]
struct KrakenResponse {
    error: Vec<String>,
    #[serde(default)]
    result: HashMap<String, KrakenPair>,
}

#[derive(Deserialize)]
struct KrakenPair {
    /// Best ask: price, whole lot volume and lot volume.
    a: Vec<String>,
    /// Best bid: price, whole lot volume and lot volume.
    b: Vec<String>,
}

fn kraken_symbol(symbol: &str) -> &str {
    match symbol {
        "BTC" => "XBT",
        "DOGE" => "XDG",
        other => other,
    }
}

fn requested_pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |coin: &'static str| IN.iter().map(move |quote| (coin, *quote));
    coin_symbols().flat_map(of).chain([EURO])
}

/// Returns the possible names of a pair in a response. New pairs have the requested name. Old pairs have a prefix
/// letter before each currency.
fn pair_names(base: &str, quote: &str) -> [String; 4] {
    let base = kraken_symbol(base);
    [
        format!("X{base}Z{quote}"),
        format!("Z{base}Z{quote}"),
        format!("{base}Z{quote}"),
        format!("{base}{quote}"),
    ]
}

pub(super) fn fetch_tickers(
    client: &RateClient,
    base: &str,
    now: Time,
) -> Result<Vec<Ticker>, RatesError> {
    let list: Vec<String> =
        requested_pairs().map(|(base, quote)| format!("{}{quote}", kraken_symbol(base))).collect();
    let all = format!("{base}/0/public/Ticker");
    let answer = fetch_response(client, &format!("{all}?pair={}", list.join(",")))?;
    let answer = if answer.error.iter().any(|error| error == UNKNOWN) {
        fetch_response(client, &all)?
    } else {
        answer
    };
    // Messages that begin with W are warnings.
    if let Some(error) = answer.error.iter().find(|error| error.starts_with('E')) {
        let busy = BUSY.contains(&error.as_str());
        return Err(RatesError {
            retry_after_s: busy.then_some(0),
            ..RatesError::new(format!("answered an error: {error}"))
        });
    }
    let mut tickers = Vec::new();
    for (base, quote) in requested_pairs() {
        let names = pair_names(base, quote);
        if let Some(found) = names.iter().find_map(|name| answer.result.get(name)) {
            tickers.push(find_ticker(base, quote, found, now)?);
        }
    }
    Ok(tickers)
}

/// Returns the ticker of a pair.
///
/// # Errors
/// Ask or bid is missing or not positive, or the ask is below the bid.
fn find_ticker(
    base: &'static str,
    quote: &'static str,
    found: &KrakenPair,
    at: Time,
) -> Result<Ticker, RatesError> {
    let read = |name: &str, side: &[String]| {
        let text = side.first().map_or("", String::as_str);
        parse_number(text).ok_or_else(|| invalid_price(name, base, quote, text))
    };
    let (ask, bid) = (read("ask price", &found.a)?, read("bid price", &found.b)?);
    let price = mean_of_ordered(bid, ask).ok_or_else(|| {
        RatesError::new(format!(
            "the ask price of {base} in {quote} is {ask} and the bid price {bid}, which have no middle: the ask must not be \
             below the bid"
        ))
    })?;
    Ok(Ticker { base, quote, price, at })
}

fn fetch_response(client: &RateClient, url: &str) -> Result<KrakenResponse, RatesError> {
    let (status, body) = client.get_response(url)?;
    parse_response(status, &body)
}
