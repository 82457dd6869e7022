//! Tests of amounts, rates and conversions with fixed examples.

use super::{Bps, Cents, Overflow, Rate, Units};

fn rate(text: &str) -> Rate {
    text.parse().unwrap()
}

#[test]
fn units_round_trip_through_text() {
    for (text, decimals, units) in [
        ("0.25", 8, 25_000_000),
        ("1", 6, 1_000_000),
        ("0", 18, 0),
        ("0.000000000000000001", 18, 1),
    ] {
        assert_eq!(Units::parse(text, decimals), Ok(Units(units)));
        assert_eq!(Units(units).to_decimal_text(decimals), text);
    }
    assert_eq!(Units::parse("1.500", 1), Ok(Units(15)), "zeros past the last place say nothing");
    assert_eq!(Units(u128::MAX).to_decimal_text(18), "340282366920938463463.374607431768211455");
    for wrong in [
        "",
        "1.",
        ".1",
        "-1",
        "1e3",
        "0.123456789",
        " 1",
        "340282366920938463463374607431768211456",
    ] {
        assert!(Units::parse(wrong, 8).is_err(), "{wrong}");
    }
}

#[test]
fn rates_are_positive_and_plain() {
    assert_eq!(rate("0.20").to_string(), "0.2");
    assert_eq!(rate("60000").to_string(), "60000");
    assert_eq!(rate("0.92").times("1.08".parse().unwrap()).unwrap().to_string(), "0.9936");
    for wrong in ["0", "-1", "x", "0.00000000001", "99999999999999999999"] {
        assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
    }
}

#[test]
fn amount_due_is_rounded_up_and_covers_the_price() {
    assert_eq!(rate("80").units_for(Cents(2000), 8), Ok(Units(25_000_000)));
    assert_eq!(rate("60000").units_for(Cents(1000), 8), Ok(Units(16_667)));
    assert_eq!(rate("3000").units_for(Cents(1000), 18), Ok(Units(3_333_340_000_000_000)));
    assert_eq!(rate("0.92").units_for(Cents(1000), 6), Ok(Units(10_869_566)));
    for cents in [1, 7, 333, 1999, 5_000_000] {
        for (text, decimals) in [("60000", 8), ("0.2", 8), ("3000", 18), ("150", 9), ("0.12", 6)] {
            let units = rate(text).units_for(Cents(cents), decimals).unwrap();
            assert!(
                rate(text).value(units, decimals).unwrap() >= Cents(cents),
                "{cents} at {text}"
            );
        }
    }
}

#[test]
fn value_is_rounded_once_half_even() {
    // The first three amounts are worth 0.005, 0.015 and 0.025. Half a cent is rounded to the even cent.
    for (units, cents) in [(5, 0), (15, 2), (25, 2), (26, 3), (24, 2)] {
        assert_eq!(rate("1").value(Units(units), 3), Ok(Cents(cents)), "{units}");
    }
    assert_eq!(rate("1").value(Units(2_500_001), 8), Ok(Cents(3)), "just above the middle goes up");
    assert_eq!(rate("7").value(Units(3), 0), Ok(Cents(2100)));
}

#[test]
fn is_worth_a_cent_does_not_round() {
    for (units, is_worth) in [(0, false), (9, false), (10, true), (11, true)] {
        assert_eq!(rate("1").is_worth_a_cent(Units(units), 3), is_worth, "{units}");
    }
    assert!(!rate("60000").is_worth_a_cent(Units(16), 8));
    assert!(rate("60000").is_worth_a_cent(Units(17), 8));
    assert!(rate("60000").is_worth_a_cent(Units(u128::MAX), 8));
    assert!(rate("0.5").is_worth_a_cent(Units(1), 0));
}

#[test]
fn value_past_64_bits_overflows_but_wide_product_does_not() {
    assert_eq!(rate("60000").value(Units(u128::MAX), 8), Err(Overflow));
    assert_eq!(rate("0.0000000001").value(Units(u128::MAX), 18), Ok(Cents(3_402_823_669_209)));
    assert_eq!(
        rate("1844674407.3709551615").value(Units(10_u128.pow(24)), 18),
        Ok(Cents(184_467_440_737_095_516))
    );
    assert_eq!(rate("0.0000000001").units_for(Cents(i64::MAX), 18), Err(Overflow));
}

#[test]
fn rates_two_percent_apart_do_not_differ() {
    for (given, market, is_apart) in [
        ("80", "80", false),
        ("81.6", "80", false),
        ("81.6000000001", "80", true),
        ("78.4", "80", false),
        ("78.3999999999", "80", true),
        ("0.08", "80", true),
        ("80000", "80", true),
        ("0.0000000001", "1844674407.3709551615", true),
        ("18446744073709551615", "0.0000000001", true),
        ("0.0000000001", "0.0000000001", false),
    ] {
        let found = rate(given).differs_from(rate(market), Bps(200));
        assert_eq!(found, is_apart, "{given} {market}");
    }
    let percent = |given, market| rate(given).percent_above(rate(market)).unwrap().to_string();
    assert_eq!(percent("0.08", "80"), "-99.90");
    assert_eq!(percent("81.65", "80"), "2.06");
}

#[test]
fn fee_is_converted_by_two_rates_and_rounded_up() {
    let (eth, usdc) = (rate("3000"), rate("0.92"));
    let gas = |wei: u128| eth.convert_units(Units(wei), 18, usdc, 6);
    // 65 000 gas × 1 gwei = 0.000065 ETH. At 3000 EUR per ETH and 0.92 EUR per USDC, this is 0.211956521… USDC.
    assert_eq!(gas(65_000_000_000_000), Ok(Units(211_957)));
    assert_eq!(gas(1), Ok(Units(1)), "never nothing");
    assert_eq!(gas(0), Ok(Units(0)));
    assert_eq!(gas(92_000_000_000_000_000_000), Ok(Units(300_000_000_000)));
    assert_eq!(gas(u128::MAX), Ok(Units(1_109_616_413_872_625_424_337_091_111_191)));
    // The first conversion is to a coin with more decimals. The second conversion overflows.
    let up = |micros: u128| usdc.convert_units(Units(micros), 6, eth, 18);
    assert_eq!(up(1_000_000), Ok(Units(306_666_666_666_667)));
    assert_eq!(up(u128::MAX), Err(Overflow));
    let most = rate("18446744073709551615").convert_units(Units(u128::MAX), 0, rate("1"), 0);
    assert_eq!(most, Err(Overflow));
}
