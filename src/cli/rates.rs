//! The rate check of `coffer doctor`: asks every source once and reports the resulting rates.
//!
//! Invariant: the check requests only rates that the service would request. Rates in use by a running server are at
//! `GET /dashboard/api/rates`.

use super::checks::Check;
use super::progress::SharedProgress;
use crate::chain::rates::{RateClient, RatesOrigin, Upstream, read_file};
use crate::domain::asset::coin_symbols;
use crate::domain::rate::agreed_rate;
use crate::domain::{Asset, CoinFigure, Currency, FigureSource, RateFigure, Time};
use crate::store::coins_off;
use crate::store::doctor::FileProblem;

/// Timeout of one request to a source, in milliseconds.
const TIMEOUT_MS: u64 = 10_000;

/// Checks every source and the rate of every coin. `coins_off` lists the switched-off coins of the accounts. If
/// `coins_off` is `None`, no account needs rates, and no source is asked.
pub(super) fn check_rates(
    from: &RatesOrigin,
    coins_off: Option<&[(&'static Asset, Time)]>,
    now: Time,
) -> Vec<Check> {
    let Some(off) = coins_off else {
        let about =
            "rates (no active account has a live key or payment link, so none is asked for)";
        return vec![(about.to_owned(), Vec::new())];
    };
    let (told, mut checked) = match from {
        RatesOrigin::Nowhere => (Vec::new(), Vec::new()),
        RatesOrigin::Sources(upstreams) => request_all_sources(upstreams, now),
        RatesOrigin::File(path) => {
            let read = read_file(path, now);
            let complaint = read.as_ref().err().map(|problem| FileProblem {
                about: format!("rates: {problem}"),
                mend: "correct the file that --rates names".to_owned(),
            });
            let about = format!("source of rates {}", path.display());
            let checked = (about, complaint.into_iter().collect());
            (read.unwrap_or_default(), vec![checked])
        }
    };
    let is_by_file = matches!(from, RatesOrigin::File(_));
    let mend = if is_by_file {
        "correct the file that --rates names"
    } else {
        "check the sources above; at least 2 must report it and agree within 3 %"
    };
    for coin in coin_symbols() {
        // A rate file may omit the coins that the operator does not offer.
        let is_left_out = |currency: &Currency| {
            let is_it = |told: &CoinFigure| told.coin == coin && told.currency == *currency;
            is_by_file && !told.is_empty() && !told.iter().any(is_it)
        };
        let currencies = Currency::ALL.iter().copied();
        let needed: Vec<Currency> = currencies.filter(|one| !is_left_out(one)).collect();
        if coins_off::is_off_everywhere(off, coin) || needed.is_empty() {
            let about = format!("rate of {coin}: none, and it is switched off or not in the file");
            checked.push((about, Vec::new()));
            continue;
        }
        checked.push(check_coin_rates(coin, &needed, &told, mend, now));
    }
    checked
}

/// Asks all sources in parallel, each on its own thread.
fn request_all_sources(upstreams: &[Upstream], now: Time) -> (Vec<CoinFigure>, Vec<Check>) {
    let asker = RateClient::new(TIMEOUT_MS);
    let answered = SharedProgress::new("sources of rates asked", upstreams.len());
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let ask = |upstream| {
            let (asker, answered) = (&asker, &answered);
            let asked = scope.spawn(move || {
                let outcome = asker.fetch(upstream, now);
                answered.increment();
                outcome
            });
            (upstream, asked)
        };
        let asked: Vec<(&Upstream, _)> = upstreams.iter().map(ask).collect();
        let answers = asked.into_iter();
        answers
            .map(|(upstream, thread)| {
                let outcome = thread.join().map_err(|_| "asking it failed".to_owned());
                let outcome = outcome.and_then(|told| told.map_err(|failure| failure.problem));
                (upstream.source, outcome)
            })
            .collect()
    });
    let (mut told, mut checked) = (Vec::new(), Vec::new());
    for (source, outcome) in outcomes {
        let complaint = match outcome {
            Ok(found) => {
                told.extend(found);
                None
            }
            Err(problem) => Some(source_problem(source, &problem)),
        };
        let about = format!("source of rates {source}");
        checked.push((about, complaint.into_iter().collect()));
    }
    (told, checked)
}

fn source_problem(source: FigureSource, problem: &str) -> FileProblem {
    FileProblem {
        about: format!("rates: {source} {problem}"),
        mend: format!(
            "allow this machine to reach it, remove it from --rates, or pass a mirror ({source}=URL)"
        ),
    }
}

/// Checks the rate of a coin in each of these currencies. `mend` is the fix if a rate is missing.
fn check_coin_rates(
    coin: &str,
    currencies: &[Currency],
    told: &[CoinFigure],
    mend: &str,
    now: Time,
) -> Check {
    let (mut rates, mut complaints) = (Vec::new(), Vec::new());
    for currency in currencies {
        let of_both = |told: &&CoinFigure| told.coin == coin && told.currency == *currency;
        let figures: Vec<RateFigure> =
            told.iter().filter(of_both).map(|told| told.figure.clone()).collect();
        match agreed_rate(&figures, now) {
            Ok(quoted) => {
                let age_s = now.since_ms(quoted.at).max(0) / 1000;
                let sources: Vec<&str> = figures.iter().map(|one| one.source.as_str()).collect();
                rates.push(format!(
                    "{} {currency} ({age_s} s old, {})",
                    quoted.rate,
                    sources.join(", ")
                ));
            }
            Err(why) => complaints.push(FileProblem {
                about: format!(
                    "rates: {coin} has none in {currency}, so it is not on offer: {why}"
                ),
                mend: mend.to_owned(),
            }),
        }
    }
    (format!("rate of {coin}: {}", rates.join(", ")), complaints)
}
