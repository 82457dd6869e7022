//! Overview of an account in numbers, and of work that waits for an operator.
//!
//! Invariant: each response is read from one snapshot.

mod first_steps;

use super::accounts::account_balances;
use super::followed::nodes::recent_node_changes;
use super::{Error, Json, Scope, Service};
use crate::domain::time::DAY_MS;
use crate::domain::{
    Cents, Currency, InvoiceStatus, Mode, SalesPeriod, Time, TransferKind, TransferStatus,
};
use crate::render::account::BalanceView;
use crate::render::sales::SalesView;
use crate::render::summary::{
    AccountSummaryView, DailySalesView, InvoiceCountView, OpenTransfersView, SummaryView,
    day_number, start_of_day,
};
use crate::store::{Reader, accounts, file, keys, sales_by_hour, summary, transfers};
use serde_json::value::to_raw_value;

/// Age up to which invoices count as recent, in milliseconds: 30 days.
const RECENT_MS: i64 = 30 * DAY_MS;

/// Number of days with sales, including today.
const SALES_DAYS: i64 = 30;

const OPEN_STATUSES: [InvoiceStatus; 3] =
    [InvoiceStatus::Created, InvoiceStatus::AwaitingPayment, InvoiceStatus::Detected];

impl Service {
    /// Returns the counts and sums of an account, in the caller's mode.
    pub fn account_summary(&self, now: Time, scope: &Scope) -> Result<Json, Error> {
        let (seq, mode) = (scope.account(), scope.mode());
        self.read_snapshot(|db| {
            let account = accounts::by_seq(db, seq)?;
            let balances = account_balances(db, &account, mode)?;
            let open = summary::open_invoice_counts(db, seq, mode)?;
            let recent = summary::recent_invoice_counts(db, seq, mode, now.plus_ms(-RECENT_MS))?;
            Ok(to_raw_value(&AccountSummaryView {
                mode,
                balances: balances.iter().map(BalanceView::from).collect(),
                open_invoices: counts_by_status(&OPEN_STATUSES, &open),
                recent_invoices: counts_by_status(InvoiceStatus::ALL, &recent),
                sales: sales_by_currency(db, seq, mode, now)?,
                payouts: open_transfers(db, Some(seq), mode, TransferKind::Payout)?,
                refunds: open_transfers(db, Some(seq), mode, TransferKind::Refund)?,
                failing_endpoints: summary::failing_endpoints(db, seq, mode)?,
            })?)
        })
    }

    /// Returns the sales of an account in a period, in the caller's mode.
    pub fn sales(&self, now: Time, scope: &Scope, period: SalesPeriod) -> Result<Json, Error> {
        let (seq, mode, from) = (scope.account(), scope.mode(), period.first_hour_before(now));
        let hours = self.read(|db| Ok(sales_by_hour::since_hour(db, seq, mode, from)?))?;
        Ok(to_raw_value(&SalesView::new(mode, period, now, &hours))?)
    }

    /// Returns the work that waits for an operator, over all accounts. Objects that have a mode are counted only in
    /// this mode.
    pub fn summary(&self, now: Time, mode: Mode) -> Result<Json, Error> {
        self.read_snapshot(|db| {
            let to_review = self.transfers_to_review(db, now, mode)?;
            let count = |kind| to_review.iter().filter(|one| one.kind == kind).count();
            Ok(to_raw_value(&SummaryView {
                mode,
                accounts_pending: summary::count_pending_accounts(db)?,
                payouts: open_transfers(db, None, mode, TransferKind::Payout)?,
                refunds: open_transfers(db, None, mode, TransferKind::Refund)?,
                transfers_unknown: summary::count_unknown_transfers(db, mode)?,
                transfers_to_review: to_review.len(),
                payouts_to_review: count(TransferKind::Payout),
                refunds_to_review: count(TransferKind::Refund),
                transfers_without_signer: self.transfers_without_signer(db, mode)?,
                servers_waiting: summary::count_waiting_servers(db)?,
                servers_unknown: summary::count_unknown_servers(db)?,
                unmatched_payments: summary::count_unmatched_payments(db, mode)?,
                failing_endpoints: summary::count_failing_endpoints(db, mode)?,
                maintenance: file::read_file_row(db)?.is_some_and(|file| file.maintenance),
                nothing_on_offer: self.no_coin_reason(db, now, mode)?,
                file_damaged: self.is_damaged(),
                certificate_warning: self.certificate().and_then(|watch| watch.warning(now)),
                node_changes: recent_node_changes(db, now)?,
            })?)
        })
    }
}

impl Service {
    /// Returns the reason why no coin is on offer although a live key exists.
    fn no_coin_reason(
        &self,
        db: &Reader<'_>,
        now: Time,
        mode: Mode,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(mode) || !keys::takes_live_payments(db, now)? {
            return Ok(None);
        }
        self.no_payable_coin_reasons(db, mode, now, Currency::ALL)
    }

    /// Returns the number of approved transfers that wait for a signer although no signer is set. Returns 0 if a
    /// signer is set.
    fn transfers_without_signer(&self, db: &Reader<'_>, mode: Mode) -> Result<i64, Error> {
        if self.is_simulated(mode) || self.live.has_signer() {
            return Ok(0);
        }
        Ok(transfers::count_waiting_for_signer(db)?)
    }
}

/// Returns a count for each of these statuses, 0 if there is none.
fn counts_by_status(
    statuses: &[InvoiceStatus],
    found: &[(InvoiceStatus, i64)],
) -> Vec<InvoiceCountView> {
    let statuses = statuses.iter().copied();
    statuses
        .map(|status| InvoiceCountView { status, count: count_of_status(found, status) })
        .collect()
}

/// Returns the sales in each currency on each of the last 30 days.
fn sales_by_currency(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    now: Time,
) -> Result<Vec<DailySalesView>, Error> {
    let today = day_number(now);
    let first = today.saturating_sub(SALES_DAYS).saturating_add(1);
    let found = summary::sales_by_day(db, account, mode, start_of_day(first))?;
    let of = |currency: Currency| {
        let of_currency = found.iter().filter(|(other, ..)| *other == currency);
        let days: Vec<(i64, i64, Cents)> =
            of_currency.map(|(_, day, count, amount)| (*day, *count, *amount)).collect();
        DailySalesView::from_days(currency, first, today, &days)
    };
    Ok(Currency::ALL.iter().copied().map(of).collect())
}

/// Returns the open payouts or refunds of this account, or of all accounts.
fn open_transfers(
    db: &Reader<'_>,
    account: Option<i64>,
    mode: Mode,
    kind: TransferKind,
) -> Result<OpenTransfersView, Error> {
    let found = summary::open_transfer_counts(db, account, mode, kind)?;
    Ok(OpenTransfersView {
        requested: count_of_status(&found, TransferStatus::Requested),
        approved: count_of_status(&found, TransferStatus::Approved),
        processing: count_of_status(&found, TransferStatus::Processing),
    })
}

fn count_of_status<T: PartialEq>(found: &[(T, i64)], status: T) -> i64 {
    let mut of_status = found.iter().filter(|(other, _)| *other == status);
    of_status.next().map_or(0, |(_, count)| *count)
}
