//! The table `file`: its one row says what the file is and what belongs to the whole service.

use super::row::Columns;
use super::{Kind, Reader, StoreError, Tx};
use crate::domain::time::Time;
use rusqlite::named_params;

/// The row.
pub struct FileRow {
    /// What made the file.
    pub kind: Kind,
    /// The secret behind checkout tokens.
    pub checkout_secret: Vec<u8>,
    /// Are live invoices and payouts paused?
    pub maintenance: bool,
    /// The sandbox's clock: milliseconds ahead of real time.
    pub clock_offset_ms: i64,
    /// Where the sandbox's clock stands still, if it does.
    pub clock_frozen_at: Option<Time>,
}

/// How many rows there are of what people ask about.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Invoices of both modes.
    pub invoices: i64,
    /// Payments, dropped ones too.
    pub payments: i64,
    /// Payouts.
    pub payouts: i64,
    /// Refunds of both modes.
    pub refunds: i64,
    /// Events.
    pub events: i64,
    /// Deliveries.
    pub deliveries: i64,
    /// Deliveries still to be made.
    pub deliveries_pending: i64,
}

/// The row, once the file has been begun.
pub fn load(db: &Reader<'_>) -> Result<Option<FileRow>, StoreError> {
    db.first(include_str!("../../sql/file/load.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok(FileRow {
            kind: next.take()?,
            checkout_secret: next.take()?,
            maintenance: next.take()?,
            clock_offset_ms: next.take()?,
            clock_frozen_at: next.take()?,
        })
    })
}

/// Begins a file.
pub fn insert(tx: &Tx<'_>, kind: Kind, checkout_secret: &[u8]) -> Result<(), StoreError> {
    let params = named_params! { ":kind": kind, ":checkout_secret": checkout_secret };
    tx.run(include_str!("../../sql/file/insert.sql"), params)
        .map(drop)
}

/// Keeps the sandbox's clock.
pub fn set_clock(tx: &Tx<'_>, offset_ms: i64, frozen_at: Option<Time>) -> Result<(), StoreError> {
    let params = named_params! { ":offset_ms": offset_ms, ":frozen_at": frozen_at };
    tx.run(include_str!("../../sql/file/set_clock.sql"), params)
        .map(drop)
}

/// Pauses or resumes live invoices and payouts.
pub fn set_maintenance(tx: &Tx<'_>, maintenance: bool) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/file/set_maintenance.sql"),
        named_params! { ":maintenance": maintenance },
    )
    .map(drop)
}

/// Keeps the latest moment at which a status was judged by time.
pub fn tick(tx: &Tx<'_>, now: Time) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/file/tick.sql"),
        named_params! { ":now": now },
    )
    .map(drop)
}

/// The latest moment that the file has seen, and how often a person has accepted the wall clock.
pub fn clock(db: &Reader<'_>) -> Result<Option<(Time, i64)>, StoreError> {
    db.first(include_str!("../../sql/file/clock.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })
}

/// Keeps what the server's clock shows, also where that is earlier than before if it was `set_back`, and how far the
/// wall clock is ahead of it while it is not believed.
pub fn keep_clock(
    tx: &Tx<'_>,
    now: Time,
    set_back: bool,
    ahead_ms: Option<i64>,
) -> Result<(), StoreError> {
    let params = named_params! { ":now": now, ":set_back": set_back, ":ahead_ms": ahead_ms };
    tx.run(include_str!("../../sql/file/keep_clock.sql"), params)
        .map(drop)
}

/// A person says that the wall clock is right.
pub fn accept_clock(tx: &Tx<'_>, wall: Time) -> Result<(), StoreError> {
    let params = named_params! { ":wall": wall };
    tx.run(include_str!("../../sql/file/accept_clock.sql"), params)
        .map(drop)
}

/// Keeps the hash of the link by which the first operator is made, and its end; nothing forgets it.
pub fn set_setup(tx: &Tx<'_>, link: Option<(&[u8; 32], Time)>) -> Result<(), StoreError> {
    let (hash, expires_at) = (link.map(|(hash, _)| hash), link.map(|(_, end)| end));
    tx.run(
        include_str!("../../sql/file/set_setup.sql"),
        named_params! { ":hash": hash, ":expires_at": expires_at },
    )
    .map(drop)
}

/// The hash of that link, and its end.
pub fn setup(db: &Reader<'_>) -> Result<Option<([u8; 32], Time)>, StoreError> {
    db.first(include_str!("../../sql/file/setup.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })
}

/// What the clock showed when this was kept as a snapshot.
pub fn snapshot_at(db: &Reader<'_>) -> Result<Option<Time>, StoreError> {
    let found = db.first(include_str!("../../sql/file/snapshot_at.sql"), [], |row| {
        row.get(0)
    })?;
    Ok(found.flatten())
}

/// Counts rows.
pub fn counts(db: &Reader<'_>) -> Result<Option<Counts>, StoreError> {
    db.first(include_str!("../../sql/file/counts.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok(Counts {
            invoices: next.take()?,
            payments: next.take()?,
            payouts: next.take()?,
            refunds: next.take()?,
            events: next.take()?,
            deliveries: next.take()?,
            deliveries_pending: next.take()?,
        })
    })
}

/// Removes everything but the file's own row.
pub fn reset(tx: &Tx<'_>) -> Result<(), StoreError> {
    tx.note(|changes| changes.everything = true);
    tx.script(include_str!("../../sql/file/reset.sql"))
}
