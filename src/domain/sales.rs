//! Sales of a period, by hour or day and by coin, compared with the period before.
//!
//! Invariant: sums of both periods that are compared cover the same number of hours.

use super::asset::Asset;
use super::money::{Cents, Currency, Total};
use super::text_enum::text_enum;
use super::time::{HOUR_MS, Time};

const DAY_HOURS: i64 = 24;

text_enum! {
    /// Number of days of a report, the last of which is today.
    pub enum SalesPeriod {
        /// Today.
        Today = "1",
        /// 7 days.
        Week = "7",
        /// 30 days.
        Month = "30",
        /// 90 days.
        Quarter = "90",
    }
}

/// Sales of one hour in one currency and coin, as booked.
#[derive(Clone, Debug)]
pub struct HourOfSales {
    /// Hours since 1970.
    pub hour: i64,
    /// Currency of the amount.
    pub currency: Currency,
    /// Coin that was paid.
    pub asset: &'static Asset,
    /// Number of sales.
    pub count: i64,
    /// Sum of the sales.
    pub amount: Cents,
}

/// Number and sum of some sales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SalesSum {
    /// Number of sales.
    pub count: i64,
    /// Sum of the sales.
    pub amount: Total,
}

/// Sales of a period in one currency.
#[derive(Debug)]
pub struct SalesOfCurrency {
    /// The currency.
    pub currency: Currency,
    /// All sales of the period so far.
    pub total: SalesSum,
    /// Sales of the period before, up to the same hour.
    pub before: SalesSum,
    /// Change from `before` to the same hours of the period, in percent.
    pub change_percent: Option<String>,
    /// Sales of each hour or day, oldest first, each with its start.
    pub bars: Vec<(Time, SalesSum)>,
    /// Sales of each coin, highest sum first.
    pub coins: Vec<(&'static Asset, SalesSum)>,
}

impl SalesPeriod {
    /// Returns the number of days.
    pub const fn days(self) -> i64 {
        match self {
            SalesPeriod::Today => 1,
            SalesPeriod::Week => 7,
            SalesPeriod::Month => 30,
            SalesPeriod::Quarter => 90,
        }
    }

    const fn hours(self) -> i64 {
        self.days().saturating_mul(DAY_HOURS)
    }

    const fn bar_hours(self) -> i64 {
        match self {
            SalesPeriod::Today => 1,
            SalesPeriod::Week | SalesPeriod::Month | SalesPeriod::Quarter => DAY_HOURS,
        }
    }

    /// Returns the first hour of the period that includes `now`: midnight in UTC.
    pub fn first_hour(self, now: Time) -> i64 {
        let today = hour_number(now).div_euclid(DAY_HOURS);
        today.saturating_add(1).saturating_sub(self.days()).saturating_mul(DAY_HOURS)
    }

    /// Returns the first hour of the period before.
    pub fn first_hour_before(self, now: Time) -> i64 {
        self.first_hour(now).saturating_sub(self.hours())
    }
}

/// Returns the number of the hour of this time, counted from 1970.
fn hour_number(moment: Time) -> i64 {
    moment.0.div_euclid(HOUR_MS)
}

/// Returns the time at which an hour begins.
pub fn start_of_hour(hour: i64) -> Time {
    Time(hour.saturating_mul(HOUR_MS))
}

/// Returns the time up to which a period is compared with the period before: the start of the present hour.
pub fn compared_until(now: Time) -> Time {
    start_of_hour(hour_number(now))
}

impl SalesSum {
    fn add(&mut self, one: &HourOfSales) {
        self.count = self.count.saturating_add(one.count);
        self.amount = self.amount.plus(one.amount);
    }
}

fn sum_between(of: &[&HourOfSales], from: i64, to: i64) -> SalesSum {
    let mut sum = SalesSum::default();
    for one in of.iter().filter(|one| (from..to).contains(&one.hour)) {
        sum.add(one);
    }
    sum
}

impl SalesOfCurrency {
    /// Computes the sales of a period in one currency. `hours` are the sales since
    /// [`SalesPeriod::first_hour_before`], oldest first.
    pub fn new(
        currency: Currency,
        period: SalesPeriod,
        now: Time,
        hours: &[HourOfSales],
    ) -> SalesOfCurrency {
        let of: Vec<&HourOfSales> = hours.iter().filter(|one| one.currency == currency).collect();
        let (first, present, span) = (period.first_hour(now), hour_number(now), period.hours());
        let earlier = |hour: i64| hour.saturating_sub(span);
        let before = sum_between(&of, earlier(first), earlier(present));
        let compared = sum_between(&of, first, present);
        let end = first.saturating_add(span);
        let mut coins: Vec<(&'static Asset, SalesSum)> = Vec::new();
        for one in of.iter().filter(|one| (first..end).contains(&one.hour)) {
            match coins.iter_mut().find(|(asset, _)| *asset == one.asset) {
                Some((_, sum)) => sum.add(one),
                None => {
                    let mut sum = SalesSum::default();
                    sum.add(one);
                    coins.push((one.asset, sum));
                }
            }
        }
        coins.sort_by(|(one, sum), (other, others)| {
            others.amount.cmp(&sum.amount).then_with(|| one.id.cmp(other.id))
        });
        SalesOfCurrency {
            currency,
            total: sum_between(&of, first, end),
            before,
            change_percent: compared.amount.change_percent(before.amount),
            bars: bars(&of, first, end, period.bar_hours()),
            coins,
        }
    }
}

/// Returns the sums of consecutive groups of `step` hours, each with its start.
fn bars(of: &[&HourOfSales], first: i64, end: i64, step: i64) -> Vec<(Time, SalesSum)> {
    let mut bars = Vec::new();
    let mut rest = of.iter().skip_while(|one| one.hour < first).peekable();
    let mut start = first;
    while start < end {
        let next = start.saturating_add(step.max(1));
        let mut sum = SalesSum::default();
        while let Some(one) = rest.next_if(|one| one.hour < next) {
            sum.add(one);
        }
        bars.push((start_of_hour(start), sum));
        start = next;
    }
    bars
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{HourOfSales, SalesOfCurrency, SalesPeriod, compared_until, start_of_hour};
    use crate::domain::asset::Asset;
    use crate::domain::money::{Cents, Currency};
    use crate::domain::time::{DAY_MS, HOUR_MS, Time};

    /// 14:30 of a day.
    const NOW: Time = Time(20_000 * DAY_MS + 14 * HOUR_MS + HOUR_MS / 2);

    fn sale(hours_ago: i64, asset: &str, cents: i64) -> HourOfSales {
        HourOfSales {
            hour: (NOW.0 / HOUR_MS).saturating_sub(hours_ago),
            currency: Currency::Eur,
            asset: Asset::find(asset).unwrap(),
            count: 1,
            amount: Cents(cents),
        }
    }

    fn report(period: SalesPeriod, mut hours: Vec<HourOfSales>) -> SalesOfCurrency {
        hours.sort_by_key(|one| one.hour);
        SalesOfCurrency::new(Currency::Eur, period, NOW, &hours)
    }

    #[test]
    fn today_is_compared_with_the_same_hours_of_yesterday() {
        let hours = vec![
            sale(0, "BTC", 7_000),
            sale(1, "BTC", 3_000),
            sale(14, "LTC", 1_000),
            // Yesterday at 14:30, 13:30, 00:30, and the evening before.
            sale(24, "BTC", 90_000),
            sale(25, "BTC", 2_000),
            sale(38, "BTC", 500),
            sale(39, "BTC", 90_000),
        ];
        let found = report(SalesPeriod::Today, hours);
        assert_eq!(found.total.amount.to_string(), "110.00");
        assert_eq!((found.before.count, found.before.amount.to_string()), (2, "25.00".to_owned()));
        assert_eq!(found.change_percent.as_deref(), Some("+60.0"), "40.00 of 25.00");
        assert_eq!(compared_until(NOW), Time(NOW.0 - HOUR_MS / 2));
        assert_eq!(found.bars.len(), 24);
        let bars = found.bars.iter().enumerate();
        let filled: Vec<usize> =
            bars.filter(|(_, (_, sum))| sum.count > 0).map(|(hour, _)| hour).collect();
        assert_eq!(filled, [0, 13, 14]);
        let coins: Vec<_> =
            found.coins.iter().map(|(asset, sum)| (asset.id, sum.amount.to_string())).collect();
        assert_eq!(coins, [("BTC", "100.00".to_owned()), ("LTC", "10.00".to_owned())]);
    }

    #[test]
    fn period_has_a_bar_for_each_day_and_ends_today() {
        for (period, days) in
            [(SalesPeriod::Week, 7), (SalesPeriod::Month, 30), (SalesPeriod::Quarter, 90)]
        {
            let first = (days - 1) * 24 + 14;
            let found = report(
                period,
                vec![sale(first, "BTC", 100), sale(first + 1, "BTC", 400), sale(0, "BTC", 5)],
            );
            assert_eq!(found.bars.len() as i64, days);
            assert_eq!(found.total.amount.to_string(), "1.05");
            assert_eq!(found.before.amount.to_string(), "0.00", "the last hour is not compared");
            let first = found.bars.first().unwrap();
            assert_eq!((first.1.count, first.0), (1, start_of_hour(period.first_hour(NOW))));
            assert_eq!(found.bars.last().unwrap().1.count, 1);
            assert_eq!(found.change_percent, None);
        }
    }

    #[test]
    fn other_currency_has_no_sales() {
        let found =
            SalesOfCurrency::new(Currency::Usd, SalesPeriod::Week, NOW, &[sale(0, "BTC", 1)]);
        assert_eq!((found.total.count, found.coins.len()), (0, 0));
    }
}
