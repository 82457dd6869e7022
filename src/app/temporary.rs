//! A sandbox's own file, in the system's folder for temporary files.
//!
//! What always holds: dropping its handle removes the file and everything beside it (log, lock, snapshots). What a
//! killed process of the same user left is removed by a later process when that ends. Files in use, and files whose
//! names are not exactly those of a sandbox, are left alone.

use crate::service::{Error, random};
use crate::store::left_behind::{self, Found};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the names of temporary files begin with.
const PREFIX: &str = "coffer-sandbox-";
/// How many hexadecimal digits follow.
const DIGITS: usize = 16;
/// What the names of databases end with.
const ENDING: &str = ".db";

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
        let path = std::env::temp_dir().join(format!("{PREFIX}{name}{ENDING}"));
        Ok(Temporary { path })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what processes that were killed left in this folder, and then our own.
    fn sweep(&self, folder: &Path) {
        let mut databases: BTreeMap<PathBuf, Vec<Found>> = BTreeMap::new();
        for found in left_behind::own(folder, |name| database(name).is_some()) {
            if let Some(name) = database(&found.name).filter(|_| found.metadata.is_file()) {
                databases.entry(folder.join(name)).or_default().push(found);
            }
        }
        let ours = databases.remove(&self.path).unwrap_or_default();
        if let Some(ours) = ours.iter().find(|found| found.path == self.path) {
            for (database, files) in databases {
                if files.iter().any(|file| file.is_older_than(&ours.metadata)) {
                    let files: Vec<_> = files.into_iter().map(|file| file.path).collect();
                    left_behind::remove(&database, &files);
                }
            }
        }
        for file in ours {
            // What is gone already needs no removing.
            let _ = std::fs::remove_file(file.path);
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            self.sweep(folder);
        }
    }
}

/// The name of the database that a file is, or is kept beside; nothing where no sandbox gives such a name.
fn database(name: &str) -> Option<&str> {
    let (digits, beside) = name.strip_prefix(PREFIX)?.split_once(ENDING)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_ours = digits.len() == DIGITS && digits.bytes().all(is_digit) && is_kept_beside(beside);
    name.strip_suffix(beside).filter(|_| is_ours)
}

/// May this follow the name of a database: nothing, or what SQLite and Coffer keep beside one?
fn is_kept_beside(suffix: &str) -> bool {
    if let Some(number) = suffix.strip_prefix("-new") {
        return matches!(
            number.as_bytes(),
            [b'0'..=b'9'] | [b'1'..=b'9', b'0'..=b'9']
        );
    }
    if let Some(name) = suffix.strip_prefix("-snapshot-") {
        // The name that it was given, and what is kept beside it while it is made and read.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        return !name.is_empty() && name.bytes().all(plain);
    }
    matches!(suffix, "" | "-wal" | "-shm" | "-journal" | "-lock")
}

#[cfg(test)]
mod tests {
    use super::database;

    #[test]
    fn a_name_is_exactly_one_that_a_sandbox_gives() {
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
            assert_eq!(database(&name), Some(of), "{name}");
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
            assert_eq!(database(name), None, "{name}");
        }
    }
}
