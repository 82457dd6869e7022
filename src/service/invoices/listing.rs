//! Invoices in the operator interface: searches and cancels them, and shows their details and timeline.

use crate::domain::timeline::{Sums, timeline};
use crate::domain::{
    Currency, Invoice, InvoiceHistory, InvoiceStatus, PaymentFacts, Time, TransferKind,
};
use crate::render;
use crate::service::lookups::owned_invoice;
use crate::service::page::{self, Page, none_if_not_found};
use crate::service::refunds::REFUNDS_MAX;
use crate::service::{Error, Json, Scope, Service};
use crate::store::{PageBounds, invoice_steps, invoices, ledger, payments, quotes, transfers};

/// Limits on the number and size of the invoices that one search reads, so that other requests do not wait long.
pub(super) const SEARCHED_MAX: invoices::SearchScope =
    invoices::SearchScope { count: 50_000, bytes: 2 << 20 };

/// Start of the cursor with which a search continues after the invoices whose whole orderId or email is the text.
const PARTS: &str = "parts";

/// Position of a page in the results of a search.
struct SearchCursor<'a> {
    /// `true` after the invoices whose whole orderId or email is the text.
    only_parts: bool,
    /// Id of the last invoice that was read.
    before: Option<&'a str>,
}

impl SearchCursor<'_> {
    fn parse(before: Option<&str>) -> SearchCursor<'_> {
        match before.and_then(|text| text.strip_prefix(PARTS)) {
            Some("") => SearchCursor { only_parts: true, before: None },
            Some(rest) => {
                SearchCursor { only_parts: true, before: rest.strip_prefix(':').or(before) }
            }
            None => SearchCursor { only_parts: false, before },
        }
    }

    fn after(&self, id: String) -> String {
        if self.only_parts { format!("{PARTS}:{id}") } else { id }
    }
}

/// Criteria of a search for invoices.
#[derive(Clone, Debug)]
pub struct InvoiceSearch {
    /// Only invoices with this status.
    pub status: Option<InvoiceStatus>,
    /// Only invoices in this currency.
    pub currency: Option<Currency>,
    /// Only invoices created at or after this time.
    pub from: Option<Time>,
    /// Only invoices created before this time.
    pub to: Option<Time>,
    /// Only invoices that contain this text.
    pub text: Option<String>,
    /// Cursor of the next page: an id, or `parts` with an id.
    pub before: Option<String>,
    /// Largest number of invoices.
    pub limit: u32,
}

impl InvoiceSearch {
    /// Returns `true` if the search may read invoices that do not match. A search by status alone reads only matches.
    fn may_read_nonmatching(&self) -> bool {
        self.currency.is_some() || self.from.is_some() || self.to.is_some() || self.text.is_some()
    }
}

impl Service {
    /// Returns a page of matching invoices, newest first. If a whole orderId or email is the text, the invoices that
    /// have it are first.
    ///
    /// Reads at most as many invoices as `SEARCHED_MAX` allows. A page may therefore be short. The next page
    /// continues after the last invoice that was read. Needs a thread that can block.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is not an invoice of the caller.
    pub fn search_invoices(&self, scope: &Scope, search: &InvoiceSearch) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let find = |id: &str| none_if_not_found(owned_invoice(db, scope, id));
            let cursor = SearchCursor::parse(search.before.as_deref());
            let before = page::find_page_start(cursor.before, find)?;
            let wanted = invoices::InvoiceSearch {
                status: search.status,
                currency: search.currency,
                from: search.from,
                to: search.to,
                text: search.text.as_deref(),
                only_parts: cursor.only_parts,
                page: PageBounds::with_one_more_row(before.map(|found| found.seq), search.limit),
            };
            let named = |text: &str, wanted: &invoices::InvoiceSearch<'_>| {
                invoices::find_exact(db, account, mode, text, wanted)
            };
            if let Some(text) = wanted.text
                && !named(text, &invoices::InvoiceSearch::newest(1))?.is_empty()
            {
                return self.page_of_invoices(named(text, &wanted)?, search.limit);
            }
            if let Some(text) = wanted.text.filter(|_| !cursor.only_parts) {
                let whole = invoices::find_whole(db, account, mode, text, &wanted)?;
                if !whole.is_empty() {
                    let mut page = self.page_of_invoices(whole, search.limit)?;
                    page.next_before.get_or_insert_with(|| PARTS.to_owned());
                    return Ok(page);
                }
            }
            let floor = if search.may_read_nonmatching() {
                invoices::oldest_searched_invoice(db, account, mode, &wanted, SEARCHED_MAX)?
            } else {
                None
            };
            let from = floor.as_ref().map_or(0, |(seq, _)| *seq);
            let found = invoices::search(db, account, mode, &wanted, from)?;
            let mut page = self.page_of_invoices(found, search.limit)?;
            page.next_before =
                page.next_before.or(floor.map(|(_, id)| id)).map(|id| cursor.after(id));
            Ok(page)
        })
    }

    /// Returns invoices as a page. One invoice more than the limit means that older invoices exist.
    fn page_of_invoices(&self, found: Vec<Invoice>, limit: u32) -> Result<Page, Error> {
        let rendered = found.into_iter().map(|invoice| {
            let json = render::invoice(&invoice, &self.links, &[])?;
            Ok((invoice.id, json))
        });
        Page::from_entries(rendered, limit)
    }

    /// Returns an invoice with its quotes and payments.
    ///
    /// # Errors
    /// `not_found` if the invoice does not belong to the caller.
    pub fn invoice_detail(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        self.read_snapshot(|db| {
            let invoice = owned_invoice(db, scope, id)?;
            let (quotes, payments) =
                (quotes::of_invoice(db, invoice.seq)?, payments::of_invoice(db, invoice.seq)?);
            let judged: Vec<PaymentFacts> = payments.iter().map(PaymentFacts::from).collect();
            let sums = Sums::new(&invoice.terms(), &judged);
            let on_chain = self.on_chain_reader().read_states(db, &payments)?;
            let payments: Vec<_> = payments.into_iter().zip(on_chain).collect();
            let network = match &invoice.coin {
                Some(coin) => self.followed_test_network(db, invoice.mode, coin.asset.chain)?,
                None => None,
            };
            Ok(render::invoice_detail(
                &invoice,
                network.as_deref(),
                &quotes,
                &payments,
                sums,
                &self.links,
            )?)
        })
    }

    /// Returns the history of an invoice, oldest entry first.
    ///
    /// # Errors
    /// `not_found` if the invoice does not belong to the caller.
    pub fn timeline(&self, scope: &Scope, id: &str, now: Time) -> Result<Vec<Json>, Error> {
        self.read_snapshot(|db| {
            let invoice = owned_invoice(db, scope, id)?;
            let wanted = transfers::TransferQuery {
                kind: TransferKind::Refund,
                invoice: Some(&invoice.id),
                status: None,
                page: PageBounds::newest(REFUNDS_MAX),
            };
            let refunds = transfers::list(db, scope.account(), scope.mode(), &wanted)?;
            let payments = payments::of_invoice(db, invoice.seq)?;
            let history = InvoiceHistory {
                invoice: &invoice,
                quotes: &quotes::of_invoice(db, invoice.seq)?,
                on_chain: &self.on_chain_reader().read_states(db, &payments)?,
                payments: &payments,
                steps: &invoice_steps::of_invoice(db, invoice.seq)?,
                booked: &ledger::of_invoice(db, invoice.seq)?,
                refunds: &refunds,
            };
            let entries = timeline(&history, now);
            entries.iter().map(|entry| Ok(render::timeline_entry(entry)?)).collect()
        })
    }
}
