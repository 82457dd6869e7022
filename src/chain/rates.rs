//! Fetches coin prices from public sources over HTTP, without an API key.
//!
//! Invariant: a call has a time limit, follows no redirect and ignores proxies of the environment. A response is
//! rejected as a whole if any part differs from the documentation.

mod binance;
mod coinbase;
mod coingecko;
mod file;
mod kraken;
mod setting;
#[cfg(test)]
mod tests;

pub use file::{FILE_BYTES_MAX, read_file};
pub use setting::{RatesOrigin, Upstream};

use crate::domain::rate::{figures_of_tickers, parse_number};
use crate::domain::{CoinFigure, FigureSource, Ticker, Time};
use serde::Deserialize;
use std::io::Read;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, header::RETRY_AFTER};

const USER_AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));

/// Largest size of a response, in bytes. The largest known response, with all pairs of an exchange, has about 400 KB.
const ANSWER_BYTES_MAX: u64 = 2 * 1024 * 1024;
const ANSWER_HEADER_BYTES_MAX: usize = 32 * 1024;
const REASON_CHARS_MAX: usize = 200;
/// Longest `Retry-After` that is obeyed, in seconds. A larger value is reduced to this one.
const RETRY_AFTER_S_MAX: u64 = 3_600;

/// Reason why a source returned no rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatesError {
    /// Description of the problem. Contains no query string.
    pub problem: String,
    /// Seconds to wait before the next request, if the source limits the rate.
    pub retry_after_s: Option<u64>,
}

impl RatesError {
    fn new(problem: impl Into<String>) -> RatesError {
        let problem: String = problem.into();
        let plain = problem.chars().filter(|char| !char.is_control());
        RatesError { problem: plain.take(REASON_CHARS_MAX).collect(), retry_after_s: None }
    }
}

/// HTTP client of the rate sources. Clones share the connections.
#[derive(Clone, Debug)]
pub struct RateClient {
    agent: Agent,
}

impl RateClient {
    /// Creates a client. A call takes at most `timeout_ms`, from name lookup to the last byte.
    pub fn new(timeout_ms: u64) -> RateClient {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .proxy(None) // the default would be the environment's
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(USER_AGENT)
            .max_response_header_size(ANSWER_HEADER_BYTES_MAX)
            .build();
        RateClient { agent: Agent::new_with_config(config) }
    }

    /// Fetches the prices of one source, and blocks the calling thread. Prices have the time `now`, unless the source
    /// returns an older time.
    ///
    /// # Errors
    /// [`RatesError`].
    pub fn fetch(&self, upstream: &Upstream, now: Time) -> Result<Vec<CoinFigure>, RatesError> {
        let tickers = match upstream.source {
            FigureSource::Kraken => kraken::fetch_tickers(self, &upstream.base, now)?,
            FigureSource::Coinbase => coinbase::fetch_tickers(self, &upstream.base, now)?,
            FigureSource::Binance => binance::fetch_tickers(self, &upstream.base, now)?,
            FigureSource::Coingecko => coingecko::fetch_tickers(self, &upstream.base, now)?,
            FigureSource::File => Vec::new(),
        };
        let told = figures_of_tickers(upstream.source, &tickers);
        if told.is_empty() {
            return Err(RatesError::new("the answer has no price of any coin"));
        }
        Ok(told)
    }

    /// Returns the status and the body of a response. A redirect or a rate limit of the source is an error.
    fn get_response(&self, url: &str) -> Result<(u16, Vec<u8>), RatesError> {
        let response = self.agent.get(url).call();
        let mut response = response.map_err(|error| RatesError::new(failure_reason(&error)))?;
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            return Err(RatesError::new(format!(
                "answered {status}, a redirect, which is not followed"
            )));
        }
        // Binance sends status 418 while it blocks an IP address.
        if [418, 429].contains(&status) {
            return Err(RatesError {
                retry_after_s: Some(retry_after_s(&response)),
                ..RatesError::new(format!("answered {status}: it is asked too often"))
            });
        }
        let mut body = Vec::new();
        let most = ANSWER_BYTES_MAX.saturating_add(1);
        let read = response.body_mut().as_reader().take(most).read_to_end(&mut body);
        read.map_err(|error| RatesError::new(format!("the answer broke off: {error}")))?;
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > ANSWER_BYTES_MAX {
            return Err(RatesError::new("the answer is larger than 2 MiB"));
        }
        Ok((status, body))
    }
}

/// Returns the number of seconds to wait, from the `Retry-After` header.
fn retry_after_s(response: &Response<ureq::Body>) -> u64 {
    let header = response.headers().get(RETRY_AFTER);
    let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.unwrap_or(0).min(RETRY_AFTER_S_MAX)
}

/// Returns a short reason for a failed request.
fn failure_reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "did not answer in time".to_owned(),
        other => other.to_string(),
    }
}

/// Deserializes the JSON body of a response.
fn parse_response<'a, T: Deserialize<'a>>(status: u16, body: &'a [u8]) -> Result<T, RatesError> {
    if status != 200 {
        return Err(RatesError::new(format!("answered {status}")));
    }
    let read = serde_json::from_slice(body);
    read.map_err(|error| RatesError::new(format!("the answer is not as documented: {error}")))
}

/// Adds a price to the tickers of currency pairs.
///
/// # Errors
///
/// The text is not a positive number.
fn add_ticker(
    tickers: &mut Vec<Ticker>,
    base: &'static str,
    quote: &'static str,
    price: &str,
    at: Time,
) -> Result<(), RatesError> {
    let price = parse_number(price).ok_or_else(|| invalid_price("price", base, quote, price))?;
    tickers.push(Ticker { base, quote, price, at });
    Ok(())
}

/// Returns the error for a price that is not a positive number.
fn invalid_price(name: &str, base: &str, quote: &str, text: &str) -> RatesError {
    let problem = format!("the {name} of {base} in {quote} is {text:?}, not a positive number");
    RatesError::new(problem)
}
