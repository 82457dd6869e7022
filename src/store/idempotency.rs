//! The table `idempotency`: answers kept for a replay.

use super::statement::{commands, rows};
use crate::domain::asset::Mode;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;

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

    /// The answer kept after a moment, if there is one.
    pub fn get(db, slot: &Slot, after: Time) -> Option<Kept> =
        select "from idempotency \
            where account = :account and mode = :mode and route = :route and client_key = :client_key \
            and created_at > :after"
        with { account: slot.account, mode: slot.mode, route: slot.route, client_key: slot.client_key, after };
}

commands! {
    /// Keeps an answer; one that is too old gives way.
    pub fn put(tx, slot: &Slot, kept: &Kept, now: Time) =
        file "sql/idempotency/put.sql"
        with {
            account: slot.account, mode: slot.mode, route: slot.route, client_key: slot.client_key,
            request: kept.request, outcome: kept.outcome, answer: kept.answer, created_at: now,
        };

    /// Removes answers from before a moment, at most `limit`; how many.
    pub fn prune(tx, before: Time, limit: u32) -> usize =
        "delete from idempotency \
            where rowid in (select rowid from idempotency where created_at <= :before order by created_at limit \
            :limit)";
}
