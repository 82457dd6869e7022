//! Amounts of coin, rates, and the two roads between coin and fiat.
//!
//! What lives here: base units, the rate, "what is this payment worth" and "what is due in this coin". What does
//! not: which coins there are. What always holds: a value is rounded once, half-even; what is due is rounded up.

use super::{Cents, Overflow};
use rust_decimal::Decimal;
use std::str::FromStr;

/// The most decimal places a customer is asked to type.
const PLACES_MAX: u32 = 8;

/// An amount of one coin in its base units (satoshi, wei, lamport, sun).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Units(pub u128);

impl Units {
    /// Nothing.
    pub const ZERO: Units = Units(0);

    /// The sum.
    ///
    /// # Errors
    /// [`Overflow`] past 128 bits.
    pub fn plus(self, other: Units) -> Result<Units, Overflow> {
        self.0.checked_add(other.0).map(Units).ok_or(Overflow)
    }

    /// The difference; nothing where there would be less than nothing.
    pub fn less(self, other: Units) -> Option<Units> {
        self.0.checked_sub(other.0).map(Units)
    }

    /// The amount rounded down to min(decimals, 8) places.
    pub fn shown_down(self, decimals: u32) -> Units {
        let step = 10_u128.checked_pow(decimals.saturating_sub(PLACES_MAX));
        let rest = step.and_then(|step| self.0.checked_rem(step));
        Units(self.0.saturating_sub(rest.unwrap_or(self.0)))
    }

    /// The amount as a plain decimal of whole coins, trailing zeros trimmed.
    pub fn text(self, decimals: u32) -> String {
        let digits = format!(
            "{:0>width$}",
            self.0,
            width = places(decimals).saturating_add(1)
        );
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places(decimals)));
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            whole.to_owned()
        } else {
            format!("{whole}.{fraction}")
        }
    }

    /// Reads a plain decimal of whole coins; zero is an amount.
    ///
    /// # Errors
    /// A text that says what is wrong: not a plain decimal, more places than the coin has, or too large.
    pub fn parse(text: &str, decimals: u32) -> Result<Units, String> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err("must be a plain decimal like \"0.25\"".to_owned());
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > places(decimals) {
            return Err(format!("must have at most {decimals} decimals"));
        }
        let units = format!("{whole}{fraction:0<width$}", width = places(decimals));
        units
            .parse()
            .map(Units)
            .map_err(|_| "is too large".to_owned())
    }
}

/// Decimal places as a text width.
fn places(decimals: u32) -> usize {
    usize::try_from(decimals).unwrap_or(usize::MAX)
}

/// Fiat per whole coin: positive, at most ten decimals, trailing zeros trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    mantissa: u64,
    scale: u32,
}

impl Rate {
    /// The most decimals a rate is kept with.
    pub const SCALE_MAX: u32 = 10;

    /// A rate from a decimal, rounded half-even to ten decimals.
    ///
    /// # Errors
    /// [`Overflow`] where it is not positive or passes 64 bits.
    pub fn new(rate: Decimal) -> Result<Rate, Overflow> {
        let rate = rate.round_dp(Self::SCALE_MAX).normalize();
        let mantissa = u64::try_from(rate.mantissa()).map_err(|_| Overflow)?;
        if mantissa == 0 {
            Err(Overflow)
        } else {
            Ok(Rate {
                mantissa,
                scale: rate.scale(),
            })
        }
    }

    /// This rate times a factor, rounded half-even to ten decimals.
    ///
    /// # Errors
    /// [`Overflow`] where the product cannot be a rate.
    pub fn times(self, factor: Decimal) -> Result<Rate, Overflow> {
        Rate::new(self.decimal().checked_mul(factor).ok_or(Overflow)?)
    }

    /// The rate as a decimal number.
    pub fn decimal(self) -> Decimal {
        Decimal::from_i128_with_scale(i128::from(self.mantissa), self.scale)
    }

    /// What `units` are worth, rounded once, half-even, to cents.
    ///
    /// # Errors
    /// [`Overflow`] where the value passes 64 bits.
    pub fn value(self, units: Units, decimals: u32) -> Result<Cents, Overflow> {
        let product = Wide::product(units.0, self.mantissa);
        // units / 10^decimals × mantissa / 10^scale × 100
        let cents = match decimals.saturating_add(self.scale).checked_sub(2) {
            Some(shift) => product.divided_half_even(shift),
            None => product.to_u128().and_then(|cents| {
                let up = 2_u32.saturating_sub(decimals.saturating_add(self.scale));
                cents.checked_mul(10_u128.checked_pow(up)?)
            }),
        };
        cents
            .and_then(|cents| i64::try_from(cents).ok())
            .map(Cents)
            .ok_or(Overflow)
    }

    /// What must be paid so that it is worth `due`, rounded up to min(decimals, 8) places.
    ///
    /// # Errors
    /// [`Overflow`] where the amount cannot be counted.
    pub fn units_for(self, due: Cents, decimals: u32) -> Result<Units, Overflow> {
        let shown = decimals.min(PLACES_MAX);
        let due = u128::try_from(due.0).map_err(|_| Overflow)?;
        // due / 100 ÷ (mantissa / 10^scale), counted in 10^-shown coins
        let numerator = 10_u128
            .checked_pow(shown.saturating_add(self.scale))
            .and_then(|power| due.checked_mul(power))
            .ok_or(Overflow)?;
        let steps = numerator.div_ceil(u128::from(self.mantissa).saturating_mul(100));
        let unit = 10_u128
            .checked_pow(decimals.saturating_sub(shown))
            .ok_or(Overflow)?;
        steps.checked_mul(unit).map(Units).ok_or(Overflow)
    }
}

impl Rate {
    /// What `amount` buys, rounded down to the base unit.
    ///
    /// # Errors
    /// [`Overflow`] where it cannot be counted.
    pub fn units_within(self, amount: Cents, decimals: u32) -> Result<Units, Overflow> {
        let amount = u128::try_from(amount.0).map_err(|_| Overflow)?;
        let units = 10_u128
            .checked_pow(decimals.saturating_add(self.scale))
            .and_then(|power| amount.checked_mul(power))
            .and_then(|product| product.checked_div(u128::from(self.mantissa).saturating_mul(100)));
        units.map(Units).ok_or(Overflow)
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.decimal())
    }
}

impl FromStr for Rate {
    type Err = Overflow;

    fn from_str(text: &str) -> Result<Rate, Overflow> {
        Rate::new(Decimal::from_str_exact(text).map_err(|_| Overflow)?)
    }
}

/// A product of 128 by 64 bits, least significant limb first.
struct Wide([u64; 3]);

impl Wide {
    /// The full product: 192 bits hold it.
    fn product(left: u128, right: u64) -> Wide {
        let right = u128::from(right);
        let low = (left & u128::from(u64::MAX)).saturating_mul(right);
        let high = (left >> 64).saturating_mul(right).saturating_add(low >> 64);
        Wide([low_limb(low), low_limb(high), low_limb(high >> 64)])
    }

    /// The quotient by 10^`exponent`, rounded half-even; nothing where it passes 128 bits.
    fn divided_half_even(mut self, exponent: u32) -> Option<u128> {
        let Some(before_last) = exponent.checked_sub(1) else {
            return self.to_u128();
        };
        let mut sticky = false;
        for _ in 0..before_last {
            sticky |= self.divide_by_ten() != 0;
        }
        let digit = self.divide_by_ten();
        let floor = self.to_u128()?;
        let up = digit > 5 || (digit == 5 && (sticky || floor % 2 == 1));
        floor.checked_add(u128::from(up))
    }

    /// Divides in place and returns the remainder.
    fn divide_by_ten(&mut self) -> u64 {
        let mut remainder = 0;
        for limb in self.0.iter_mut().rev() {
            let part = (u128::from(remainder) << 64) | u128::from(*limb);
            *limb = low_limb(part / 10);
            remainder = low_limb(part % 10);
        }
        remainder
    }

    /// The number, where 128 bits hold it.
    fn to_u128(&self) -> Option<u128> {
        let [low, middle, high] = self.0;
        (high == 0).then(|| u128::from(low) | (u128::from(middle) << 64))
    }
}

/// The lower 64 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half is masked away on purpose"
)]
fn low_limb(number: u128) -> u64 {
    (number & u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod properties;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Cents, Overflow, Rate, Units};

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn units_read_as_they_print() {
        for (text, decimals, units) in [
            ("0.25", 8, 25_000_000),
            ("1", 6, 1_000_000),
            ("0", 18, 0),
            ("0.000000000000000001", 18, 1),
        ] {
            assert_eq!(Units::parse(text, decimals), Ok(Units(units)));
            assert_eq!(Units(units).text(decimals), text);
        }
        assert_eq!(
            Units::parse("1.500", 1),
            Ok(Units(15)),
            "zeros past the last place say nothing"
        );
        assert_eq!(
            Units(u128::MAX).text(18),
            "340282366920938463463.374607431768211455"
        );
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
        assert_eq!(
            rate("0.92")
                .times("1.08".parse().unwrap())
                .unwrap()
                .to_string(),
            "0.9936"
        );
        for wrong in ["0", "-1", "x", "0.00000000001", "99999999999999999999"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_due_is_rounded_up_and_worth_the_price() {
        assert_eq!(rate("80").units_for(Cents(2000), 8), Ok(Units(25_000_000)));
        assert_eq!(rate("60000").units_for(Cents(1000), 8), Ok(Units(16_667)));
        assert_eq!(
            rate("3000").units_for(Cents(1000), 18),
            Ok(Units(3_333_340_000_000_000))
        );
        assert_eq!(
            rate("0.92").units_for(Cents(1000), 6),
            Ok(Units(10_869_566))
        );
        for cents in [1, 7, 333, 1999, 5_000_000] {
            for (text, decimals) in [
                ("60000", 8),
                ("0.2", 8),
                ("3000", 18),
                ("150", 9),
                ("0.12", 6),
            ] {
                let units = rate(text).units_for(Cents(cents), decimals).unwrap();
                assert!(
                    rate(text).value(units, decimals).unwrap() >= Cents(cents),
                    "{cents} at {text}"
                );
            }
        }
    }

    #[test]
    fn a_value_is_rounded_once_half_to_even() {
        // 0.005, 0.015 and 0.025 of a coin at 1.00
        for (units, cents) in [(5, 0), (15, 2), (25, 2), (26, 3), (24, 2)] {
            assert_eq!(
                rate("1").value(Units(units), 3),
                Ok(Cents(cents)),
                "{units}"
            );
        }
        assert_eq!(
            rate("1").value(Units(2_500_001), 8),
            Ok(Cents(3)),
            "just above the middle goes up"
        );
        assert_eq!(rate("7").value(Units(3), 0), Ok(Cents(2100)));
    }

    #[test]
    fn a_value_past_64_bits_is_an_error_and_a_wide_product_is_not() {
        assert_eq!(rate("60000").value(Units(u128::MAX), 8), Err(Overflow));
        assert_eq!(
            rate("0.0000000001").value(Units(u128::MAX), 18),
            Ok(Cents(3_402_823_669_209))
        );
        assert_eq!(
            rate("1844674407.3709551615").value(Units(10_u128.pow(24)), 18),
            Ok(Cents(184_467_440_737_095_516))
        );
        assert_eq!(
            rate("0.0000000001").units_for(Cents(i64::MAX), 18),
            Err(Overflow)
        );
    }
}
