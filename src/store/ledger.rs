//! The table `ledger`, and with every entry the running row of `balances`.

use super::row::Columns;
use super::{Reader, StoreError, Tx, balances};
use crate::domain::asset::Mode;
use crate::domain::ledger::{Entry, Posting, RefType};
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

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

fn read(row: &Row<'_>) -> rusqlite::Result<Entry> {
    entry(&mut Columns::of(row))
}

/// An entry from the columns that follow.
fn entry(next: &mut Columns<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: next.take()?,
        id: next.take()?,
        currency: next.take()?,
        amount: next.take()?,
        kind: next.take()?,
        ref_type: next.take()?,
        ref_id: next.take()?,
        fee_bps: next.take()?,
        memo: next.take()?,
        created_at: next.take()?,
    })
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
        ":created_at": now,
    };
    tx.insert(include_str!("../../sql/ledger/insert.sql"), params)?;
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
    entry: &Entry,
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": entry.id,
        ":account": account,
        ":mode": mode,
        ":currency": entry.currency,
        ":amount": entry.amount,
        ":memo": entry.memo,
        ":created_at": now,
    };
    tx.insert(include_str!("../../sql/ledger/adjust.sql"), params)?;
    balances::move_by(tx, account, mode, entry.currency, entry.kind, entry.amount)
}

/// What the payments of an invoice booked, oldest first, each with its payment.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<(i64, Entry)>, StoreError> {
    db.all(
        include_str!("../../sql/ledger/of_invoice.sql"),
        named_params! { ":invoice": invoice },
        |row| {
            let mut next = Columns::of(row);
            Ok((next.take()?, entry(&mut next)?))
        },
    )
}

/// What this row booked that nothing has taken back: `seq` and amount.
pub fn unreversed(db: &Reader<'_>, source: Source) -> Result<Vec<(i64, Cents)>, StoreError> {
    let [payment, deposit, transfer] = source.columns();
    db.all(
        include_str!("../../sql/ledger/unreversed.sql"),
        named_params! { ":payment": payment, ":deposit": deposit, ":transfer": transfer },
        |row| {
            let mut next = Columns::of(row);
            Ok((next.take()?, next.take()?))
        },
    )
}

/// Where the entry with this id stands, if it is the caller's.
pub fn seq_of(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<i64>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(include_str!("../../sql/ledger/seq_of.sql"), params, |row| {
        row.get(0)
    })
}

/// Entries older than `before`, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    currency: Option<Currency>,
    before: i64,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    match currency {
        None => {
            let params = named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
            db.all(include_str!("../../sql/ledger/page.sql"), params, read)
        }
        Some(currency) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":currency": currency, ":before": before, ":limit": limit
            };
            db.all(
                include_str!("../../sql/ledger/page_by_currency.sql"),
                params,
                read,
            )
        }
    }
}
