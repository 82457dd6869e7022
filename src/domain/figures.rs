//! Figures that a query computes, and that are shown as they are: counts of rows, and endpoints that fail.

use super::Time;
use super::fields::{Schema, schema, view};

view! {
    /// Number of rows, of both modes together.
    pub FileCounts {
        /// Number of invoices.
        invoices: i64 [Schema::COUNT];
        /// Number of payments, including dropped ones.
        payments: i64 [Schema::COUNT];
        /// Number of payouts.
        payouts: i64 [Schema::COUNT];
        /// Number of refunds.
        refunds: i64 [Schema::COUNT];
        /// Number of events.
        events: i64 [Schema::COUNT];
        /// Number of webhook deliveries, each with any number of attempts.
        deliveries: i64 [Schema::COUNT];
        /// Number of webhook deliveries with a further attempt.
        deliveries_pending: i64 [Schema::COUNT];
    }
}

view! {
    /// An endpoint that did not accept its last delivery.
    pub FailingEndpoint as "FailingEndpoint" {
        /// Endpoint id.
        id: String [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// URL that receives the events.
        url: String = "https://shop.example/webhooks";
        /// Time of the first failed attempt since the last accepted event, in UTC.
        failing_since: Time = "2026-11-21T09:30:00.000Z";
        /// Number of failed attempts since then. Attempts are deleted after 30 days, or the time of --keep-attempts.
        failed_attempts: i64 [schema!({ "type": "integer", "minimum": 1 })] = 2;
        /// Start of the last attempt, in UTC.
        last_attempt_at: Time = "2026-11-21T09:30:05.000Z";
        /// HTTP status of the last answer; null without an answer.
        last_status: Option<u16> [schema!({ "type": ["integer", "null"] })] = 500;
        /// Why there was no answer; null where there was one.
        last_error: Option<String> = null;
    }
}
