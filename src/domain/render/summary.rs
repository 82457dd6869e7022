//! The overview as it is answered: an account in numbers, and work that waits for an operator.
//!
//! Invariant: no field names a customer.

use super::account::BalanceView;
use crate::domain::asset::Mode;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::{Cents, Currency, Total};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::{DAY_MS, Time};

view! {
    /// An account in numbers, in one mode.
    pub(crate) AccountSummaryView as "AccountSummary", object "account_summary" {
        /// Whose data: of what has a mode, only this is counted.
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
        /// Invoices that are neither paid nor given up: one count for each of created, awaiting_payment and detected.
        open_invoices: Vec<InvoiceCountView> = [
            { "status": "created", "count": 0 }, { "status": "awaiting_payment", "count": 0 },
            { "status": "detected", "count": 1 }
        ];
        /// Invoices made in the last 30 days: one count for each status.
        recent_invoices: Vec<InvoiceCountView> = [
            { "status": "created", "count": 0 }, { "status": "awaiting_payment", "count": 0 },
            { "status": "detected", "count": 1 }, { "status": "confirmed", "count": 4 },
            { "status": "overpaid", "count": 0 }, { "status": "underpaid", "count": 0 },
            { "status": "expired", "count": 0 }, { "status": "paid_late", "count": 0 },
            { "status": "cancelled", "count": 0 }, { "status": "failed", "count": 0 }
        ];
        /// What was sold: one entry for each of EUR and USD, always both.
        sales: Vec<DailySalesView> = [{
            "currency": "EUR", "today": "20.00", "total": "120.00",
            "days": [
                { "day": "2026-11-21", "count": 2, "amount": "100.00", "percentOfHighest": 100 },
                { "day": "2026-11-22", "count": 1, "amount": "20.00", "percentOfHighest": 20 }
            ]
        }];
        payouts: OpenTransfersView = { "requested": 1, "approved": 0, "processing": 0 };
        refunds: OpenTransfersView = { "requested": 0, "approved": 0, "processing": 0 };
        /// Endpoints that are on and have not taken what they were sent last, oldest first. They are not switched off by
        /// that.
        failing_endpoints: Vec<FailingEndpointView> = [{
            "id": "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10", "url": "https://shop.example/webhooks",
            "failingSince": "2026-11-21T09:30:00.000Z", "failedAttempts": 2,
            "lastAttemptAt": "2026-11-21T09:30:05.000Z", "lastStatus": 500, "lastError": null
        }];
    }
}

view! {
    /// What waits for an operator, over all accounts.
    pub(crate) SummaryView as "Summary", object "summary" {
        /// Whose data: of what has a mode, only this is counted.
        mode: Mode = "live";
        /// Accounts that wait for approval.
        accounts_pending: i64 [Schema::COUNT] = 1;
        payouts: OpenTransfersView = { "requested": 1, "approved": 0, "processing": 0 };
        refunds: OpenTransfersView = { "requested": 0, "approved": 0, "processing": 0 };
        /// Payouts and refunds of which nobody knows whether they were sent; they are counted by their status too.
        transfers_unknown: i64 [Schema::COUNT] = 0;
        /// Payouts and refunds whose onChain.state is needs_review: a person has to look.
        transfers_to_review: usize = 0;
        /// Those of them that are payouts.
        payouts_to_review: usize = 0;
        /// Those of them that are refunds.
        refunds_to_review: usize = 0;
        /// Approved payouts and refunds that the signer is to send while none is set: start with --signer, or reassign each
        /// with sentBy hand.
        transfers_without_signer: i64 [Schema::COUNT] = 0;
        /// Servers that are to be made or removed, and nobody has begun.
        servers_waiting: i64 [Schema::COUNT] = 2;
        /// Servers of which nobody knows whether they were made or removed.
        servers_unknown: i64 [Schema::COUNT] = 0;
        /// Payments that matched nothing and were not yet looked at.
        unmatched_payments: i64 [Schema::COUNT] = 1;
        /// Endpoints that are on and have not taken what they were sent last.
        failing_endpoints: i64 [Schema::COUNT] = 0;
        /// Whether live invoices and payouts are paused.
        maintenance: bool = false;
        /// Why no coin is on offer in live mode although a live key is there; null where one is, or there is no such key.
        nothing_on_offer: Option<String> = null;
    }
}

view! {
    /// How many invoices are in one status.
    pub(crate) InvoiceCountView as "InvoiceCount" {
        /// The status.
        status: InvoiceStatus = "detected";
        /// How many.
        count: i64 [Schema::COUNT] = 1;
    }
}

view! {
    /// What was sold in one currency in the last 30 days, as it was booked; what was undone is taken off the day on which it
    /// was.
    pub(crate) DailySalesView as "DailySales" {
        /// Currency of the amounts.
        currency: Currency = "EUR";
        /// Sales of today so far.
        today: Cents [Schema::STRING] = "20.00";
        /// Sales of all these days.
        total: Total [Schema::STRING] = "120.00";
        /// Every day of UTC, oldest first, today last; days without a sale too.
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
        /// How many bookings of sales.
        count: i64 [Schema::COUNT];
        /// Their sum.
        amount: Cents [Schema::STRING];
        /// The sum as whole percent of the day with the highest sum: for drawing.
        percent_of_highest: u8 [schema!({ "type": "integer", "minimum": 0, "maximum": 100 })];
    }
}

view! {
    /// How many payouts or refunds are open.
    pub(crate) OpenTransfersView as "OpenTransfers" {
        /// Those that wait for approval.
        requested: i64 [Schema::COUNT] = 1;
        /// Those that wait to be sent.
        approved: i64 [Schema::COUNT] = 0;
        /// Those that are being sent.
        processing: i64 [Schema::COUNT] = 0;
    }
}

view! {
    /// An endpoint that has not taken what it was sent last.
    pub FailingEndpointView as "FailingEndpoint" {
        /// Endpoint id.
        id: String [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Where events are sent.
        url: String = "https://shop.example/webhooks";
        /// When the first attempt failed after the last event that it took, in UTC.
        failing_since: Time = "2026-11-21T09:30:00.000Z";
        /// How many attempts have failed since then, of the last 90 days.
        failed_attempts: i64 [schema!({ "type": "integer", "minimum": 1 })] = 2;
        /// When the last of them began, in UTC.
        last_attempt_at: Time = "2026-11-21T09:30:05.000Z";
        /// Status of its answer; null where there was none.
        last_status: Option<u16> [schema!({ "type": ["integer", "null"] })] = 500;
        /// Why there was no answer; null where there was one.
        last_error: Option<String> = null;
    }
}

/// Returns the day of a moment, counted from 1970.
pub(crate) fn day_of(moment: Time) -> i64 {
    moment.0.div_euclid(DAY_MS)
}

/// Returns the moment at which a day begins.
pub(crate) fn begin_of(day: i64) -> Time {
    Time(day.saturating_mul(DAY_MS))
}

impl DailySalesView {
    /// Returns the sales from one day to another, both included. `found` has day, number of sales, and sum.
    pub(crate) fn of(
        currency: Currency,
        first: i64,
        last: i64,
        found: &[(i64, i64, Cents)],
    ) -> DailySalesView {
        let amounts = found.iter().map(|(_, _, amount)| *amount);
        let highest = amounts.clone().max().unwrap_or(Cents(0)).max(Cents(0));
        let of_day = |day: i64| {
            let mut of_day = found.iter().filter(|(other, ..)| *other == day);
            of_day
                .next()
                .map_or((0, Cents(0)), |(_, count, amount)| (*count, *amount))
        };
        let days = (first..=last).map(|day| {
            let (count, amount) = of_day(day);
            let text = begin_of(day).to_string();
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
