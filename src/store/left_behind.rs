//! What killed processes have left in the folder for temporary files, where anybody may have put anything.
//!
//! What lives here: which of it may be looked at and removed. What does not: how it is named (`source`, `app`).
//! What always holds: only plain files and folders are opened or removed, and only those that belong to this
//! process's user, are old, and are in nobody's use; links and pipes are not opened.

use super::lock::Lock;
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much older than ours it has to be: what is younger may be about to be locked.
const AFTER: Duration = Duration::from_secs(600);

/// Something in a folder: not followed, not opened.
pub struct Found {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it is; of a link, the link itself.
    pub metadata: Metadata,
}

impl Found {
    /// Is it so much older than this one of ours that whoever made it either holds it by now, or is gone?
    pub fn is_older_than(&self, ours: &Metadata) -> bool {
        let (theirs, ours) = (self.metadata.modified(), ours.modified());
        let age = theirs.ok().zip(ours.ok());
        let age = age.and_then(|(theirs, ours)| ours.duration_since(theirs).ok());
        age.is_some_and(|age| age > AFTER)
    }
}

/// What this process's user has in a folder under such names.
pub fn own(folder: &Path, is_named_so: impl Fn(&str) -> bool) -> Vec<Found> {
    let user = geteuid().as_raw();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok();
        let name = name.filter(|name| is_named_so(name))?;
        let metadata = entry.metadata().ok()?;
        (metadata.uid() == user).then(|| Found {
            name,
            path: entry.path(),
            metadata,
        })
    });
    found.collect()
}

/// Removes the files of a database, unless a server has it. What cannot be removed stays.
pub fn remove(database: &Path, files: &[PathBuf]) {
    // Held until all are gone.
    if let Ok(Some(_held)) = Lock::of_left_behind(database, files) {
        for file in files {
            let _ = std::fs::remove_file(file);
        }
    }
}
