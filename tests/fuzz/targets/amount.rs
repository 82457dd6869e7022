//! Fuzzes the parsers of fiat and coin amounts. They reject ambiguous text. A parsed amount, formatted as text,
//! parses to the same amount.

#![no_main]

use coffer::domain::{Cents, Rate, Units};
use coffer::domain::asset::ASSETS;
use coffer::domain::invoice::draft::Draft;
use libfuzzer_sys::fuzz_target;

/// Returns `true` if the text consists of digits and at most one decimal point.
fn is_plain(text: &str) -> bool {
    let points = text.bytes().filter(|byte| *byte == b'.').count();
    points <= 1 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fuzz_target!(|text: &str| {
    if let Ok(cents) = Cents::parse(text) {
        assert!(is_plain(text) && cents > Cents::ZERO, "{text:?} became {cents}");
        assert_eq!(Cents::parse(&cents.to_string()), Ok(cents), "{text:?}");
    }
    for asset in &ASSETS {
        let Ok(units) = Units::parse(text, asset.decimals) else {
            continue;
        };
        assert!(is_plain(text), "{text:?} became {}", asset.text(units));
        assert_eq!(Units::parse(&asset.text(units), asset.decimals), Ok(units), "{text:?}");
        if let Ok(rate) = asset.fixed_rate(coffer::domain::Currency::Eur) {
            // `rate.value` may return an overflow error, but must not panic.
            let _ = rate.value(units, asset.decimals);
        }
    }
    if let Ok(rate) = text.parse::<Rate>() {
        let _ = rate.value(Units(u128::MAX), 0);
        let _ = rate.units_for(Cents(i64::MAX), 18);
    }
    // Each body has `text` as its amount: once as a JSON number, once as a JSON string.
    for body in [
        format!("{{\"amount\":{text},\"currency\":\"EUR\"}}"),
        format!("{{\"amount\":{},\"currency\":\"EUR\"}}", serde_json::json!(text)),
    ] {
        let Ok(map) = serde_json::from_str(&body) else {
            continue;
        };
        if let Ok(Draft { amount: Some(amount), .. }) = Draft::parse(&map) {
            assert!(amount > Cents::ZERO, "{body}");
        }
    }
});
