//! Snapshots of the sandbox: saves the whole file under a name, and restores it.
//!
//! Invariant: a snapshot is a file next to the sandbox's file. A request during a restore sees the state before or
//! after the restore.

use crate::domain::progress::ignore_progress;
use crate::domain::{Refusal, Time};
use crate::service::{Error, Service};
use crate::store::backup::{copy, overwrite};
use crate::store::paths::{is_reserved_name, with_suffix};
use crate::store::{file, read_only};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Text between the sandbox's file name and the snapshot's name.
const SUFFIX: &str = "-snapshot-";

fn snapshot_path(of: &Path, name: &str) -> PathBuf {
    with_suffix(of, &format!("{SUFFIX}{name}"))
}

/// Saves the whole file under a name, and replaces a snapshot with the same name. Needs a thread that can block.
///
/// # Errors
///
/// `invalid_request` if the name ends like the log or lock file of another snapshot.
/// [`Error::Failed`] if the file cannot be written.
pub fn save_snapshot(of: &Path, name: &str, now: Time) -> Result<(), Error> {
    if is_reserved_name(&snapshot_path(of, name)) {
        let problem = "must not end in -wal, -shm, -journal, -lock or -copying";
        return Err(Refusal::field("name", problem).into());
    }
    let snapshot = copy(of, &snapshot_path(of, name), &mut ignore_progress)?;
    snapshot.save_snapshot_time(now)?;
    snapshot.put_in_place(true)?;
    // No process opens the snapshot as a database, so the snapshot needs no lock file.
    let _ = std::fs::remove_file(with_suffix(&snapshot_path(of, name), "-lock"));
    Ok(())
}

/// Returns the time of a snapshot's clock, and `true` if the clock was frozen. Needs a thread that can block.
///
/// # Errors
/// `not_found` if there is no snapshot with this name.
pub fn snapshot_clock(of: &Path, name: &str) -> Result<(Time, bool), Error> {
    let snapshot = snapshot_path(of, name);
    if !snapshot.exists() {
        return Err(Refusal::not_found("snapshot").into());
    }
    read_only(&snapshot, |db| {
        let (row, at) = (file::read_file_row(db)?, file::snapshot_at(db)?);
        let both = row.zip(at);
        let (row, at) = both.ok_or_else(|| Error::Failed("it is not a snapshot".to_owned()))?;
        Ok((at, row.clock_frozen_at.is_some()))
    })
}

impl Service {
    /// Restores a snapshot. Needs a thread that can block.
    ///
    /// The caller must set the clock to the snapshot's time before the call. Otherwise deadlines in the restored data
    /// would be compared with another time.
    pub fn restore_snapshot(self: &Arc<Self>, of: &Path, name: &str) -> Result<(), Error> {
        overwrite(&snapshot_path(of, name), of)?;
        // Before each batch, the writer checks whether another process has written, and clears its caches in that
        // case. This empty write triggers the check.
        self.store.write_and_wait(|_| Ok(()))
    }
}
