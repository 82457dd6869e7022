//! Coinbase: `GET /v2/exchange-rates?currency=` for each coin, in EUR and USD. It requests the price of a coin, because
//! the amount of coin for a euro has too few digits.

use super::{Asker, Failure, Ticker, add, read};
use crate::domain::asset::symbols;
use crate::domain::time::Time;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    currency: String,
    rates: Rates,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Rates {
    eur: Option<String>,
    usd: Option<String>,
}

pub(super) fn ask(asker: &Asker, base: &str, now: Time) -> Result<Vec<Ticker>, Failure> {
    let mut tickers = Vec::new();
    for coin in symbols() {
        let (status, body) = asker.get(&format!("{base}/v2/exchange-rates?currency={coin}"))?;
        // The source does not know the coin.
        if [400, 404].contains(&status) {
            continue;
        }
        let Answer { data } = read((status, &body))?;
        if data.currency != coin {
            let said = data.currency;
            return Err(Failure::of(format!(
                "asked for {coin}, it answered for {said:?}"
            )));
        }
        for (quote, price) in [("EUR", data.rates.eur), ("USD", data.rates.usd)] {
            if let Some(price) = price {
                add(&mut tickers, (coin, quote), &price, now)?;
            }
        }
    }
    Ok(tickers)
}
