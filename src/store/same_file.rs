//! Further connections to a file that is being read.

use super::open::open_reader;
use super::{Reader, StoreError};
use std::path::{Path, PathBuf};

/// A file that somebody reads, who keeps it in its place.
pub struct SameFile(PathBuf);

impl SameFile {
    /// The file with this name.
    pub(super) fn at(path: &Path) -> SameFile {
        SameFile(path.to_owned())
    }

    /// Reads the file as it stands at one moment, by a connection of its own that maps as much of it as SQLite can.
    ///
    /// # Errors
    /// The closure's, or [`StoreError`] where the file cannot be opened.
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
        work(&Reader {
            conn: &conn,
            health: None,
            memo: None,
        })
    }
}
