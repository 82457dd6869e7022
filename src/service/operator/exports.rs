//! Exports as CSV, a piece at a time.

use crate::domain::export::{ExportKind, write_row};
use crate::domain::time::Time;
use crate::service::{Error, Scope, Service};
use crate::store::exports;

/// Rows that are read at once.
const PAGE_ROWS: u32 = 500;

/// What is exported, and how far that has come.
#[derive(Clone, Debug)]
pub struct ExportWanted {
    /// What.
    pub export: ExportKind,
    /// Only made at this moment or later.
    pub from: Option<Time>,
    /// Only made before this moment.
    pub to: Option<Time>,
}

impl Service {
    /// The next lines of an export behind `after` (0: the first), and where they end; nothing where none follow. For a
    /// thread that may wait.
    pub fn export_lines(
        &self,
        scope: &Scope,
        wanted: &ExportWanted,
        after: i64,
    ) -> Result<Option<(String, i64)>, Error> {
        let page = exports::ExportQuery {
            from: wanted.from,
            to: wanted.to,
            after,
            limit: PAGE_ROWS,
        };
        let (account, mode) = (scope.account(), scope.mode());
        let rows = self
            .read(|db| Ok::<_, Error>(exports::page(db, account, mode, wanted.export, &page)?))?;
        let Some((last, _)) = rows.last() else {
            return Ok(None);
        };
        let last = *last;
        let mut lines = String::new();
        for (_, cells) in &rows {
            write_row(wanted.export.columns(), cells, &mut lines);
        }
        Ok(Some((lines, last)))
    }
}
