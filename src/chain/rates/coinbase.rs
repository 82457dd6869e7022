//! Coinbase: `GET /v2/exchange-rates?currency=` for each coin, in EUR and USD. One request for all coins would return
//! only the inverse prices, which have too few digits.

use super::{RateClient, RatesError, Ticker, add_ticker, parse_response};
use crate::domain::Time;
use crate::domain::asset::coin_symbols;
use serde::Deserialize;

#[derive(Deserialize)]
struct CoinbaseResponse {
    data: CoinbaseData,
}

#[derive(Deserialize)]
struct CoinbaseData {
    currency: String,
    rates: CoinbaseRates,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct CoinbaseRates {
    eur: Option<String>,
    usd: Option<String>,
}

pub(super) fn fetch_tickers(
    client: &RateClient,
    base: &str,
    now: Time,
) -> Result<Vec<Ticker>, RatesError> {
    let mut tickers = Vec::new();
    for coin in coin_symbols() {
        let (status, body) =
            client.get_response(&format!("{base}/v2/exchange-rates?currency={coin}"))?;
        // The source does not know the coin.
        if [400, 404].contains(&status) {
            continue;
        }
        let CoinbaseResponse { data } = parse_response(status, &body)?;
        if data.currency != coin {
            let said = data.currency;
            return Err(RatesError::new(format!("asked for {coin}, it answered for {said:?}")));
        }
        for (quote, price) in [("EUR", data.rates.eur), ("USD", data.rates.usd)] {
            if let Some(price) = price {
                add_ticker(&mut tickers, coin, quote, &price, now)?;
            }
        }
    }
    Ok(tickers)
}
