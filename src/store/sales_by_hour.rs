//! The table `sales_by_hour`: running sums of the sales in the ledger, for reports.
//!
//! Invariant: a row changes in the transaction that books the sale.

use super::booking::Booking;
use super::statement::statements;
use crate::domain::{Cents, HourOfSales, Mode, Time};

statements! {
    row read(hour, currency, asset, count, amount) -> HourOfSales {
        Ok(HourOfSales { hour, currency, asset, count, amount })
    }

    /// Returns the sales of an account from the hour `from` on, oldest first. Hours are counted from 1970.
    pub fn since_hour(db, account: i64, mode: Mode, from: i64) -> Vec<HourOfSales> =
        select "from sales_by_hour where account = :account and mode = :mode and hour >= :from order by hour";

    /// Adds a sale to its hour.
    ///
    /// # Errors
    /// [`StoreError`](super::StoreError) if the booking has neither a payment nor a deposit.
    pub(super) fn add(tx, booking: &Booking<'_>, amount: Cents, now: Time) =
        file "sql/sales_by_hour/add.sql"
        with {
            account: booking.account, mode: booking.mode, created_at: now, currency: booking.currency, amount,
            payment: booking.source.columns()[0], deposit: booking.source.columns()[1],
        }
        else("sale of {} {} has no payment", booking.ref_type, booking.ref_id);
}
