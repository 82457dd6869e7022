//! Amounts of coin, exchange rates, and conversions between coin and fiat.
//!
//! Invariant: a value is rounded once, half-even. An amount due is rounded up.

use super::{Bps, Cents, Overflow};
use rust_decimal::Decimal;
use std::str::FromStr;

/// Largest number of decimal places of an amount to be typed into a wallet.
const PLACES_MAX: u32 = 8;

/// An amount of one coin in its base units (satoshi, wei, lamport, sun).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Units(pub u128);

impl Units {
    /// Zero.
    pub const ZERO: Units = Units(0);

    /// Adds two amounts.
    ///
    /// # Errors
    /// [`Overflow`] if the sum does not fit into 128 bits.
    pub fn plus(self, other: Units) -> Result<Units, Overflow> {
        self.0.checked_add(other.0).map(Units).ok_or(Overflow)
    }

    /// Subtracts an amount; `None` if the result is negative.
    pub fn minus(self, other: Units) -> Option<Units> {
        self.0.checked_sub(other.0).map(Units)
    }

    /// Rounds the amount down to `decimals` decimal places, at most to 8.
    pub fn rounded_down(self, decimals: u32) -> Units {
        let step = 10_u128.checked_pow(decimals.saturating_sub(PLACES_MAX));
        let rest = step.and_then(|step| self.0.checked_rem(step));
        Units(self.0.saturating_sub(rest.unwrap_or(self.0)))
    }

    /// Formats the amount as a plain decimal of whole coins, without trailing zeros.
    pub fn to_decimal_text(self, decimals: u32) -> String {
        let digits =
            format!("{:0>width$}", self.0, width = decimals_to_usize(decimals).saturating_add(1));
        let (whole, fraction) =
            digits.split_at(digits.len().saturating_sub(decimals_to_usize(decimals)));
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
    }

    /// Reads a plain decimal of whole coins. Zero is valid.
    ///
    /// # Errors
    /// The problem: not a plain decimal, too many decimal places for the coin, or too large.
    pub fn parse(text: &str, decimals: u32) -> Result<Units, String> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(fraction) {
            return Err("must be a plain decimal like \"0.25\"".to_owned());
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > decimals_to_usize(decimals) {
            return Err(format!("must have at most {decimals} decimals"));
        }
        let units = format!("{whole}{fraction:0<width$}", width = decimals_to_usize(decimals));
        units.parse().map(Units).map_err(|_| "is too large".to_owned())
    }
}

fn decimals_to_usize(decimals: u32) -> usize {
    usize::try_from(decimals).unwrap_or(usize::MAX)
}

/// An exchange rate, fiat per whole coin: positive, at most ten decimals, without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    mantissa: u64,
    scale: u32,
}

impl Rate {
    /// Largest number of decimals of a rate.
    pub const SCALE_MAX: u32 = 10;

    /// Makes a rate from a decimal, rounded half-even to ten decimals.
    ///
    /// # Errors
    /// [`Overflow`] if the result is not positive or does not fit into 64 bits.
    pub fn new(rate: Decimal) -> Result<Rate, Overflow> {
        let rate = rate.round_dp(Self::SCALE_MAX).normalize();
        let mantissa = u64::try_from(rate.mantissa()).map_err(|_| Overflow)?;
        if mantissa == 0 { Err(Overflow) } else { Ok(Rate { mantissa, scale: rate.scale() }) }
    }

    /// Multiplies the rate by a factor, rounded half-even to ten decimals.
    ///
    /// # Errors
    /// [`Overflow`] if the product is not a valid rate.
    pub fn times(self, factor: Decimal) -> Result<Rate, Overflow> {
        Rate::new(self.decimal().checked_mul(factor).ok_or(Overflow)?)
    }

    /// Returns the rate as a decimal number.
    pub fn decimal(self) -> Decimal {
        Decimal::from_i128_with_scale(i128::from(self.mantissa), self.scale)
    }

    /// Returns the value of an amount of the coin, rounded once, half-even, to cents.
    ///
    /// # Errors
    /// [`Overflow`] if the value does not fit into 64 bits.
    pub fn value(self, units: Units, decimals: u32) -> Result<Cents, Overflow> {
        let product = WideProduct::product(units.0, self.mantissa);
        // cents = units / 10^decimals × mantissa / 10^scale × 100
        let cents = match decimals.saturating_add(self.scale).checked_sub(2) {
            Some(shift) => product.divided_half_even(shift),
            None => product.to_u128().and_then(|cents| {
                let up = 2_u32.saturating_sub(decimals.saturating_add(self.scale));
                cents.checked_mul(10_u128.checked_pow(up)?)
            }),
        };
        cents.and_then(|cents| i64::try_from(cents).ok()).map(Cents).ok_or(Overflow)
    }

    /// Returns `true` if the value before rounding is at least one cent. Half a cent is not enough.
    pub fn is_worth_a_cent(self, units: Units, decimals: u32) -> bool {
        let product = WideProduct::product(units.0, self.mantissa);
        let shift = decimals.saturating_add(self.scale).saturating_sub(2);
        product.divided_down(shift).is_none_or(|cents| cents >= 1)
    }

    /// Returns the smallest amount whose value is at least `due`, rounded up to `decimals` decimal places, at most to
    /// 8.
    pub fn units_for(self, due: Cents, decimals: u32) -> Result<Units, Overflow> {
        let shown = decimals.min(PLACES_MAX);
        let due = u128::try_from(due.0).map_err(|_| Overflow)?;
        // amount in coins = (due / 100) ÷ (mantissa / 10^scale). The division below returns this amount in units of
        // the last decimal place that a customer can type.
        let numerator = 10_u128
            .checked_pow(shown.saturating_add(self.scale))
            .and_then(|power| due.checked_mul(power))
            .ok_or(Overflow)?;
        let steps = numerator.div_ceil(u128::from(self.mantissa).saturating_mul(100));
        let unit = 10_u128.checked_pow(decimals.saturating_sub(shown)).ok_or(Overflow)?;
        steps.checked_mul(unit).map(Units).ok_or(Overflow)
    }
}

impl Rate {
    /// Returns the amount of the coin that `amount` buys, rounded down to base units.
    pub fn units_bought_by(self, amount: Cents, decimals: u32) -> Result<Units, Overflow> {
        let amount = u128::try_from(amount.0).map_err(|_| Overflow)?;
        let units = 10_u128
            .checked_pow(decimals.saturating_add(self.scale))
            .and_then(|power| amount.checked_mul(power))
            .and_then(|product| product.checked_div(u128::from(self.mantissa).saturating_mul(100)));
        units.map(Units).ok_or(Overflow)
    }
}

impl Rate {
    /// Returns `true` if the rate differs from `market` by more than this many basis points of `market`.
    pub fn differs_from(self, market: Rate, bps: Bps) -> bool {
        let (rate, market) = (self.decimal(), market.decimal());
        let apart = rate.checked_sub(market).map(|apart| apart.abs());
        let most = market.checked_mul(Decimal::new(i64::from(bps.0), 4));
        // If the subtraction overflows, the rates are far apart.
        !matches!((apart, most), (Some(apart), Some(most)) if apart <= most)
    }

    /// Returns the difference to `market` in percent of `market`, with two decimals.
    ///
    /// Negative if the rate is lower; `None` on overflow.
    pub fn percent_above(self, market: Rate) -> Option<Decimal> {
        let apart = self.decimal().checked_sub(market.decimal())?;
        let share = apart.checked_div(market.decimal())?;
        Some(share.checked_mul(Decimal::ONE_HUNDRED)?.round_dp(2))
    }

    /// Converts an amount of this coin to an amount of another coin with the same value, rounded up to base units.
    ///
    /// `other` is the rate of the other coin. Both rates are in the same currency.
    pub fn convert_units(
        self,
        units: Units,
        decimals: u32,
        other: Rate,
        other_decimals: u32,
    ) -> Result<Units, Overflow> {
        // amount of the other coin = (units / 10^decimals) × (mantissa / 10^scale) ÷ (other.mantissa /
        // 10^other.scale). The division below returns this amount × 10^other_decimals, in base units.
        let up = other.scale.saturating_add(other_decimals);
        let down = decimals.saturating_add(self.scale);
        let raised = 10_u128
            .checked_pow(up.saturating_sub(down))
            .and_then(|power| units.0.checked_mul(power))
            .ok_or(Overflow)?;
        let quotient = WideProduct::product(raised, self.mantissa)
            .divided_up(other.mantissa, down.saturating_sub(up));
        quotient.map(Units).ok_or(Overflow)
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

/// A product of a 128-bit and a 64-bit number, least significant limb first.
struct WideProduct([u64; 3]);

impl WideProduct {
    /// Multiplies without overflow: the product fits into 192 bits.
    fn product(left: u128, right: u64) -> WideProduct {
        let right = u128::from(right);
        let low = (left & u128::from(u64::MAX)).saturating_mul(right);
        let high = (left >> 64).saturating_mul(right).saturating_add(low >> 64);
        WideProduct([low_limb(low), low_limb(high), low_limb(high >> 64)])
    }

    /// Divides by 10^`exponent`, rounded half-even; `None` if the result does not fit into 128 bits.
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

    /// Divides by `divisor` × 10^`exponent`, rounded up; `None` if the result does not fit into 128 bits.
    fn divided_up(mut self, divisor: u64, exponent: u32) -> Option<u128> {
        let mut has_rest = self.divide(divisor)? != 0;
        for _ in 0..exponent {
            has_rest |= self.divide_by_ten() != 0;
        }
        self.to_u128()?.checked_add(u128::from(has_rest))
    }

    /// Divides by 10^`exponent`, rounded down; `None` if the result does not fit into 128 bits.
    fn divided_down(mut self, exponent: u32) -> Option<u128> {
        for _ in 0..exponent {
            self.divide_by_ten();
        }
        self.to_u128()
    }

    fn divide_by_ten(&mut self) -> u64 {
        let mut remainder = 0;
        for limb in self.0.iter_mut().rev() {
            let part = (u128::from(remainder) << 64) | u128::from(*limb);
            *limb = low_limb(part / 10);
            remainder = low_limb(part % 10);
        }
        remainder
    }

    /// Divides in place and returns the remainder; `None` if `divisor` is zero.
    fn divide(&mut self, divisor: u64) -> Option<u64> {
        let (mut remainder, divisor) = (0, u128::from(divisor));
        for limb in self.0.iter_mut().rev() {
            let part = (u128::from(remainder) << 64) | u128::from(*limb);
            *limb = low_limb(part.checked_div(divisor)?);
            remainder = low_limb(part.checked_rem(divisor)?);
        }
        Some(remainder)
    }

    /// Returns the number; `None` if it does not fit into 128 bits.
    fn to_u128(&self) -> Option<u128> {
        let [low, middle, high] = self.0;
        (high == 0).then(|| u128::from(low) | (u128::from(middle) << 64))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the upper half is masked away on purpose")]
fn low_limb(number: u128) -> u64 {
    (number & u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod properties;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
