//! The JSON of rates, for the operator interface.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::money::Currency;
use crate::domain::rate::{Evidence, Figure, NoAgreement, Quoted, RateSource, Source, SourceState};
use crate::domain::time::{SECOND_MS, Time};
use serde::Serialize;
use serde_json::value::to_raw_value;

/// What is known of one coin in one currency.
pub(crate) struct Coin<'a> {
    pub(crate) coin: &'static str,
    pub(crate) currency: Currency,
    pub(crate) now: Result<&'a Quoted, &'a NoAgreement>,
    pub(crate) newest: Option<&'a Quoted>,
    pub(crate) figures: &'a [Figure],
}

#[derive(Serialize)]
#[serde(tag = "object", rename = "rates", rename_all = "camelCase")]
struct RatesView<'a> {
    needed: bool,
    data: Vec<CoinView<'a>>,
    sources: Vec<SourceView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CoinView<'a> {
    coin: &'static str,
    currency: Currency,
    rate: Option<RateView>,
    problem: Option<String>,
    newest: Option<RateView>,
    figures: &'a [Figure],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RateView {
    rate: String,
    source: RateSource,
    at: Time,
    age_seconds: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceView<'a> {
    source: Source,
    tried_at: Time,
    told_at: Option<Time>,
    problem: Option<&'a str>,
}

/// Every coin and every source.
///
/// # Errors
/// serde_json's, which no rate causes.
pub(crate) fn rates(
    now: Time,
    needed: bool,
    coins: &[Coin<'_>],
    sources: &[SourceState],
) -> Rendered {
    let rate = |quoted: &Quoted| RateView {
        rate: quoted.rate.to_string(),
        source: quoted.source,
        at: quoted.at,
        age_seconds: now.since_ms(quoted.at).max(0) / SECOND_MS,
    };
    let coins = coins.iter().map(|of| CoinView {
        coin: of.coin,
        currency: of.currency,
        rate: of.now.ok().map(rate),
        problem: of.now.err().map(ToString::to_string),
        newest: of.newest.map(rate),
        figures: of.figures,
    });
    let sources = sources.iter().map(|of| SourceView {
        source: of.source,
        tried_at: of.tried_at,
        told_at: of.told_at,
        problem: of.problem.as_deref(),
    });
    to_raw_value(&RatesView {
        needed,
        data: coins.collect(),
        sources: sources.collect(),
    })
}

/// Where the rate of what was priced came from.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PricedBy {
    source: RateSource,
    at: Time,
    spread_bps: u32,
    figures: Evidence,
}

impl From<&Quoted> for PricedBy {
    fn from(of: &Quoted) -> PricedBy {
        PricedBy {
            source: of.source,
            at: of.at,
            spread_bps: of.spread.0,
            figures: of.evidence.clone(),
        }
    }
}
