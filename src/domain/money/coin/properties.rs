//! Compares conversions between coin and fiat with a reference: decimal arithmetic digit by digit, as on paper.
//!
//! Invariant: the reference has no size limit and rounds by digits, so it shares no step with the code under test.

#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::{Cents, Overflow, Rate, Units};
use crate::domain::money::Bps;

/// A number of any size as decimal digits, least significant first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Digits(Vec<u8>);

impl Digits {
    fn new(number: impl ToString) -> Digits {
        let text = number.to_string();
        Digits(text.bytes().rev().map(|digit| digit - b'0').collect()).without_leading_zeros()
    }

    fn without_leading_zeros(mut self) -> Digits {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn times(&self, other: &Digits) -> Digits {
        let mut sum = vec![0_u32; self.0.len() + other.0.len() + 1];
        for (at, left) in self.0.iter().enumerate() {
            for (by, right) in other.0.iter().enumerate() {
                sum[at + by] += u32::from(*left) * u32::from(*right);
            }
        }
        let mut carry = 0;
        let digit = |place: u32| {
            let all: u32 = place + carry;
            carry = all / 10;
            u8::try_from(all % 10).unwrap()
        };
        Digits(sum.into_iter().map(digit).collect()).without_leading_zeros()
    }

    fn times_power_of_ten(&self, zeros: u32) -> Digits {
        let zeros = vec![0; usize::try_from(zeros).unwrap()];
        Digits([zeros, self.0.clone()].concat()).without_leading_zeros()
    }

    fn plus_one(&self) -> Digits {
        let mut digits = self.0.clone();
        digits.push(0);
        for digit in &mut digits {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                break;
            }
        }
        Digits(digits).without_leading_zeros()
    }

    fn is_less_than(&self, other: &Digits) -> bool {
        let key = |number: &Digits| (number.0.len(), number.0.iter().rev().copied().collect());
        let (left, right): ((usize, Vec<u8>), _) = (key(self), key(other));
        left < right
    }

    fn minus(&self, other: &Digits) -> Digits {
        let mut borrow = 0;
        let digit = |(at, digit): (usize, &u8)| {
            let wanted = other.0.get(at).copied().unwrap_or(0) + borrow;
            borrow = u8::from(*digit < wanted);
            *digit + 10 * borrow - wanted
        };
        Digits(self.0.iter().enumerate().map(digit).collect()).without_leading_zeros()
    }

    /// Divides digit by digit, as on paper. Returns the quotient, and `true` if there is a remainder.
    fn divided_by(&self, by: &Digits) -> (Digits, bool) {
        let mut rest = Digits(Vec::new());
        let mut quotient = Vec::new();
        for digit in self.0.iter().rev() {
            rest = Digits([vec![*digit], rest.0].concat()).without_leading_zeros();
            let mut times = 0;
            while !rest.is_less_than(by) {
                rest = rest.minus(by);
                times += 1;
            }
            quotient.insert(0, times);
        }
        (Digits(quotient).without_leading_zeros(), !rest.0.is_empty())
    }

    /// Removes the last `places` digits and rounds half-even.
    fn drop_digits_half_even(&self, places: u32) -> Digits {
        let mut digits = self.0.clone();
        let places = usize::try_from(places).unwrap();
        digits.resize(digits.len().max(places + 1), 0);
        let kept = Digits(digits[places..].to_vec()).without_leading_zeros();
        let half = places > 0 && digits[places - 1] == 5;
        let above = places > 0 && digits[places - 1] > 5;
        let rest = places > 0 && digits[..places - 1].iter().any(|digit| *digit != 0);
        let odd = kept.0.first().is_some_and(|digit| digit % 2 == 1);
        if above || half && (rest || odd) { kept.plus_one() } else { kept }
    }

    fn text(&self) -> String {
        if self.0.is_empty() {
            return "0".to_owned();
        }
        let digits = self.0.iter().rev();
        digits.map(|digit| char::from(b'0' + *digit)).collect()
    }
}

fn reference_value(rate: Rate, units: Units, decimals: u32) -> Result<Cents, Overflow> {
    let product = Digits::new(units.0).times(&Digits::new(rate.mantissa));
    let cents = product.times_power_of_ten(2).drop_digits_half_even(decimals + rate.scale);
    cents.text().parse().map(Cents).map_err(|_| Overflow)
}

fn reference_due(rate: Rate, due: Cents, decimals: u32) -> Result<Units, Overflow> {
    let shown = decimals.min(8);
    let numerator = Digits::new(due.0).times_power_of_ten(shown + rate.scale);
    let (whole, left) = numerator.divided_by(&Digits::new(rate.mantissa).times_power_of_ten(2));
    let steps = if left { whole.plus_one() } else { whole };
    let units = steps.times_power_of_ten(decimals - shown).text();
    units.parse().map(Units).map_err(|_| Overflow)
}

/// Generator of random amounts that are the same on every machine (SplitMix64).
struct RandomAmounts(u64);

impl RandomAmounts {
    fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn number_below(&mut self, sides: u64) -> u32 {
        u32::try_from(self.next_bits() % sides).unwrap()
    }

    /// Returns a number of at most `bits_max` bits. Each number of bits is equally likely.
    fn number_of_any_length(&mut self, bits_max: u64) -> u128 {
        let number = (u128::from(self.next_bits()) << 64) | u128::from(self.next_bits());
        number >> (128 - bits_max + u64::from(self.number_below(bits_max)))
    }

    fn rate(&mut self) -> Rate {
        let mantissa = match self.number_below(3) {
            0 => 5 * 10_u64.pow(self.number_below(18)),
            _ => u64::try_from(self.number_of_any_length(64)).unwrap().max(1),
        };
        let scale = self.number_below(11);
        Rate { mantissa, scale }
    }

    fn units(&mut self) -> Units {
        match self.number_below(3) {
            // A number with many trailing zeros often has a value exactly between two cents, which tests the
            // rounding.
            0 => Units(self.number_of_any_length(30) * 5 * 10_u128.pow(self.number_below(18))),
            _ => Units(self.number_of_any_length(128)),
        }
    }

    fn cents(&mut self) -> Cents {
        Cents(i64::try_from(self.number_of_any_length(63)).unwrap())
    }
}

#[test]
fn reference_arithmetic_is_correct() {
    let (a, b) = (u128::from(u64::MAX), 987_654_321_987_u128);
    assert_eq!(Digits::new(a).times(&Digits::new(b)).text(), (a * b).to_string());
    let (quotient, left) = Digits::new(a * b + 5).divided_by(&Digits::new(a));
    assert_eq!((quotient, left), (Digits::new(b), true));
    assert_eq!(Digits::new(999).plus_one().text(), "1000");
    assert_eq!(Digits::new(10_000).minus(&Digits::new(1)).text(), "9999");
    for (number, rounded) in [(5, 0), (15, 2), (25, 2), (26, 3), (4, 0), (95, 10)] {
        assert_eq!(Digits::new(number).drop_digits_half_even(1), Digits::new(rounded));
    }
    assert_eq!(Digits::new(2_501).drop_digits_half_even(3).text(), "3");
}

#[test]
fn value_equals_reference() {
    let (mut counted, mut refused, mut middles) = (0, 0, 0);
    for seed in 0..20 {
        let mut dice = RandomAmounts(seed);
        for _ in 0..1_000 {
            let (rate, units, decimals) = (dice.rate(), dice.units(), dice.number_below(19));
            let expected = reference_value(rate, units, decimals);
            let said = rate.value(units, decimals);
            assert_eq!(said, expected, "{units:?} at {rate:?}, {decimals} decimals");
            match expected {
                Ok(_) => counted += 1,
                Err(Overflow) => refused += 1,
            }
            let product =
                Digits::new(units.0).times(&Digits::new(rate.mantissa)).times_power_of_ten(2);
            let tie = Digits::new(5).times_power_of_ten((decimals + rate.scale).saturating_sub(1));
            let (quotient, left) = product.divided_by(&tie);
            let odd = quotient.0.first().is_some_and(|digit| digit % 2 == 1);
            middles += u32::from(!left && odd && expected.is_ok() && decimals + rate.scale > 0);
        }
    }
    assert!(
        counted > 5_000 && refused > 1_000 && middles > 100,
        "{counted} counted, {refused} refused, {middles} in the middle"
    );
}

#[test]
fn amount_due_equals_reference_and_covers_the_price() {
    let (mut counted, mut refused) = (0, 0);
    for seed in 0..20 {
        let mut dice = RandomAmounts(seed);
        for _ in 0..500 {
            let (rate, due, decimals) = (dice.rate(), dice.cents(), dice.number_below(19));
            let expected = reference_due(rate, due, decimals);
            let said = rate.units_for(due, decimals);
            assert_eq!(said, expected, "{due:?} at {rate:?}, {decimals} decimals");
            let Ok(units) = said else {
                refused += 1;
                continue;
            };
            counted += 1;
            if let Ok(worth) = rate.value(units, decimals) {
                assert!(worth >= due, "{units:?} at {rate:?} is worth {worth}, not {due}");
            }
        }
    }
    assert!(counted > 5_000 && refused > 10, "{counted} counted, {refused} refused");
}

#[test]
fn fee_equals_reference() {
    let mut dice = RandomAmounts(1);
    for _ in 0..5_000 {
        let (gross, bps) = (dice.cents(), dice.number_below(10_001));
        let fee = Digits::new(gross.0).times(&Digits::new(bps)).drop_digits_half_even(4);
        assert_eq!(gross.fee(Bps(bps)).unwrap().0.to_string(), fee.text());
        let parts = gross.minus_fee(Bps(bps)).unwrap().plus(gross.fee(Bps(bps)).unwrap());
        assert_eq!(parts, Ok(gross));
    }
}

#[test]
fn amounts_and_rates_round_trip_through_text() {
    let mut dice = RandomAmounts(1);
    for _ in 0..5_000 {
        let (rate, units, decimals) = (dice.rate(), dice.units(), dice.number_below(19));
        assert_eq!(Units::parse(&units.to_decimal_text(decimals), decimals), Ok(units));
        let read: Rate = rate.to_string().parse().unwrap();
        assert_eq!(read.decimal(), rate.decimal());
        assert_eq!(
            read.value(units, decimals),
            rate.value(units, decimals),
            "zeros at the end of a rate say nothing"
        );
        let cents = dice.cents();
        if cents > Cents::ZERO && cents <= Cents::AMOUNT_MAX {
            assert_eq!(Cents::parse(&cents.to_string()), Ok(cents));
        }
    }
}
