//! The tables `deliveries` and `attempts` for people: pages of deliveries, and sending them again.
//!
//! What does not live here: what is due, and recording attempts (`deliveries`). What always holds: every query has
//! the account and the mode of the event.

use super::deliveries::{Attempt, Signed};
use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::event::{DeliveryState, EventType, WebhookFormat};
use crate::domain::retry::{DELIVERY_ATTEMPTS_MAX, RETURNED_ATTEMPTS_MAX};
use crate::domain::time::Time;
use rusqlite::named_params;

/// A delivery and what it tells of.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The name of the delivery.
    pub id: String,
    /// The event's id.
    pub event: String,
    /// The event's type.
    pub kind: EventType,
    /// What the event is about.
    pub object: String,
    /// The endpoint's id; nothing: the invoice's own webhookUrl.
    pub endpoint: Option<String>,
    /// Where to.
    pub url: String,
    /// How far it has come.
    pub state: DeliveryState,
    /// When it is tried next.
    pub next_attempt_at: Option<Time>,
    /// When the event happened.
    pub created_at: Time,
}

/// Where a delivery stands among all: its event, and its endpoint within that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The event's `seq`.
    pub event: i64,
    /// The endpoint's `seq`; 0: the invoice's own webhookUrl.
    pub endpoint: i64,
}

impl Place {
    /// Before all.
    pub const FIRST: Place = Place {
        event: 0,
        endpoint: -1,
    };
    /// Behind all.
    pub const LAST: Place = Place {
        event: i64::MAX,
        endpoint: i64::MAX,
    };
}

/// Which deliveries are asked for.
pub struct Wanted<'a> {
    /// Only to the endpoint with this id.
    pub endpoint: Option<&'a str>,
    /// Only those with this status.
    pub state: Option<DeliveryState>,
    /// Only of this event.
    pub event: Option<i64>,
    /// Only those before this place.
    pub before: Place,
    /// How many at most.
    pub limit: u32,
}

/// A delivery that can be sent again.
pub struct Again {
    /// The name of the delivery.
    pub id: String,
    /// Where its endpoint is now.
    pub url: String,
    /// The endpoint's id; nothing: the invoice's own webhookUrl.
    pub endpoint: Option<String>,
    /// Where it stands.
    pub place: Place,
    /// Is the endpoint gone?
    pub is_removed: bool,
    /// Has the endpoint a format that does not tell of the event?
    pub is_untold: bool,
    /// How often it was tried, in all rounds.
    pub tried: u32,
}

/// What a delivery's body is made of.
#[derive(Clone, Debug)]
pub struct Source {
    /// The event as it is stored.
    pub body: String,
    /// The invoice that was refunded.
    pub invoice: Option<String>,
    /// The format that the endpoint has now.
    pub format: Option<WebhookFormat>,
}

rows! {
    fn read(
        d.id, event = "e.id", kind = "e.type", e.object_id, endpoint = "n.id", d.url, d.state,
        d.next_attempt_at, e.created_at,
    ) -> Delivery {
        Ok(Delivery {
            id, event, kind, object: object_id, endpoint, url, state, next_attempt_at, created_at,
        })
    }

    /// Of the events from :from on, in the order of the events and within one of the endpoints.
    PAGE = select "from events e cross join deliveries d on d.event = e.seq left join endpoints n on n.seq = d.endpoint \
        where e.account = :account and e.mode = :mode and e.seq >= :from and e.seq <= :event \
        and (e.seq < :event or ifnull(d.endpoint, 0) < :place) and (:state is null or d.state = :state) \
        order by e.seq desc, ifnull(d.endpoint, 0) desc limit :limit";

    /// The same by the index of what was not taken.
    PAGE_NOT_TAKEN = select "from deliveries d indexed by deliveries_not_taken cross join events e on e.seq = d.event \
        left join endpoints n on n.seq = d.endpoint \
        where d.state <> 'delivered' and d.state = :state and d.event >= :from and d.event <= :event \
        and (d.event < :event or ifnull(d.endpoint, 0) < :place) and e.account = :account and e.mode = :mode \
        order by d.event desc, ifnull(d.endpoint, 0) desc limit :limit";

    /// The same by the index of the endpoint, which is told of an event once.
    PAGE_OF_ENDPOINT = select "from deliveries d cross join events e on e.seq = d.event \
        join endpoints n on n.seq = d.endpoint \
        where n.id = :endpoint and n.account = :account and e.account = :account and e.mode = :mode \
        and d.event >= :from and d.event < :event and (:state is null or d.state = :state) \
        order by d.event desc limit :limit";

    /// The delivery with this id, if it is the caller's.
    pub fn by_id(db, account: i64, mode: Mode, id: &str) -> Option<Delivery> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :id and e.account = :account and e.mode = :mode";
}

rows! {
    fn read_again(
        d.id, url = "ifnull(n.url, d.url)", endpoint = "n.id", event = "e.seq", place = "ifnull(d.endpoint, 0)",
        is_removed = "n.removed_at is not null",
        is_untold = "n.format is 'legacy' and e.type like 'account.%'", tried = "d.made_before + d.attempts",
    ) -> Again {
        Ok(Again { id, url, endpoint, place: Place { event, endpoint: place }, is_removed, is_untold, tried })
    }

    /// The delivery with this id as one to be sent again, if it is the caller's.
    pub fn to_resend(db, account: i64, mode: Mode, id: &str) -> Option<Again> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :id and e.account = :account and e.mode = :mode";

    /// The next deliveries behind a place that are to be sent again, oldest first.
    /// Of the events up to :until, but none whose endpoint is gone or does not tell of it, and none that was tried too often.
    pub fn to_resend_since(db, account: i64, mode: Mode, which: &Since, after: Place, limit: u32) -> Vec<Again> =
        select "from events e cross join deliveries d on d.event = e.seq \
            left join endpoints n on n.seq = d.endpoint \
            where e.account = :account and e.mode = :mode and e.created_at >= :since and e.seq >= :event and e.seq \
            <= :until \
            and (e.seq > :event or ifnull(d.endpoint, 0) > :place) \
            and n.removed_at is null and (n.format is not 'legacy' or e.type not like 'account.%') \
            and d.made_before + d.attempts < :tried_max and (:endpoint is null or n.id = :endpoint) \
            order by e.seq, ifnull(d.endpoint, 0) limit :limit"
        with {
            account, mode, since: which.since, endpoint: which.endpoint, until: which.until,
            event: after.event, place: after.endpoint, tried_max: DELIVERY_ATTEMPTS_MAX, limit,
        };
}

rows! {
    fn read_place(d.event, endpoint = "ifnull(d.endpoint, 0)") -> Place {
        Ok(Place { event, endpoint })
    }

    /// Where the delivery with this id stands, if it is the caller's.
    pub fn place(db, account: i64, mode: Mode, id: &str) -> Option<Place> =
        select "from deliveries d join events e on e.seq = d.event \
            where d.id = :id and e.account = :account and e.mode = :mode";
}

rows! {
    fn read_attempt(
        a.number, a.at, a.status, a.latency_ms, a.error, answer = "ifnull(a.answer, same.answer)",
        signatures: Option<String> = "a.signatures", format: Option<WebhookFormat> = "a.format",
    ) -> (u32, Attempt) {
        let signed = format.zip(signatures).map(|(format, signatures)| Signed { format, signatures });
        Ok((number, Attempt { at, status, latency_ms, error, answer, signed }))
    }
    ATTEMPTS = select "from attempts a left join attempts same on same.delivery = a.delivery and same.number = a.answer_of \
        where a.delivery = :delivery order by a.number desc limit :limit";
}

rows! {
    fn read_source(e.body, e.invoice, n.format) -> Source {
        Ok(Source { body, invoice, format })
    }

    /// What a delivery's body is made of.
    pub fn source(db, delivery: &str) -> Option<Source> =
        select "from deliveries d join events e on e.seq = d.event left join endpoints n on n.seq = d.endpoint \
            where d.id = :delivery";
}

commands! {
    /// A new round: due at once, where the endpoint is now.
    RESEND = "update deliveries set made_before = made_before + attempts, attempts = 0, state = 'pending', \
        next_attempt_at = :now, url = :url, lane = :lane where id = :id";
}

/// The newest deliveries that fit.
pub fn page(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    wanted: &Wanted<'_>,
) -> Result<Vec<Delivery>, StoreError> {
    // Of one event: nothing that is older, and nothing that is newer.
    let from = wanted.event.unwrap_or(0);
    let before = match wanted.event {
        Some(event) if event < wanted.before.event => Place {
            event,
            ..Place::LAST
        },
        Some(_) | None => wanted.before,
    };
    let mut params = named_params! {
        ":account": account, ":mode": mode, ":state": wanted.state, ":from": from, ":event": before.event,
        ":limit": wanted.limit,
    }
    .to_vec();
    if let Some(endpoint) = &wanted.endpoint {
        // An endpoint is told of an event once, so the event alone says where to go on.
        let until = before
            .event
            .saturating_add(i64::from(before.endpoint == i64::MAX));
        params.retain(|(name, _)| *name != ":event");
        params.extend(named_params! { ":endpoint": endpoint, ":event": until });
        return PAGE_OF_ENDPOINT.all(db, params.as_slice());
    }
    params.push((":place", &before.endpoint));
    let query = match wanted.state {
        Some(DeliveryState::Pending | DeliveryState::Failed) => PAGE_NOT_TAKEN,
        Some(DeliveryState::Delivered) | None => PAGE,
    };
    query.all(db, params.as_slice())
}

/// The newest attempts of a delivery with their numbers, oldest first: [`SHOWN_MAX`] at most.
pub fn attempts(db: &Reader<'_>, delivery: &str) -> Result<Vec<(u32, Attempt)>, StoreError> {
    let params = named_params! { ":delivery": delivery, ":limit": RETURNED_ATTEMPTS_MAX };
    let mut newest = ATTEMPTS.all(db, params)?;
    newest.reverse();
    Ok(newest)
}

/// Which deliveries are sent again.
#[derive(Clone)]
pub struct Since {
    /// Those of events from this moment on.
    pub since: Time,
    /// Only to the endpoint with this id.
    pub endpoint: Option<String>,
    /// Only of events up to this one.
    pub until: i64,
}

/// Begins a new round of attempts, due at once.
pub fn resend(tx: &Tx<'_>, id: &str, url: &str, queue: &str, now: Time) -> Result<(), StoreError> {
    tx.note(|changes| changes.deliveries = true);
    let params = named_params! { ":id": id, ":url": url, ":lane": queue, ":now": now };
    RESEND.run(tx, params)
}
