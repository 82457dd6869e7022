//! Computes a rate from several sources: the median of their fresh prices, if enough of the prices agree.
//!
//! Invariant: one source alone gives no rate, except the operator's own file. A wrong source can prevent a rate, but
//! cannot set one.

use super::{
    Evidence, FRESH_MS_MAX, FigureSource, RateFigure, RateQuote, RateSource, mean_of_ordered,
};
use crate::domain::money::Bps;
use crate::domain::money::coin::Rate;
use crate::domain::time::Time;
use rust_decimal::Decimal;
use std::fmt;

/// Largest difference between two agreeing prices, in percent.
const APART_PERCENT_MAX: i64 = 3;

/// Reason why no rate can be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRateReason {
    /// No source has reported a price.
    NoPrices,
    /// The prices of these sources are all too old.
    Stale(Vec<FigureSource>),
    /// Only this source has a fresh price.
    Alone(FigureSource),
    /// The prices of these sources contradict each other.
    Apart(Vec<(FigureSource, Rate)>),
    /// A fault of the sandbox makes its fixed rates stale.
    Simulated,
}

impl fmt::Display for NoRateReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRateReason::Simulated => out.write_str("a fault of the sandbox makes rates stale"),
            NoRateReason::NoPrices => out.write_str("no source has reported a rate"),
            NoRateReason::Stale(sources) => {
                write!(out, "rates of {} are older than 3 minutes", join_names(sources))
            }
            NoRateReason::Alone(source) => write!(
                out,
                "only {source} has reported a rate in the last 3 minutes, and 2 sources must agree"
            ),
            NoRateReason::Apart(told) => {
                let told = told.iter().map(|(source, rate)| format!("{source} {rate}"));
                let told: Vec<String> = told.collect();
                write!(
                    out,
                    "the sources lie more than {APART_PERCENT_MAX} % apart: {}",
                    told.join(", ")
                )
            }
        }
    }
}

fn join_names(sources: &[FigureSource]) -> String {
    let names: Vec<&str> = sources.iter().map(|source| source.as_str()).collect();
    names.join(", ")
}

/// Returns `true` if the price is fresh. A time in the future counts like an equally distant time in the past, since
/// the clock may have been set back.
fn is_fresh(figure: &RateFigure, now: Time) -> bool {
    now.since_ms(figure.at).unsigned_abs() <= FRESH_MS_MAX.unsigned_abs()
}

/// Returns the current rate from the prices of one coin in one currency.
///
/// # Errors
/// The reason why no rate can be computed.
pub fn agreed_rate(figures: &[RateFigure], now: Time) -> Result<RateQuote, NoRateReason> {
    let mut fresh: Vec<&RateFigure> = figures.iter().filter(|one| is_fresh(one, now)).collect();
    if let Some(own) = fresh.iter().find(|one| one.source == FigureSource::File) {
        return Ok(quote_of_figures(own.rate, RateSource::File, own.at, &[own]));
    }
    let (oldest, alone) = match fresh.as_slice() {
        [] if figures.is_empty() => return Err(NoRateReason::NoPrices),
        [] => {
            let sources = figures.iter().map(|figure| figure.source);
            return Err(NoRateReason::Stale(sources.collect()));
        }
        [first, rest @ ..] => {
            let oldest = rest.iter().map(|figure| figure.at).min();
            let alone = rest.is_empty().then_some(first.source);
            (oldest.map_or(first.at, |at| at.min(first.at)), alone)
        }
    };
    if let Some(source) = alone {
        return Err(NoRateReason::Alone(source));
    }
    fresh.sort_by_key(|figure| figure.rate.decimal());
    let rates: Vec<Decimal> = fresh.iter().map(|figure| figure.rate.decimal()).collect();
    let median = median(&rates).filter(|median| is_median_supported(&rates, *median));
    match median.and_then(|median| Rate::new(median).ok()) {
        Some(rate) => Ok(quote_of_figures(rate, RateSource::Median, oldest, &fresh)),
        None => {
            let told = fresh.iter().map(|figure| (figure.source, figure.rate));
            Err(NoRateReason::Apart(told.collect()))
        }
    }
}

/// Returns the latest rate of the operator's file, regardless of its age.
pub fn rate_from_file(figures: &[RateFigure]) -> Option<RateQuote> {
    let own = figures.iter().find(|one| one.source == FigureSource::File)?;
    Some(quote_of_figures(own.rate, RateSource::File, own.at, &[own]))
}

fn quote_of_figures(
    rate: Rate,
    source: RateSource,
    at: Time,
    figures: &[&RateFigure],
) -> RateQuote {
    RateQuote {
        rate,
        source,
        at,
        spread: Bps(0),
        evidence: Evidence::from_figures(figures.iter().copied()),
    }
}

/// Returns the median of sorted numbers. For an even count, it is the mean of the two numbers in the middle.
fn median(sorted: &[Decimal]) -> Option<Decimal> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get((sorted.len() / 2).checked_sub(1)?)?;
    mean_of_ordered(lower, upper)
}

/// Returns `true` if two neighboring numbers are close to each other, and both are close to the median.
fn is_median_supported(sorted: &[Decimal], median: Decimal) -> bool {
    let mut neighbours = sorted.iter().zip(sorted.iter().skip(1));
    neighbours.any(|(lower, upper)| {
        are_close_sorted(*lower, *upper) && are_close(*lower, median) && are_close(*upper, median)
    })
}

/// Returns `true` if the larger number is at most 3 % above the smaller number.
fn are_close_sorted(smaller: Decimal, larger: Decimal) -> bool {
    let most = Decimal::new(APART_PERCENT_MAX.saturating_add(100), 2);
    smaller.checked_mul(most).is_some_and(|bound| larger <= bound)
}

fn are_close(one: Decimal, other: Decimal) -> bool {
    are_close_sorted(one.min(other), one.max(other))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
