//! Exports rows as CSV, page by page.

use super::listing::SEARCHED_MAX;
use crate::domain::export::write_row;
use crate::domain::{Currency, ExportKind, Time};
use crate::service::{Error, Scope, Service};
use crate::store::{Reader, exports, invoices};

const PAGE_ROWS: u32 = 500;

/// Maximum number of invoices with the same id, address or txid.
const NAMED_MAX: u32 = 10_000;

/// Query of an export. Each kind of export has some of the filters.
#[derive(Clone, Debug)]
pub struct ExportLinesQuery {
    /// Kind of the exported rows.
    pub export: ExportKind,
    /// Only rows created at or after this time.
    pub from: Option<Time>,
    /// Only rows created before this time.
    pub to: Option<Time>,
    /// Only invoices, payouts or refunds of this status.
    pub status: Option<&'static str>,
    /// Only invoices or ledger entries in this currency.
    pub currency: Option<Currency>,
    /// Only invoices that a search for this text finds.
    pub text: Option<String>,
    /// Only deposits of the customer with this reference.
    pub customer: Option<String>,
    /// Only payouts or refunds that a person has to review.
    pub needs_review: bool,
}

impl Service {
    /// Returns the lines of an export that follow the row `after`, and the `seq` of the last row that was read. `after`
    /// is a `seq`, 0 for the start. The lines can be empty before the end.
    ///
    /// Returns `None` at the end. The caller needs a thread that can block.
    pub fn next_export_lines(
        &self,
        now: Time,
        scope: &Scope,
        wanted: &ExportLinesQuery,
        after: i64,
    ) -> Result<Option<(String, i64)>, Error> {
        self.read(|db| {
            let named = self.named_rows(db, now, scope, wanted)?;
            let query = exports::ExportQuery {
                from: wanted.from,
                to: wanted.to,
                status: wanted.status,
                currency: wanted.currency,
                customer: wanted.customer.as_deref(),
                text: wanted.text.as_deref().filter(|_| named.is_none()),
                named: named.as_deref(),
                after,
                limit: PAGE_ROWS,
                scope: SEARCHED_MAX,
            };
            let (account, mode) = (scope.account(), scope.mode());
            let Some(page) = exports::page(db, account, mode, wanted.export, &query)? else {
                return Ok(None);
            };
            let mut lines = String::new();
            for cells in &page.rows {
                write_row(wanted.export.columns(), cells, &mut lines);
            }
            Ok(Some((lines, page.last)))
        })
    }

    /// Returns the `seq` of the only rows of an export as a JSON list: invoices whose id, address or txid is the text, or
    /// payouts or refunds to review. `None` if the export has no such filter.
    fn named_rows(
        &self,
        db: &Reader<'_>,
        now: Time,
        scope: &Scope,
        wanted: &ExportLinesQuery,
    ) -> Result<Option<String>, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        let seqs: Vec<i64> = if wanted.needs_review {
            let found = self.transfers_to_review(db, now, mode)?;
            let of_account = found.iter().filter(|transfer| transfer.account == account);
            of_account.map(|transfer| transfer.seq).collect()
        } else if let Some(text) = &wanted.text {
            let all = invoices::InvoiceSearch::newest(NAMED_MAX);
            let found = invoices::find_exact(db, account, mode, text, &all)?;
            if found.is_empty() {
                return Ok(None);
            }
            found.iter().map(|invoice| invoice.seq).collect()
        } else {
            return Ok(None);
        };
        let json = serde_json::to_string(&seqs);
        json.map(Some).map_err(|error| Error::Failed(error.to_string()))
    }
}
