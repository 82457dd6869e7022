//! Files beside a database that exist while one command runs: the bytes of a file that only root may read, and a copy on
//! its way into a file of root's.
//!
//! Invariant: only the owner of the database can read such a file. It is removed with its handle; if the process was
//! killed, by the next server or command of this kind.

use super::backup::{BackupCopy, copy};
use super::left_behind::{self, LeftoverFile};
use super::lock::{LOCK, Lock};
use super::paths::{create_private, folder_of, path_error, resolve_links, with_suffix};
use super::{StoreError, room};
use crate::domain::{Progress, ProgressSink, Time, id};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Text between the name of the database and the id of the file.
const PREFIX: &str = "-private-";
/// Suffix of a copy that a backup or a restore has begun.
const COPYING: &str = "-copying";
/// Suffixes of the files beside a private file.
const BESIDE: [&str; 5] = ["", "-wal", "-shm", "-journal", LOCK];
/// Number of bytes that are copied between two progress reports.
const STEP_BYTES: u64 = 1 << 20;

/// A copy of the bytes of a file. Dropping it removes it.
pub struct PrivateCopy {
    path: PathBuf,
    _alone: Lock,
}

impl PrivateCopy {
    /// Copies the bytes of `source` into a new file beside `database`. `name` is the path of the source, for messages.
    ///
    /// # Errors
    /// [`StoreError`] if the source is not a file or changes meanwhile, or the disk has no room for a restore of it.
    pub fn of_file(
        source: &File,
        name: &Path,
        database: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<PrivateCopy, StoreError> {
        let named = |error| path_error(name, error);
        let found = source.metadata().map_err(named)?;
        if !found.is_file() {
            return Err(StoreError::Failed(format!("{} is not a file", name.display())));
        }
        remove_leftovers(database);
        let path = private_path(database);
        // A restore copies this file again.
        let needed = found.len().saturating_mul(2);
        if room::free_bytes(folder_of(&path)).is_some_and(|free| free < needed) {
            return Err(room::disk_full_error(&path, needed, 0));
        }
        let private = PrivateCopy { _alone: Lock::exclusive(&path)?, path };
        let mut target = create_private(&private.path).map_err(|error| private.failed(error))?;
        (&*source).rewind().map_err(named)?;
        // One byte more than the file has shows that it grows.
        let bytes = found.len().saturating_add(1);
        let copied = copy_bytes(source.take(bytes), &mut target, found.len(), tell);
        let copied = copied.map_err(|error| match error.kind() {
            ErrorKind::StorageFull => room::disk_full_error(
                &private.path,
                needed,
                target.metadata().map_or(0, |found| found.len()),
            ),
            _ => private.failed(error),
        })?;
        if copied != found.len() || !is_same_state(&found, &source.metadata().map_err(named)?) {
            let name = name.display();
            return Err(StoreError::Failed(format!(
                "{name} changed while it was copied: it is in use. Make a copy of it with `coffer backup`"
            )));
        }
        Ok(private)
    }

    /// Returns the path of the copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        path_error(&self.path, error)
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        for suffix in BESIDE {
            // The files may not exist.
            let _ = std::fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

/// Copies a snapshot of a database, like [`copy`], to a private file beside the database.
///
/// # Errors
/// Those of [`copy`].
pub fn copy_beside(database: &Path, tell: &mut ProgressSink<'_>) -> Result<BackupCopy, StoreError> {
    remove_leftovers(database);
    copy(database, &private_path(database), tell)
}

pub(super) fn copy_bytes(
    mut from: impl Read,
    to: &mut impl Write,
    of: u64,
    tell: &mut ProgressSink<'_>,
) -> std::io::Result<u64> {
    let mut done = 0_u64;
    loop {
        let copied = std::io::copy(&mut from.by_ref().take(STEP_BYTES), to)?;
        if copied == 0 {
            return Ok(done);
        }
        done = done.saturating_add(copied);
        let part = "bytes copied";
        tell(Progress::Done { part, done, of });
    }
}

/// Returns `true` if a file was not written between two looks at it.
fn is_same_state(before: &Metadata, now: &Metadata) -> bool {
    let state = |found: &Metadata| (found.len(), found.mtime(), found.mtime_nsec());
    state(before) == state(now)
}

/// Returns a new name beside a database. It is random, so that commands do not disturb one another.
fn private_path(database: &Path) -> PathBuf {
    with_suffix(&resolve_links(database), &format!("{PREFIX}{}", id::new(Time(0))))
}

/// Removes the private files, and the copies that were begun for a restore, of killed processes. Files in use are
/// locked, and stay.
pub(super) fn remove_leftovers(database: &Path) {
    let database = resolve_links(database);
    let Some(name) = database.file_name().and_then(|name| name.to_str()) else {
        return;
    };
    let folder = folder_of(&database);
    let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for LeftoverFile { name: file, path, metadata } in
        left_behind::find_own_files(folder, |file| private_database(name, file).is_some())
    {
        if let Some(base) = private_database(name, &file).filter(|_| metadata.is_file()) {
            found.entry(folder.join(base)).or_default().push(path);
        }
    }
    for (base, mut files) in found {
        // A process locks this file before it creates the others. The list may be older than the lock.
        let lock = with_suffix(&base, LOCK);
        if !files.contains(&lock) && lock.exists() {
            files.push(lock);
        }
        left_behind::remove_leftover_database(&base, &files);
    }
}

/// Returns the name of the private database to which a file belongs. `name` is the name of the database beside it.
fn private_database<'a>(name: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(name)?;
    let beside = match rest.strip_prefix(PREFIX) {
        Some(rest) => {
            let (id, rest) = rest.split_at_checked(36)?;
            id::parse(id).filter(|parsed| parsed == id)?;
            rest.strip_prefix(COPYING).unwrap_or(rest)
        }
        None => rest.strip_prefix(COPYING)?,
    };
    BESIDE.contains(&beside).then(|| file.strip_suffix(beside))?
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{PrivateCopy, private_database};
    use crate::domain::progress::ignore_progress;
    use crate::domain::{Progress, Time};
    use std::fs::File;
    use std::io::Write;
    use std::path::PathBuf;

    /// A folder with a database and a source of three MiB.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            let name = format!("coffer-private-{}", crate::domain::id::new(Time(0)));
            let folder = Folder(std::env::temp_dir().join(name));
            std::fs::create_dir(&folder.0).unwrap();
            std::fs::write(folder.0.join("source"), vec![7; 3 << 20]).unwrap();
            folder
        }

        fn source(&self) -> File {
            File::open(self.0.join("source")).unwrap()
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap();
            let name = |entry: std::io::Result<std::fs::DirEntry>| {
                entry.unwrap().file_name().into_string().unwrap()
            };
            let mut names: Vec<_> = entries.map(name).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn copy_has_the_bytes_of_the_source_and_is_removed() {
        let folder = Folder::new();
        let (source, name) = (folder.source(), folder.0.join("source"));
        let database = folder.0.join("coffer.db");
        let made = PrivateCopy::of_file(&source, &name, &database, &mut ignore_progress).unwrap();
        assert!(std::fs::read(made.path()).unwrap() == std::fs::read(&name).unwrap());
        assert_eq!(folder.names().len(), 3);
        drop(made);
        assert_eq!(folder.names(), ["source"]);
    }

    #[test]
    fn source_that_changes_during_the_copy_is_refused() {
        let folder = Folder::new();
        let (source, name) = (folder.source(), folder.0.join("source"));
        for (is_longer, truncated) in [(true, 0), (false, 100)] {
            let mut is_changed = false;
            let mut change = |_: Progress<'_>| {
                if !std::mem::replace(&mut is_changed, true) {
                    let mut file = File::options().append(true).open(&name).unwrap();
                    if is_longer {
                        file.write_all(b"more").unwrap();
                    } else {
                        file.set_len(truncated).unwrap();
                    }
                }
            };
            let database = folder.0.join("coffer.db");
            let refused = PrivateCopy::of_file(&source, &name, &database, &mut change);
            let refused = refused.err().unwrap().to_string();
            assert!(refused.contains("source changed while it was copied"), "{refused}");
            assert_eq!(folder.names(), ["source"]);
        }
    }

    #[test]
    fn private_files_of_killed_processes_are_removed_unless_locked() {
        let folder = Folder::new();
        let database = folder.0.join("coffer.db");
        let (source, name) = (folder.source(), folder.0.join("source"));
        let used = PrivateCopy::of_file(&source, &name, &database, &mut ignore_progress).unwrap();
        let id = "01a400f6-39ea-7000-8000-000149227cfd";
        for leftover in ["", "-wal", "-lock", "-copying", "-copying-journal", "-copying-lock"] {
            std::fs::write(folder.0.join(format!("coffer.db-private-{id}{leftover}")), "").unwrap();
        }
        for leftover in ["-copying", "-copying-shm"] {
            std::fs::write(folder.0.join(format!("coffer.db{leftover}")), "").unwrap();
        }
        let kept = ["coffer.db-private-", "coffer.db-private-x", "other.db-copying", "coffer.db"];
        for kept in kept {
            std::fs::write(folder.0.join(kept), "").unwrap();
        }
        super::remove_leftovers(&database);
        let names = folder.names();
        assert_eq!(names.len(), kept.len() + 3, "{names:?}");
        assert!(kept.iter().all(|kept| names.contains(&(*kept).to_owned())), "{names:?}");
        assert!(used.path().exists());
    }

    #[test]
    fn only_names_of_private_files_are_recognised() {
        let id = "01a400f6-39ea-7000-8000-000149227cfd";
        let of = format!("coffer.db-private-{id}");
        for (file, database) in [
            (of.clone(), Some(of.clone())),
            (format!("{of}-wal"), Some(of.clone())),
            (format!("{of}-copying"), Some(format!("{of}-copying"))),
            (format!("{of}-copying-lock"), Some(format!("{of}-copying"))),
            ("coffer.db-copying-journal".to_owned(), Some("coffer.db-copying".to_owned())),
            ("coffer.db-copyingx".to_owned(), None),
            ("coffer.db".to_owned(), None),
            ("coffer.db-wal".to_owned(), None),
            (format!("other.db-private-{id}"), None),
            (format!("{of}x"), None),
            (format!("coffer.db-private-{}", id.to_uppercase()), None),
            ("coffer.db-private-\u{e9}".repeat(9), None),
        ] {
            assert_eq!(private_database("coffer.db", &file), database.as_deref(), "{file}");
        }
    }
}
