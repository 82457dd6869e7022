//! Fiat money: currencies, cents, fees, and the text of amounts.
//!
//! Invariant: all arithmetic uses checked integers. Every function that rounds documents the rounding.

pub mod coin;
mod report;

use super::text_enum::text_enum;

text_enum! {
    /// Currency of a price.
    pub enum Currency {
        /// Euro.
        Eur = "EUR",
        /// United States dollar.
        Usd = "USD",
    }
}

/// Error of a calculation whose result does not fit into its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

impl std::fmt::Display for Overflow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the amount is too large to be counted")
    }
}

impl std::error::Error for Overflow {}

/// Reason why a text is not a valid amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountError {
    /// The amount is zero, or the text is not a plain number with at most two decimals.
    Malformed,
    /// The amount is well formed, but larger than [`Cents::AMOUNT_MAX`].
    TooLarge,
}

/// An amount of fiat money in cents. Outgoing money is negative in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cents(pub i64);

impl Cents {
    /// Zero.
    pub const ZERO: Cents = Cents(0);
    /// One cent, the smallest positive amount.
    pub const ONE: Cents = Cents(1);
    /// Largest accepted amount, and largest value of one payment: 9 999 999 999.99.
    ///
    /// The 64 bits of a balance can hold nine million times this amount.
    pub const AMOUNT_MAX: Cents = Cents(999_999_999_999);

    /// Reads a price above zero: ASCII digits, at most one point, at most two decimals.
    ///
    /// # Errors
    /// [`AmountError::Malformed`] for anything else, [`AmountError::TooLarge`] above [`Cents::AMOUNT_MAX`].
    pub fn parse(text: &str) -> Result<Cents, AmountError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "00"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 2 {
            return Err(AmountError::Malformed);
        }
        let cents = format!("{whole}{decimals:0<2}").parse().map_err(|_| AmountError::TooLarge)?;
        match Cents(cents) {
            Cents::ZERO => Err(AmountError::Malformed),
            amount if amount > Cents::AMOUNT_MAX => Err(AmountError::TooLarge),
            amount => Ok(amount),
        }
    }

    /// Reads an amount of either sign: a price with an optional minus before it.
    ///
    /// # Errors
    /// The errors of [`Cents::parse`].
    pub fn parse_signed(text: &str) -> Result<Cents, AmountError> {
        match text.strip_prefix('-') {
            None => Cents::parse(text),
            Some(size) => Cents::parse(size)?.negated().map_err(|_| AmountError::TooLarge),
        }
    }

    /// Adds two amounts.
    pub fn plus(self, other: Cents) -> Result<Cents, Overflow> {
        self.0.checked_add(other.0).map(Cents).ok_or(Overflow)
    }

    /// Subtracts an amount.
    pub fn minus(self, other: Cents) -> Result<Cents, Overflow> {
        self.0.checked_sub(other.0).map(Cents).ok_or(Overflow)
    }

    /// Changes the sign.
    ///
    /// # Errors
    /// [`Overflow`] for the smallest 64-bit integer, whose opposite does not fit into 64 bits.
    pub fn negated(self) -> Result<Cents, Overflow> {
        self.0.checked_neg().map(Cents).ok_or(Overflow)
    }

    /// Returns half of the amount, rounded down, but at least one cent.
    pub fn half(self) -> Cents {
        Cents(self.0 / 2).max(Cents::ONE)
    }

    /// Returns one and a half times the amount, rounded up.
    pub fn one_and_a_half(self) -> Result<Cents, Overflow> {
        let half_up = self.0.checked_add(1).ok_or(Overflow)? / 2;
        self.plus(Cents(half_up))
    }

    /// Returns the fee on this gross amount: gross × bps / 10 000, rounded half-even to cents.
    pub fn fee(self, bps: Bps) -> Result<Cents, Overflow> {
        let product = i128::from(self.0).checked_mul(i128::from(bps.0)).ok_or(Overflow)?;
        let floor = product.div_euclid(10_000);
        let twice = product.rem_euclid(10_000).saturating_mul(2);
        let up = twice > 10_000 || (twice == 10_000 && floor.rem_euclid(2) == 1);
        let rounded = floor.checked_add(i128::from(up)).ok_or(Overflow)?;
        i64::try_from(rounded).map(Cents).map_err(|_| Overflow)
    }

    /// Returns the percentage that this amount is of `whole`, rounded down, from 0 to 100; 0 if `whole` is zero.
    pub fn percent_of(self, whole: Cents) -> u8 {
        let share = i128::from(self.0).saturating_mul(100);
        let share = share.checked_div(i128::from(whole.0)).unwrap_or(0);
        u8::try_from(share.clamp(0, 100)).unwrap_or(0)
    }

    /// Returns this gross amount minus the fee at this rate.
    pub fn minus_fee(self, bps: Bps) -> Result<Cents, Overflow> {
        self.minus(self.fee(bps)?)
    }
}

impl std::fmt::Display for Cents {
    /// Writes the amount with two decimals, like `19.90`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Total::from(*self).fmt(out)
    }
}

impl serde::Serialize for Cents {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// A sum of amounts in cents.
///
/// 128 bits hold the sum of all amounts that a database can store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Total(i128);

impl Total {
    /// Zero.
    pub const ZERO: Total = Total(0);

    /// Adds two sums.
    pub fn plus(self, other: impl Into<Total>) -> Total {
        Total(self.0.saturating_add(other.into().0))
    }

    /// Subtracts a sum. The result may be negative.
    pub fn minus(self, other: impl Into<Total>) -> Total {
        Total(self.0.saturating_sub(other.into().0))
    }

    /// Converts the sum to an amount.
    pub fn cents(self) -> Result<Cents, Overflow> {
        i64::try_from(self.0).map(Cents).map_err(|_| Overflow)
    }
}

impl From<Cents> for Total {
    fn from(cents: Cents) -> Total {
        Total(i128::from(cents.0))
    }
}

impl std::iter::Sum<Cents> for Total {
    fn sum<I: Iterator<Item = Cents>>(all: I) -> Total {
        all.fold(Total::ZERO, Total::plus)
    }
}

impl std::fmt::Display for Total {
    /// Writes the sum with two decimals, like `19.90`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let size = self.0.unsigned_abs();
        write!(out, "{sign}{}.{:02}", size / 100, size % 100)
    }
}

impl serde::Serialize for Total {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// Basis points (hundredths of a percent), for fees and tolerances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bps(pub u32);

impl Bps {
    /// Returns a percentage with two decimals, like `1.00`.
    pub fn percent(self) -> String {
        format!("{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Returns `true` if `received` is at least `due` less the tolerance `under`. The comparison does not round.
pub fn is_paid_in_full(received: impl Into<Total>, due: Cents, under: Bps) -> bool {
    let factor = 10_000_i64.saturating_sub(i64::from(under.0));
    multiplied_sum(received.into(), 10_000) >= multiplied_sum(due.into(), factor)
}

/// Returns `true` if `received` is more than `due` plus the tolerance `over`. The comparison does not round.
pub fn is_overpaid(received: impl Into<Total>, due: Cents, over: Bps) -> bool {
    let factor = 10_000_i64.saturating_add(i64::from(over.0));
    multiplied_sum(received.into(), 10_000) > multiplied_sum(due.into(), factor)
}

/// Returns the smallest amount in whole cents for which [`is_paid_in_full`] is true.
pub fn min_paid_amount(due: Cents, under: Bps) -> Cents {
    let factor = 10_000_i64.saturating_sub(i64::from(under.0));
    let scaled = multiplied_sum(due.into(), factor);
    let up = i128::from(scaled.rem_euclid(10_000) != 0);
    capped_cents(scaled.div_euclid(10_000).saturating_add(up))
}

/// Returns the largest amount in whole cents for which [`is_overpaid`] is false.
pub fn max_not_overpaid(due: Cents, over: Bps) -> Cents {
    let factor = 10_000_i64.saturating_add(i64::from(over.0));
    let scaled = multiplied_sum(due.into(), factor);
    capped_cents(scaled.div_euclid(10_000))
}

/// Converts an integer to cents, capped at the largest 64-bit value.
fn capped_cents(cents: i128) -> Cents {
    Cents(i64::try_from(cents).unwrap_or(i64::MAX))
}

/// Multiplies a sum by a small factor. The product fits into 128 bits for any sum of stored amounts.
fn multiplied_sum(sum: Total, factor: i64) -> i128 {
    sum.0.saturating_mul(i128::from(factor))
}

#[cfg(test)]
mod tests {
    use super::{
        AmountError, Bps, Cents, Overflow, Total, is_overpaid, is_paid_in_full, max_not_overpaid,
        min_paid_amount,
    };

    #[test]
    fn amount_must_be_a_plain_decimal() {
        for (text, cents) in
            [("19.99", 1999), ("20", 2000), ("0.1", 10), ("0.01", 1), ("007.5", 750)]
        {
            assert_eq!(Cents::parse(text), Ok(Cents(cents)), "{text}");
        }
        for text in [
            "", ".", "1.", ".5", "19.999", "-1", "+1", "0", "0.00", "1e3", " 1", "1 ", "1,5", "٣",
            "0x1", "1.2.3", "NaN",
        ] {
            assert_eq!(Cents::parse(text), Err(AmountError::Malformed), "{text}");
        }
        assert_eq!(Cents::parse("9999999999.99"), Ok(Cents::AMOUNT_MAX));
        for text in ["10000000000", "92233720368547758.08", &"9".repeat(65_000)] {
            assert_eq!(Cents::parse(text), Err(AmountError::TooLarge));
        }
    }

    #[test]
    fn amount_prints_two_decimals_with_either_sign() {
        for (cents, text) in
            [(0, "0.00"), (1, "0.01"), (-1, "-0.01"), (-150, "-1.50"), (123_456, "1234.56")]
        {
            assert_eq!(Cents(cents).to_string(), text);
        }
        assert_eq!(Cents(i64::MIN).to_string(), "-92233720368547758.08");
    }

    #[test]
    fn fee_is_rounded_half_even() {
        for (gross, bps, fee) in [
            (2000, 100, 20),
            (50, 100, 0),
            (150, 100, 2),
            (250, 100, 2),
            (51, 100, 1),
            (1, 10_000, 1),
            (999, 0, 0),
        ] {
            assert_eq!(Cents(gross).fee(Bps(bps)), Ok(Cents(fee)), "{gross} at {bps}");
        }
        assert_eq!(Cents(i64::MAX).fee(Bps(10_000)), Ok(Cents(i64::MAX)));
    }

    #[test]
    fn tolerances_include_their_bounds() {
        assert!(is_paid_in_full(Cents(9950), Cents(10_000), Bps(50)), "99.50 of 100 is enough");
        assert!(!is_paid_in_full(Cents(9949), Cents(10_000), Bps(50)));
        assert!(
            !is_overpaid(Cents(10_050), Cents(10_000), Bps(50)),
            "100.50 of 100 is not too much"
        );
        assert!(is_overpaid(Cents(10_051), Cents(10_000), Bps(50)));
        assert!(
            !is_paid_in_full(Cents(99), Cents(100), Bps(50)),
            "half a per cent of 1.00 is less than a cent"
        );
    }

    #[test]
    fn bounds_in_cents_agree_with_the_exact_comparison() {
        for cents in [1, 99, 100, 199, 1999, 10_000, 5_000_000] {
            for bps in [Bps(0), Bps(50), Bps(333), Bps(2000)] {
                let due = Cents(cents);
                let (least, most) = (min_paid_amount(due, bps), max_not_overpaid(due, bps));
                assert!(
                    is_paid_in_full(least, due, bps)
                        && !is_paid_in_full(Cents(least.0 - 1), due, bps)
                );
                assert!(!is_overpaid(most, due, bps) && is_overpaid(Cents(most.0 + 1), due, bps));
            }
        }
    }

    #[test]
    fn signed_amount_may_have_a_minus() {
        assert_eq!(Cents::parse_signed("-12.5"), Ok(Cents(-1250)));
        assert_eq!(Cents::parse_signed("12.5"), Ok(Cents(1250)));
        for text in ["-0", "--1", "+1", "-", "- 1"] {
            assert_eq!(Cents::parse_signed(text), Err(AmountError::Malformed), "{text}");
        }
    }

    #[test]
    fn sums_overflow_with_an_error() {
        assert_eq!(Cents(i64::MAX).plus(Cents::ONE), Err(Overflow));
        assert_eq!(Cents(i64::MIN).negated(), Err(Overflow));
        assert_eq!(
            (Cents(3).half(), Cents(1).half(), Cents(3).one_and_a_half()),
            (Cents(1), Cents(1), Ok(Cents(5)))
        );
    }

    #[test]
    fn total_holds_and_prints_more_than_64_bits() {
        let total: Total = [Cents(i64::MAX), Cents(i64::MAX), Cents::ONE].into_iter().sum();
        assert_eq!(total.to_string(), "184467440737095516.15");
        assert_eq!(total.cents(), Err(Overflow));
        assert_eq!(total.minus(Cents(i64::MAX)).minus(Cents::ONE).cents(), Ok(Cents(i64::MAX)));
        assert_eq!(Total::ZERO.minus(Cents(i64::MIN)).to_string(), "92233720368547758.08");
        assert!(
            is_paid_in_full(total, Cents(i64::MAX), Bps(0))
                && is_overpaid(total, Cents(i64::MAX), Bps(0))
        );
    }
}
