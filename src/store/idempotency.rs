//! The table `idempotency`: stored responses of requests with an Idempotency-Key.

use super::row::enum_as_text;
use super::statement::statements;
use crate::domain::text_enum::text_enum;
use crate::domain::{Mode, Time};

text_enum! {
    /// Result of a request that creates an object.
    pub enum CreateOutcome {
        /// The request created the object.
        Created = "created",
        /// The object existed already.
        Existing = "existing",
    }
}

enum_as_text!(CreateOutcome);

/// Key of a stored response.
#[derive(Clone, Copy, Debug)]
pub struct IdempotencySlot<'a> {
    /// Account, by its `seq`. `None` if the request is about an object of no account.
    pub account: Option<i64>,
    /// Live or test.
    pub mode: Mode,
    /// Name of the operation.
    pub route: &'a str,
    /// Value of the Idempotency-Key header.
    pub client_key: &'a str,
}

/// A stored response, with the request that it answers.
pub struct StoredResponse {
    /// Ids in the path of the request, separated by slashes.
    pub path_ids: String,
    /// Body of the request.
    pub request: String,
    /// Whether the object was created.
    pub outcome: CreateOutcome,
    /// Body of the response.
    pub answer: String,
}

statements! {
    row read(path_ids, request, outcome, answer) -> StoredResponse {
        Ok(StoredResponse { path_ids, request, outcome, answer })
    }

    /// Returns the stored response for this key if it was stored later than `after`.
    pub fn get(db, slot: IdempotencySlot<'_>, after: Time) -> Option<StoredResponse> =
        select "from idempotency \
            where coalesce(account, 0) = coalesce(:account, 0) and mode = :mode and route = :route and client_key = :client_key \
            and created_at > :after"
        with { account: slot.account, mode: slot.mode, route: slot.route, client_key: slot.client_key, after };

    /// Stores a response. An expired response with the same key is replaced.
    pub fn put(tx, slot: IdempotencySlot<'_>, kept: &StoredResponse, now: Time) =
        file "sql/idempotency/put.sql"
        with {
            account: slot.account, mode: slot.mode, route: slot.route, client_key: slot.client_key,
            path_ids: kept.path_ids, request: kept.request, outcome: kept.outcome, answer: kept.answer, created_at: now,
        };

    /// Deletes at most `limit` responses that were stored before a time, and returns their number.
    pub fn prune(tx, before: Time, limit: u32) -> usize =
        "delete from idempotency \
            where rowid in (select rowid from idempotency where created_at <= :before \
            order by created_at limit :limit)";
}
