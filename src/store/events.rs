//! The table `events`.

use super::statement::{commands, values};
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

values! {
    /// The number of the last event; 0 where there is none.
    pub fn last_seq(db) -> (seq: i64) = "select ifnull(max(seq), 0) as seq from events";

    LAST_BEFORE(seq: i64) = "select seq from events \
        where account = :account and mode = :mode and created_at < :since order by seq desc limit 1";

    /// The body of an event, if it is the caller's.
    pub fn body(db, account: i64, mode: Mode, id: &str) -> Option<(body: String)> =
        "select body from events where id = :id and account = :account and mode = :mode";

    /// The body of an event, whosever it is.
    pub fn body_of_any(db, id: &str) -> Option<(body: String)> = "select body from events where id = :id";

    /// The body of the newest event about an object.
    pub fn newest_body(db, account: i64, object: &str) -> Option<(body: String)> =
        "select body from events \
            where object_id = :object and account = :account order by seq desc limit 1";

    /// Where an event stands, if it is the caller's.
    pub fn seq_of(db, account: i64, mode: Mode, id: &str) -> Option<(seq: i64)> =
        "select seq from events where id = :id and account = :account and mode = :mode";

    PAGE_BY_OBJECT(id: String, body: String) = "select id, body from events \
        where object_id = :object and account = :account and mode = :mode and (:type is null or type = :type) \
        and seq < :before order by seq desc limit :limit";

    PAGE_BY_TYPE(id: String, body: String) = "select id, body from events \
        where account = :account and mode = :mode and type = :type and seq < :before order by seq desc limit :limit";

    PAGE(id: String, body: String) = "select id, body from events \
        where account = :account and mode = :mode and seq < :before order by seq desc limit :limit";
}

commands! {
    INSERT = "insert into events (id, account, mode, type, object_id, created_at, body, invoice) \
        values (:id, :account, :mode, :type, :object_id, :created_at, :body, :invoice)";
}

/// Where the newest event stands that is older than a moment; 0 where there is none.
pub fn last_before(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    since: Time,
) -> Result<i64, StoreError> {
    let params = named_params! { ":account": account, ":mode": mode, ":since": since };
    let last = LAST_BEFORE.first(db, params)?;
    Ok(last.unwrap_or(0))
}

/// Adds an event; its `seq`.
pub fn insert(tx: &Tx<'_>, event: &NewEvent<'_>) -> Result<i64, StoreError> {
    tx.note(|changes| changes.events.push(event.id.to_owned()));
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
    INSERT.insert(tx, params)
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
    match (object, kind) {
        (Some(object), kind) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":object": object, ":type": kind, ":before": before, ":limit": limit
            };
            PAGE_BY_OBJECT.all(db, params)
        }
        (None, Some(kind)) => {
            let params = named_params! {
                ":account": account, ":mode": mode, ":type": kind, ":before": before, ":limit": limit
            };
            PAGE_BY_TYPE.all(db, params)
        }
        (None, None) => {
            let params = named_params! { ":account": account, ":mode": mode, ":before": before, ":limit": limit };
            PAGE.all(db, params)
        }
    }
}
