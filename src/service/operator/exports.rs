//! Exports rows as CSV, page by page.

use crate::domain::export::{ExportKind, write_row};
use crate::domain::time::Time;
use crate::service::{Error, Scope, Service};
use crate::store::exports;

/// Number of rows in one read.
const PAGE_ROWS: u32 = 500;

/// Query of an export.
#[derive(Clone, Debug)]
pub struct ExportLinesQuery {
    /// Kind of the exported rows.
    pub export: ExportKind,
    /// Only rows created at or after this time.
    pub from: Option<Time>,
    /// Only rows created before this time.
    pub to: Option<Time>,
}

impl Service {
    /// Returns the lines of an export that follow the row `after`, and the `seq` of the last line. `after` is a
    /// `seq`, 0 for the start.
    ///
    /// Returns `None` at the end. The caller needs a thread that can block.
    pub fn next_export_lines(
        &self,
        scope: &Scope,
        wanted: &ExportLinesQuery,
        after: i64,
    ) -> Result<Option<(String, i64)>, Error> {
        let page =
            exports::ExportQuery { from: wanted.from, to: wanted.to, after, limit: PAGE_ROWS };
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
