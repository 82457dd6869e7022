//! The JSON of rates, for the operator interface.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::Currency;
use crate::domain::rate::{Evidence, Figure, NoAgreement, Quoted, RateSource, Source, SourceState};
use crate::domain::time::{SECOND_MS, Time};
use serde_json::value::to_raw_value;

/// What is known of one coin in one currency.
pub(crate) struct Coin<'a> {
    pub(crate) coin: &'static str,
    pub(crate) currency: Currency,
    pub(crate) now: Result<&'a Quoted, &'a NoAgreement>,
    pub(crate) newest: Option<&'a Quoted>,
    pub(crate) figures: &'a [Figure],
}

view! {
    /// What each coin costs in live mode, and who says so.
    pub RatesView<'a> as "Rates", object "rates" {
        /// Whether sources are asked: while an active account has a live key.
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
    /// What is known of one coin in one currency.
    pub CoinRateView<'a> {
        /// The coin's symbol.
        coin: &'static str;
        /// What it costs is in this.
        currency: Currency;
        /// The rate that live mode quotes now; null while it has none.
        rate: Option<RateView>;
        /// Why there is no rate now, and the coin is not on offer.
        problem: Option<String> [Schema::OrNull(&Schema::STRING)];
        /// The newest rate that was ever known: what comes while there is none is priced at it.
        newest: Option<RateView>;
        /// What each source said last.
        figures: &'a [Figure];
    }
}

view! {
    /// A rate.
    pub RateView {
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        /// Where it came from.
        source: RateSource;
        /// Of which moment it is, in UTC.
        at: Time;
        /// How old it is, in whole seconds.
        age_seconds: i64 [Schema::COUNT];
    }
}

view! {
    /// A source, and what came of asking it last.
    pub RateSourceView<'a> {
        /// Which.
        source: Source;
        /// When it was asked last, in UTC.
        tried_at: Time;
        /// When it told something last, in UTC; null while it never did.
        told_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)];
        /// Why it told nothing when it was asked last.
        problem: Option<&'a str> [Schema::OrNull(&Schema::STRING)];
    }
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
    to_raw_value(&RatesView {
        needed,
        data: coins.collect(),
        sources: sources.collect(),
    })
}

view! {
    /// Where a rate came from.
    pub(crate) PricedByView as "PricedBy" {
        /// fixed: the fixed rates of what is simulated; median: the median of public sources; file: the operator's own
        /// file.
        source: RateSource = "median";
        /// Of which moment the rate is, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// By how much the rate is lower than what was told, in basis points.
        spread_bps: u32 [schema!({ "type": "integer", "minimum": 0, "maximum": 2000 })] = 0;
        /// What each source said; nothing for fixed rates.
        figures: Evidence = [{ "source": "kraken", "rate": "60000.1", "via": "BTC/EUR", "at": "2026-11-21T09:30:00.000Z" }];
    }
}

impl From<&Quoted> for PricedByView {
    fn from(of: &Quoted) -> PricedByView {
        PricedByView {
            source: of.source,
            at: of.at,
            spread_bps: of.spread.0,
            figures: of.evidence.clone(),
        }
    }
}
