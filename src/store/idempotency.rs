//! The table `idempotency`: answers kept for a replay.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use rusqlite::named_params;

text_enum! {
    /// What a POST that creates did.
    pub enum Outcome {
        /// It made what it was asked for.
        Created = "created",
        /// It found that already made.
        Existing = "existing",
    }
}

/// Which answer: of whom, to what, under which key.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Whose.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// The operation's name.
    pub route: &'static str,
    /// The Idempotency-Key.
    pub client_key: String,
}

/// A kept answer.
pub struct Kept {
    /// The request's body.
    pub request: String,
    /// Whether the answer was of something new.
    pub outcome: Outcome,
    /// The answer's body.
    pub answer: String,
}

rows! {
    fn read(request, outcome, answer) -> Kept {
        Ok(Kept { request, outcome, answer })
    }
    GET = select "from idempotency \
        where account = :account and mode = :mode and route = :route and client_key = :client_key \
        and created_at > :after";
}

commands! {
    PUT = file "sql/idempotency/put.sql";
    PRUNE = "delete from idempotency \
        where rowid in (select rowid from idempotency where created_at <= :before order by created_at limit :limit)";
}

/// The answer kept after a moment, if there is one.
pub fn get(db: &Reader<'_>, slot: &Slot, after: Time) -> Result<Option<Kept>, StoreError> {
    let params = named_params! {
        ":account": slot.account, ":mode": slot.mode, ":route": slot.route, ":client_key": slot.client_key, ":after": after
    };
    GET.first(db, params)
}

/// Keeps an answer; one that is too old gives way.
pub fn put(tx: &Tx<'_>, slot: &Slot, kept: &Kept, now: Time) -> Result<(), StoreError> {
    let params = named_params! {
        ":account": slot.account,
        ":mode": slot.mode,
        ":route": slot.route,
        ":client_key": slot.client_key,
        ":request": kept.request,
        ":outcome": kept.outcome,
        ":answer": kept.answer,
        ":created_at": now,
    };
    PUT.run(tx, params).map(drop)
}

/// Removes answers from before a moment, at most `limit`; how many.
pub fn prune(tx: &Tx<'_>, before: Time, limit: u32) -> Result<usize, StoreError> {
    PRUNE.run(tx, named_params! { ":before": before, ":limit": limit })
}
