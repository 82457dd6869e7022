//! Idempotency of POST requests: a request that creates something runs at most once for each Idempotency-Key.
//!
//! Invariant: the response is stored in the transaction of its effect, so both exist or neither.

use super::{Error, Service, Step};
use crate::domain::time::DAY_MS;
use crate::domain::{Refusal, RefusalCode, Time};
use crate::store::Reader;
pub use crate::store::idempotency::{CreateOutcome, IdempotencySlot};
use crate::store::idempotency::{StoredResponse, get, put};
use serde_json::{Map, Value};

/// Maximum length of an Idempotency-Key, in characters.
pub const KEY_CHARS_MAX: usize = 200;

/// Response to a request that creates an object, new or repeated.
pub struct CreateResponse {
    /// Whether the request created the object.
    pub outcome: CreateOutcome,
    /// JSON of the object.
    pub body: String,
}

impl CreateResponse {
    /// Returns the response for an object that the request created.
    pub fn created(body: String) -> CreateResponse {
        CreateResponse { outcome: CreateOutcome::Created, body }
    }

    /// Returns the response for an object that existed already.
    pub fn existing(body: String) -> CreateResponse {
        CreateResponse { outcome: CreateOutcome::Existing, body }
    }
}

/// Runs `work`, unless a response is already stored under this key. Without a key, always runs `work`.
///
/// # Errors
///
/// `idempotency_conflict` if the key was used with another body. Errors of `work` are returned and never stored.
pub fn run_once(
    step: &Step<'_>,
    slot: Option<&IdempotencySlot>,
    body: &Map<String, Value>,
    work: impl FnOnce() -> Result<CreateResponse, Error>,
) -> Result<CreateResponse, Error> {
    let Step { tx, now, .. } = *step;
    let Some(slot) = slot else { return work() };
    if let Some(kept) = stored_response(tx, now, Some(slot), body)? {
        return Ok(kept);
    }
    let CreateResponse { outcome, body: answer } = work()?;
    let kept = StoredResponse { request: serde_json::to_string(body)?, outcome, answer };
    put(tx, slot, &kept, now)?;
    Ok(CreateResponse { outcome, body: kept.answer })
}

/// Returns the response that is stored under this key.
///
/// # Errors
///
/// `idempotency_conflict` if the key was used with another body.
fn stored_response(
    db: &Reader<'_>,
    now: Time,
    slot: Option<&IdempotencySlot>,
    body: &Map<String, Value>,
) -> Result<Option<CreateResponse>, Error> {
    let kept = slot.map(|slot| get(db, slot, now.plus_ms(-DAY_MS)));
    let Some(kept) = kept.transpose()?.flatten() else {
        return Ok(None);
    };
    let before: Map<String, Value> = serde_json::from_str(&kept.request)?;
    match first_different_field(&before, body) {
        None => Ok(Some(CreateResponse { outcome: kept.outcome, body: kept.answer })),
        Some(field) => Err(conflict_refusal(field).into()),
    }
}

impl Service {
    /// Runs `check` before the transaction, so that a wrong request is refused without waiting for the writer.
    ///
    /// Returns the response that is already stored under this key, if any, and then does not run `check`.
    ///
    /// # Errors
    ///
    /// `idempotency_conflict` if the key was used with another body. Also the errors of `check`.
    pub(super) fn check_before_write(
        &self,
        now: Time,
        slot: Option<&IdempotencySlot>,
        body: &Map<String, Value>,
        check: impl FnOnce(&Reader<'_>) -> Result<(), Error>,
    ) -> Result<Option<CreateResponse>, Error> {
        self.read_snapshot(|db| {
            let kept = stored_response(db, now, slot, body)?;
            if kept.is_none() {
                check(db)?;
            }
            Ok(kept)
        })
    }
}

/// Returns the refusal 409 `idempotency_conflict`, which names a field that differs between two request bodies.
fn conflict_refusal(field: &str) -> Refusal {
    let message = format!("this Idempotency-Key was used with another body: {field} differs");
    Refusal::for_param(RefusalCode::IdempotencyConflict, field, message)
}

/// Returns the first top-level field that differs between two request bodies. Compares the fields of the later body
/// first.
fn first_different_field<'a>(
    before: &'a Map<String, Value>,
    now: &'a Map<String, Value>,
) -> Option<&'a str> {
    let names = now.keys().chain(before.keys());
    names.map(String::as_str).find(|name| before.get(*name) != now.get(*name))
}
