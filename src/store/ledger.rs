//! The table `ledger`: bookings. Each entry also changes the running sums of `balances`.

use super::booking::{Booking, BookingSource};
use super::history::append;
use super::statement::statements;
use super::{PageBounds, Reader, StoreError, Tx, balances, sales_by_hour};
use crate::domain::{
    Cents, ChainedLog, Currency, LedgerEntry, LedgerKind, Mode, Posting, RefType, Time,
};
use rusqlite::named_params;

statements! {
    row read(seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at) -> LedgerEntry {
        Ok(LedgerEntry { seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at })
    }

    fn page_of_all(db, account: i64, mode: Mode, page: PageBounds) -> Vec<LedgerEntry> =
        select "from ledger \
            where account = :account and mode = :mode and seq < :before order by seq desc limit :limit"
        with { account, mode, before: page.before, limit: page.limit };

    fn page_of_currency(db, account: i64, mode: Mode, currency: Currency, page: PageBounds) -> Vec<LedgerEntry> =
        select "from ledger \
            where account = :account and mode = :mode and currency = :currency and seq < :before \
            order by seq desc limit :limit"
        with { account, mode, currency, before: page.before, limit: page.limit };

    row read_payment_entry(
        payment, seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at,
    ) -> (i64, LedgerEntry) {
        Ok((payment, LedgerEntry { seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at }))
    }

    /// Returns the entries of an invoice's payments, oldest first, each with the `seq` of its payment.
    pub fn of_invoice(db, invoice: i64) -> Vec<(i64, LedgerEntry)> =
        select "from ledger \
            where payment in (select seq from payments where invoice = :invoice) order by seq";

    /// Returns the ledger entries of a payment, deposit or transfer that were not reversed, each with `seq` and
    /// amount.
    pub fn unreversed_entries(db, source: BookingSource) -> Vec<(seq: i64, amount: Cents)> =
        file "sql/ledger/unreversed.sql"
        with { payment: source.columns()[0], deposit: source.columns()[1], transfer: source.columns()[2] };

    /// Returns the `seq` of the entry with this id if the entry belongs to the account.
    pub fn seq_by_id(db, account: i64, mode: Mode, id: &str) -> Option<(seq: i64)> =
        "select seq from ledger where id = :id and account = :account and mode = :mode";

    fn insert_row() -> Statement = file "sql/ledger/insert.sql";
}

/// Inserts a ledger entry and adds it to the running sums. A sale is also added to its hour.
pub fn insert_booking(
    tx: &Tx<'_>,
    id: &str,
    booking: &Booking<'_>,
    posting: &Posting,
    now: Time,
) -> Result<(), StoreError> {
    let [payment, deposit, transfer] = booking.source.columns();
    let params = named_params! {
        ":id": id, ":account": booking.account, ":mode": booking.mode, ":currency": booking.currency,
        ":amount": posting.amount, ":kind": posting.kind, ":ref_type": booking.ref_type, ":ref_id": booking.ref_id,
        ":fee_bps": posting.fee_bps, ":memo": posting.memo, ":payment": payment, ":deposit": deposit,
        ":transfer": transfer, ":reverses": posting.reverses, ":sale_fee_bps": posting.sale_fee_bps, ":created_at": now,
    };
    tx.run_on_conn(|conn| append(conn, ChainedLog::Ledger, &insert_row(), params))?;
    if posting.kind == LedgerKind::Sale {
        sales_by_hour::add(tx, booking, posting.amount, now)?;
    }
    balances::add_entry(
        tx,
        booking.account,
        booking.mode,
        booking.currency,
        posting.kind,
        posting.amount,
    )
}

/// Inserts an adjustment by the operator and adds it to the running sums.
pub fn insert_adjustment(
    tx: &Tx<'_>,
    account: i64,
    mode: Mode,
    entry: &LedgerEntry,
    now: Time,
) -> Result<(), StoreError> {
    let none: Option<i64> = None;
    let params = named_params! {
        ":id": entry.id, ":account": account, ":mode": mode, ":currency": entry.currency, ":amount": entry.amount,
        ":kind": LedgerKind::Adjustment, ":ref_type": RefType::Admin, ":ref_id": none, ":fee_bps": none,
        ":memo": entry.memo, ":payment": none, ":deposit": none, ":transfer": none, ":reverses": none,
        ":sale_fee_bps": none, ":created_at": now,
    };
    tx.run_on_conn(|conn| append(conn, ChainedLog::Ledger, &insert_row(), params))?;
    balances::add_entry(tx, account, mode, entry.currency, entry.kind, entry.amount)
}

/// Returns a page of entries, newest first. With `currency`, only entries in this currency.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    currency: Option<Currency>,
    page: PageBounds,
) -> Result<Vec<LedgerEntry>, StoreError> {
    match currency {
        None => page_of_all(db, account, mode, page),
        Some(currency) => page_of_currency(db, account, mode, currency, page),
    }
}
