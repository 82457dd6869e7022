//! Basis of the rate of a transfer: the market, or the coins that came in for the refunded invoice.

use crate::domain::asset::Asset;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Overflow, Total};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::text_enum::text_enum;
use rust_decimal::Decimal;

text_enum! {
    /// Basis of the rate of a transfer.
    pub enum RateBasis {
        /// The rate at which the coins of the refunded invoice were booked: the customer gets the same share of the coins.
        Received = "received",
        /// The market rate at the approval.
        Market = "market",
    }
}

/// Confirmed payments of an invoice in one coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedCoins {
    /// Sum of the payments, in base units of the coin.
    pub amount: Units,
    /// Value at which the payments were booked, in the invoice's currency. Never zero.
    pub value: Cents,
    /// Rate of the payments. If they have several rates, the value divided by the amount.
    pub rate: Rate,
}

impl ReceivedCoins {
    /// Adds up the confirmed payments in a coin. `None` if there are none of any value.
    pub fn of_payments(
        payments: &[Payment],
        asset: &Asset,
    ) -> Result<Option<ReceivedCoins>, Overflow> {
        let confirmed = payments.iter().filter(|payment| {
            payment.state == PaymentState::Confirmed && payment.asset.id == asset.id
        });
        let (mut amount, mut value) = (Units::ZERO, Total::ZERO);
        let mut rates = Vec::new();
        for payment in confirmed.filter(|payment| payment.value > Cents::ZERO) {
            amount = amount.plus(payment.amount)?;
            value = value.plus(payment.value);
            rates.push(payment.quoted.rate);
        }
        let value = value.cents()?;
        let rate = match rates.split_first() {
            None => return Ok(None),
            Some((first, rest)) if rest.iter().all(|rate| rate == first) => *first,
            Some(_) => mean_rate(value, amount, asset.decimals)?,
        };
        Ok(Some(ReceivedCoins { amount, value, rate }))
    }

    /// Returns the share of the coins that belongs to an amount: amount ÷ value of all the coins, at most all of them.
    /// Half a cent of the value may have been rounded away, so an amount at the rate is always within the share.
    pub fn share(&self, of: Cents, asset: &Asset) -> Units {
        if of >= self.value {
            return self.amount;
        }
        let at_rate = self.rate.units_bought_by(of, asset.decimals).unwrap_or(Units::ZERO);
        let part = u128::try_from(of.0).ok().zip(u128::try_from(self.value.0).ok());
        let exact = part.and_then(|(of, value)| self.amount.0.checked_mul(of)?.checked_div(value));
        exact.map_or(at_rate, |exact| Units(exact).max(at_rate))
    }
}

/// Returns value ÷ amount, as a rate.
fn mean_rate(value: Cents, amount: Units, decimals: u32) -> Result<Rate, Overflow> {
    let coins = i128::try_from(amount.0)
        .ok()
        .and_then(|amount| Decimal::try_from_i128_with_scale(amount, decimals).ok());
    let rate = coins.and_then(|coins| Decimal::new(value.0, 2).checked_div(coins));
    Rate::new(rate.ok_or(Overflow)?)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Asset, Cents, Payment, PaymentState, ReceivedCoins, Units};
    use crate::domain::asset::Mode;
    use crate::domain::rate::RateQuote;
    use crate::domain::time::Time;

    /// Returns a payment of this many base units at this rate, worth this many cents.
    fn payment(asset: &str, units: u128, rate: &str, cents: i64) -> Payment {
        Payment {
            seq: 1,
            id: String::new(),
            invoice: 1,
            quote: 1,
            observation: 1,
            mode: Mode::Live,
            asset: Asset::find(asset).unwrap(),
            txid: String::new(),
            position: 0,
            amount: Units(units),
            quoted: RateQuote::fixed(rate.parse().unwrap(), Time(0)),
            value: Cents(cents),
            on_time: true,
            state: PaymentState::Confirmed,
            was_confirmed: true,
            seen_at: Time(0),
            confirmed_at: Some(Time(0)),
        }
    }

    fn received(payments: &[Payment]) -> Option<(u128, i64, String)> {
        let ltc = Asset::find("LTC").unwrap();
        let found = ReceivedCoins::of_payments(payments, ltc).unwrap()?;
        Some((found.amount.0, found.value.0, found.rate.to_string()))
    }

    #[test]
    fn confirmed_payments_in_the_coin_are_added_up() {
        let first = payment("LTC", 25_000_000, "80", 2_000);
        let second = payment("LTC", 12_500_000, "80", 1_000);
        let later = payment("LTC", 25_000_000, "40", 1_000);
        let other = payment("BTC", 100_000, "50000", 5_000);
        let seen = Payment { state: PaymentState::Seen, ..first.clone() };
        let dropped = Payment { state: PaymentState::Dropped, ..first.clone() };
        let dust = payment("LTC", 1, "80", 0);
        for (payments, expected) in [
            (vec![], None),
            (vec![other.clone(), seen.clone(), dropped, dust.clone()], None),
            (vec![first.clone()], Some((25_000_000, 2_000, "80"))),
            (vec![first.clone(), seen, second, dust, other], Some((37_500_000, 3_000, "80"))),
            // A late payment was booked at another rate.
            (vec![first, later], Some((50_000_000, 3_000, "60"))),
        ] {
            let expected = expected.map(|(units, cents, rate)| (units, cents, rate.to_owned()));
            assert_eq!(received(&payments), expected);
        }
    }

    #[test]
    fn shares_of_all_parts_are_at_most_what_came_in() {
        let ltc = Asset::find("LTC").unwrap();
        let odd = payment("LTC", 25_000_001, "79.99", 2_000);
        let received = ReceivedCoins::of_payments(&[odd], ltc).unwrap().unwrap();
        let share = |cents: i64| received.share(Cents(cents), ltc).0;
        assert_eq!([share(2_000), share(2_001), share(i64::MAX)], [25_000_001; 3]);
        for cents in 1..2_000 {
            let (part, rest) = (share(cents), share(2_000 - cents));
            // Each share may be rounded up to the rate, by less than half a cent of the coins.
            assert!(part + rest <= 25_000_001 + 12_500, "{cents}");
            let at_rate = received.rate.units_bought_by(Cents(cents), 8).unwrap().0;
            assert!(part >= at_rate, "{cents}");
        }
    }
}
