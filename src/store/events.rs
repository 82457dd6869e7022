//! The table `events`.

use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::event::EventType;
use crate::domain::time::Time;
use rusqlite::named_params;

/// An event to be stored.
pub struct NewEvent<'a> {
    /// `evt_…`.
    pub id: &'a str,
    /// Whose it is.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// What happened.
    pub kind: EventType,
    /// What it is about.
    pub object_id: &'a str,
    /// When.
    pub created_at: Time,
    /// What is answered and sent.
    pub body: &'a str,
    /// The invoice that was refunded, for the legacy body.
    pub invoice: Option<&'a str>,
}

/// Which events are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Only older than this one.
    pub before: i64,
    /// Only of this type.
    pub kind: Option<EventType>,
    /// Only about this object.
    pub object: Option<&'a str>,
    /// How many at most.
    pub limit: u32,
}

/// The number of the last event; 0 where there is none.
pub fn last_seq(db: &Reader<'_>) -> Result<i64, StoreError> {
    let last = db.first(include_str!("../../sql/events/last_seq.sql"), [], |row| {
        row.get(0)
    })?;
    Ok(last.unwrap_or(0))
}

/// Where the newest event stands that is older than a moment; 0 where there is none.
pub fn last_before(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    since: Time,
) -> Result<i64, StoreError> {
    let params = named_params! { ":account": account, ":mode": mode, ":since": since };
    let last = db.first(
        include_str!("../../sql/events/last_before.sql"),
        params,
        |row| row.get(0),
    )?;
    Ok(last.unwrap_or(0))
}

/// Adds an event; its `seq`.
pub fn insert(tx: &Tx<'_>, event: &NewEvent<'_>) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": event.id,
        ":account": event.account,
        ":mode": event.mode,
        ":type": event.kind,
        ":object_id": event.object_id,
        ":created_at": event.created_at,
        ":body": event.body,
        ":invoice": event.invoice,
    };
    tx.insert(include_str!("../../sql/events/insert.sql"), params)
}

/// The body of an event, if it is the caller's.
pub fn body(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<String>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(include_str!("../../sql/events/by_id.sql"), params, |row| {
        row.get(0)
    })
}

/// Where an event stands, if it is the caller's.
pub fn seq_of(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<i64>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(include_str!("../../sql/events/seq_of.sql"), params, |row| {
        row.get(0)
    })
}

/// Ids and bodies, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    page: &Page<'_>,
) -> Result<Vec<(String, String)>, StoreError> {
    let Page {
        before,
        kind,
        object,
        limit,
    } = *page;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    match (object, kind) {
        (Some(object), kind) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":object": object, ":type": kind, ":before": before, ":limit": limit
            };
            db.all(
                include_str!("../../sql/events/page_by_object.sql"),
                params,
                read,
            )
        }
        (None, Some(kind)) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":type": kind, ":before": before, ":limit": limit
            };
            db.all(
                include_str!("../../sql/events/page_by_type.sql"),
                params,
                read,
            )
        }
        (None, None) => {
            let params = named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
            db.all(include_str!("../../sql/events/page.sql"), params, read)
        }
    }
}
