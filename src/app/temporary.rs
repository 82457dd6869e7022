//! The temporary file of a sandbox, in the system's temporary directory.
//!
//! Invariant: dropping the handle removes the file and its log, lock and snapshot files. The drop also removes files
//! that killed processes of the same user have left. It removes only files that are not in use and have the name of a
//! sandbox file.

use crate::service::{Error, random_bytes};
use crate::store::left_behind::{self, LeftoverFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const PREFIX: &str = "coffer-sandbox-";
/// Number of hexadecimal digits after the prefix.
const DIGITS: usize = 16;
const SUFFIX: &str = ".db";

/// A temporary file with a unique name. Dropping the value removes the file.
pub struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Chooses a new name. Does not create the file.
    pub fn new() -> Result<TemporaryFile, Error> {
        let name = crate::domain::signature::hex(&random_bytes::<8>()?);
        let path = std::env::temp_dir().join(format!("{PREFIX}{name}{SUFFIX}"));
        Ok(TemporaryFile { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the files that killed processes left in this directory, and then the files of this handle.
    fn remove_leftover_files(&self, folder: &Path) {
        let mut databases: BTreeMap<PathBuf, Vec<LeftoverFile>> = BTreeMap::new();
        for found in left_behind::find_own_files(folder, |name| database_name(name).is_some()) {
            if let Some(name) = database_name(&found.name).filter(|_| found.metadata.is_file()) {
                databases.entry(folder.join(name)).or_default().push(found);
            }
        }
        let ours = databases.remove(&self.path).unwrap_or_default();
        if let Some(ours) = ours.iter().find(|found| found.path == self.path) {
            for (database, files) in databases {
                if files.iter().any(|file| file.is_older_than(&ours.metadata)) {
                    let files: Vec<_> = files.into_iter().map(|file| file.path).collect();
                    left_behind::remove_leftover_database(&database, &files);
                }
            }
        }
        for file in ours {
            // Another process may have removed the file.
            let _ = std::fs::remove_file(file.path);
        }
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            self.remove_leftover_files(folder);
        }
    }
}

/// Returns the name of the database to which a file of a sandbox belongs, or `None` for any other file.
fn database_name(name: &str) -> Option<&str> {
    let (digits, beside) = name.strip_prefix(PREFIX)?.split_once(SUFFIX)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_ours = digits.len() == DIGITS && digits.bytes().all(is_digit) && is_known_suffix(beside);
    name.strip_suffix(beside).filter(|_| is_ours)
}

/// Returns `true` if a sandbox may create a file with this suffix after the database name. The suffix may be empty.
fn is_known_suffix(suffix: &str) -> bool {
    if let Some(number) = suffix.strip_prefix("-new") {
        return matches!(number.as_bytes(), [b'0'..=b'9'] | [b'1'..=b'9', b'0'..=b'9']);
    }
    if let Some(name) = suffix.strip_prefix("-snapshot-") {
        // The suffix contains the name of a snapshot, or of a file that exists while a snapshot is created or read.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        return !name.is_empty() && name.bytes().all(plain);
    }
    matches!(suffix, "" | "-wal" | "-shm" | "-journal" | "-lock")
}

#[cfg(test)]
mod tests {
    use super::database_name;

    #[test]
    fn only_names_of_sandbox_files_are_recognised() {
        let of = "coffer-sandbox-0123456789abcdef.db";
        for beside in [
            "",
            "-wal",
            "-shm",
            "-journal",
            "-lock",
            "-new0",
            "-new99",
            "-snapshot-a",
            "-snapshot-A_1.b-copying-wal",
        ] {
            let name = format!("{of}{beside}");
            assert_eq!(database_name(&name), Some(of), "{name}");
        }
        for name in [
            "coffer-sandbox--lock",
            "coffer-sandbox-",
            "coffer-sandbox-.db-lock",
            "coffer-sandbox-0123456789abcde.db",
            "coffer-sandbox-0123456789abcdef0.db",
            "coffer-sandbox-0123456789ABCDEF.db",
            "coffer-sandbox-0123456789abcdeg.db",
            "coffer-sandbox-0123456789abcdef-lock",
            "coffer-sandbox-0123456789abcdef.db-",
            "coffer-sandbox-0123456789abcdef.db-lock-lock",
            "coffer-sandbox-0123456789abcdef.db-walx",
            "coffer-sandbox-0123456789abcdef.db-new",
            "coffer-sandbox-0123456789abcdef.db-new100",
            "coffer-sandbox-0123456789abcdef.db-new01",
            "coffer-sandbox-0123456789abcdef.db-snapshot-",
            "coffer-sandbox-0123456789abcdef.db-snapshot-a b",
            "coffer-sandbox-0123456789abcdef.dbx",
            "Xcoffer-sandbox-0123456789abcdef.db",
            "coffer-sandbox-0123456789abcd\u{e9}.db",
            "coffer-sandbox-0123456789abcde\u{e9}.db",
        ] {
            assert_eq!(database_name(name), None, "{name}");
        }
    }
}
