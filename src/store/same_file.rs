//! Opens further connections to the file of a [`Reader`].

use super::connection::open_reader;
use super::{Reader, StoreError};
use std::path::{Path, PathBuf};

/// The file of a [`Reader`], for opening further connections to it.
pub struct ReopenableFile(PathBuf);

impl ReopenableFile {
    pub(super) fn new(path: &Path) -> ReopenableFile {
        ReopenableFile(path.to_owned())
    }

    /// Runs `work` on a snapshot of the file, on a new connection. The connection maps as much of the file as SQLite
    /// can.
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
