//! Snapshots of the sandbox: the whole file under a name, and going back to it.
//!
//! What always holds: a snapshot is a file of its own beside the sandbox's, and whoever asks during a restore sees the
//! state before it or after it.

use crate::domain::progress::ignore_progress;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::service::{Error, Service};
use crate::store::backup::{copy, overwrite};
use crate::store::paths::{is_beside, with_suffix};
use crate::store::{file, read_only};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands between the file's name and the snapshot's.
const SUFFIX: &str = "-snapshot-";

/// Where the snapshot of this name is.
fn path_of(of: &Path, name: &str) -> PathBuf {
    with_suffix(of, &format!("{SUFFIX}{name}"))
}

/// Keeps the whole file under a name; one of that name is replaced. For a thread that may wait.
///
/// # Errors
/// `invalid_request` for a name that would be another snapshot's log; [`Error::Failed`] where it cannot be written.
pub fn keep(of: &Path, name: &str, now: Time) -> Result<(), Error> {
    if is_beside(&path_of(of, name)) {
        let problem = "must not end in -wal, -shm, -journal, -lock or -copying";
        return Err(Refusal::field("name", problem).into());
    }
    let snapshot = copy(of, &path_of(of, name), &mut ignore_progress)?;
    snapshot.stamp(now)?;
    snapshot.put_in_place(true)?;
    // Nobody else opens it, so what would keep others off is not needed.
    let _ = std::fs::remove_file(with_suffix(&path_of(of, name), "-lock"));
    Ok(())
}

/// What a snapshot's clock showed, and whether it stood still. For a thread that may wait.
///
/// # Errors
/// `not_found` where there is none of this name.
pub fn clock_of(of: &Path, name: &str) -> Result<(Time, bool), Error> {
    let snapshot = path_of(of, name);
    if !snapshot.exists() {
        return Err(Refusal::not_found("snapshot").into());
    }
    read_only(&snapshot, |db| {
        let (row, at) = (file::load(db)?, file::snapshot_at(db)?);
        let both = row.zip(at);
        let (row, at) = both.ok_or_else(|| Error::Failed("it is not a snapshot".to_owned()))?;
        Ok((at, row.clock_frozen_at.is_some()))
    })
}

impl Service {
    /// Back to a snapshot. For a thread that may wait; the clock shows the snapshot's time already, else what is there
    /// again would be judged by another.
    ///
    /// # Errors
    /// [`Error::Failed`] where it cannot be read.
    pub fn restore_snapshot(self: &Arc<Self>, of: &Path, name: &str) -> Result<(), Error> {
        overwrite(&path_of(of, name), of)?;
        // The writer looks whether others wrote before each batch: this one makes it look, and drops every copy.
        self.write_and_wait(|_, _| Ok(()))
    }
}
