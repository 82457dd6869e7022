//! The table `invoices`.

mod due;

#[cfg(test)]
pub(in crate::store) use due::expiry;
pub use due::{due, is_any_waiting, next_due};

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::address::{self, Network};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::invoice::search::matches_text;
use crate::domain::invoice::{Invoice, InvoiceCoin};
use crate::domain::money::Currency;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use rusqlite::named_params;
use rusqlite::types::FromSqlError;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

rows! {
    fn read(
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
            redirect_url, cancel_url, webhook_url, metadata: json(metadata)?, customer_email, payment_link_id, refunded,
            under: under_bps, over: over_bps, created_at, expires_at, confirmed_at, cancelled_at, waits_for,
        })
    }

    /// The invoice with this id, whoever's it is: for those who act for no caller.
    pub fn by_id(db, id: &str) -> Option<Invoice> = select "from invoices where id = :id";

    BY_SEQ = select "from invoices where seq = :seq";

    /// The invoice with this reference of the merchant's.
    pub fn by_order(db, account: i64, mode: Mode, order_id: &str) -> Option<Invoice> =
        select "from invoices where account = :account and mode = :mode and order_id = :order_id";

    SEARCH = file "sql/invoices/search.sql";

    SEARCH_BY_STATUS = file "sql/invoices/search_by_status.sql";

    NAMED = file "sql/invoices/named.sql";
}

values! {
    LIST(id: String) = "select id from invoices \
        where account = :account and mode = :mode and seq < :before order by seq desc limit :limit";
    LIST_BY_STATUS(id: String) = "select id from invoices \
        where account = :account and mode = :mode and status = :status and seq < :before \
        order by seq desc limit :limit";
    /// How far down one search looks.
    FLOOR(seq: i64, id: String) = file "sql/invoices/floor.sql";
    /// The same of one status.
    FLOOR_BY_STATUS(seq: i64, id: String) = file "sql/invoices/floor_by_status.sql";
}

commands! {
    INSERT = file "sql/invoices/insert.sql";
    UPDATE = file "sql/invoices/update.sql";
}

/// JSON text in a column.
fn json(text: String) -> rusqlite::Result<Box<RawValue>> {
    Ok(RawValue::from_string(text).map_err(|error| FromSqlError::Other(error.into()))?)
}

/// Adds an invoice that nothing has been paid of; its `seq`, or nothing where its orderId has one already.
pub fn insert(tx: &Tx<'_>, invoice: &Invoice) -> Result<Option<i64>, StoreError> {
    tx.note(|changes| changes.deadlines = true);
    let coin = invoice.coin.as_ref();
    let params = named_params! {
        ":id": invoice.id,
        ":account": invoice.account,
        ":mode": invoice.mode,
        ":order_id": invoice.order_id,
        ":status": invoice.status,
        ":amount": invoice.amount,
        ":currency": invoice.currency,
        ":description": invoice.description,
        ":asset": coin.map(|coin| coin.asset.id),
        ":rate": coin.map(|coin| coin.rate),
        ":amount_expected": coin.map(|coin| coin.amount_expected),
        ":deposit_address": coin.map(|coin| &coin.address),
        ":picked_quote": invoice.picked_quote,
        ":redirect_url": invoice.redirect_url,
        ":cancel_url": invoice.cancel_url,
        ":webhook_url": invoice.webhook_url,
        ":metadata": invoice.metadata.get(),
        ":customer_email": invoice.customer_email,
        ":payment_link_id": invoice.payment_link_id,
        ":under_bps": invoice.under,
        ":over_bps": invoice.over,
        ":created_at": invoice.created_at,
        ":expires_at": invoice.expires_at,
        ":waits_for": invoice.waits_for,
    };
    INSERT.insert_unless_there(tx, params)
}

/// Saves what can change of an invoice.
pub fn update(tx: &Tx<'_>, invoice: &Invoice) -> Result<(), StoreError> {
    tx.note(|changes| {
        changes.invoices.push(invoice.id.clone());
        // A payment that vanished may have opened it again.
        changes.deadlines |= invoice.status.is_open();
    });
    let coin = invoice.coin.as_ref();
    let params = named_params! {
        ":seq": invoice.seq,
        ":status": invoice.status,
        ":asset": coin.map(|coin| coin.asset.id),
        ":rate": coin.map(|coin| coin.rate),
        ":amount_expected": coin.map(|coin| coin.amount_expected),
        ":amount_received": invoice.amount_received,
        ":deposit_address": coin.map(|coin| &coin.address),
        ":picked_quote": invoice.picked_quote,
        ":refunded": invoice.refunded,
        ":confirmed_at": invoice.confirmed_at,
        ":cancelled_at": invoice.cancelled_at,
        ":waits_for": invoice.waits_for,
    };
    UPDATE.run(tx, params)
}

/// The invoice that another row refers to.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Invoice, StoreError> {
    let found = BY_SEQ.first(db, named_params! { ":seq": seq })?;
    found.ok_or_else(|| StoreError::Failed(format!("invoice {seq} is missing")))
}

/// The ids of the newest invoices older than the one with this `seq`, of one status where one is given.
pub fn list(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    status: Option<InvoiceStatus>,
    (before, limit): (i64, u32),
) -> Result<Vec<String>, StoreError> {
    match status {
        None => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":before": before, ":limit": limit
            };
            LIST.all(db, params)
        }
        Some(status) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":status": status, ":before": before, ":limit": limit
            };
            LIST_BY_STATUS.all(db, params)
        }
    }
}

/// Which invoices an operator looks for.
pub struct Search<'a> {
    /// Only of this status.
    pub status: Option<InvoiceStatus>,
    /// Only in this currency.
    pub currency: Option<Currency>,
    /// Only made at this moment or later.
    pub from: Option<Time>,
    /// Only made before this moment.
    pub to: Option<Time>,
    /// Only with this text.
    pub text: Option<&'a str>,
    /// Only older than the one with this `seq`.
    pub before: i64,
    /// How many at most.
    pub limit: u32,
}

/// The newest invoices that fit and are not older than `floor`, with the text in id, orderId,
/// description, email or a value of the metadata; or a key of the metadata and its value, as `key=value`.
/// Reads every invoice that is newer than the last one found.
pub fn search(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    search: &Search<'_>,
    floor: i64,
) -> Result<Vec<Invoice>, StoreError> {
    // A pattern ends at a NUL: it would fit everything.
    if search.text.is_some_and(|text| text.contains('\0')) {
        return Ok(Vec::new());
    }
    let like = search.text.map(contains);
    // As they stand in the JSON, if they do: only then it is read.
    let in_json = search.text.map(|text| contains(&within_json(text)));
    // Both may have a `=` in them: a key begins with what stands before the first one, a value ends with what follows the
    // last one.
    let key = search.text.and_then(|text| text.split_once('='));
    let key = key.map(|(start, _)| format!("\"{}", within_json(start)));
    let value = search.text.and_then(|text| text.rsplit_once('='));
    let value = value.map(|(_, end)| contains(&within_json(end)));
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":currency": search.currency, ":from": search.from, ":to": search.to,
        ":like": like, ":in_json": in_json, ":key": key, ":value": value, ":before": search.before, ":floor": floor,
    }
    .to_vec();
    let query = match &search.status {
        None => SEARCH,
        Some(status) => {
            params.push((":status", status));
            SEARCH_BY_STATUS
        }
    };
    let limit = usize::try_from(search.limit).unwrap_or(usize::MAX);
    query.first_that(db, params.as_slice(), limit, |invoice| {
        search.text.map_or(Ok(true), |text| {
            let found = matches_text(text, invoice);
            found.map_err(|error| StoreError::Failed(format!("invoice {}: {error}", invoice.id)))
        })
    })
}

/// The newest invoices that fit and that a text names as a whole: their id, an address of theirs, a txid paid to them.
pub fn named(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    text: &str,
    search: &Search<'_>,
) -> Result<Vec<Invoice>, StoreError> {
    let canonical = |chain: Chain| {
        address::parse_on(chain, &Network::BOTH, text)
            .map_or_else(|_| text.to_owned(), |(_, canonical)| canonical)
    };
    let addresses =
        Chain::first_of_each_pool().map(|chain| (chain.address_pool(), canonical(chain)));
    let txids = Chain::ALL
        .iter()
        .map(|chain| (chain.as_str(), chain.canonical_txid(text)));
    let (addresses, txids) = (json_object(addresses)?, json_object(txids)?);
    let params = named_params! {
        ":account": account, ":mode": mode, ":status": search.status, ":currency": search.currency,
        ":from": search.from, ":to": search.to, ":text": text, ":addresses": addresses, ":txids": txids,
        ":before": search.before, ":limit": search.limit,
    };
    NAMED.all(db, params)
}

/// How much one search looks through.
pub struct Floor {
    /// Invoices.
    pub count: u32,
    /// Bytes of their metadata.
    pub bytes: u32,
}

/// The last of the invoices that a search from `before` on would look at: its `seq` and id; nothing where there are not
/// as many.
pub fn floor(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    search: &Search<'_>,
    Floor { count, bytes }: Floor,
) -> Result<Option<(i64, String)>, StoreError> {
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":before": search.before, ":count": count, ":bytes": bytes,
    }
    .to_vec();
    let query = match &search.status {
        None => FLOOR,
        Some(status) => {
            params.push((":status", status));
            FLOOR_BY_STATUS
        }
    };
    query.first(db, params.as_slice())
}

/// A text as it stands between the quotes of JSON.
fn within_json(text: &str) -> String {
    let json = Value::from(text).to_string();
    let inside = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

/// A pattern that fits whatever has this text in it.
fn contains(text: &str) -> String {
    let literal = text
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{literal}%")
}

/// Names, each with its value, as one parameter.
fn json_object<'a, T: Serialize>(
    entries: impl Iterator<Item = (&'a str, T)>,
) -> Result<String, StoreError> {
    let entries: BTreeMap<&str, T> = entries.collect();
    serde_json::to_string(&entries).map_err(|error| StoreError::Failed(error.to_string()))
}
