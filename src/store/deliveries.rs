//! The tables `deliveries` and `attempts`: what is to be sent, and what came of it.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::event::{DeliveryState, EventType, Format};
use crate::domain::time::Time;
use rusqlite::named_params;

/// A delivery to be made now.
#[derive(Clone)]
pub struct Due {
    /// The name of the delivery.
    pub id: String,
    /// Where to.
    pub url: String,
    /// How often it was tried, in this round and those before.
    pub attempts: u32,
    /// Which body and secret of the endpoint; nothing: the invoice's own webhookUrl.
    pub endpoint: Option<(String, Format)>,
    /// The endpoint is gone: give it up.
    pub is_orphan: bool,
    /// Signs what goes to an invoice's own webhookUrl.
    pub legacy_secret: String,
    /// The secret before the present one, while it still signs.
    pub old_secret: Option<String>,
    /// The event's id.
    pub event: String,
    /// The event's body.
    pub body: String,
    /// The invoice that was refunded, for the legacy body.
    pub invoice: Option<String>,
}

/// A queue with something pending.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its name, which ends with its receiver's.
    pub queue: String,
    /// When its first delivery is due.
    pub due_at: Time,
    /// Was that one tried before, in this round?
    pub was_tried: bool,
}

/// What came of one attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// When it began.
    pub at: Time,
    /// The status, where there was an answer.
    pub status: Option<u16>,
    /// How long it took.
    pub latency_ms: i64,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The start of the answer.
    pub answer: Option<String>,
}

/// A delivery and what is known of it.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    /// The name of the delivery.
    pub id: String,
    /// The event's id.
    pub event: String,
    /// The event's type.
    pub kind: EventType,
    /// The endpoint's id; nothing: the invoice's own webhookUrl.
    pub endpoint: Option<String>,
    /// Where to.
    pub url: String,
    /// How far it has come.
    pub state: DeliveryState,
    /// When it is tried next.
    pub next_attempt_at: Option<Time>,
}

/// Adds a delivery that is due at once.
pub fn insert(
    tx: &Tx<'_>,
    id: &str,
    event: i64,
    endpoint: Option<i64>,
    url: &str,
    queue: &str,
    now: Time,
) -> Result<(), StoreError> {
    tx.note(|changes| changes.deliveries = true);
    let params = named_params! {
        ":id": id, ":event": event, ":endpoint": endpoint, ":url": url, ":lane": queue, ":now": now
    };
    tx.run(include_str!("../../sql/deliveries/insert.sql"), params)
        .map(drop)
}

/// Every queue with something pending, and what of it is due first.
pub fn waiting(db: &Reader<'_>) -> Result<Vec<Waiting>, StoreError> {
    let sql = include_str!("../../sql/deliveries/waiting.sql");
    db.all(sql, [], |row| {
        let mut next = Columns::of(row);
        Ok(Waiting {
            queue: next.take()?,
            due_at: next.take()?,
            was_tried: next.take()?,
        })
    })
}

/// What of one queue is due, the longest overdue first.
pub fn due(db: &Reader<'_>, queue: &str, now: Time, limit: usize) -> Result<Vec<Due>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let params = named_params! { ":lane": queue, ":now": now, ":limit": limit };
    db.all(
        include_str!("../../sql/deliveries/due.sql"),
        params,
        |row| {
            let mut next = Columns::of(row);
            let (id, url, attempts) = (next.take()?, next.take()?, next.take()?);
            let endpoint: Option<i64> = next.take()?;
            let secret: Option<String> = next.take()?;
            let format: Option<Format> = next.take()?;
            let removed: bool = next.take()?;
            Ok(Due {
                id,
                url,
                attempts,
                endpoint: secret.zip(format),
                is_orphan: endpoint.is_some() && removed,
                legacy_secret: next.take()?,
                event: next.take()?,
                body: next.take()?,
                invoice: next.take()?,
                old_secret: next.take()?,
            })
        },
    )
}

/// How many attempts of a delivery were made in the rounds before this one; nothing where it is not there any more.
pub fn made_before(db: &Reader<'_>, id: &str) -> Result<Option<u32>, StoreError> {
    db.first(
        include_str!("../../sql/deliveries/made_before.sql"),
        named_params! { ":id": id },
        |row| row.get(0),
    )
}

/// Keeps an attempt, by its number over all rounds, and what follows from it; false where the delivery is not there
/// any more.
pub fn record(
    tx: &Tx<'_>,
    id: &str,
    number: u32,
    attempt: &Attempt,
    next: Option<Time>,
) -> Result<bool, StoreError> {
    let delivered = attempt
        .status
        .is_some_and(|status| (200..300).contains(&status));
    let state = match (delivered, next) {
        (true, _) => DeliveryState::Delivered,
        (false, Some(_)) => DeliveryState::Pending,
        (false, None) => DeliveryState::Failed,
    };
    let next = if delivered { None } else { next };
    let params =
        named_params! { ":id": id, ":state": state, ":number": number, ":next_attempt_at": next };
    if tx.run(include_str!("../../sql/deliveries/update.sql"), params)? == 0 {
        return Ok(false);
    }
    let params = named_params! {
        ":delivery": id,
        ":number": number,
        ":at": attempt.at,
        ":status": attempt.status,
        ":latency_ms": attempt.latency_ms,
        ":error": attempt.error,
        ":answer": attempt.answer,
    };
    tx.run(include_str!("../../sql/attempts/insert.sql"), params)
        .map(|_| true)
}

/// Gives a delivery up without an attempt.
pub fn give_up(tx: &Tx<'_>, id: &str) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/deliveries/give_up.sql"),
        named_params! { ":id": id },
    )
    .map(drop)
}

/// What is due later than `latest` is due now.
pub fn bring_forward(tx: &Tx<'_>, now: Time, latest: Time) -> Result<(), StoreError> {
    tx.note(|changes| changes.deliveries = true);
    let params = named_params! { ":now": now, ":latest": latest };
    tx.run(
        include_str!("../../sql/deliveries/bring_forward.sql"),
        params,
    )
    .map(drop)
}

/// The newest deliveries of all, newest first: at most `limit` that are older than the one at a place.
pub fn newest(
    db: &Reader<'_>,
    (event, row): (i64, i64),
    limit: u32,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let params = named_params! { ":event": event, ":row": row, ":limit": limit };
    let sql = include_str!("../../sql/deliveries/newest.sql");
    db.all(sql, params, |row| {
        let mut next = Columns::of(row);
        Ok(DeliveryRow {
            id: next.take()?,
            event: next.take()?,
            kind: next.take()?,
            endpoint: next.take()?,
            url: next.take()?,
            state: next.take()?,
            next_attempt_at: next.take()?,
        })
    })
}

/// The place of a delivery for [`newest`]; nothing where it is not there.
pub fn place_among_all(db: &Reader<'_>, id: &str) -> Result<Option<(i64, i64)>, StoreError> {
    let sql = include_str!("../../sql/deliveries/place_among_all.sql");
    db.first(sql, named_params! { ":id": id }, |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })
}

/// Removes attempts from before a moment, at most `limit`; how many.
pub fn prune_attempts(tx: &Tx<'_>, before: Time, limit: u32) -> Result<usize, StoreError> {
    tx.run(
        include_str!("../../sql/attempts/prune.sql"),
        named_params! { ":before": before, ":limit": limit },
    )
}
