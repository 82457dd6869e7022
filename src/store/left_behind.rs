//! Files that killed processes have left, also in the directory for temporary files, where any user may create files.
//!
//! Invariant: only unused files and folders of this process's user are opened or removed. Links and pipes are never
//! opened.

use super::lock::Lock;
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Age by which a leftover file must exceed a file of this process. The creator of a younger file may be about to
/// lock it.
const AFTER: Duration = Duration::from_secs(600);

/// A directory entry that may be a leftover file. The entry has not been opened, and a link has not been followed.
pub struct LeftoverFile {
    /// File name.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Metadata of the entry. For a link, the metadata of the link itself, not of its target.
    pub metadata: Metadata,
}

impl LeftoverFile {
    /// Returns `true` if the file is more than ten minutes older than a file of this process. By then its creator has
    /// locked the file or has exited.
    pub fn is_older_than(&self, ours: &Metadata) -> bool {
        let (theirs, ours) = (self.metadata.modified(), ours.modified());
        let age = theirs.ok().zip(ours.ok());
        let age = age.and_then(|(theirs, ours)| ours.duration_since(theirs).ok());
        age.is_some_and(|age| age > AFTER)
    }
}

/// Returns the entries of a directory that belong to this process's user and for whose names `is_named_so` returns
/// `true`.
pub fn find_own_files(folder: &Path, is_named_so: impl Fn(&str) -> bool) -> Vec<LeftoverFile> {
    let user = geteuid().as_raw();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok();
        let name = name.filter(|name| is_named_so(name))?;
        let metadata = entry.metadata().ok()?;
        (metadata.uid() == user).then(|| LeftoverFile { name, path: entry.path(), metadata })
    });
    found.collect()
}

/// Removes the files of a database unless a server uses it. Ignores errors.
pub fn remove_leftover_database(database: &Path, files: &[PathBuf]) {
    // The lock is held until all files are removed.
    if let Ok(Some(_held)) = Lock::lock_leftover_database(database, files) {
        for file in files {
            let _ = std::fs::remove_file(file);
        }
    }
}
