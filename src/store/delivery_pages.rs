//! The tables `deliveries` and `attempts` as people look at them: page by page, and what is sent again.
//!
//! What does not live here: what is due, and keeping attempts (`deliveries`). What always holds: every query carries
//! the account and the mode of the event.

use super::deliveries::Attempt;
use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::event::{DeliveryState, EventType};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

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
    /// Only those that stand here.
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
}

fn read(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let mut next = Columns::of(row);
    Ok(Delivery {
        id: next.take()?,
        event: next.take()?,
        kind: next.take()?,
        object: next.take()?,
        endpoint: next.take()?,
        url: next.take()?,
        state: next.take()?,
        next_attempt_at: next.take()?,
        created_at: next.take()?,
    })
}

fn read_again(row: &Row<'_>) -> rusqlite::Result<Again> {
    let mut next = Columns::of(row);
    Ok(Again {
        id: next.take()?,
        url: next.take()?,
        endpoint: next.take()?,
        place: Place {
            event: next.take()?,
            endpoint: next.take()?,
        },
        is_removed: next.take()?,
    })
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
        return db.all(
            include_str!("../../sql/deliveries/page_of_endpoint.sql"),
            params.as_slice(),
            read,
        );
    }
    params.push((":place", &before.endpoint));
    let sql = match wanted.state {
        Some(DeliveryState::Pending | DeliveryState::Failed) => {
            include_str!("../../sql/deliveries/page_not_taken.sql")
        }
        Some(DeliveryState::Delivered) | None => include_str!("../../sql/deliveries/page.sql"),
    };
    db.all(sql, params.as_slice(), read)
}

/// The delivery with this id, if it is the caller's.
pub fn by_id(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<Delivery>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(include_str!("../../sql/deliveries/by_id.sql"), params, read)
}

/// Where the delivery with this id stands, if it is the caller's.
pub fn place(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<Place>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(
        include_str!("../../sql/deliveries/place.sql"),
        params,
        |row| {
            Ok(Place {
                event: row.get(0)?,
                endpoint: row.get(1)?,
            })
        },
    )
}

/// The attempts of a delivery with their numbers, oldest first.
pub fn attempts(db: &Reader<'_>, delivery: &str) -> Result<Vec<(u32, Attempt)>, StoreError> {
    db.all(
        include_str!("../../sql/attempts/of_delivery.sql"),
        named_params! { ":delivery": delivery },
        |row| {
            let mut next = Columns::of(row);
            let number = next.take()?;
            let attempt = Attempt {
                at: next.take()?,
                status: next.take()?,
                latency_ms: next.take()?,
                error: next.take()?,
                answer: next.take()?,
            };
            Ok((number, attempt))
        },
    )
}

/// The delivery with this id as one to be sent again, if it is the caller's.
pub fn to_resend(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    id: &str,
) -> Result<Option<Again>, StoreError> {
    let params = named_params! { ":id": id, ":account": account, ":mode": mode };
    db.first(
        include_str!("../../sql/deliveries/to_resend.sql"),
        params,
        read_again,
    )
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

/// The next deliveries behind a place that are to be sent again, oldest first.
pub fn to_resend_since(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    which: &Since,
    after: Place,
    limit: u32,
) -> Result<Vec<Again>, StoreError> {
    let params = named_params! {
        ":account": account, ":mode": mode, ":since": which.since, ":endpoint": which.endpoint, ":until": which.until,
        ":event": after.event, ":place": after.endpoint, ":limit": limit,
    };
    db.all(
        include_str!("../../sql/deliveries/to_resend_since.sql"),
        params,
        read_again,
    )
}

/// Begins a new round of attempts, due at once.
pub fn resend(tx: &Tx<'_>, id: &str, url: &str, queue: &str, now: Time) -> Result<(), StoreError> {
    tx.note(|changes| changes.deliveries = true);
    let params = named_params! { ":id": id, ":url": url, ":lane": queue, ":now": now };
    tx.run(include_str!("../../sql/deliveries/resend.sql"), params)
        .map(drop)
}
