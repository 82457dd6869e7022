//! JSON of rates, for the operator interface.
//!
//! Invariant: field names and their order are part of the API.

use super::Rendered;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::time::SECOND_MS;
use crate::domain::{
    Currency, Evidence, FigureSource, NoRateReason, RateFigure, RateQuote, RateSource, SourceState,
    Time,
};
use serde_json::value::to_raw_value;

/// The rate of one coin in one currency, with the prices from the sources.
pub(crate) struct CoinRates<'a> {
    pub(crate) coin: &'static str,
    pub(crate) currency: Currency,
    pub(crate) now: Result<&'a RateQuote, &'a NoRateReason>,
    pub(crate) newest: Option<&'a RateQuote>,
    pub(crate) figures: &'a [RateFigure],
}

view! {
    /// Rates of live mode with their sources.
    pub RatesView<'a> as "Rates", object "rates" {
        /// Whether the sources are asked: only while an active account has a live key or payment link.
        needed: bool = true;
        /// Every coin in every currency.
        data: Vec<CoinRateView<'a>> = [{
            "coin": "BTC", "currency": "EUR",
            "rate": { "rate": "60000.1", "source": "median", "at": "2026-11-21T09:30:00.000Z", "ageSeconds": 12 },
            "problem": null,
            "newest": { "rate": "60000.1", "source": "median", "at": "2026-11-21T09:30:00.000Z", "ageSeconds": 12 },
            "figures": [{ "source": "kraken", "rate": "60000.1", "via": "BTC/EUR", "at": "2026-11-21T09:30:00.000Z" }]
        }];
        /// Every source that was asked.
        sources: Vec<RateSourceView<'a>> = [{
            "source": "kraken", "triedAt": "2026-11-21T09:30:00.000Z", "toldAt": "2026-11-21T09:30:00.000Z", "problem": null
        }];
    }
}

view! {
    /// Rate of one coin in one currency.
    pub CoinRateView<'a> {
        /// The coin's symbol.
        coin: &'static str;
        /// Currency of the rate.
        currency: Currency;
        /// Present rate of live mode; null if there is none.
        rate: Option<RateView>;
        /// Reason for the missing rate, without which the coin is not on offer.
        problem: Option<String> [Schema::OrNull(&Schema::STRING)];
        /// Newest known rate. It values payments while there is no present rate.
        newest: Option<RateView>;
        /// Last rate of each source.
        figures: &'a [RateFigure];
    }
}

view! {
    /// A rate.
    pub RateView {
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        /// Source of the rate.
        source: RateSource;
        /// Time of the rate, in UTC.
        at: Time;
        /// Age in whole seconds.
        age_seconds: i64 [Schema::COUNT];
    }
}

view! {
    /// A source, with the result of the last request.
    pub RateSourceView<'a> {
        /// The source.
        source: FigureSource;
        /// Time of the last request, in UTC.
        tried_at: Time;
        /// Time of the last answer with rates, in UTC; null before the first.
        told_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)];
        /// Reason for a failed last request.
        problem: Option<&'a str> [Schema::OrNull(&Schema::STRING)];
    }
}

pub(crate) fn rates(
    now: Time,
    needed: bool,
    coins: &[CoinRates<'_>],
    sources: &[SourceState],
) -> Rendered {
    let rate = |quoted: &RateQuote| RateView {
        rate: quoted.rate.to_string(),
        source: quoted.source,
        at: quoted.at,
        age_seconds: now.since_ms(quoted.at).max(0) / SECOND_MS,
    };
    let coins = coins.iter().map(|of| CoinRateView {
        coin: of.coin,
        currency: of.currency,
        rate: of.now.ok().map(rate),
        problem: of.now.err().map(ToString::to_string),
        newest: of.newest.map(rate),
        figures: of.figures,
    });
    let sources = sources.iter().map(|of| RateSourceView {
        source: of.source,
        tried_at: of.tried_at,
        told_at: of.told_at,
        problem: of.problem.as_deref(),
    });
    to_raw_value(&RatesView { needed, data: coins.collect(), sources: sources.collect() })
}

view! {
    /// Origin of a rate.
    pub(crate) PricedByView as "PricedBy" {
        /// fixed: fixed rates of simulated coins; median: median of public sources; file: the operator's own file.
        source: RateSource = "median";
        /// Time of the rate, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// Discount of the rate from the source's rate, in basis points.
        spread_bps: u32 [schema!({ "type": "integer", "minimum": 0, "maximum": 2000 })] = 0;
        /// Rate of each source; empty for fixed rates.
        figures: Evidence = [{ "source": "kraken", "rate": "60000.1", "via": "BTC/EUR", "at": "2026-11-21T09:30:00.000Z" }];
    }
}

impl From<&RateQuote> for PricedByView {
    fn from(of: &RateQuote) -> PricedByView {
        PricedByView {
            source: of.source,
            at: of.at,
            spread_bps: of.spread.0,
            figures: of.evidence.clone(),
        }
    }
}
