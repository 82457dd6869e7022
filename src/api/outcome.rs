//! Outcomes of operations, and the work that remains after their functions have returned.

use crate::service::idempotency::{CreateOutcome, IdempotentResponse};
use crate::service::page::Page;
use crate::service::{Error, Json, Member, Service, Step};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::pin::Pin;
use std::sync::Arc;

/// Work that remains after the function of an operation has returned.
pub enum Job {
    /// No work remains, because the outcome is known.
    Done(Outcome),
    /// A long read. It waits for the caller's turn, and then runs on its own thread.
    Read(ReadWork),
    Write(WriteWork),
    /// A future, for operations that call an async function of the service.
    Wait(WaitWork),
    /// A password that is hashed when the member's turn comes, and the work with its hash.
    Hash(Member, String, HashWork),
}

pub type ReadWork = Box<dyn FnOnce(&Service) -> Result<Outcome, Error> + Send>;

pub type WriteWork = Box<dyn FnOnce(&Step<'_>) -> Result<Outcome, Error> + Send>;

pub type WaitWork = Pin<Box<dyn Future<Output = Result<Outcome, Error>> + Send>>;

/// Function that gets the hash of a password.
pub type HashWork = Box<dyn FnOnce(String) -> WaitWork + Send>;

pub struct Outcome {
    pub success: Success,
    pub body: OutcomeBody,
}

pub enum OutcomeBody {
    /// Empty text, sent with the media type of JSON.
    Empty,
    /// No body, and so no media type.
    Absent,
    /// JSON made only for this answer.
    Unshared(Json),
    /// JSON that several answers share, for example from a cache.
    Shared(Arc<RawValue>),
    /// JSON text from the database.
    Stored(String),
    /// JSON text of the answer to an earlier request with the same Idempotency-Key.
    Replayed(String),
    /// Items of one page of a list, and the position at which the next page starts. Several answers share the items.
    Page(Vec<Arc<RawValue>>, Option<String>),
    /// A page of a list, made only for this answer.
    UnsharedPage(Page),
}

impl Outcome {
    pub fn ok(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome::resource(to_raw_value(view)?))
    }

    pub fn resource(json: Json) -> Outcome {
        Outcome { success: Success::Ok, body: OutcomeBody::Unshared(json) }
    }

    /// Returns an outcome with a resource that several answers share.
    pub fn shared(json: Arc<RawValue>) -> Outcome {
        Outcome { success: Success::Ok, body: OutcomeBody::Shared(json) }
    }

    pub fn list(data: &[impl Serialize]) -> Result<Outcome, Error> {
        #[derive(Serialize)]
        struct List<'a, T> {
            data: &'a [T],
        }
        Outcome::ok(&List { data })
    }

    /// Returns an outcome with a page of a list. `next_before` is the position at which the next page starts.
    pub fn page(data: Vec<Arc<RawValue>>, next_before: Option<String>) -> Outcome {
        Outcome { success: Success::Ok, body: OutcomeBody::Page(data, next_before) }
    }

    pub fn from_page(page: Page) -> Outcome {
        Outcome { success: Success::Ok, body: OutcomeBody::UnsharedPage(page) }
    }

    /// Returns the outcome of a request that may have an Idempotency-Key. The success is `Created` if the request
    /// created the object, also in the replay of such an answer, and else `Ok`.
    pub fn from_idempotent(response: IdempotentResponse) -> Outcome {
        let success = match response.outcome {
            CreateOutcome::Created => Success::Created,
            CreateOutcome::Existing => Success::Ok,
        };
        let body = match response.is_replayed {
            true => OutcomeBody::Replayed(response.body),
            false => OutcomeBody::Stored(response.body),
        };
        Outcome { success, body }
    }

    pub fn created(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome { success: Success::Created, body: OutcomeBody::Unshared(to_raw_value(view)?) })
    }

    pub fn created_resource(json: Json) -> Outcome {
        Outcome { success: Success::Created, body: OutcomeBody::Unshared(json) }
    }

    pub const NOTHING: Outcome = Outcome { success: Success::Nothing, body: OutcomeBody::Empty };

    /// An outcome without a body and without a media type.
    pub const NO_CONTENT: Outcome =
        Outcome { success: Success::Nothing, body: OutcomeBody::Absent };
}

impl Job {
    pub fn list(data: &[impl Serialize]) -> Result<Job, Error> {
        Outcome::list(data).map(Job::Done)
    }

    /// Returns a job that awaits a future of the service.
    ///
    /// # Errors
    /// Never fails. A `Result` is the return type of every operation's function.
    pub fn wait(
        step: impl Future<Output = Result<Outcome, Error>> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Wait(Box::pin(step)))
    }

    /// Returns a job that hashes a password, which a member has sent, and then awaits the future of `work`.
    ///
    /// # Errors
    /// Never fails. A `Result` is the return type of every operation's function.
    pub fn hash<F>(
        member: &Member,
        password: String,
        work: impl FnOnce(String) -> F + Send + 'static,
    ) -> Result<Job, Error>
    where
        F: Future<Output = Result<Outcome, Error>> + Send + 'static,
    {
        Ok(Job::Hash(member.clone(), password, Box::new(|hash| Box::pin(work(hash)))))
    }

    /// Returns a job that performs a long read.
    ///
    /// # Errors
    /// Never fails. A `Result` is the return type of every operation's function.
    pub fn read(
        work: impl FnOnce(&Service) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Read(Box::new(work)))
    }

    /// Returns a job that performs a write transaction.
    ///
    /// # Errors
    /// Never fails. A `Result` is the return type of every operation's function.
    pub fn write(
        work: impl FnOnce(&Step<'_>) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Write(Box::new(work)))
    }
}

/// Kinds of success, each with an HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    Ok,
    Created,
    /// A resource was accepted and will still change.
    Accepted,
    Nothing,
}
