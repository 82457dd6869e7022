//! The JSON of the overview: an account in numbers, and what waits for an operator.
//!
//! What lives here: which fields they have, in their order. What does not: counting (`store::summary`). What always
//! holds: nothing here names a customer.

use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency, Total};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::{DAY_MS, Time};
use serde::Serialize;
use serde_json::value::RawValue;

/// An account in numbers.
#[derive(Serialize)]
#[serde(tag = "object", rename = "account_summary", rename_all = "camelCase")]
pub(crate) struct AccountSummary {
    pub(crate) mode: Mode,
    pub(crate) balances: Vec<Box<RawValue>>,
    pub(crate) open_invoices: Vec<InvoiceCount>,
    pub(crate) recent_invoices: Vec<InvoiceCount>,
    pub(crate) sales: Vec<Sales>,
    pub(crate) payouts: OpenTransfers,
    pub(crate) refunds: OpenTransfers,
    pub(crate) failing_endpoints: Vec<FailingEndpoint>,
}

/// What waits for an operator, over all accounts.
#[derive(Serialize)]
#[serde(tag = "object", rename = "summary", rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) mode: Mode,
    pub(crate) accounts_pending: i64,
    pub(crate) payouts: OpenTransfers,
    pub(crate) refunds: OpenTransfers,
    pub(crate) transfers_unknown: i64,
    pub(crate) transfers_to_review: usize,
    pub(crate) payouts_to_review: usize,
    pub(crate) refunds_to_review: usize,
    pub(crate) transfers_without_signer: i64,
    pub(crate) servers_waiting: i64,
    pub(crate) servers_unknown: i64,
    pub(crate) unmatched_payments: i64,
    pub(crate) failing_endpoints: i64,
    pub(crate) maintenance: bool,
    pub(crate) nothing_on_offer: Option<String>,
}

/// How many invoices have a status.
#[derive(Serialize)]
pub(crate) struct InvoiceCount {
    pub(crate) status: InvoiceStatus,
    pub(crate) count: i64,
}

/// What was sold in one currency on each of the last days, oldest first, today last.
#[derive(Serialize)]
pub(crate) struct Sales {
    currency: Currency,
    today: Cents,
    total: Total,
    days: Vec<SalesOfDay>,
}

/// What was sold on one day of UTC.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SalesOfDay {
    day: String,
    count: i64,
    amount: Cents,
    percent_of_highest: u8,
}

/// The day, counted from 1970, that this moment is in.
pub(crate) fn day_of(moment: Time) -> i64 {
    moment.0.div_euclid(DAY_MS)
}

/// The moment that a day begins at.
pub(crate) fn begin_of(day: i64) -> Time {
    Time(day.saturating_mul(DAY_MS))
}

impl Sales {
    /// What was sold from one day on until another, both counted; `found` is the day, how many, and how much.
    pub(crate) fn of(
        currency: Currency,
        first: i64,
        last: i64,
        found: &[(i64, i64, Cents)],
    ) -> Sales {
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
            SalesOfDay {
                day: text.get(..10).unwrap_or_default().to_owned(),
                count,
                amount,
                percent_of_highest: amount.percent_of(highest),
            }
        });
        Sales {
            currency,
            today: of_day(last).1,
            total: amounts.sum(),
            days: days.collect(),
        }
    }
}

/// How many payouts or refunds are open, by status.
#[derive(Serialize)]
pub(crate) struct OpenTransfers {
    pub(crate) requested: i64,
    pub(crate) approved: i64,
    pub(crate) processing: i64,
}

/// An endpoint that has not taken what it was sent last.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailingEndpoint {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// When the first attempt failed after the last event that it took.
    pub failing_since: Time,
    /// How many attempts have failed since then.
    pub failed_attempts: i64,
    /// When the last of them began.
    pub last_attempt_at: Time,
    /// What that was answered with; nothing where there was no answer.
    pub last_status: Option<u16>,
    /// Why there was no answer; nothing where there was one.
    pub last_error: Option<String>,
}
