//! The tables `deliveries` and `attempts` for the API and the pages: lists of deliveries, and repeated sending.
//!
//! Invariant: every query for an account also tests the account and the mode of the event.

use super::deliveries::{self, AttemptSignatures, DeliveryAttempt, DeliveryReceiver};
use super::page::{PageBounds, Position};
use super::statement::statements;
use super::{Reader, StoreError, Tx};
use crate::domain::retry::{DELIVERY_ATTEMPTS_MAX, RETURNED_ATTEMPTS_MAX};
use crate::domain::{DeliveryState, EventType, Mode, Time, WebhookFormat};

/// A delivery with its event, as the merchant sees it.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Id of the delivery.
    pub id: String,
    /// Id of the event.
    pub event: String,
    /// Type of the event.
    pub kind: EventType,
    /// Id of the object that the event is about.
    pub object: String,
    /// Id of the endpoint; `None` for the invoice's own webhookUrl.
    pub endpoint: Option<String>,
    /// Destination URL.
    pub url: String,
    /// Whether the delivery is pending, delivered or failed.
    pub state: DeliveryState,
    /// Time of the next attempt, in Unix milliseconds; `None` unless pending.
    pub next_attempt_at: Option<Time>,
    /// Time of the event, in Unix milliseconds.
    pub created_at: Time,
}

/// Position of a delivery in a list: by its event, then by its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPosition {
    /// Event, by its `seq`.
    pub event: i64,
    /// Endpoint, by its `seq`; 0 for the invoice's own webhookUrl.
    pub endpoint: i64,
}

impl DeliveryPosition {
    /// Position before all deliveries.
    pub const FIRST: DeliveryPosition = DeliveryPosition { event: 0, endpoint: -1 };
}

impl Position for DeliveryPosition {
    const END: DeliveryPosition = DeliveryPosition { event: i64::MAX, endpoint: i64::MAX };
}

/// A query for deliveries of an account.
pub struct DeliveryQuery<'a> {
    /// Filter: only deliveries to the endpoint with this id.
    pub endpoint: Option<&'a str>,
    /// Filter: only deliveries in this state.
    pub state: Option<DeliveryState>,
    /// Filter: only deliveries of the event with this `seq`.
    pub event: Option<i64>,
    /// Bounds of the page.
    pub page: PageBounds<DeliveryPosition>,
}

/// A delivery that a person may send again.
pub struct ResendableDelivery {
    /// Id of the delivery.
    pub id: String,
    /// Current URL of the endpoint.
    pub url: String,
    /// Endpoint, by its `seq`; `None` for the invoice's own webhookUrl.
    pub endpoint: Option<i64>,
    /// Position in the order of sending.
    pub position: DeliveryPosition,
    /// Whether the endpoint was removed.
    pub is_removed: bool,
    /// Whether the endpoint's format does not include the event.
    pub is_untold: bool,
    /// Number of attempts so far, including those before the delivery was sent again.
    pub tried: u32,
}

/// Data from which the request body of a delivery is rendered.
#[derive(Clone, Debug)]
pub struct DeliveryContent {
    /// Stored JSON body of the event.
    pub body: String,
    /// Refunded invoice as JSON, for a body in the legacy format.
    pub invoice: Option<String>,
    /// Current format of the endpoint; `None` for the invoice's own webhookUrl.
    pub format: Option<WebhookFormat>,
}

/// A query for deliveries to be sent again.
#[derive(Clone)]
pub struct ResendQuery {
    /// Only deliveries of events that occurred at this time or later.
    pub since: Time,
    /// Filter: only deliveries to the endpoint with this id.
    pub endpoint: Option<String>,
    /// Only deliveries of events up to the one with this `seq`.
    pub until: i64,
}

statements! {
    row read(
        d.id, event = "e.id", kind = "e.type", e.object_id, endpoint = "n.id",
        url = "(select url from webhook_urls where seq = d.url)", d.state, d.next_attempt_at, e.created_at,
    ) -> Delivery {
        Ok(Delivery {
            id, event, kind, object: object_id, endpoint, url, state, next_attempt_at, created_at,
        })
    }

    /// Returns a page of deliveries, newest first: by event, then by endpoint. Reads only events whose `seq` is at least
    /// `from`.
    fn page_of_all(
        db, account: i64, mode: Mode, query: &DeliveryQuery<'_>, from: i64, before: DeliveryPosition
    ) -> Vec<Delivery> =
        select "from events e cross join deliveries d on d.event = e.seq left join endpoints n on n.seq = d.endpoint \
            where e.account = :account and e.mode = :mode and e.seq >= :from and e.seq <= :event \
            and (e.seq < :event or ifnull(d.endpoint, 0) < :place) and (:state is null or d.state = :state) \
            order by e.seq desc, ifnull(d.endpoint, 0) desc limit :limit"
        with {
            account, mode, from, event: before.event, place: before.endpoint, state: query.state,
            limit: query.page.limit,
        };

    /// Returns the same page as [`page_of_all`], but only deliveries that are pending or failed, with the index of these
    /// deliveries.
    fn page_of_undelivered(
        db, account: i64, mode: Mode, query: &DeliveryQuery<'_>, from: i64, before: DeliveryPosition
    ) -> Vec<Delivery> =
        select "from deliveries d cross join events e on e.seq = d.event \
            left join endpoints n on n.seq = d.endpoint \
            where d.state <> 'delivered' and d.state = :state and d.event >= :from and d.event <= :event \
            and (d.event < :event or ifnull(d.endpoint, 0) < :place) and e.account = :account and e.mode = :mode \
            order by d.event desc, ifnull(d.endpoint, 0) desc limit :limit"
        with {
            account, mode, from, event: before.event, place: before.endpoint, state: query.state,
            limit: query.page.limit,
        };

    /// Returns the same page as [`page_of_all`], but only deliveries to one endpoint, of events before `until`. There is
    /// at most one for each event.
    fn page_of_endpoint(
        db, account: i64, mode: Mode, query: &DeliveryQuery<'_>, from: i64, endpoint: &str, until: i64
    ) -> Vec<Delivery> =
        select "from deliveries d cross join events e on e.seq = d.event \
            join endpoints n on n.seq = d.endpoint \
            where n.id = :endpoint and n.account = :account and e.account = :account and e.mode = :mode \
            and d.event >= :from and d.event < :until and (:state is null or d.state = :state) \
            order by d.event desc limit :limit"
        with { account, mode, from, endpoint, until, state: query.state, limit: query.page.limit };

    /// Returns the delivery with this id if it belongs to the account.
    pub fn by_id(db, account: i64, mode: Mode, id: &str) -> Option<Delivery> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :id and e.account = :account and e.mode = :mode";

    row read_resendable_delivery(
        d.id, url = "ifnull(n.url, (select url from webhook_urls where seq = d.url))", d.endpoint, event = "e.seq",
        place = "ifnull(d.endpoint, 0)",
        is_removed = "n.removed_at is not null",
        is_untold = "n.format is 'legacy' and e.type like 'account.%'", tried = "d.made_before + d.attempts",
    ) -> ResendableDelivery {
        let position = DeliveryPosition { event, endpoint: place };
        Ok(ResendableDelivery { id, url, endpoint, position, is_removed, is_untold, tried })
    }

    /// Returns the data for sending the delivery with this id again. `None` if the delivery does not belong to the
    /// account.
    pub fn resendable_by_id(db, account: i64, mode: Mode, id: &str) -> Option<ResendableDelivery> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :id and e.account = :account and e.mode = :mode";

    /// Returns the next deliveries that can be sent again, after the position `after`, oldest first.
    ///
    /// Leaves out deliveries with too many attempts, and those whose endpoint was removed or does not get the event.
    pub fn resendable_after(
        db, account: i64, mode: Mode, query: &ResendQuery, after: DeliveryPosition, limit: u32
    ) -> Vec<ResendableDelivery> =
        select "from events e cross join deliveries d on d.event = e.seq \
            left join endpoints n on n.seq = d.endpoint \
            where e.account = :account and e.mode = :mode and e.created_at >= :since and e.seq >= :event \
            and e.seq <= :until and (e.seq > :event or ifnull(d.endpoint, 0) > :place) \
            and n.removed_at is null and (n.format is not 'legacy' or e.type not like 'account.%') \
            and d.made_before + d.attempts < :tried_max and (:endpoint is null or n.id = :endpoint) \
            order by e.seq, ifnull(d.endpoint, 0) limit :limit"
        with {
            account, mode, since: query.since, endpoint: query.endpoint, until: query.until,
            event: after.event, place: after.endpoint, tried_max: DELIVERY_ATTEMPTS_MAX, limit,
        };

    row read_position(d.event, endpoint = "ifnull(d.endpoint, 0)") -> DeliveryPosition {
        Ok(DeliveryPosition { event, endpoint })
    }

    /// Returns the position of the delivery with this id if the delivery belongs to the account.
    pub fn position(db, account: i64, mode: Mode, id: &str) -> Option<DeliveryPosition> =
        select "from deliveries d join events e on e.seq = d.event \
            where d.id = :id and e.account = :account and e.mode = :mode";

    row read_attempt(
        a.number, a.at, a.status, a.latency_ms, a.error, answer = "ifnull(a.answer, same.answer)",
        format: Option<WebhookFormat> = "a.format", signed_at: Option<i64> = "a.signed_at",
        service: Option<String> = "a.service_signature", standard: Option<String> = "a.standard_signature",
    ) -> (u32, DeliveryAttempt) {
        let signed = format.zip(signed_at).zip(service.zip(standard));
        let signed = signed.map(|((format, signed_at), (service, standard))| AttemptSignatures {
            format, signed_at, service, standard,
        });
        Ok((number, DeliveryAttempt { at, status, latency_ms, error, answer, signed }))
    }

    fn newest_attempts(db, delivery: &str, limit: u32) -> Vec<(u32, DeliveryAttempt)> =
        select "from attempts a left join attempts same on same.delivery = a.delivery and same.number = a.answer_of \
            where a.delivery = (select seq from deliveries where id = :delivery) order by a.number desc limit :limit";

    row read_content(e.body, e.invoice, n.format) -> DeliveryContent {
        Ok(DeliveryContent { body, invoice, format })
    }

    /// Returns the data from which the request body of a delivery is rendered.
    pub fn content(db, delivery: &str) -> Option<DeliveryContent> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :delivery";

    /// Starts a new round of attempts with the current URL of the endpoint.
    fn resend_row(tx, id: &str, url: i64, queue: i64, now: Time) =
        "update deliveries set made_before = made_before + attempts, attempts = 0, state = 'pending', \
            next_attempt_at = :now, url = :url, queue = :queue where id = :id";
}

/// Returns a page of deliveries that match a query, newest first.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    query: &DeliveryQuery<'_>,
) -> Result<Vec<Delivery>, StoreError> {
    let before = query.page.before;
    // If the query is for one event, older and newer events are not read.
    let from = query.event.unwrap_or(0);
    let before = match query.event {
        Some(event) if event < before.event => DeliveryPosition { event, ..DeliveryPosition::END },
        Some(_) | None => before,
    };
    if let Some(endpoint) = query.endpoint {
        // The page of one endpoint is bounded by the event alone, because an endpoint gets an event only once.
        let until = before.event.saturating_add(i64::from(before.endpoint == i64::MAX));
        return page_of_endpoint(db, account, mode, query, from, endpoint, until);
    }
    match query.state {
        Some(DeliveryState::Pending | DeliveryState::Failed) => {
            page_of_undelivered(db, account, mode, query, from, before)
        }
        Some(DeliveryState::Delivered) | None => {
            page_of_all(db, account, mode, query, from, before)
        }
    }
}

/// Returns the newest attempts of a delivery with their numbers, oldest first: at most [`RETURNED_ATTEMPTS_MAX`].
pub fn attempts(
    db: &Reader<'_>,
    delivery: &str,
) -> Result<Vec<(u32, DeliveryAttempt)>, StoreError> {
    let mut newest = newest_attempts(db, delivery, RETURNED_ATTEMPTS_MAX)?;
    newest.reverse();
    Ok(newest)
}

/// Starts a new round of attempts, and makes its first attempt due now.
pub fn resend(
    tx: &Tx<'_>,
    id: &str,
    url: &str,
    receiver: &DeliveryReceiver,
    now: Time,
) -> Result<(), StoreError> {
    tx.record_change(|changes| changes.deliveries = true);
    let (url, queue) = (deliveries::url_seq(tx, url)?, deliveries::queue_seq(tx, receiver)?);
    resend_row(tx, id, url, queue, now)
}
