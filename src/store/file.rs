//! The table `file`: its one row has the file's kind, and the settings of the whole service.

use super::statement::{commands, rows, text, values};
use super::states::ValueKind;
use super::{Kind, Reader, StoreError, Tx};
use crate::domain::render::sandbox::CountsView;
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

rows! {
    fn read(kind, checkout_secret, maintenance, clock_offset_ms, clock_frozen_at) -> FileRow {
        Ok(FileRow { kind, checkout_secret, maintenance, clock_offset_ms, clock_frozen_at })
    }

    /// The row, once the file has been begun.
    pub fn load(db) -> Option<FileRow> = select "from file where id = 1";
}

rows! {
    fn read_counts(
        invoices = "(select count(*) from invoices)",
        payments = "(select count(*) from payments)",
        payouts = "(select count(*) from transfers where kind = 'payout')",
        refunds = "(select count(*) from transfers where kind = 'refund')",
        events = "(select count(*) from events)",
        deliveries = "(select count(*) from deliveries)",
        deliveries_pending = "(select count(*) from deliveries where state = 'pending')",
    ) -> CountsView {
        Ok(CountsView { invoices, payments, payouts, refunds, events, deliveries, deliveries_pending })
    }

    /// Counts rows.
    pub fn counts(db) -> Option<CountsView> = select "";
}

values! {
    /// How often a server went on from an older copy.
    RESTORED(restored: i64) = "select restored from file";

    /// The latest moment that the file has seen, and how often a person has accepted the wall clock.
    pub fn clock(db) -> Option<(last_tick_at: Time, clock_accepted: i64)> =
        "select last_tick_at, clock_accepted from file where id = 1";

    /// The hash of that link, and its end.
    pub fn setup(db) -> Option<(setup_hash: [u8; 32], setup_expires_at: Time)> =
        "select setup_hash, setup_expires_at from file where setup_hash is not null";

    SNAPSHOT_AT(snapshot_at: Option<Time>) = "select snapshot_at from file";
}

/// The sandbox's way back to nothing, in several statements.
pub(super) const RESET: &str = text!(file "sql/file/reset.sql");

commands! {
    INSERT = "insert into file (id, kind, checkout_secret) values (1, :kind, :checkout_secret)";

    /// Keeps the sandbox's clock.
    pub fn set_clock(tx, offset_ms: i64, frozen_at: Option<Time>) =
        "update file set clock_offset_ms = :offset_ms, clock_frozen_at = :frozen_at where id = 1";

    SET_MAINTENANCE = "update file set maintenance = :maintenance where id = 1";

    /// Keeps the latest moment at which a status was judged by time.
    pub fn tick(tx, now: Time) = "update file set last_tick_at = :now where id = 1 and last_tick_at < :now";

    /// Keeps what the server's clock shows, also where that is earlier than before if it was `set_back`, and how far the
    /// wall clock is ahead of it while it is not believed.
    pub fn keep_clock(tx, now: Time, set_back: bool, ahead_ms: Option<i64>) =
        "update file set last_tick_at = iif(:set_back, :now, max(last_tick_at, :now)), \
            clock_ahead_ms = :ahead_ms where id = 1";

    /// A person says that the wall clock is right.
    /// What was seen later than this was seen by a clock that was wrong.
    pub fn accept_clock(tx, wall: Time) =
        "update file set clock_accepted = clock_accepted + 1, clock_ahead_ms = null, \
            last_tick_at = min(last_tick_at, :wall) where id = 1";

    SET_SETUP = "update file set setup_hash = :hash, setup_expires_at = :expires_at";
}

/// Begins a file.
pub fn insert(tx: &Tx<'_>, kind: Kind, checkout_secret: &[u8]) -> Result<(), StoreError> {
    let params = named_params! { ":kind": kind, ":checkout_secret": checkout_secret };
    tx.changes_value(ValueKind::Maintenance, 1);
    INSERT.run(tx, params)
}

/// Pauses or resumes live invoices and payouts.
pub fn set_maintenance(tx: &Tx<'_>, maintenance: bool) -> Result<(), StoreError> {
    tx.changes_value(ValueKind::Maintenance, 1);
    SET_MAINTENANCE.run(tx, named_params! { ":maintenance": maintenance })
}

/// Keeps the hash of the link by which the first operator is made, and its end; nothing forgets it.
pub fn set_setup(tx: &Tx<'_>, link: Option<(&[u8; 32], Time)>) -> Result<(), StoreError> {
    let (hash, expires_at) = (link.map(|(hash, _)| hash), link.map(|(_, end)| end));
    SET_SETUP.run(
        tx,
        named_params! { ":hash": hash, ":expires_at": expires_at },
    )
}

/// What the clock showed when this was kept as a snapshot.
pub fn snapshot_at(db: &Reader<'_>) -> Result<Option<Time>, StoreError> {
    let found = SNAPSHOT_AT.first(db, &[])?;
    Ok(found.flatten())
}

/// How often a server went on from an older copy.
pub fn restored(db: &Reader<'_>) -> Result<i64, StoreError> {
    Ok(RESTORED.first(db, &[])?.unwrap_or_default())
}

/// Removes everything but the file's own row.
pub fn reset(tx: &Tx<'_>) -> Result<(), StoreError> {
    tx.note(|changes| changes.everything = true);
    tx.changes_value(ValueKind::Maintenance, 1);
    tx.script(RESET)
}
