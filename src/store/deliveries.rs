//! The tables `deliveries` and `attempts`: webhooks to be sent, and their attempts. URLs, queues and responses are stored
//! once.

use super::page::{PageBounds, Position};
use super::statement::{sql_limit, statements};
use super::{StoreError, Tx};
use crate::domain::retry::RETURNED_ATTEMPTS_MAX;
use crate::domain::{DeliveryState, EventType, Mode, Time, WebhookFormat};

/// A delivery that is due, with everything that its request needs.
#[derive(Clone)]
pub struct DueDelivery {
    /// Id of the delivery.
    pub id: String,
    /// Destination URL.
    pub url: String,
    /// Number of attempts so far, including those before the delivery was sent again.
    pub attempts: u32,
    /// Secret and format of the endpoint; `None` for the invoice's own webhookUrl.
    pub endpoint: Option<(String, WebhookFormat)>,
    /// Whether to give the delivery up: its endpoint was removed, or the endpoint's format does not include the
    /// event.
    pub is_orphan: bool,
    /// Secret that signs requests to an invoice's own webhookUrl.
    pub legacy_secret: String,
    /// Previous secret, with which requests are signed as well; `None` if it is no longer used.
    pub old_secret: Option<String>,
    /// Id of the event.
    pub event: String,
    /// Type of the event.
    pub kind: EventType,
    /// JSON body of the event.
    pub body: String,
    /// Refunded invoice as JSON, for a body in the legacy format.
    pub invoice: Option<String>,
}

/// Position of a due delivery in its queue.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryHead {
    /// Key of the row; deliveries that were inserted later have greater keys.
    pub seq: i64,
    /// Number of attempts since the delivery was inserted or last sent again.
    pub attempts: u32,
    /// Time at which the next attempt is due, in Unix milliseconds.
    pub next_attempt_at: Time,
}

/// Receiver of the deliveries of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryReceiver {
    /// Account, by its `seq`.
    pub account: i64,
    /// Scheme, host and port of the URL.
    pub origin: String,
    /// Endpoint, by its `seq`; `None` for the invoices' own webhookUrls.
    pub endpoint: Option<i64>,
}

/// A stored queue of deliveries. After a reset of the file, a new queue may get the key of an old one, but is not equal
/// to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryQueue {
    /// Key of the row; queues that were created later have greater keys.
    pub seq: i64,
    /// Account, by its `seq`.
    pub account: i64,
    /// Scheme, host and port of the URL.
    pub origin: String,
    /// Id of the endpoint; `None` for the invoices' own webhookUrls.
    pub endpoint: Option<String>,
}

/// A delivery queue with a pending delivery.
#[derive(Clone, Debug)]
pub struct WaitingQueue {
    /// The queue.
    pub queue: DeliveryQueue,
    /// Time at which the first pending delivery of the queue is due, in Unix milliseconds.
    pub due_at: Time,
    /// Whether the first pending delivery has had an attempt since it was created or last sent again.
    pub was_tried: bool,
}

/// One attempt to send a delivery, with its result.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    /// Start of the attempt, in Unix milliseconds.
    pub at: Time,
    /// HTTP status of the response; `None` without a response.
    pub status: Option<u16>,
    /// Duration of the attempt, in milliseconds.
    pub latency_ms: i64,
    /// Reason why there is no response.
    pub error: Option<String>,
    /// First bytes of the response body.
    pub answer: Option<String>,
    /// Signatures of the request; `None` if no request was made.
    pub signed: Option<AttemptSignatures>,
}

impl DeliveryAttempt {
    /// Returns `true` if the receiver accepted the delivery: the status of the response is 2xx.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Format and signatures of a sent request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSignatures {
    /// Format of the body that was sent.
    pub format: WebhookFormat,
    /// Signed time, in Unix seconds.
    pub signed_at: i64,
    /// Value of the `X-Service-Signature` header.
    pub service: String,
    /// Value of the `webhook-signature` header of Standard Webhooks.
    pub standard: String,
}

/// A delivery as the operator sees it in the list of the deliveries of all accounts.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    /// Id of the delivery.
    pub id: String,
    /// Id of the event.
    pub event: String,
    /// Type of the event.
    pub kind: EventType,
    /// Id of the endpoint; `None` for the invoice's own webhookUrl.
    pub endpoint: Option<String>,
    /// Destination URL.
    pub url: String,
    /// Whether the delivery is pending, delivered or failed.
    pub state: DeliveryState,
    /// Time of the next attempt, in Unix milliseconds; `None` unless pending.
    pub next_attempt_at: Option<Time>,
}

/// Position of a delivery among the deliveries of all accounts.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRowPosition {
    event: i64,
    row: i64,
}

impl Position for DeliveryRowPosition {
    const END: DeliveryRowPosition = DeliveryRowPosition { event: i64::MAX, row: i64::MAX };
}

statements! {
    row read_waiting(seq, account, origin, endpoint, due_at, was_tried) -> WaitingQueue {
        Ok(WaitingQueue { queue: DeliveryQueue { seq, account, origin, endpoint }, due_at, was_tried })
    }

    /// Returns at most `limit` queues with a pending delivery, by `seq`, after the queue with the `seq` `after`.
    pub fn waiting_queues(db, after: i64, limit: usize) -> Vec<WaitingQueue> =
        file "sql/deliveries/waiting.sql" with { after, limit: sql_limit(limit) };

    row read_due_delivery(
        id, url, attempts, endpoint: Option<i64>, secret: Option<String>, format: Option<WebhookFormat>, is_untold: bool,
        legacy_secret, event, kind, body, invoice, old_secret,
    ) -> DueDelivery {
        Ok(DueDelivery {
            id, url, attempts,
            endpoint: secret.zip(format),
            is_orphan: endpoint.is_some() && is_untold,
            legacy_secret, event, kind, body, invoice, old_secret,
        })
    }

    /// Returns the due deliveries of the queue with this `seq`, the longest overdue first; or `only` one of them, by its
    /// `seq`.
    pub fn due(db, queue: i64, now: Time, only: Option<i64>, limit: usize) -> Vec<DueDelivery> =
        file "sql/deliveries/due.sql" with { queue, now, only, limit: sql_limit(limit) };

    row read_head(seq, attempts, next_attempt_at) -> DeliveryHead {
        Ok(DeliveryHead { seq, attempts, next_attempt_at })
    }

    /// Returns the heads of the due deliveries of the queue with this `seq`, the longest overdue first.
    pub fn due_heads(db, queue: i64, now: Time, limit: usize) -> Vec<DeliveryHead> =
        select "from deliveries where state = 'pending' and queue = :queue and next_attempt_at <= :now \
            order by next_attempt_at, seq limit :limit"
        with { queue, now, limit: sql_limit(limit) };

    row read(
        d.id, event = "e.id", kind = "e.type", endpoint = "n.id", url = "(select url from webhook_urls where seq = d.url)",
        d.state, d.next_attempt_at,
    ) -> DeliveryRow {
        Ok(DeliveryRow { id, event, kind, endpoint, url, state, next_attempt_at })
    }

    /// Returns a page of the deliveries of all accounts, newest first.
    pub fn newest(db, page: PageBounds<DeliveryRowPosition>) -> Vec<DeliveryRow> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where (d.event, d.seq) < (:event, :row) \
            order by d.event desc, d.seq desc limit :limit"
        with { event: page.before.event, row: page.before.row, limit: page.limit };

    row read_position(event, row = "seq") -> DeliveryRowPosition {
        Ok(DeliveryRowPosition { event, row })
    }

    /// Returns the position of a delivery among the deliveries of all accounts.
    pub fn position_among_all_accounts(db, id: &str) -> Option<DeliveryRowPosition> =
        select "from deliveries where id = :id";

    /// Returns the `seq` of a delivery, the number of attempts before the delivery was last sent again, its state, and
    /// the account and mode of its event; `None` if the delivery no longer exists.
    pub fn find_attempted(db, id: &str)
        -> Option<(seq: i64, made_before: u32, state: DeliveryState, account: i64, mode: Mode)> =
        "select d.seq, d.made_before, d.state, e.account, e.mode from deliveries d join event_rows e on e.seq = d.event \
            where d.id = :id";

    /// Returns the number of the first attempt with this response, from the attempt `from` on.
    fn attempt_with_answer(db, delivery: i64, from: u32, answer: &str) -> Option<(number: u32)> =
        "select number from attempts \
            where delivery = :delivery and number >= :from and answer = :answer order by number limit 1";

    fn find_url(db, url: &str) -> Option<(seq: i64)> = "select seq from webhook_urls where url = :url";

    fn find_queue(db, receiver: &DeliveryReceiver) -> Option<(seq: i64)> =
        "select seq from webhook_queues \
            where account = :account and origin = :origin and ifnull(endpoint, 0) = :endpoint"
        with {
            account: receiver.account, origin: receiver.origin, endpoint: receiver.endpoint.unwrap_or(0),
        };

    fn insert_row(tx, id: &str, event: i64, endpoint: Option<i64>, url: i64, queue: i64, next_attempt_at: Time) =
        "insert into deliveries (id, event, endpoint, url, queue, state, attempts, next_attempt_at) \
            values (:id, :event, :endpoint, :url, :queue, 'pending', 0, :next_attempt_at)";

    fn insert_url(tx, url: &str) -> i64 = insert into webhook_urls { url };

    fn insert_queue(tx, receiver: &DeliveryReceiver) -> i64 = insert into webhook_queues {
        account: receiver.account, origin: receiver.origin, endpoint: receiver.endpoint,
    };

    fn update(tx, seq: i64, state: DeliveryState, number: u32, next_attempt_at: Option<Time>) -> bool =
        file "sql/deliveries/update.sql";

    fn insert_attempt(
        tx, delivery: i64, number: u32, attempt: &DeliveryAttempt, answer: Option<&str>, answer_of: Option<u32>
    ) = insert into attempts {
        delivery, number, at: attempt.at, status: attempt.status, latency_ms: attempt.latency_ms, error: attempt.error,
        format: attempt.signed.as_ref().map(|signed| signed.format),
        signed_at: attempt.signed.as_ref().map(|signed| signed.signed_at),
        service_signature: attempt.signed.as_ref().map(|signed| &signed.service),
        standard_signature: attempt.signed.as_ref().map(|signed| &signed.standard), answer, answer_of,
    };

    /// Marks a pending delivery as failed, without another attempt.
    pub fn mark_failed(tx, id: &str) =
        "update deliveries set state = 'failed', next_attempt_at = null where id = :id and state = 'pending'";

    /// Makes all pending deliveries that are due after `latest` due now.
    pub fn make_deliveries_due(tx, now: Time, latest: Time) =
        "update deliveries set next_attempt_at = :now where state = 'pending' and next_attempt_at > :latest"
        noting { tx.record_change(|changes| changes.deliveries = true); };
}

/// Inserts a delivery that is due now, into the queue of its receiver.
pub fn insert(
    tx: &Tx<'_>,
    id: &str,
    event: i64,
    url: &str,
    receiver: &DeliveryReceiver,
    now: Time,
) -> Result<(), StoreError> {
    tx.record_change(|changes| changes.deliveries = true);
    let (url, queue) = (url_seq(tx, url)?, queue_seq(tx, receiver)?);
    insert_row(tx, id, event, receiver.endpoint, url, queue, now)
}

/// Returns the `seq` of a URL. Stores the URL if it is new.
pub(super) fn url_seq(tx: &Tx<'_>, url: &str) -> Result<i64, StoreError> {
    find_url(tx, url)?.map_or_else(|| insert_url(tx, url), Ok)
}

/// Returns the `seq` of a receiver's queue. Stores the queue if it is new.
pub(super) fn queue_seq(tx: &Tx<'_>, receiver: &DeliveryReceiver) -> Result<i64, StoreError> {
    find_queue(tx, receiver)?.map_or_else(|| insert_queue(tx, receiver), Ok)
}

/// Stores an attempt and the resulting state of its delivery. `number` is the number of the attempt, counted over all
/// rounds. Returns `false` if the attempt is already stored.
pub fn record_attempt(
    tx: &Tx<'_>,
    delivery: i64,
    number: u32,
    attempt: &DeliveryAttempt,
    next: Option<Time>,
) -> Result<bool, StoreError> {
    let (state, next) = match (attempt.is_success(), next) {
        (true, _) => (DeliveryState::Delivered, None),
        (false, Some(next)) => (DeliveryState::Pending, Some(next)),
        (false, None) => (DeliveryState::Failed, None),
    };
    let is_new = update(tx, delivery, state, number, next)?;
    if is_new {
        let answer = attempt.answer.as_deref();
        let same = same_answer(tx, delivery, number, answer)?;
        insert_attempt(tx, delivery, number, attempt, answer.filter(|_| same.is_none()), same)?;
    }
    Ok(is_new)
}

/// Returns the number of a recent attempt that got the same response. The response is then not stored again.
fn same_answer(
    tx: &Tx<'_>,
    delivery: i64,
    number: u32,
    answer: Option<&str>,
) -> Result<Option<u32>, StoreError> {
    match answer {
        Some(answer) if !answer.is_empty() && number > 1 => {
            let from = number.saturating_sub(RETURNED_ATTEMPTS_MAX);
            attempt_with_answer(tx, delivery, from, answer)
        }
        Some(_) | None => Ok(None),
    }
}
