//! JSON of the sales of a period, with everything that a chart needs.

use crate::domain::fields::{Schema, schema, view};
use crate::domain::sales::{SalesOfCurrency, SalesSum, compared_until, start_of_hour};
use crate::domain::{Asset, Currency, HourOfSales, Mode, SalesPeriod, Time, Total};

const PERCENT: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 100 });

view! {
    /// Sales of an account in one mode and period, as booked.
    pub(crate) SalesView as "Sales", object "sales" {
        /// Mode of the sales.
        mode: Mode = "live";
        /// Number of days of the period in UTC, the last of which is today.
        days: i64 [Schema::COUNT] = 7;
        /// Start of the period.
        from: Time = "2026-11-15T00:00:00.000Z";
        /// Start of the present hour. The period up to here is compared with the same hours of the period before.
        compared_until: Time = "2026-11-21T09:00:00.000Z";
        /// Sales, one item for each of EUR and USD, always both.
        currencies: Vec<CurrencySalesView> = [{
            "currency": "EUR", "total": "120.00", "count": 3, "before": "100.00", "beforeCount": 2,
            "changePercent": "+20.0",
            "axis": [
                { "label": "0", "percent": 0 }, { "label": "50", "percent": 50 }, { "label": "100", "percent": 100 }
            ],
            "bars": [
                { "start": "2026-11-20T00:00:00.000Z", "count": 2, "amount": "100.00", "percentOfAxis": 100 },
                { "start": "2026-11-21T00:00:00.000Z", "count": 1, "amount": "20.00", "percentOfAxis": 20 }
            ],
            "coins": [
                { "asset": "BTC", "symbol": "BTC", "count": 3, "amount": "120.00", "percentOfTotal": 100 }
            ]
        }];
    }
}

view! {
    /// Sales of a period in one currency.
    pub(crate) CurrencySalesView as "CurrencySales" {
        /// Currency of the amounts.
        currency: Currency = "EUR";
        /// Sum of the sales so far.
        total: Total [Schema::STRING] = "120.00";
        /// Number of sales so far.
        count: i64 [Schema::COUNT] = 3;
        /// Sum of the sales in the same hours of the period before.
        before: Total [Schema::STRING] = "100.00";
        /// Number of sales in the same hours of the period before.
        before_count: i64 [Schema::COUNT] = 2;
        /// Change from the period before, up to comparedUntil, in percent with its sign; null without sales before.
        change_percent: Option<String> [Schema::OrNull(&Schema::STRING)] = "+20.0";
        /// Values of the chart's axis, lowest first.
        axis: Vec<AxisValueView> = [
            { "label": "0", "percent": 0 }, { "label": "50", "percent": 50 }, { "label": "100", "percent": 100 }
        ];
        /// Sales of each day in UTC, or of each hour if the period is one day. Oldest first, with those without sales.
        bars: Vec<SalesBarView> = [
            { "start": "2026-11-20T00:00:00.000Z", "count": 2, "amount": "100.00", "percentOfAxis": 100 },
            { "start": "2026-11-21T00:00:00.000Z", "count": 1, "amount": "20.00", "percentOfAxis": 20 }
        ];
        /// Coins that were paid, highest sum first.
        coins: Vec<CoinSalesView> = [
            { "asset": "BTC", "symbol": "BTC", "count": 3, "amount": "120.00", "percentOfTotal": 100 }
        ];
    }
}

view! {
    pub(crate) AxisValueView {
        /// The value, without decimals where all values of the axis are whole.
        label: String;
        /// Its place on the axis, in percent.
        percent: u8 [PERCENT];
    }
}

view! {
    pub(crate) SalesBarView {
        /// Start of the hour or day.
        start: Time;
        /// Number of sales.
        count: i64 [Schema::COUNT];
        /// Sum of the sales.
        amount: Total [Schema::STRING];
        /// Sum in whole percent of the axis.
        percent_of_axis: u8 [PERCENT];
    }
}

view! {
    pub(crate) CoinSalesView {
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Symbol of the coin.
        symbol: &'static str;
        /// Number of sales.
        count: i64 [Schema::COUNT];
        /// Sum of the sales.
        amount: Total [Schema::STRING];
        /// Sum in whole percent of the total.
        percent_of_total: u8 [PERCENT];
    }
}

impl SalesView {
    /// Returns the sales of a period. `hours` are the sales since [`SalesPeriod::first_hour_before`], oldest first.
    pub(crate) fn new(
        mode: Mode,
        period: SalesPeriod,
        now: Time,
        hours: &[HourOfSales],
    ) -> SalesView {
        let of = |currency: Currency| SalesOfCurrency::new(currency, period, now, hours).into();
        SalesView {
            mode,
            days: period.days(),
            from: start_of_hour(period.first_hour(now)),
            compared_until: compared_until(now),
            currencies: Currency::ALL.iter().copied().map(of).collect(),
        }
    }
}

impl From<SalesOfCurrency> for CurrencySalesView {
    fn from(of: SalesOfCurrency) -> CurrencySalesView {
        let highest = of.bars.iter().map(|(_, sum)| sum.amount).max().unwrap_or_default();
        let (end, total) = (highest.axis_end(), of.total.amount);
        let bar = |(start, sum): (Time, SalesSum)| SalesBarView {
            start,
            count: sum.count,
            amount: sum.amount,
            percent_of_axis: sum.amount.percent_of(end),
        };
        let coin = |(asset, sum): (&'static Asset, SalesSum)| CoinSalesView {
            asset: asset.id,
            symbol: asset.symbol,
            count: sum.count,
            amount: sum.amount,
            percent_of_total: sum.amount.percent_of(total),
        };
        let values = end.axis_labels().into_iter().zip([0, 50, 100]);
        CurrencySalesView {
            currency: of.currency,
            total,
            count: of.total.count,
            before: of.before.amount,
            before_count: of.before.count,
            change_percent: of.change_percent,
            axis: values.map(|(label, percent)| AxisValueView { label, percent }).collect(),
            bars: of.bars.into_iter().map(bar).collect(),
            coins: of.coins.into_iter().map(coin).collect(),
        }
    }
}
