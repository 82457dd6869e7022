//! Tells browsers from programs by the `Accept` header.

use hyper::HeaderMap;
use hyper::header::{ACCEPT, AUTHORIZATION};

const API_KEY: &str = "x-api-key";

/// Returns `true` if a request prefers an HTML page to JSON. A browser that opens a page names `text/html`. A program
/// names JSON, everything (`*/*`) or nothing, or sends a key.
pub(super) fn prefers_page(headers: &HeaderMap) -> bool {
    if headers.contains_key(AUTHORIZATION) || headers.contains_key(API_KEY) {
        return false;
    }
    let values = headers.get_all(ACCEPT).into_iter();
    let values: Vec<_> = values.filter_map(|value| value.to_str().ok()).collect();
    let ranges = || values.iter().flat_map(|value| value.split(','));
    let quality = |kind: &str| {
        let found = ranges().filter_map(|range| quality_if_named(range, kind));
        found.max().unwrap_or_default()
    };
    quality("text/html") > quality("application/json")
}

/// Returns the quality of a media range in thousandths, `None` if the range is of another kind (RFC 9110, 12.5.1).
fn quality_if_named(range: &str, kind: &str) -> Option<u32> {
    let mut parts = range.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(kind) {
        return None;
    }
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some(weight.map_or(1_000, parse_thousandths))
}

/// Parses a decimal from 0 to 1 in thousandths. A malformed number counts as 0.
fn parse_thousandths(text: &str) -> u32 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = decimals.chars().chain("000".chars()).take(3).collect();
    let number = format!("{whole}{digits}").parse().unwrap_or_default();
    if number > 1_000 { 0 } else { number }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::prefers_page;
    use hyper::HeaderMap;
    use hyper::header::{ACCEPT, AUTHORIZATION};

    #[test]
    fn only_a_browser_prefers_a_page() {
        let prefers = |accepted: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accepted.parse().unwrap());
            prefers_page(&headers)
        };
        for browser in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
            "TEXT/HTML",
            "application/json;q=.2, text/html;q=0.3",
            "text/html; level=1; q=0.5",
        ] {
            assert!(prefers(browser), "{browser}");
        }
        for program in [
            "",
            "*/*",
            "text/*",
            "application/json",
            "application/json, text/plain, */*",
            "application/json, text/html",
            "text/html;q=0",
            "text/html;q=0.5, application/json",
            "text/html;q=2",
            "text/html;q=x",
            "text/htmlx",
        ] {
            assert!(!prefers(program), "{program}");
        }
        assert!(!prefers_page(&HeaderMap::new()));
        let mut with_key = HeaderMap::new();
        with_key.insert(ACCEPT, "text/html".parse().unwrap());
        with_key.insert(AUTHORIZATION, "Bearer sk_test_sandbox".parse().unwrap());
        assert!(!prefers_page(&with_key));
    }
}
