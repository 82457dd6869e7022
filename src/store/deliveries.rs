//! The tables `deliveries` and `attempts`: what is to be sent, and what came of it.

use super::statement::{commands, rows, sql_limit, values};
use super::{Reader, StoreError, Tx};
use crate::domain::event::{DeliveryState, EventType, WebhookFormat};
use crate::domain::retry::RETURNED_ATTEMPTS_MAX;
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
    pub endpoint: Option<(String, WebhookFormat)>,
    /// The endpoint is gone, or has a format that does not tell of this: give it up.
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
    /// Its name: the origin, the account, and the endpoint if it is one's.
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
    /// How its request was made; nothing where it was not made.
    pub signed: Option<Signed>,
}

/// How the request of an attempt was made.
#[derive(Clone, Debug)]
pub struct Signed {
    /// Which body was sent.
    pub format: WebhookFormat,
    /// Its two signatures, with a space between them.
    pub signatures: String,
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

rows! {
    fn read_waiting(queue, due_at, was_tried) -> Waiting {
        Ok(Waiting { queue, due_at, was_tried })
    }

    /// Returns at most `limit` queues with something pending, by name and behind the name `after`.
    pub fn waiting(db, after: &str, limit: usize) -> Vec<Waiting> =
        file "sql/deliveries/waiting.sql" with { after, limit: sql_limit(limit) };
}

rows! {
    fn read_due(
        id, url, attempts, endpoint: Option<i64>, secret: Option<String>, format: Option<WebhookFormat>,
        is_untold: bool, legacy_secret, event, body, invoice, old_secret,
    ) -> Due {
        Ok(Due {
            id, url, attempts,
            endpoint: secret.zip(format),
            is_orphan: endpoint.is_some() && is_untold,
            legacy_secret, event, body, invoice, old_secret,
        })
    }

    /// What of one queue is due, the longest overdue first.
    pub fn due(db, queue: &str, now: Time, limit: usize) -> Vec<Due> =
        file "sql/deliveries/due.sql" with { queue, now, limit: sql_limit(limit) };
}

rows! {
    fn read(d.id, event = "e.id", kind = "e.type", endpoint = "n.id", d.url, d.state, d.next_attempt_at) -> DeliveryRow {
        Ok(DeliveryRow { id, event, kind, endpoint, url, state, next_attempt_at })
    }
    /// Of every account and mode: those behind a delivery, the newest first.
    NEWEST = select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
        where (d.event, d.rowid) < (:event, :row) \
        order by d.event desc, d.rowid desc limit :limit";
}

values! {
    /// How many attempts of a delivery were made in the rounds before this one; nothing where it is not there any more.
    pub fn made_before(db, id: &str) -> Option<(made_before: u32)> =
        "select made_before from deliveries where id = :id";

    /// The place of a delivery for [`newest`]; nothing where it is not there.
    pub fn place_among_all(db, id: &str) -> Option<(event: i64, rowid: i64)> =
        "select event, rowid from deliveries where id = :id";
}

commands! {
    INSERT = "insert into deliveries (id, event, endpoint, url, lane, state, attempts, next_attempt_at) \
        values (:id, :event, :endpoint, :url, :lane, 'pending', 0, :now)";

    UPDATE = file "sql/deliveries/update.sql";

    INSERT_ATTEMPT = file "sql/attempts/insert.sql";

    /// Gives a delivery up without an attempt.
    pub fn give_up(tx, id: &str) =
        "update deliveries set state = 'failed', next_attempt_at = null where id = :id and state = 'pending'";

    BRING_FORWARD = "update deliveries set next_attempt_at = :now where state = 'pending' and next_attempt_at > :latest";

    /// Removes attempts from before a moment, at most `limit`; how many.
    /// One whose answer a younger attempt shares goes with that.
    pub fn prune_attempts(tx, before: Time, limit: u32) -> usize =
        "delete from attempts where rowid in (select a.rowid from attempts a where a.at < :before \
            and not exists (select 1 from attempts b where b.delivery = a.delivery and b.answer_of = a.number and \
            b.at >= :before) \
            order by a.at limit :limit)";
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
    INSERT.run(tx, params)
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
    if !UPDATE.changes(tx, params)? {
        return Ok(false);
    }
    let params = named_params! {
        ":delivery": id,
        ":number": number,
        ":compared_from": number.saturating_sub(RETURNED_ATTEMPTS_MAX),
        ":at": attempt.at,
        ":status": attempt.status,
        ":latency_ms": attempt.latency_ms,
        ":error": attempt.error,
        ":answer": attempt.answer,
        ":signatures": attempt.signed.as_ref().map(|signed| &signed.signatures),
        ":format": attempt.signed.as_ref().map(|signed| signed.format),
    };
    INSERT_ATTEMPT.run(tx, params).map(|_| true)
}

/// What is due later than `latest` is due now.
pub fn bring_forward(tx: &Tx<'_>, now: Time, latest: Time) -> Result<(), StoreError> {
    tx.note(|changes| changes.deliveries = true);
    let params = named_params! { ":now": now, ":latest": latest };
    BRING_FORWARD.run(tx, params)
}

/// The newest deliveries of all, newest first: at most `limit` that are older than the one at a place.
pub fn newest(
    db: &Reader<'_>,
    (event, row): (i64, i64),
    limit: u32,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let params = named_params! { ":event": event, ":row": row, ":limit": limit };
    NEWEST.all(db, params)
}
