//! Reads the operator's file of rates: `{"BTC": {"EUR": "60000", "USD": "65000"}, …}`. A file with an invalid part is
//! rejected as a whole.

use crate::domain::asset::coin_symbols;
use crate::domain::rate::parse_number;
use crate::domain::{CoinFigure, Currency, FigureSource, Rate, RateFigure, Time};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// Largest size of the file, in bytes.
pub const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Returns the rates in the file, with the time `now`.
///
/// # Errors
/// A message for the operator.
pub fn read_file(path: &Path, now: Time) -> Result<Vec<CoinFigure>, String> {
    let shown = path.display();
    let mut text = Vec::new();
    let opened = File::open(path);
    let read = opened.and_then(|file| {
        let most = FILE_BYTES_MAX.saturating_add(1);
        file.take(most).read_to_end(&mut text)
    });
    read.map_err(|error| format!("{shown}: {error}"))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(format!("{shown} is larger than {} KiB", FILE_BYTES_MAX / 1024));
    }
    let coins: Map<String, Value> = serde_json::from_slice(&text)
        .map_err(|error| format!("{shown} is not a JSON object: {error}"))?;
    parse_coins(&coins, now).map_err(|problem| format!("{shown}: {problem}"))
}

fn parse_coins(coins: &Map<String, Value>, now: Time) -> Result<Vec<CoinFigure>, String> {
    let mut told = Vec::new();
    for (name, rates) in coins {
        let coin = coin_symbols().find(|symbol| symbol == name).ok_or_else(|| {
            let known: Vec<&str> = coin_symbols().collect();
            format!("{name:?} is not a coin; there are {}", known.join(", "))
        })?;
        let rates = rates.as_object();
        let rates =
            rates.ok_or_else(|| format!("{name} must be an object like {{\"EUR\": \"60000\"}}"))?;
        for (currency, rate) in rates {
            let rate = parse_rate(rate).ok_or_else(|| {
                format!("{name} in {currency} must be a positive number of at most 10 decimals, as a text")
            })?;
            let currency = Currency::from_str(currency)
                .map_err(|problem| format!("{name}: {currency:?} {problem}"))?;
            let figure = RateFigure {
                source: FigureSource::File,
                rate,
                via: format!("{name}/{currency}"),
                at: now,
            };
            told.push(CoinFigure { coin, currency, figure });
        }
    }
    if told.is_empty() {
        return Err("it has no rate".to_owned());
    }
    Ok(told)
}

fn parse_rate(value: &Value) -> Option<Rate> {
    match value {
        Value::String(text) => Rate::new(parse_number(text)?).ok(),
        Value::Number(number) => Rate::new(parse_number(&number.to_string())?).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, parse_coins};
    use serde_json::{Map, Value};

    fn parse_rates_text(text: &str) -> Result<Vec<String>, String> {
        let coins: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let told = parse_coins(&coins, Time(7))?.into_iter();
        let each = told.map(|told| format!("{} {} {}", told.coin, told.currency, told.figure.rate));
        Ok(each.collect())
    }

    #[test]
    fn file_has_rates_by_coin_and_currency() {
        assert_eq!(
            parse_rates_text(
                r#"{"BTC": {"EUR": "60000", "USD": "65000.5"}, "DOGE": {"USD": 0.1}, "USDT": {}}"#
            ),
            Ok(["BTC EUR 60000", "BTC USD 65000.5", "DOGE USD 0.1"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn invalid_file_is_rejected() {
        for (text, problem) in [
            ("{}", "it has no rate"),
            (r#"{"BTC": {}}"#, "it has no rate"),
            (r#"{"btc": {"EUR": "1"}}"#, "\"btc\" is not a coin; there are BTC, LTC,"),
            (r#"{"USDC-BASE": {"EUR": "1"}}"#, "\"USDC-BASE\" is not a coin"),
            (r#"{"BTC": "60000"}"#, "BTC must be an object"),
            (r#"{"BTC": {"GBP": "1"}}"#, "BTC: \"GBP\" must be one of EUR, USD"),
            (
                r#"{"LTC": {"EUR": "80"}, "BTC": {"EUR": "0"}}"#,
                "BTC in EUR must be a positive number",
            ),
            (r#"{"BTC": {"EUR": "-1"}}"#, "BTC in EUR must be"),
            (r#"{"BTC": {"EUR": "1e400"}}"#, "BTC in EUR must be"),
            (r#"{"BTC": {"EUR": null}}"#, "BTC in EUR must be"),
            (r#"{"BTC": {"EUR": "99999999999999999999"}}"#, "BTC in EUR must be"),
        ] {
            let refused = parse_rates_text(text);
            assert!(matches!(&refused, Err(said) if said.contains(problem)), "{text}: {refused:?}");
        }
    }
}
