//! The table `ledger`, and with every entry the running row of `balances`.

use super::history::append;
use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx, balances};
use crate::domain::asset::Mode;
use crate::domain::history::ChainedLog;
use crate::domain::ledger::{LedgerEntry, LedgerKind, Posting, RefType};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use rusqlite::named_params;

/// Where a posting goes.
pub struct Booking<'a> {
    /// Whose ledger.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// EUR or USD.
    pub currency: Currency,
    /// What it refers to.
    pub ref_type: RefType,
    /// Which one.
    pub ref_id: &'a str,
    /// The row that is booked.
    pub source: Source,
}

/// The row that an entry books: each books its kinds once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A payment of an invoice.
    Payment(i64),
    /// A deposit of a customer.
    Deposit(i64),
    /// A payout or a refund.
    Transfer(i64),
    /// Nothing but the operator's word.
    Operator,
}

impl Source {
    /// The columns `payment`, `deposit` and `transfer`.
    fn columns(self) -> [Option<i64>; 3] {
        match self {
            Source::Payment(seq) => [Some(seq), None, None],
            Source::Deposit(seq) => [None, Some(seq), None],
            Source::Transfer(seq) => [None, None, Some(seq)],
            Source::Operator => [None, None, None],
        }
    }
}

rows! {
    fn read(seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at) -> LedgerEntry {
        Ok(LedgerEntry { seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at })
    }
    PAGE = select "from ledger \
        where account = :account and mode = :mode and seq < :before order by seq desc limit :limit";
    PAGE_BY_CURRENCY = select "from ledger \
        where account = :account and mode = :mode and currency = :currency and seq < :before \
        order by seq desc limit :limit";
}

rows! {
    fn read_of_payment(
        payment, seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at,
    ) -> (i64, LedgerEntry) {
        Ok((payment, LedgerEntry { seq, id, currency, amount, kind, ref_type, ref_id, fee_bps, memo, created_at }))
    }

    /// What the payments of an invoice booked, oldest first, each with its payment.
    pub fn of_invoice(db, invoice: i64) -> Vec<(i64, LedgerEntry)> =
        select "from ledger \
            where payment in (select seq from payments where invoice = :invoice) order by seq";
}

values! {
    UNREVERSED(seq: i64, amount: Cents) = file "sql/ledger/unreversed.sql";

    /// Where the entry with this id stands, if it is the caller's.
    pub fn seq_of(db, account: i64, mode: Mode, id: &str) -> Option<(seq: i64)> =
        "select seq from ledger where id = :id and account = :account and mode = :mode";
}

commands! {
    INSERT = file "sql/ledger/insert.sql";
}

/// Books one entry and moves the running balance.
pub fn book(
    tx: &Tx<'_>,
    id: &str,
    booking: &Booking<'_>,
    posting: &Posting,
    now: Time,
) -> Result<(), StoreError> {
    let [payment, deposit, transfer] = booking.source.columns();
    let params = named_params! {
        ":id": id,
        ":account": booking.account,
        ":mode": booking.mode,
        ":currency": booking.currency,
        ":amount": posting.amount,
        ":kind": posting.kind,
        ":ref_type": booking.ref_type,
        ":ref_id": booking.ref_id,
        ":fee_bps": posting.fee_bps,
        ":memo": posting.memo,
        ":payment": payment,
        ":deposit": deposit,
        ":transfer": transfer,
        ":reverses": posting.reverses,
        ":sale_fee_bps": posting.sale_fee_bps,
        ":created_at": now,
    };
    tx.told(|conn| append(conn, ChainedLog::Ledger, &INSERT, params))?;
    balances::move_by(
        tx,
        booking.account,
        booking.mode,
        booking.currency,
        posting.kind,
        posting.amount,
    )
}

/// Books what an operator corrects, and moves the running balance.
pub fn adjust(
    tx: &Tx<'_>,
    account: i64,
    mode: Mode,
    entry: &LedgerEntry,
    now: Time,
) -> Result<(), StoreError> {
    let nothing: Option<i64> = None;
    let params = named_params! {
        ":id": entry.id,
        ":account": account,
        ":mode": mode,
        ":currency": entry.currency,
        ":amount": entry.amount,
        ":kind": LedgerKind::Adjustment,
        ":ref_type": RefType::Admin,
        ":ref_id": nothing,
        ":fee_bps": nothing,
        ":memo": entry.memo,
        ":payment": nothing,
        ":deposit": nothing,
        ":transfer": nothing,
        ":reverses": nothing,
        ":sale_fee_bps": nothing,
        ":created_at": now,
    };
    tx.told(|conn| append(conn, ChainedLog::Ledger, &INSERT, params))?;
    balances::move_by(tx, account, mode, entry.currency, entry.kind, entry.amount)
}

/// What this row booked that nothing has taken back: `seq` and amount.
pub fn unreversed(db: &Reader<'_>, source: Source) -> Result<Vec<(i64, Cents)>, StoreError> {
    let [payment, deposit, transfer] = source.columns();
    UNREVERSED.all(
        db,
        named_params! { ":payment": payment, ":deposit": deposit, ":transfer": transfer },
    )
}

/// Entries older than `before`, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    currency: Option<Currency>,
    before: i64,
    limit: u32,
) -> Result<Vec<LedgerEntry>, StoreError> {
    match currency {
        None => {
            let params = named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
            PAGE.all(db, params)
        }
        Some(currency) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":currency": currency, ":before": before, ":limit": limit
            };
            PAGE_BY_CURRENCY.all(db, params)
        }
    }
}
