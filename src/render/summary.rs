//! JSON of the overview: statistics of an account, and the work that waits for an operator.
//!
//! Invariant: no field identifies a customer.

use super::account::BalanceView;
use super::chain_nodes::NodeChangeView;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::time::DAY_MS;
use crate::domain::{Cents, Currency, FailingEndpoint, InvoiceStatus, Mode, Time, Total};

view! {
    /// Figures of an account in one mode.
    pub(crate) AccountSummaryView as "AccountSummary", object "account_summary" {
        /// Mode of the figures.
        mode: Mode = "live";
        /// One balance for each of EUR and USD, always both.
        balances: Vec<BalanceView> = [
            {
                "currency": "EUR", "available": "120.00", "pending": "0.00", "reserved": "0.00", "sales": "120.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            },
            {
                "currency": "USD", "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
                "fees": "0.00", "payouts": "0.00", "refunds": "0.00"
            }
        ];
        /// Numbers of open invoices: one for each of created, awaiting_payment and detected.
        open_invoices: Vec<InvoiceCountView> = [
            { "status": "created", "count": 0 }, { "status": "awaiting_payment", "count": 0 },
            { "status": "detected", "count": 1 }
        ];
        /// Numbers of invoices created in the last 30 days, one for each status.
        recent_invoices: Vec<InvoiceCountView> = [
            { "status": "created", "count": 0 }, { "status": "awaiting_payment", "count": 0 },
            { "status": "detected", "count": 1 }, { "status": "confirmed", "count": 4 },
            { "status": "overpaid", "count": 0 }, { "status": "underpaid", "count": 0 },
            { "status": "expired", "count": 0 }, { "status": "paid_late", "count": 0 },
            { "status": "cancelled", "count": 0 }, { "status": "failed", "count": 0 }
        ];
        /// Sales, one item for each of EUR and USD, always both.
        sales: Vec<DailySalesView> = [{
            "currency": "EUR", "today": "20.00", "total": "120.00",
            "days": [
                { "day": "2026-11-21", "count": 2, "amount": "100.00", "percentOfHighest": 100 },
                { "day": "2026-11-22", "count": 1, "amount": "20.00", "percentOfHighest": 20 }
            ]
        }];
        payouts: OpenTransfersView = { "requested": 1, "approved": 0, "processing": 0 };
        refunds: OpenTransfersView = { "requested": 0, "approved": 0, "processing": 0 };
        /// Enabled endpoints that did not accept their last delivery, oldest first. They stay enabled.
        failing_endpoints: Vec<FailingEndpoint> = [{
            "id": "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10", "url": "https://shop.example/webhooks",
            "failingSince": "2026-11-21T09:30:00.000Z", "failedAttempts": 2,
            "lastAttemptAt": "2026-11-21T09:30:05.000Z", "lastStatus": 500, "lastError": null
        }];
    }
}

view! {
    /// Counts of items that wait for an operator, over all accounts.
    pub(crate) SummaryView as "Summary", object "summary" {
        /// Mode of the figures.
        mode: Mode = "live";
        /// Accounts that wait for approval.
        accounts_pending: i64 [Schema::COUNT] = 1;
        payouts: OpenTransfersView = { "requested": 1, "approved": 0, "processing": 0 };
        refunds: OpenTransfersView = { "requested": 0, "approved": 0, "processing": 0 };
        /// Payouts and refunds that may have been sent. Each counts by its status, too.
        transfers_unknown: i64 [Schema::COUNT] = 0;
        /// Payouts and refunds whose onChain.state is needs_review.
        transfers_to_review: usize = 0;
        /// Payouts of transfersToReview.
        payouts_to_review: usize = 0;
        /// Refunds of transfersToReview.
        refunds_to_review: usize = 0;
        /// Approved payouts and refunds that wait for a signer while none is set. Start with --signer, or reassign
        /// each with sentBy hand.
        transfers_without_signer: i64 [Schema::COUNT] = 0;
        /// Servers that wait to be created or removed.
        servers_waiting: i64 [Schema::COUNT] = 2;
        /// Servers that may have been created or removed.
        servers_unknown: i64 [Schema::COUNT] = 0;
        /// Unmatched payments without an outcome.
        unmatched_payments: i64 [Schema::COUNT] = 1;
        /// Enabled endpoints that did not accept their last delivery.
        failing_endpoints: i64 [Schema::COUNT] = 0;
        /// Whether live invoices and payouts are paused.
        maintenance: bool = false;
        /// Reason why no coin is on offer in live mode; null if one is, or if there is no live key.
        nothing_on_offer: Option<String> = null;
        /// Whether the database file was found to be damaged. Nothing is written then; go back to a backup.
        file_damaged: bool = false;
        /// Warning about the certificate of --acme; null without a warning.
        certificate_warning: Option<String> = null;
        /// Nodes that operators entered or removed in the last seven days.
        node_changes: Vec<NodeChangeView> = [{
            "chain": "litecoin", "node": "electrums://electrum.example:50002", "removed": false,
            "changedAt": "2026-11-21T09:30:00.000Z", "changedBy": "anna@shop.example"
        }];
    }
}

view! {
    /// Number of invoices with one status.
    pub(crate) InvoiceCountView as "InvoiceCount" {
        /// The status.
        status: InvoiceStatus = "detected";
        /// Number of invoices.
        count: i64 [Schema::COUNT] = 1;
    }
}

view! {
    /// Sales in one currency in the last 30 days, as booked. A reversal counts on the day of the reversal.
    pub(crate) DailySalesView as "DailySales" {
        /// Currency of the amounts.
        currency: Currency = "EUR";
        /// Sales of today so far.
        today: Cents [Schema::STRING] = "20.00";
        /// Sales of all days.
        total: Total [Schema::STRING] = "120.00";
        /// Days in UTC, oldest first, today last, including days without sales.
        days: Vec<SalesOfDayView> = [
            { "day": "2026-11-21", "count": 2, "amount": "100.00", "percentOfHighest": 100 },
            { "day": "2026-11-22", "count": 1, "amount": "20.00", "percentOfHighest": 20 }
        ];
    }
}

view! {
    pub(crate) SalesOfDayView {
        /// The day, in UTC.
        day: String [schema!({ "type": "string", "format": "date" })];
        /// Number of sales bookings.
        count: i64 [Schema::COUNT];
        /// Sum of the bookings.
        amount: Cents [Schema::STRING];
        /// Sum in whole percent of the day with the highest sum, for charts.
        percent_of_highest: u8 [schema!({ "type": "integer", "minimum": 0, "maximum": 100 })];
    }
}

view! {
    /// Numbers of open payouts or refunds.
    pub(crate) OpenTransfersView as "OpenTransfers" {
        /// Number that wait for approval.
        requested: i64 [Schema::COUNT] = 1;
        /// Number that wait to be sent.
        approved: i64 [Schema::COUNT] = 0;
        /// Number that are being sent.
        processing: i64 [Schema::COUNT] = 0;
    }
}

/// Returns the number of the day of this time, counted from 1970-01-01.
pub(crate) fn day_number(moment: Time) -> i64 {
    moment.0.div_euclid(DAY_MS)
}

pub(crate) fn start_of_day(day: i64) -> Time {
    Time(day.saturating_mul(DAY_MS))
}

impl DailySalesView {
    /// Returns the sales of each day from `first` to `last`, inclusive. An item of `found` is a day, its number of
    /// sales, and their sum.
    pub(crate) fn from_days(
        currency: Currency,
        first: i64,
        last: i64,
        found: &[(i64, i64, Cents)],
    ) -> DailySalesView {
        let amounts = found.iter().map(|(_, _, amount)| *amount);
        let highest = amounts.clone().max().unwrap_or(Cents(0)).max(Cents(0));
        let of_day = |day: i64| {
            let mut of_day = found.iter().filter(|(other, ..)| *other == day);
            of_day.next().map_or((0, Cents(0)), |(_, count, amount)| (*count, *amount))
        };
        let days = (first..=last).map(|day| {
            let (count, amount) = of_day(day);
            let text = start_of_day(day).to_string();
            SalesOfDayView {
                day: text.get(..10).unwrap_or_default().to_owned(),
                count,
                amount,
                percent_of_highest: amount.percent_of(highest),
            }
        });
        DailySalesView {
            currency,
            today: of_day(last).1,
            total: amounts.sum(),
            days: days.collect(),
        }
    }
}
