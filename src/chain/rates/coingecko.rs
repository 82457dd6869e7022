//! CoinGecko: `GET /api/v3/simple/price`, in EUR and USD. Each price has the timestamp from the response.

use super::{RateClient, RatesError, Ticker, add_ticker, parse_response};
use crate::domain::Time;
use crate::domain::asset::coin_symbols;
use crate::domain::time::SECOND_MS;
use serde::Deserialize;
use serde_json::{Number, Value};
use std::collections::HashMap;

#[derive(Deserialize)]
struct CoingeckoPrices {
    eur: Option<Number>,
    usd: Option<Number>,
    last_updated_at: Option<i64>,
}

fn coingecko_id(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "BTC" => "bitcoin",
        "LTC" => "litecoin",
        "DOGE" => "dogecoin",
        "ETH" => "ethereum",
        "USDT" => "tether",
        "USDC" => "usd-coin",
        "TRX" => "tron",
        "SOL" => "solana",
        _ => return None,
    })
}

pub(super) fn fetch_tickers(
    client: &RateClient,
    base: &str,
    now: Time,
) -> Result<Vec<Ticker>, RatesError> {
    let ids: Vec<&str> = coin_symbols().filter_map(coingecko_id).collect();
    let url = format!(
        "{base}/api/v3/simple/price?ids={}&vs_currencies=eur,usd&include_last_updated_at=true&precision=full",
        ids.join(",")
    );
    let (status, body) = client.get_response(&url)?;
    let answer: HashMap<String, Value> = parse_response(status, &body)?;
    if let Some(said) = answer.get("status").or_else(|| answer.get("error")) {
        return Err(RatesError::new(format!("answered an error: {said}")));
    }
    let mut tickers = Vec::new();
    for coin in coin_symbols() {
        let Some(found) = coingecko_id(coin).and_then(|id| answer.get(id)) else {
            continue;
        };
        let prices = CoingeckoPrices::deserialize(found).map_err(|error| {
            RatesError::new(format!("the answer is not as documented: {coin}: {error}"))
        })?;
        let updated = prices.last_updated_at.map(|at| Time(at.saturating_mul(SECOND_MS)));
        let at = updated.map_or(now, |updated| updated.min(now));
        for (quote, price) in [("EUR", prices.eur), ("USD", prices.usd)] {
            if let Some(price) = price {
                add_ticker(&mut tickers, coin, quote, &price.to_string(), at)?;
            }
        }
    }
    Ok(tickers)
}
