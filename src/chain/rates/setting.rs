//! Parses the setting `--rates`, which names the sources of rates.
//!
//! Invariant: there are at least two public sources, or one file of the operator.

use crate::domain::{FigureSource, SiteUrl};
use std::path::PathBuf;
use std::str::FromStr;

/// A rate source and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Name of the source.
    pub source: FigureSource,
    /// Base url of the source, without a trailing slash.
    pub base: String,
}

/// Origin of the rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RatesOrigin {
    /// No rates. Used only by tests that start Coffer in their own process.
    Nowhere,
    /// Public sources, of which two must agree.
    Sources(Vec<Upstream>),
    /// File of the operator, which needs no second source.
    File(PathBuf),
}

const FILE: &str = "fixed:";

/// Returns the default base url of a source; `None` for a source without public urls.
fn default_base_url(source: FigureSource) -> Option<&'static str> {
    match source {
        FigureSource::Kraken => Some("https://api.kraken.com"),
        FigureSource::Coinbase => Some("https://api.coinbase.com"),
        FigureSource::Binance => Some("https://api.binance.com"),
        FigureSource::Coingecko => Some("https://api.coingecko.com"),
        FigureSource::File => None,
    }
}

impl FromStr for RatesOrigin {
    type Err = String;

    /// Parses `kraken,coinbase`, `binance=https://mirror.example`, or `fixed:FILE`.
    fn from_str(text: &str) -> Result<RatesOrigin, String> {
        if let Some(path) = text.strip_prefix(FILE) {
            if path.is_empty() {
                return Err(format!("must name a file after {FILE}"));
            }
            return Ok(RatesOrigin::File(PathBuf::from(path)));
        }
        let mut sources: Vec<Upstream> = Vec::new();
        let parts = text.split(',').map(str::trim);
        for part in parts.filter(|part| !part.is_empty()) {
            let upstream = parse_upstream(part)?;
            if sources.iter().any(|other| other.source == upstream.source) {
                return Err(format!("must name {} once", upstream.source));
            }
            sources.push(upstream);
        }
        if sources.len() < 2 {
            return Err(format!(
                "must name at least 2 of {}, as two must agree, or {FILE}FILE",
                source_names().join(", ")
            ));
        }
        Ok(RatesOrigin::Sources(sources))
    }
}

fn source_names() -> Vec<&'static str> {
    FigureSource::PUBLIC.iter().map(|source| source.as_str()).collect()
}

/// Parses the name of a source, with the url of an optional mirror.
fn parse_upstream(part: &str) -> Result<Upstream, String> {
    let (name, mirror) = match part.split_once('=') {
        Some((name, url)) => (name.trim_end(), Some(url.trim_start())),
        None => (part, None),
    };
    let source = FigureSource::from_str(name).ok();
    let known = source.and_then(|source| Some((source, default_base_url(source)?)));
    let (source, own) = known.ok_or_else(|| {
        format!("{name:?} is not a source; there are {}", source_names().join(", "))
    })?;
    let base = match mirror {
        None => own.to_owned(),
        Some(url) => {
            let site = SiteUrl::parse(url).ok();
            let site = site.filter(|site| !site.text_after_authority().contains(['?', '#']));
            let site = site.ok_or_else(|| {
                format!("{name}: the mirror must be a url like https://mirror.example")
            })?;
            format!("{}{}", site.origin(), site.text_after_authority().trim_end_matches('/'))
        }
    };
    Ok(Upstream { source, base })
}

#[cfg(test)]
mod tests {
    use super::{FigureSource, PathBuf, RatesOrigin, Upstream};

    #[test]
    fn setting_lists_sources_with_optional_mirrors() {
        let read = |text: &str| text.parse::<RatesOrigin>();
        let at = |source, base: &str| Upstream { source, base: base.to_owned() };
        assert_eq!(
            read(" kraken, binance=HTTP://127.0.0.1:8/api/ ,"),
            Ok(RatesOrigin::Sources(vec![
                at(FigureSource::Kraken, "https://api.kraken.com"),
                at(FigureSource::Binance, "http://127.0.0.1:8/api"),
            ]))
        );
        assert_eq!(read("fixed:rates.json"), Ok(RatesOrigin::File(PathBuf::from("rates.json"))));
        let all = read("kraken,coinbase,binance,coingecko");
        assert!(matches!(all, Ok(RatesOrigin::Sources(all)) if all.len() == 4));
    }

    #[test]
    fn single_or_unknown_source_is_rejected() {
        for (text, problem) in [
            (
                "",
                "must name at least 2 of kraken, coinbase, binance, coingecko, as two must agree, or fixed:FILE",
            ),
            ("kraken", "must name at least 2"),
            ("kraken,kraken", "must name kraken once"),
            ("kraken,bitstamp", "\"bitstamp\" is not a source"),
            ("kraken,file", "\"file\" is not a source"),
            ("kraken,fixed:a", "\"fixed:a\" is not a source"),
            ("fixed:", "must name a file after fixed:"),
            ("kraken,binance=mirror", "the mirror must be a url"),
            ("kraken,binance=https://a/?b", "the mirror must be a url"),
            ("kraken,binance=", "the mirror must be a url"),
        ] {
            let refused = text.parse::<RatesOrigin>();
            assert!(matches!(&refused, Err(said) if said.contains(problem)), "{text}: {refused:?}");
        }
    }
}
