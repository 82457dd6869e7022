//! Idempotency of POST requests: a request that creates, books or moves money runs at most once for each
//! Idempotency-Key.
//!
//! Invariant: the response is stored in the transaction of its effect, so both exist or neither.

use super::{Error, Json, Scope, Service, Step};
use crate::domain::time::DAY_MS;
use crate::domain::{Mode, Refusal, RefusalCode, Time};
use crate::store::Reader;
pub use crate::store::idempotency::CreateOutcome;
use crate::store::idempotency::{IdempotencySlot, StoredResponse, get, put};
use serde_json::{Map, Value};

/// Maximum length of an Idempotency-Key, in characters.
pub const KEY_CHARS_MAX: usize = 200;

/// A POST request that runs at most once for each Idempotency-Key.
pub struct IdempotentRequest {
    /// Name of the operation.
    pub operation: &'static str,
    /// Ids in the path, separated by slashes.
    pub path_ids: String,
    /// Value of the Idempotency-Key header. Without a key, the request always runs.
    pub client_key: Option<String>,
    /// Fields of the body.
    pub body: Map<String, Value>,
}

/// Account and mode that a key belongs to. The keys of two accounts or modes are independent.
#[derive(Clone, Copy, Debug)]
pub struct KeyOwner {
    /// Account, by its `seq`. `None` if the request is about an object of no account.
    pub account: Option<i64>,
    /// Live or test.
    pub mode: Mode,
}

impl KeyOwner {
    /// The operators, for a request that is about no account.
    pub const OPERATORS: KeyOwner = KeyOwner { account: None, mode: Mode::Live };
}

impl From<Scope> for KeyOwner {
    fn from(scope: Scope) -> KeyOwner {
        KeyOwner { account: Some(scope.account()), mode: scope.mode() }
    }
}

/// Response to an [`IdempotentRequest`].
pub struct IdempotentResponse {
    /// Whether the request created the object.
    pub outcome: CreateOutcome,
    /// JSON of the object.
    pub body: String,
    /// `true` if an earlier request with the same key had this response.
    pub is_replayed: bool,
}

impl IdempotentResponse {
    /// Returns the response for an object that the request created.
    pub fn created(json: Json) -> IdempotentResponse {
        IdempotentResponse::new(CreateOutcome::Created, json)
    }

    /// Returns the response for an object that existed already.
    pub fn existing(json: Json) -> IdempotentResponse {
        IdempotentResponse::new(CreateOutcome::Existing, json)
    }

    fn new(outcome: CreateOutcome, json: Json) -> IdempotentResponse {
        let body = Box::<str>::from(json).into_string();
        IdempotentResponse { outcome, body, is_replayed: false }
    }
}

impl IdempotentRequest {
    /// Runs `work`, unless a response is already stored under the key. Without a key, always runs `work`.
    ///
    /// # Errors
    ///
    /// `idempotency_conflict` if the key was used with another path or body. Errors of `work` are returned and never
    /// stored.
    pub fn run_once(
        &self,
        step: &Step<'_>,
        owner: impl Into<KeyOwner>,
        work: impl FnOnce() -> Result<IdempotentResponse, Error>,
    ) -> Result<IdempotentResponse, Error> {
        let owner = owner.into();
        match self.stored_response(step.tx, step.now, owner)? {
            Some(kept) => Ok(kept),
            None => self.store(step, owner, work()?),
        }
    }

    /// Returns the response that is stored under the key.
    ///
    /// # Errors
    ///
    /// `idempotency_conflict` if the key was used with another path or body.
    pub(super) fn stored_response(
        &self,
        db: &Reader<'_>,
        now: Time,
        owner: KeyOwner,
    ) -> Result<Option<IdempotentResponse>, Error> {
        let kept = self.slot(owner).map(|slot| get(db, slot, now.plus_ms(-DAY_MS)));
        let Some(kept) = kept.transpose()?.flatten() else {
            return Ok(None);
        };
        if kept.path_ids != self.path_ids {
            return Err(other_path_refusal().into());
        }
        let before: Map<String, Value> = serde_json::from_str(&kept.request)?;
        match first_different_field(&before, &self.body) {
            None => Ok(Some(IdempotentResponse {
                outcome: kept.outcome,
                body: kept.answer,
                is_replayed: true,
            })),
            Some(field) => Err(conflict_refusal(field).into()),
        }
    }

    /// Stores a response under the key, if there is a key. Returns the response.
    pub(super) fn store(
        &self,
        step: &Step<'_>,
        owner: KeyOwner,
        response: IdempotentResponse,
    ) -> Result<IdempotentResponse, Error> {
        let Some(slot) = self.slot(owner) else {
            return Ok(response);
        };
        let IdempotentResponse { outcome, body, is_replayed } = response;
        let kept = StoredResponse {
            path_ids: self.path_ids.clone(),
            request: serde_json::to_string(&self.body)?,
            outcome,
            answer: body,
        };
        put(step.tx, slot, &kept, step.now)?;
        Ok(IdempotentResponse { outcome, body: kept.answer, is_replayed })
    }

    fn slot(&self, owner: KeyOwner) -> Option<IdempotencySlot<'_>> {
        self.client_key.as_deref().map(|client_key| IdempotencySlot {
            account: owner.account,
            mode: owner.mode,
            route: self.operation,
            client_key,
        })
    }
}

impl Service {
    /// Runs `check` before the transaction, so that a wrong request is refused without waiting for the writer.
    ///
    /// Returns the response that is already stored under the key, if any, and then does not run `check`.
    ///
    /// # Errors
    ///
    /// `idempotency_conflict` if the key was used with another path or body. Also the errors of `check`.
    pub(super) fn check_before_write(
        &self,
        now: Time,
        scope: Scope,
        request: &IdempotentRequest,
        check: impl FnOnce(&Reader<'_>) -> Result<(), Error>,
    ) -> Result<Option<IdempotentResponse>, Error> {
        self.read_snapshot(|db| {
            let kept = request.stored_response(db, now, scope.into())?;
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

/// Returns the refusal 409 `idempotency_conflict` for a key that was used with another path.
fn other_path_refusal() -> Refusal {
    let message = "this Idempotency-Key was used for another object: use a new key for each one";
    Refusal::for_param(RefusalCode::IdempotencyConflict, "Idempotency-Key", message)
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
