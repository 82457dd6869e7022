//! Results of operations, and work that their functions leave to be done.

use crate::service::page::Page;
use crate::service::{Error, Json, Service, idempotency};
use crate::store::Tx;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::pin::Pin;
use std::sync::Arc;

/// Work that remains when the function of an operation returns.
pub enum Job {
    /// No work remains: the outcome is known.
    Done(Outcome),
    /// A long read, on a thread of its own and in the caller's turn.
    Read(Read),
    /// One transaction.
    Write(Write),
    /// A step of the service that other callers use, too.
    Wait(Wait),
}

/// A long read of an operation.
pub type Read = Box<dyn FnOnce(&Service) -> Result<Outcome, Error> + Send>;

/// One transaction of an operation.
pub type Write = Box<dyn FnOnce(&Service, &Tx<'_>) -> Result<Outcome, Error> + Send>;

/// A step of the service.
pub type Wait = Pin<Box<dyn Future<Output = Result<Outcome, Error>> + Send>>;

/// Result of a successful operation.
pub struct Outcome {
    /// Kind of success.
    pub success: Success,
    /// Resource or list.
    pub body: OutcomeBody,
}

/// JSON of an outcome.
pub enum OutcomeBody {
    Empty,
    /// JSON made for this answer.
    Own(Json),
    /// JSON that other answers share.
    Shared(Arc<RawValue>),
    /// JSON stored under an Idempotency-Key.
    Kept(String),
    /// A page of a list, and the position of the next page.
    Page(Vec<Arc<RawValue>>, Option<String>),
    /// A page made for this answer.
    OwnPage(Page),
}

impl Outcome {
    /// Returns an outcome with a view.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn ok(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome::resource(to_raw_value(view)?))
    }

    /// Returns an outcome with a resource.
    pub fn resource(json: Json) -> Outcome {
        Outcome {
            success: Success::Ok,
            body: OutcomeBody::Own(json),
        }
    }

    /// Returns an outcome with a shared resource.
    pub fn shared(json: Arc<RawValue>) -> Outcome {
        Outcome {
            success: Success::Ok,
            body: OutcomeBody::Shared(json),
        }
    }

    /// Returns an outcome with a list.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn list(data: &[impl Serialize]) -> Result<Outcome, Error> {
        #[derive(Serialize)]
        struct List<'a, T> {
            data: &'a [T],
        }
        Outcome::ok(&List { data })
    }

    /// Returns an outcome with a page of a list, and the position of the next page.
    pub fn page(data: Vec<Arc<RawValue>>, next_before: Option<String>) -> Outcome {
        Outcome {
            success: Success::Ok,
            body: OutcomeBody::Page(data, next_before),
        }
    }

    /// Returns an outcome with a page made for it.
    pub fn own_page(page: Page) -> Outcome {
        Outcome {
            success: Success::Ok,
            body: OutcomeBody::OwnPage(page),
        }
    }

    /// Returns the outcome of a creation that happens once for each Idempotency-Key.
    pub fn once((outcome, text): (idempotency::CreateOutcome, String)) -> Outcome {
        let success = match outcome {
            idempotency::CreateOutcome::Created => Success::Created,
            idempotency::CreateOutcome::Existing => Success::Ok,
        };
        Outcome {
            success,
            body: OutcomeBody::Kept(text),
        }
    }

    /// Returns an outcome with a created view.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn created(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome {
            success: Success::Created,
            body: OutcomeBody::Own(to_raw_value(view)?),
        })
    }

    /// Returns an outcome with a created resource.
    pub fn created_resource(json: Json) -> Outcome {
        Outcome {
            success: Success::Created,
            body: OutcomeBody::Own(json),
        }
    }

    /// Outcome without a body.
    pub const NOTHING: Outcome = Outcome {
        success: Success::Nothing,
        body: OutcomeBody::Empty,
    };
}

impl Job {
    /// Returns a finished job with a list.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn list(data: &[impl Serialize]) -> Result<Job, Error> {
        Outcome::list(data).map(Job::Done)
    }

    /// Returns a job that awaits a step of the service.
    ///
    /// # Errors
    /// Never: the type is that of an operation's function.
    pub fn wait(
        step: impl Future<Output = Result<Outcome, Error>> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Wait(Box::pin(step)))
    }

    /// Returns a job with a long read.
    ///
    /// # Errors
    /// Never: the type is that of an operation's function.
    pub fn read(
        work: impl FnOnce(&Service) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Read(Box::new(work)))
    }

    /// Returns a job with a transaction.
    ///
    /// # Errors
    /// Never: the type is that of an operation's function.
    pub fn write(
        work: impl FnOnce(&Service, &Tx<'_>) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Write(Box::new(work)))
    }
}

/// Kinds of success, each with an HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// A resource or list is returned.
    Ok,
    /// A resource was created.
    Created,
    /// A resource will change.
    Accepted,
    /// The body is empty.
    Nothing,
}
