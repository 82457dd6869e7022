//! Files that killed processes have left in the folder for temporary files, where anybody may create files.
//!
//! Invariant: only plain files and folders of this process's user that are old and unused are opened or removed. Links
//! and pipes are never opened.

use super::lock::Lock;
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Minimum age difference to a file of ours. A younger file may be about to be locked.
const AFTER: Duration = Duration::from_secs(600);

/// An entry of a folder, neither followed nor opened.
pub struct LeftFile {
    /// Name.
    pub name: String,
    /// Path.
    pub path: PathBuf,
    /// Metadata; that of the link itself for a link.
    pub metadata: Metadata,
}

impl LeftFile {
    /// Returns `true` if the file is older than the grace period before ours: its creator has locked it, or has exited.
    pub fn is_older_than(&self, ours: &Metadata) -> bool {
        let (theirs, ours) = (self.metadata.modified(), ours.modified());
        let age = theirs.ok().zip(ours.ok());
        let age = age.and_then(|(theirs, ours)| ours.duration_since(theirs).ok());
        age.is_some_and(|age| age > AFTER)
    }
}

/// Returns the files of this process's user in a folder whose names fit.
pub fn own(folder: &Path, is_named_so: impl Fn(&str) -> bool) -> Vec<LeftFile> {
    let user = geteuid().as_raw();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok();
        let name = name.filter(|name| is_named_so(name))?;
        let metadata = entry.metadata().ok()?;
        (metadata.uid() == user).then(|| LeftFile {
            name,
            path: entry.path(),
            metadata,
        })
    });
    found.collect()
}

/// Removes the files of a database unless a server uses it. Errors are ignored.
pub fn remove(database: &Path, files: &[PathBuf]) {
    // Held until all files are removed.
    if let Ok(Some(_held)) = Lock::of_left_behind(database, files) {
        for file in files {
            let _ = std::fs::remove_file(file);
        }
    }
}
