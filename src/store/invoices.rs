//! The table `invoices`: invoices with their status, and searches for them.

mod due;

#[cfg(test)]
pub(in crate::store) use due::EXPIRY;
pub use due::{has_waiting_invoice, list_overdue_invoices, next_expiry_time};

use super::statement::statements;
use super::{PageBounds, Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::invoice::search::{has_whole_text, matches_text};
use crate::domain::{
    Asset, Currency, Invoice, InvoiceCoin, InvoiceStatus, Mode, Network, Rate, ResourceKind, Time,
    Units, address,
};
use rusqlite::named_params;
use rusqlite::types::FromSqlError;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

statements! {
    row read(
        seq, id, account, mode, order_id, status, amount, currency, description, asset: Option<&'static Asset>,
        rate: Option<Rate>, amount_expected: Option<Units>, amount_received, deposit_address: Option<String>,
        picked_quote, redirect_url, cancel_url, webhook_url, metadata, customer_email, payment_link_id, refunded,
        under_bps, over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for,
    ) -> Invoice {
        let coin = asset.zip(rate).zip(amount_expected.zip(deposit_address));
        let coin = coin.map(|((asset, rate), (amount_expected, address))| {
            InvoiceCoin { asset, rate, amount_expected, address }
        });
        Ok(Invoice {
            seq, id, account, mode, order_id, status, amount, currency, description, coin, amount_received, picked_quote,
            redirect_url, cancel_url, webhook_url, metadata: parse_json(metadata)?, customer_email, payment_link_id, refunded,
            under: under_bps, over: over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for,
        })
    }

    /// Returns the invoice with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<Invoice> = select "from invoices where id = :id";

    /// Returns the invoice with this `seq`, which must exist.
    pub fn by_seq(db, seq: i64) -> only Invoice =
        select "from invoices where seq = :seq" else("invoice {seq} is missing");

    /// Returns the invoice with this orderId of the merchant.
    pub fn by_order(db, account: i64, mode: Mode, order_id: &str) -> Option<Invoice> =
        select "from invoices where account = :account and mode = :mode and order_id = :order_id";

    fn search_all() -> Query<Invoice> = file "sql/invoices/search.sql";

    fn search_by_status() -> Query<Invoice> = file "sql/invoices/search_by_status.sql";

    fn named(
        db, account: i64, mode: Mode, text: &str, names: &CanonicalNames, search: &InvoiceSearch<'_>
    ) -> Vec<Invoice> =
        file "sql/invoices/named.sql"
        with {
            account, mode, status: search.status, currency: search.currency, from: search.from, to: search.to, text,
            addresses: names.addresses, txids: names.txids, before: search.page.before, limit: search.page.limit,
        };

    /// Returns the newest invoices that match a search and whose orderId or email is exactly the searched text. The case
    /// of ASCII letters of an email does not count.
    pub fn find_whole(
        db, account: i64, mode: Mode, text: &str, search: &InvoiceSearch<'_>
    ) -> Vec<Invoice> =
        file "sql/invoices/exact.sql"
        with {
            account, mode, status: search.status, currency: search.currency, from: search.from, to: search.to, text,
            before: search.page.before, limit: search.page.limit,
        };

    fn page_of_all(db, account: i64, mode: Mode, page: PageBounds) -> Vec<(id: String)> =
        "select id from invoices \
            where account = :account and mode = :mode and seq < :before order by seq desc limit :limit"
        with { account, mode, before: page.before, limit: page.limit };

    fn page_of_status(db, account: i64, mode: Mode, status: InvoiceStatus, page: PageBounds) -> Vec<(id: String)> =
        "select id from invoices \
            where account = :account and mode = :mode and status = :status and seq < :before \
            order by seq desc limit :limit"
        with { account, mode, status, before: page.before, limit: page.limit };

    fn oldest_searched_of_all(db, account: i64, mode: Mode, before: i64, count: u32, bytes: u32)
        -> Option<(seq: i64, id: String)> =
        file "sql/invoices/floor.sql";

    fn oldest_searched_of_status(db, account: i64, mode: Mode, status: InvoiceStatus, before: i64, count: u32, bytes: u32)
        -> Option<(seq: i64, id: String)> =
        file "sql/invoices/floor_by_status.sql";

    fn insert_row(tx, invoice: &Invoice, coin: Option<&InvoiceCoin>) -> Option<i64> =
        file "sql/invoices/insert.sql"
        with {
            id: invoice.id, account: invoice.account, mode: invoice.mode, order_id: invoice.order_id,
            status: invoice.status, amount: invoice.amount, currency: invoice.currency,
            description: invoice.description, asset: coin.map(|coin| coin.asset.id), rate: coin.map(|coin| coin.rate),
            amount_expected: coin.map(|coin| coin.amount_expected),
            deposit_address: coin.map(|coin| &coin.address), picked_quote: invoice.picked_quote,
            redirect_url: invoice.redirect_url, cancel_url: invoice.cancel_url, webhook_url: invoice.webhook_url,
            metadata: invoice.metadata.get(), customer_email: invoice.customer_email,
            payment_link_id: invoice.payment_link_id, under_bps: invoice.under, over_bps: invoice.over,
            created_at: invoice.created_at, expires_at: invoice.expires_at, waits_for: invoice.waits_for,
        };

    fn update_row(tx, invoice: &Invoice, coin: Option<&InvoiceCoin>) =
        file "sql/invoices/update.sql"
        with {
            seq: invoice.seq, status: invoice.status, asset: coin.map(|coin| coin.asset.id),
            rate: coin.map(|coin| coin.rate), amount_expected: coin.map(|coin| coin.amount_expected),
            amount_received: invoice.amount_received, deposit_address: coin.map(|coin| &coin.address),
            picked_quote: invoice.picked_quote, refunded: invoice.refunded, confirmed_at: invoice.confirmed_at,
            cancelled_at: invoice.cancelled_at, waits_for: invoice.waits_for,
        };

    /// Records that a person took back a payment that was assigned to an invoice.
    pub fn mark_assignment_undone(tx, seq: i64, at: Time) =
        "update invoices set assignment_undone_at = :at where seq = :seq";
}

fn parse_json(text: String) -> rusqlite::Result<Box<RawValue>> {
    Ok(RawValue::from_string(text).map_err(|error| FromSqlError::Other(error.into()))?)
}

/// Inserts an invoice and returns its `seq`; `None` if the orderId exists already.
pub fn insert(tx: &Tx<'_>, invoice: &Invoice) -> Result<Option<i64>, StoreError> {
    tx.record_change(|changes| changes.deadlines = true);
    tx.note_resource_change(Some(invoice.account), invoice.mode, ResourceKind::Invoices);
    insert_row(tx, invoice, invoice.coin.as_ref())
}

/// Saves the fields of an invoice that can change.
pub fn update(tx: &Tx<'_>, invoice: &Invoice) -> Result<(), StoreError> {
    tx.record_change(|changes| {
        changes.invoices.push(invoice.id.clone());
        // After a payment is dropped, the invoice may be open again, so its deadline applies again.
        changes.deadlines |= invoice.status.is_open();
    });
    tx.note_resource_change(Some(invoice.account), invoice.mode, ResourceKind::Invoices);
    update_row(tx, invoice, invoice.coin.as_ref())
}

/// Returns the ids of a page of invoices, newest first. With `status`, only invoices of this status.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    status: Option<InvoiceStatus>,
    page: PageBounds,
) -> Result<Vec<String>, StoreError> {
    match status {
        None => page_of_all(db, account, mode, page),
        Some(status) => page_of_status(db, account, mode, status, page),
    }
}

/// An operator's search for invoices of an account.
pub struct InvoiceSearch<'a> {
    /// Filter: only invoices of this status.
    pub status: Option<InvoiceStatus>,
    /// Filter: only invoices in this currency.
    pub currency: Option<Currency>,
    /// Filter: only invoices that were created at this time or later.
    pub from: Option<Time>,
    /// Filter: only invoices that were created before this time.
    pub to: Option<Time>,
    /// Filter: only invoices that contain this text.
    pub text: Option<&'a str>,
    /// Filter: no invoices whose orderId or email is the text, because [`find_whole`] returned them.
    pub only_parts: bool,
    /// Bounds of the page.
    pub page: PageBounds,
}

impl InvoiceSearch<'_> {
    /// Returns the search for the newest invoices, without criteria.
    pub const fn newest(limit: u32) -> InvoiceSearch<'static> {
        InvoiceSearch {
            status: None,
            currency: None,
            from: None,
            to: None,
            text: None,
            only_parts: false,
            page: PageBounds::newest(limit),
        }
    }
}

/// Returns the newest invoices that match a search and whose `seq` is at least `floor`.
///
/// The text may be part of the id, the orderId, the description, the email or a value of the metadata. `key=value`
/// matches a key of the metadata with its value. Reads all invoices from the newest down to the oldest returned
/// match.
pub fn search(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    search: &InvoiceSearch<'_>,
    floor: i64,
) -> Result<Vec<Invoice>, StoreError> {
    // A `like` pattern ends at a NUL character, so a text with a NUL would match too many invoices.
    if search.text.is_some_and(|text| text.contains('\0')) {
        return Ok(Vec::new());
    }
    let TextPatterns { like, in_json, key, value } = TextPatterns::new(search.text);
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":currency": search.currency, ":from": search.from, ":to": search.to,
        ":like": like, ":in_json": in_json, ":key": key, ":value": value, ":before": search.page.before,
        ":floor": floor,
    }
    .to_vec();
    let query = match &search.status {
        None => search_all(),
        Some(status) => {
            params.push((":status", status));
            search_by_status()
        }
    };
    let limit = usize::try_from(search.page.limit).unwrap_or(usize::MAX);
    query.first_matching(db, params.as_slice(), limit, |invoice| {
        search.text.map_or(Ok(true), |text| {
            Ok(has_text(text, invoice)? && !(search.only_parts && has_whole_text(text, invoice)))
        })
    })
}

pub(super) fn has_text(text: &str, invoice: &Invoice) -> Result<bool, StoreError> {
    let found = matches_text(text, invoice);
    found.map_err(|error| StoreError::Failed(format!("invoice {}: {error}", invoice.id)))
}

/// Patterns by which SQLite selects the invoices that may contain a text, so that few are read.
pub(super) struct TextPatterns {
    /// Pattern of a column.
    pub like: Option<String>,
    /// Pattern of the JSON of the metadata.
    pub in_json: Option<String>,
    /// Start of a key of the metadata, for `key=value`.
    pub key: Option<String>,
    /// Pattern of the JSON of a value, for `key=value`.
    pub value: Option<String>,
}

impl TextPatterns {
    pub(super) fn new(text: Option<&str>) -> TextPatterns {
        // Keys and values may contain a `=`. Every key that matches starts with the text before the first `=`. Every
        // value that matches ends with the text after the last `=`.
        let key = text.and_then(|text| text.split_once('='));
        let value = text.and_then(|text| text.rsplit_once('='));
        TextPatterns {
            like: text.map(like_pattern),
            in_json: text.map(|text| like_pattern(&escape_json(text))),
            key: key.map(|(start, _)| format!("\"{}", escape_json(start))),
            value: value.map(|(_, end)| like_pattern(&escape_json(end))),
        }
    }
}

/// A text as an address and as a txid, in the form of each chain.
pub(super) struct CanonicalNames {
    /// JSON object of the address of each pool.
    pub addresses: String,
    /// JSON object of the txid of each chain.
    pub txids: String,
}

impl CanonicalNames {
    pub(super) fn new(text: &str) -> Result<CanonicalNames, StoreError> {
        let canonical = |chain: Chain| {
            address::parse_on_any_network(chain, &Network::BOTH, text)
                .map_or_else(|_| text.to_owned(), |(_, canonical)| canonical)
        };
        let addresses =
            Chain::first_of_each_pool().map(|chain| (chain.address_pool(), canonical(chain)));
        let txids = Chain::ALL.iter().map(|chain| (chain.as_str(), chain.canonical_txid(text)));
        Ok(CanonicalNames { addresses: json_object(addresses)?, txids: json_object(txids)? })
    }
}

/// Returns the newest invoices that match a search and whose id, address or txid is exactly the searched text.
pub fn find_exact(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    text: &str,
    search: &InvoiceSearch<'_>,
) -> Result<Vec<Invoice>, StoreError> {
    named(db, account, mode, text, &CanonicalNames::new(text)?, search)
}

/// Limits on the invoices that one search reads.
#[derive(Clone, Copy, Debug)]
pub struct SearchScope {
    /// Maximum number of invoices.
    pub count: u32,
    /// Maximum total size of the metadata, in bytes.
    pub bytes: u32,
}

/// Returns the `seq` and the id of the oldest invoice that a search reads; `None` if the limits are not reached.
pub fn oldest_searched_invoice(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    search: &InvoiceSearch<'_>,
    SearchScope { count, bytes }: SearchScope,
) -> Result<Option<(i64, String)>, StoreError> {
    let before = search.page.before;
    match search.status {
        None => oldest_searched_of_all(db, account, mode, before, count, bytes),
        Some(status) => oldest_searched_of_status(db, account, mode, status, before, count, bytes),
    }
}

/// Escapes a text for a JSON string, without the quotes.
fn escape_json(text: &str) -> String {
    let json = Value::from(text).to_string();
    let inside = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

/// Returns a `like` pattern that matches every text that contains this text.
fn like_pattern(text: &str) -> String {
    let literal = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{literal}%")
}

fn json_object<'a, T: Serialize>(
    entries: impl Iterator<Item = (&'a str, T)>,
) -> Result<String, StoreError> {
    let entries: BTreeMap<&str, T> = entries.collect();
    serde_json::to_string(&entries).map_err(|error| StoreError::Failed(error.to_string()))
}
