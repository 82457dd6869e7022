//! The table `file`: one row with the kind of the database file and settings of the whole service.

use super::statement::{statements, text};
use super::states::ValueKind;
use super::{FileKind, StoreError, Tx};
use crate::domain::{FileCounts, Time};

/// The only row of the table `file`.
pub struct FileRow {
    /// Kind of server that made the file.
    pub kind: FileKind,
    /// Secret key from which checkout tokens are derived.
    pub checkout_secret: Vec<u8>,
    /// Whether live invoices and payouts are paused.
    pub maintenance: bool,
    /// Milliseconds by which the sandbox's clock is ahead of real time.
    pub clock_offset_ms: i64,
    /// Time at which the sandbox's clock is stopped, in Unix milliseconds; `None` while it runs.
    pub clock_frozen_at: Option<Time>,
}

statements! {
    row read(kind, checkout_secret, maintenance, clock_offset_ms, clock_frozen_at) -> FileRow {
        Ok(FileRow { kind, checkout_secret, maintenance, clock_offset_ms, clock_frozen_at })
    }

    /// Returns the only row; `None` if the row was not inserted yet.
    pub fn read_file_row(db) -> Option<FileRow> = select "from file where id = 1";

    row read_counts(
        invoices = "(select count(*) from invoices)",
        payments = "(select count(*) from payments)",
        payouts = "(select count(*) from transfers where kind = 'payout')",
        refunds = "(select count(*) from transfers where kind = 'refund')",
        events = "(select count(*) from events)",
        deliveries = "(select count(*) from deliveries)",
        deliveries_pending = "(select count(*) from deliveries where state = 'pending')",
    ) -> FileCounts {
        Ok(FileCounts { invoices, payments, payouts, refunds, events, deliveries, deliveries_pending })
    }

    /// Returns the number of invoices, payments, payouts, refunds, events and deliveries.
    pub fn counts(db) -> Option<FileCounts> = select "";

    /// Returns how many times a server has continued from a restored copy.
    pub fn restore_count(db) -> (restored: i64) = "select ifnull(max(restored), 0) as restored from file";

    /// Returns the latest stored time, and how often a person has accepted the wall clock.
    pub fn clock_state(db) -> Option<(last_tick_at: Time, clock_accepted: i64)> =
        "select last_tick_at, clock_accepted from file where id = 1";

    /// Returns the hash and the expiry of the link that creates the first operator.
    pub fn setup_link(db) -> Option<(setup_hash: [u8; 32], setup_expires_at: Time)> =
        "select setup_hash, setup_expires_at from file where setup_hash is not null";

    /// Returns the time of the sandbox's clock at which the snapshot in this file was taken; `None` if the file is not a
    /// snapshot.
    pub fn snapshot_at(db) -> Option<(snapshot_at: Time)> =
        "select snapshot_at from file where snapshot_at is not null";

    /// Inserts the row of a new file.
    pub fn insert(tx, kind: FileKind, checkout_secret: &[u8]) =
        "insert into file (id, kind, checkout_secret) values (1, :kind, :checkout_secret)"
        noting { tx.note_value_change(ValueKind::Maintenance, 1); };

    /// Stores the offset of the sandbox's clock, and the time at which the clock is stopped.
    pub fn set_clock(tx, offset_ms: i64, frozen_at: Option<Time>) =
        "update file set clock_offset_ms = :offset_ms, clock_frozen_at = :frozen_at where id = 1";

    /// Pauses or resumes live invoices and payouts.
    pub fn set_maintenance(tx, maintenance: bool) =
        "update file set maintenance = :maintenance where id = 1"
        noting {
            // The signer waits until maintenance ends.
            tx.record_change(|changes| changes.transfers = true);
            tx.note_value_change(ValueKind::Maintenance, 1);
        };

    /// Stores the latest time at which a worker updated the statuses that change with time.
    pub fn save_last_tick(tx, now: Time) = "update file set last_tick_at = :now where id = 1 and last_tick_at < :now";

    /// Stores the time of the server's clock. An earlier time replaces a later one only with `set_back`.
    ///
    /// `ahead_ms` is the time by which the wall clock is ahead of the server's clock, in milliseconds. It is `None`
    /// while the wall clock is trusted.
    pub fn save_clock_time(tx, now: Time, set_back: bool, ahead_ms: Option<i64>) =
        "update file set last_tick_at = iif(:set_back, :now, max(last_tick_at, :now)), \
            clock_ahead_ms = :ahead_ms where id = 1";

    /// Accepts the wall clock as right. A stored time after `wall` came from a wrong clock, so `wall` replaces it.
    pub fn accept_clock(tx, wall: Time) =
        "update file set clock_accepted = clock_accepted + 1, clock_ahead_ms = null, \
            last_tick_at = min(last_tick_at, :wall) where id = 1";

    /// Stores the hash and the expiry of the link that creates the first operator. `None` deletes them.
    pub fn set_setup_link(tx, link: Option<(&[u8; 32], Time)>) =
        "update file set setup_hash = :hash, setup_expires_at = :expires_at"
        with { hash: link.map(|(hash, _)| hash), expires_at: link.map(|(_, end)| end) };
}

/// Script that empties the file of a sandbox.
pub(super) const RESET: &str = text!(file "sql/file/reset.sql");

/// Deletes the rows of all other tables. Keeps the row of the table `file`, but resets its settings and times.
pub fn reset(tx: &Tx<'_>) -> Result<(), StoreError> {
    tx.record_change(|changes| changes.everything = true);
    tx.note_value_change(ValueKind::Maintenance, 1);
    tx.run_script(RESET)
}
