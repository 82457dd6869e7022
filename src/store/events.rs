//! The table `event_rows`: events of accounts, in the order in which they occurred. The view `events` adds their bodies.

use super::statement::statements;
use super::{PageBounds, Reader, StoreError, Tx};
use crate::domain::event::members::changed_members;
use crate::domain::{EventType, Mode, Time, id};

/// An event to be stored.
pub struct NewEvent<'a> {
    /// Id, which starts with `evt_`.
    pub id: &'a str,
    /// Account of the event, by its `seq`.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// Type of the event.
    pub kind: EventType,
    /// Id of the object that the event is about.
    pub object_id: &'a str,
    /// Time of the event, in Unix milliseconds.
    pub created_at: Time,
    /// JSON of the object, as the body of the event contains it.
    pub object: &'a str,
    /// Refunded invoice as JSON, for webhooks in the legacy format.
    pub invoice: Option<&'a str>,
    /// Status of the invoice or deposit before, if the event tells of a change of its status.
    pub status_before: Option<&'a str>,
}

/// A change of status that the team may get an e-mail about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// `seq` of the event.
    pub event: i64,
    /// Type of the event, which tells the status after.
    pub kind: EventType,
    /// Id of the invoice or deposit.
    pub object_id: String,
    /// Status before, as in the API.
    pub status_before: String,
    /// Time of the change.
    pub created_at: Time,
}

/// A query for events of an account.
#[derive(Clone, Copy, Debug)]
pub struct EventQuery<'a> {
    /// Filter: only events of this type.
    pub kind: Option<EventType>,
    /// Filter: only events about the object with this id.
    pub object: Option<&'a str>,
    /// Bounds of the page.
    pub page: PageBounds,
}

statements! {
    /// Returns the `seq` of the newest event; 0 without events.
    pub fn last_seq(db) -> (seq: i64) = "select ifnull(max(seq), 0) as seq from events";

    fn newest_seq_before(db, account: i64, mode: Mode, since: Time) -> Option<(seq: i64)> =
        "select seq from events \
            where account = :account and mode = :mode and created_at < :since order by seq desc limit 1";

    /// Returns the body of an event if the event belongs to the account.
    pub fn body(db, account: i64, mode: Mode, id: &str) -> Option<(body: String)> =
        "select body from events where seq = :seq and id = :id and account = :account and mode = :mode"
        with { seq: id::event_number(id), id, account, mode };

    /// Returns the body of an event, whatever its account.
    pub fn body_of_any_account(db, id: &str) -> Option<(body: String)> =
        "select body from events where seq = :seq and id = :id" with { seq: id::event_number(id), id };

    /// Returns the body of the newest event about an object.
    pub fn newest_body(db, account: i64, object: &str) -> Option<(body: String)> =
        "select body from events \
            where object_id = :object and account = :account order by seq desc limit 1";

    /// Returns the `seq` of an event if the event belongs to the account.
    pub fn seq_by_id(db, account: i64, mode: Mode, id: &str) -> Option<(seq: i64)> =
        "select seq from events where seq = :seq and id = :id and account = :account and mode = :mode"
        with { seq: id::event_number(id), id, account, mode };

    fn page_of_object(db, account: i64, mode: Mode, object: &str, kind: Option<EventType>, page: PageBounds)
        -> Vec<(id: String, body: String)> =
        "select id, body from events \
            where object_id = :object and account = :account and mode = :mode and (:kind is null or type = :kind) \
            and seq < :before order by seq desc limit :limit"
        with { account, mode, object, kind, before: page.before, limit: page.limit };

    fn page_of_type(db, account: i64, mode: Mode, kind: EventType, page: PageBounds)
        -> Vec<(id: String, body: String)> =
        "select id, body from events \
            where account = :account and mode = :mode and type = :kind and seq < :before order by seq desc limit :limit"
        with { account, mode, kind, before: page.before, limit: page.limit };

    fn page_of_all(db, account: i64, mode: Mode, page: PageBounds) -> Vec<(id: String, body: String)> =
        "select id, body from events \
            where account = :account and mode = :mode and seq < :before order by seq desc limit :limit"
        with { account, mode, before: page.before, limit: page.limit };

    row read_change(event = "seq", kind = "type", object_id, status_before, created_at) -> StatusChange {
        Ok(StatusChange { event, kind, object_id, status_before, created_at })
    }

    /// Returns the first changes of status after an event that the team may get an e-mail about.
    pub fn changes_after(db, event: i64, limit: u32) -> Vec<StatusChange> =
        select "from event_rows where seq > :event and status_before is not null and type in ( \
            'invoice.confirmed', 'invoice.overpaid', 'invoice.underpaid', 'invoice.paid_late', 'deposit.confirmed') \
            order by seq limit :limit";

    fn first_of_object(db, object_id: &str) -> Option<(seq: i64, content: String)> =
        "select seq, content from event_rows where object_id = :object_id order by seq limit 1";

    fn insert_row(tx, event: &NewEvent<'_>, first: Option<i64>, content: &str) -> i64 =
        insert into event_rows {
            id: event.id, account: event.account, mode: event.mode, type: event.kind, object_id: event.object_id,
            created_at: event.created_at, first, content, invoice: event.invoice, status_before: event.status_before,
        };
}

/// Returns the `seq` of the newest event of an account before a time; 0 without such an event.
pub fn last_seq_before(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    since: Time,
) -> Result<i64, StoreError> {
    Ok(newest_seq_before(db, account, mode, since)?.unwrap_or(0))
}

/// Inserts an event and returns its `seq`.
///
/// The first event about an object is stored with the whole object. A later one is stored with the members that differ
/// from the first. The view `events` puts them together.
pub fn insert(tx: &Tx<'_>, event: &NewEvent<'_>) -> Result<i64, StoreError> {
    tx.record_change(|changes| {
        changes.events.push(event.id.to_owned());
        changes.mail |= event.status_before.is_some();
    });
    if let Some((first, content)) = first_of_object(tx, event.object_id)?
        && let Some(changed) = changed_members(&content, event.object)
    {
        return insert_row(tx, event, Some(first), &changed);
    }
    insert_row(tx, event, None, event.object)
}

/// Returns the ids and the bodies of a page of events, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    EventQuery { kind, object, page }: EventQuery<'_>,
) -> Result<Vec<(String, String)>, StoreError> {
    match (object, kind) {
        (Some(object), kind) => page_of_object(db, account, mode, object, kind, page),
        (None, Some(kind)) => page_of_type(db, account, mode, kind, page),
        (None, None) => page_of_all(db, account, mode, page),
    }
}
