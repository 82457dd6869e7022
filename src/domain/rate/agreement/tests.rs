//! Tests of prices that agree, contradict each other, or are too old.

use super::{FRESH_MS_MAX, FigureSource, NoRateReason, RateFigure, RateSource, Time, agreed_rate};

const NOW: Time = Time(1_000_000_000);

/// Returns prices from the public sources, in the order of the enumeration. Each input is a rate with its age in
/// milliseconds.
fn source_figures(rates: &[(&str, i64)]) -> Vec<RateFigure> {
    let sources = FigureSource::PUBLIC.iter();
    let figure = |(source, (rate, age_ms)): (&FigureSource, &(&str, i64))| RateFigure {
        source: *source,
        rate: rate.parse().unwrap(),
        via: "BTC/EUR".to_owned(),
        at: NOW.plus_ms(age_ms.saturating_neg()),
    };
    sources.zip(rates).map(figure).collect()
}

/// Returns the agreed rate as text, or the reason why there is none.
fn agreed_rate_text(rates: &[(&str, i64)]) -> String {
    match agreed_rate(&source_figures(rates), NOW) {
        Ok(quoted) => {
            assert_eq!(quoted.source, RateSource::Median);
            quoted.rate.to_string()
        }
        Err(none) => none.to_string(),
    }
}

fn with_age_zero(rates: &[&'static str]) -> Vec<(&'static str, i64)> {
    rates.iter().map(|rate| (*rate, 0)).collect()
}

#[test]
fn median_is_used_if_two_figures_support_it() {
    for (rates, median) in [
        (&["100", "100"] as &[&str], "100"),
        (&["100", "103"], "101.5"),
        (&["102", "100", "101"], "101"),
        (&["100", "101", "102", "103"], "101.5"),
        // Each row has one price that is too high or too low by half, or absurd.
        (&["100", "150", "100.5"], "100.5"),
        (&["100", "50", "100.5"], "100"),
        (&["100", "150", "100.5", "101"], "100.75"),
        (&["0.0000000001", "100", "100.5", "101"], "100.25"),
        (&["1000000000", "100", "101"], "101"),
    ] {
        let rates: Vec<(&str, i64)> = rates.iter().map(|rate| (*rate, 0)).collect();
        assert_eq!(agreed_rate_text(&rates), median, "{rates:?}");
    }
}

#[test]
fn unsupported_median_gives_no_rate() {
    for rates in [
        &["100", "103.01"] as &[&str],
        &["100", "150"],
        &["100", "104", "109"],
        // The prices form two agreeing pairs, but neither pair is close to the median, 125.
        &["100", "100", "150", "150"],
        &["100", "101", "150", "200"],
    ] {
        let rates: Vec<(&str, i64)> = rates.iter().map(|rate| (*rate, 0)).collect();
        let said = agreed_rate_text(&rates);
        assert!(
            said.starts_with("the sources lie more than 3 % apart: kraken 100,")
                || said.contains("kraken 100"),
            "{said}"
        );
    }
    assert_eq!(
        agreed_rate_text(&with_age_zero(&["100", "150"])),
        "the sources lie more than 3 % apart: kraken 100, coinbase 150"
    );
}

#[test]
fn only_fresh_figures_count() {
    let old = FRESH_MS_MAX + 1;
    assert_eq!(agreed_rate_text(&[]), "no source has reported a rate");
    assert_eq!(
        agreed_rate_text(&[("100", old), ("100", old)]),
        "rates of kraken, coinbase are older than 3 minutes"
    );
    let alone = "only coinbase has reported a rate in the last 3 minutes, and 2 sources must agree";
    assert_eq!(agreed_rate_text(&[("100", old), ("100", 0)]), alone);
    assert_eq!(agreed_rate_text(&[("100", FRESH_MS_MAX), ("100", 0)]), "100");
    // An old price no longer counts.
    assert_eq!(agreed_rate_text(&[("100", 0), ("150", old), ("101", 0)]), "100.5");
    // The time of the first price is too far in the future, so only the second price counts.
    assert_eq!(agreed_rate_text(&[("100", -old), ("100", 0)]), alone);
}

#[test]
fn rate_has_the_time_of_its_oldest_figure() {
    let quoted =
        agreed_rate(&source_figures(&[("100", 60_000), ("100", 0), ("101", 9)]), NOW).unwrap();
    assert_eq!(quoted.at, NOW.plus_ms(-60_000));
    assert!(quoted.is_fresh(NOW));
    let (old, new) = (NOW.plus_ms(-60_000), NOW.plus_ms(-9));
    assert_eq!(
        quoted.evidence.as_str(),
        format!(
            "[{{\"source\":\"kraken\",\"rate\":\"100\",\"via\":\"BTC/EUR\",\"at\":\"{old}\"}},\
            {{\"source\":\"coinbase\",\"rate\":\"100\",\"via\":\"BTC/EUR\",\"at\":\"{NOW}\"}},\
            {{\"source\":\"binance\",\"rate\":\"101\",\"via\":\"BTC/EUR\",\"at\":\"{new}\"}}]"
        )
    );
}

#[test]
fn operator_file_alone_gives_a_rate() {
    let mut figures = source_figures(&[("100", 0), ("100", 0)]);
    figures.push(RateFigure {
        source: FigureSource::File,
        rate: "7".parse().unwrap(),
        via: "BTC/EUR".to_owned(),
        at: NOW.plus_ms(-5),
    });
    let quoted = agreed_rate(&figures, NOW).unwrap();
    assert_eq!(
        (quoted.rate.to_string().as_str(), quoted.source, quoted.at),
        ("7", RateSource::File, NOW.plus_ms(-5))
    );
    let later = NOW.plus_ms(FRESH_MS_MAX);
    let Some(own) = figures.pop() else { return };
    let none = agreed_rate(&[own], later);
    assert_eq!(none, Err(NoRateReason::Stale(vec![FigureSource::File])));
}
