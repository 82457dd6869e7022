//! A sandbox's own file, in the system's folder for temporary files.
//!
//! What always holds: it is removed with everything beside it (the log, the lock, snapshots) when its handle is dropped;
//! what a killed process left is removed by a later one that ends as it should; what is in use is left alone.

use crate::service::{Error, random};
use std::fs::{DirEntry, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the names of temporary files begin with.
const PREFIX: &str = "coffer-sandbox-";
/// What the name of a file's lock adds to it.
const LOCK: &str = "-lock";
/// How much older than ours a file has to be to be taken for left behind: a younger one may be about to be locked.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(600);

/// The name of a file that nobody else has. Dropping it removes the file.
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A new name. The file is not made.
    ///
    /// # Errors
    /// [`Error::Failed`] where the system has no random numbers.
    pub fn new() -> Result<Temporary, Error> {
        let name = crate::domain::signature::hex(&random::<8>()?);
        let path = std::env::temp_dir().join(format!("{PREFIX}{name}.db"));
        Ok(Temporary { path })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what processes that were killed left in this folder; what cannot be removed stays.
    fn sweep(&self, folder: &Path) {
        let Some(ours) = modified(&self.path) else {
            return;
        };
        for entry in entries(folder, PREFIX) {
            let path = entry.path().to_string_lossy().into_owned();
            let Some(file) = path.strip_suffix(LOCK) else {
                continue;
            };
            let age = modified(&entry.path()).and_then(|theirs| ours.duration_since(theirs).ok());
            let unlocked = || File::open(&path).is_ok_and(|lock| lock.try_lock().is_ok());
            if age.is_some_and(|age| age > LEFT_BEHIND_AFTER) && unlocked() {
                remove_with_all_beside(Path::new(file));
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            self.sweep(folder);
        }
        remove_with_all_beside(&self.path);
    }
}

/// When a file was last written to.
fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// The files of a folder whose names begin so.
fn entries(folder: &Path, prefix: &str) -> impl Iterator<Item = DirEntry> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter(move |entry| entry.file_name().to_string_lossy().starts_with(prefix))
}

/// Removes a temporary file and whatever has its name and more. The name is long and random: nothing else begins so.
fn remove_with_all_beside(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    for entry in entries(folder, &name.to_string_lossy()) {
        // What is gone already needs no removing.
        let _ = std::fs::remove_file(entry.path());
    }
}
