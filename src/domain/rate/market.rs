//! Market of a coin in one currency: its rate, sources and age.

use super::{NoRateReason, Rate, RateFigure, RateQuote, RateSource, agreed_rate};
use crate::domain::time::{Time, duration_text};
use std::fmt;

/// Rates of one coin in one currency, with the prices from the sources.
#[derive(Clone, Debug)]
pub struct CoinMarket {
    /// The fresh rate, or the reason why no rate can be computed.
    pub now: Result<RateQuote, NoRateReason>,
    /// The newest stored rate, regardless of its age.
    pub known: Option<RateQuote>,
    /// The newest price from each source.
    pub figures: Vec<RateFigure>,
}

impl CoinMarket {
    /// Returns the market for these prices and the newest stored rate.
    pub fn new(figures: Vec<RateFigure>, known: Option<RateQuote>, now: Time) -> CoinMarket {
        CoinMarket { now: agreed_rate(&figures, now), known, figures }
    }

    /// Returns the market for a fixed rate, without sources.
    pub fn fixed(quoted: RateQuote) -> CoinMarket {
        CoinMarket { known: Some(quoted.clone()), now: Ok(quoted), figures: Vec::new() }
    }

    /// Returns the fresh rate; `None` if there is none.
    pub fn fresh_rate(&self) -> Option<Rate> {
        self.now.as_ref().ok().map(|quoted| quoted.rate)
    }

    /// Returns the fresh rate, otherwise the newest stored rate.
    pub fn newest_rate(&self) -> Option<&RateQuote> {
        self.now.as_ref().ok().or(self.known.as_ref())
    }

    /// Returns the newest rate for a message, like `80 (kraken 80.1, coinbase 79.9, 42 s old)`; `None` without any
    /// rate.
    pub fn newest_rate_text(&self, now: Time) -> Option<impl fmt::Display + use<>> {
        let newest = self.newest_rate()?;
        let age = duration_text(now.since_ms(newest.at).max(0));
        let told = self.figures.iter();
        let told = told.map(|figure| format!("{} {}", figure.source, figure.rate));
        let told: Vec<String> = match newest.source {
            RateSource::Fixed => vec!["the fixed table".to_owned()],
            RateSource::Median | RateSource::File => told.collect(),
        };
        let told = match told.as_slice() {
            [] => "of sources that are no longer used".to_owned(),
            told => told.join(", "),
        };
        Some(format!("{} ({told}; {age} old)", newest.rate))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{CoinMarket, NoRateReason, RateFigure, RateQuote, Time};
    use crate::domain::rate::FigureSource;
    use crate::domain::time::{HOUR_MS, SECOND_MS};

    fn figure(source: FigureSource, rate: &str, at: i64) -> RateFigure {
        RateFigure { source, rate: rate.parse().unwrap(), via: String::new(), at: Time(at) }
    }

    #[test]
    fn market_text_names_rate_sources_and_age() {
        let told = vec![
            figure(FigureSource::Kraken, "80.1", 0),
            figure(FigureSource::Coinbase, "79.9", 10 * SECOND_MS),
        ];
        let text = |market: &CoinMarket, now| {
            market.newest_rate_text(Time(now)).map(|text| text.to_string())
        };
        let market = CoinMarket::new(told.clone(), None, Time(42 * SECOND_MS));
        assert_eq!(market.fresh_rate(), Some("80".parse().unwrap()));
        let said = text(&market, 42 * SECOND_MS).unwrap();
        assert_eq!(said, "80 (kraken 80.1, coinbase 79.9; 42 s old)");
        let old = RateQuote::fixed("79".parse().unwrap(), Time(0));
        let later = CoinMarket::new(told, Some(old), Time(3 * HOUR_MS));
        assert!(matches!(later.now, Err(NoRateReason::Stale(_))));
        assert_eq!(later.fresh_rate(), None);
        assert_eq!(text(&later, 3 * HOUR_MS).as_deref(), Some("79 (the fixed table; 3 h old)"));
        let never = CoinMarket::new(Vec::new(), None, Time(0));
        assert_eq!(text(&never, 0), None);
    }
}
