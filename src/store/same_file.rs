//! Further connections to a file that is being read.

use super::connection::open_reader;
use super::{Reader, StoreError};
use std::path::{Path, PathBuf};

/// A file that is being read.
pub struct SameFile(PathBuf);

impl SameFile {
    /// Returns the file with this name.
    pub(super) fn at(path: &Path) -> SameFile {
        SameFile(path.to_owned())
    }

    /// Reads a snapshot of the file on a new connection that maps as much of the file as SQLite can.
    ///
    /// # Errors
    /// The error of `work`, or [`StoreError`] if the file cannot be opened.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let open = || {
            let conn = open_reader(&self.0)?;
            conn.pragma_update(None, "mmap_size", i64::MAX)?;
            conn.execute_batch("begin")?;
            Ok::<_, StoreError>(conn)
        };
        let conn = open()?;
        work(&Reader::new(&conn))
    }
}
