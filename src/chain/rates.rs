//! What coins cost, by public sources: asks them over HTTP, without a key, each within limits.
//!
//! What lives here: which sources there are to ask, the one call, and its limits. What does not: how each spells its
//! answers (a file for each), what follows from several (`domain::rate`), when they are asked (`worker::rates`). What
//! always holds: a call ends, follows no redirect, goes through no proxy of the environment, and is believed only as a
//! whole: an answer of which a part is not as documented tells nothing.

mod binance;
mod coinbase;
mod coingecko;
mod file;
mod kraken;
mod setting;
#[cfg(test)]
mod tests;

pub use file::{FILE_BYTES_MAX, read_file};
pub use setting::{RatesFrom, Upstream};

use crate::domain::rate::{CoinFigure, FigureSource, Ticker, figures, parse_number};
use crate::domain::time::Time;
use serde::Deserialize;
use std::io::Read;
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Response, header::RETRY_AFTER};

const USER_AGENT: &str = concat!("coffer/", env!("CARGO_PKG_VERSION"));

/// The most bytes of an answer: the largest is that of all pairs of an exchange, some 400 KB.
const ANSWER_BYTES_MAX: u64 = 2 * 1024 * 1024;
const ANSWER_HEADER_BYTES_MAX: usize = 32 * 1024;
const REASON_CHARS_MAX: usize = 200;
/// The longest pause that a source's `Retry-After` is heard for.
const RETRY_AFTER_S_MAX: u64 = 3_600;

/// Why a source told nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In words, without the query.
    pub problem: String,
    /// How long it asks to be left alone, in seconds, where it says that it is asked too often.
    pub retry_after_s: Option<u64>,
}

impl Failure {
    fn of(problem: impl Into<String>) -> Failure {
        let problem: String = problem.into();
        let plain = problem.chars().filter(|char| !char.is_control());
        Failure {
            problem: plain.take(REASON_CHARS_MAX).collect(),
            retry_after_s: None,
        }
    }
}

/// Asks sources. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Asker {
    agent: Agent,
}

impl Asker {
    /// One call, from the lookup to the last byte read, takes no longer than `timeout_ms`.
    pub fn new(timeout_ms: u64) -> Asker {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .proxy(None) // the default would be the environment's
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(USER_AGENT)
            .max_response_header_size(ANSWER_HEADER_BYTES_MAX)
            .build();
        Asker {
            agent: Agent::new_with_config(config),
        }
    }

    /// Asks one source what each coin costs, and waits for the answer on this thread. What it tells is of `now`, unless
    /// it says that it is older.
    ///
    /// # Errors
    /// Why it told nothing.
    pub fn ask(&self, upstream: &Upstream, now: Time) -> Result<Vec<CoinFigure>, Failure> {
        let tickers = match upstream.source {
            FigureSource::Kraken => kraken::ask(self, &upstream.base, now)?,
            FigureSource::Coinbase => coinbase::ask(self, &upstream.base, now)?,
            FigureSource::Binance => binance::ask(self, &upstream.base, now)?,
            FigureSource::Coingecko => coingecko::ask(self, &upstream.base, now)?,
            FigureSource::File => Vec::new(),
        };
        let told = figures(upstream.source, &tickers);
        if told.is_empty() {
            return Err(Failure::of("the answer has no price of any coin"));
        }
        Ok(told)
    }

    /// The body of a successful answer, whatever its status says where `is_answer` knows what it means.
    fn get(&self, url: &str) -> Result<(u16, Vec<u8>), Failure> {
        let response = self.agent.get(url).call();
        let mut response = response.map_err(|error| Failure::of(reason(&error)))?;
        let status = response.status().as_u16();
        if (300..400).contains(&status) {
            return Err(Failure::of(format!(
                "answered {status}, a redirect, which is not followed"
            )));
        }
        // 418 is Binance's word for an address that is shut out for a while.
        if [418, 429].contains(&status) {
            return Err(Failure {
                retry_after_s: Some(retry_after_s(&response)),
                ..Failure::of(format!("answered {status}: it is asked too often"))
            });
        }
        let mut body = Vec::new();
        let most = ANSWER_BYTES_MAX.saturating_add(1);
        let read = response
            .body_mut()
            .as_reader()
            .take(most)
            .read_to_end(&mut body);
        read.map_err(|error| Failure::of(format!("the answer broke off: {error}")))?;
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > ANSWER_BYTES_MAX {
            return Err(Failure::of("the answer is larger than 2 MiB"));
        }
        Ok((status, body))
    }
}

/// How long a source asks to be left alone.
fn retry_after_s(response: &Response<ureq::Body>) -> u64 {
    let header = response.headers().get(RETRY_AFTER);
    let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.unwrap_or(0).min(RETRY_AFTER_S_MAX)
}

/// A short reason why there was no answer.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "did not answer in time".to_owned(),
        other => other.to_string(),
    }
}

/// Reads JSON of a shape.
fn read<'a, T: Deserialize<'a>>((status, body): (u16, &'a [u8])) -> Result<T, Failure> {
    if status != 200 {
        return Err(Failure::of(format!("answered {status}")));
    }
    let read = serde_json::from_slice(body);
    read.map_err(|error| Failure::of(format!("the answer is not as documented: {error}")))
}

/// Adds the ticker of a pair.
///
/// # Errors
/// The text spells no positive number.
fn add(
    tickers: &mut Vec<Ticker>,
    (base, quote): (&'static str, &'static str),
    price: &str,
    at: Time,
) -> Result<(), Failure> {
    let price = parse_number(price).ok_or_else(|| no_price("price", (base, quote), price))?;
    tickers.push(Ticker {
        base,
        quote,
        price,
        at,
    });
    Ok(())
}

/// The text of this price of a pair spells no positive number.
fn no_price(name: &str, (base, quote): (&str, &str), text: &str) -> Failure {
    let problem = format!("the {name} of {base} in {quote} is {text:?}, not a positive number");
    Failure::of(problem)
}
