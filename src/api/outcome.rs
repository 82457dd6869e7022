//! Results of operations, and the work that their functions leave to be done.

use crate::service::events::Page;
use crate::service::{Error, Json, Service, idempotency};
use crate::store::Tx;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::pin::Pin;
use std::sync::Arc;

/// Work that is left when the function of an operation returns.
pub enum Job {
    /// Nothing: the outcome is known.
    Done(Outcome),
    /// A long read, on a thread of its own and in the caller's turn.
    Read(Read),
    /// One transaction.
    Write(Write),
    /// A step of the service that others take, too.
    Wait(Wait),
}

/// A long read of an operation.
pub type Read = Box<dyn FnOnce(&Service) -> Result<Outcome, Error> + Send>;

/// One transaction of an operation.
pub type Write = Box<dyn FnOnce(&Service, &Tx<'_>) -> Result<Outcome, Error> + Send>;

/// A step of the service.
pub type Wait = Pin<Box<dyn Future<Output = Result<Outcome, Error>> + Send>>;

/// Result of an operation that was not refused.
pub struct Outcome {
    /// Kind of success.
    pub success: Success,
    /// Resource or list that is answered.
    pub body: OutcomeBody,
}

/// JSON that is answered.
pub enum OutcomeBody {
    /// An empty body.
    Empty,
    /// Rendered for this answer.
    Own(Json),
    /// Rendered for this answer and others.
    Shared(Arc<RawValue>),
    /// Kept under an Idempotency-Key.
    Kept(String),
    /// A page of a list, and the position of the next page.
    Page(Vec<Arc<RawValue>>, Option<String>),
    /// A page of a list that was rendered for this answer.
    OwnPage(Page),
}

impl Outcome {
    /// Returns the outcome that shows a resource.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn shown(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome::resource(to_raw_value(view)?))
    }

    /// Returns the outcome that shows a rendered resource.
    pub fn resource(json: Json) -> Outcome {
        Outcome {
            success: Success::Shown,
            body: OutcomeBody::Own(json),
        }
    }

    /// Returns the outcome that shows a resource which others hold, too.
    pub fn shared(json: Arc<RawValue>) -> Outcome {
        Outcome {
            success: Success::Shown,
            body: OutcomeBody::Shared(json),
        }
    }

    /// Returns the outcome that shows a list of resources.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn list(data: &[impl Serialize]) -> Result<Outcome, Error> {
        #[derive(Serialize)]
        struct List<'a, T> {
            data: &'a [T],
        }
        Outcome::shown(&List { data })
    }

    /// Returns the outcome that shows a page of a list, and the position of the next page.
    pub fn page(data: Vec<Arc<RawValue>>, next_before: Option<String>) -> Outcome {
        Outcome {
            success: Success::Shown,
            body: OutcomeBody::Page(data, next_before),
        }
    }

    /// Returns the outcome that shows a page that was rendered for it.
    pub fn own_page(page: Page) -> Outcome {
        Outcome {
            success: Success::Shown,
            body: OutcomeBody::OwnPage(page),
        }
    }

    /// Returns the outcome of an operation that creates at most once for each Idempotency-Key.
    pub fn once((outcome, text): (idempotency::Outcome, String)) -> Outcome {
        let success = match outcome {
            idempotency::Outcome::Created => Success::Created,
            idempotency::Outcome::Existing => Success::Shown,
        };
        Outcome {
            success,
            body: OutcomeBody::Kept(text),
        }
    }

    /// Returns the outcome that shows a resource that was created.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn created(view: &impl Serialize) -> Result<Outcome, Error> {
        Ok(Outcome {
            success: Success::Created,
            body: OutcomeBody::Own(to_raw_value(view)?),
        })
    }

    /// Returns the outcome that shows a rendered resource that was created.
    pub fn created_resource(json: Json) -> Outcome {
        Outcome {
            success: Success::Created,
            body: OutcomeBody::Own(json),
        }
    }

    /// Outcome that shows nothing.
    pub const NOTHING: Outcome = Outcome {
        success: Success::Nothing,
        body: OutcomeBody::Empty,
    };
}

impl Job {
    /// Returns a list of resources.
    ///
    /// # Errors
    /// [`Error::Failed`], which no view causes.
    pub fn list(data: &[impl Serialize]) -> Result<Job, Error> {
        Outcome::list(data).map(Job::Done)
    }

    /// Leaves a step of the service to be done.
    ///
    /// # Errors
    /// It never fails. The type is that of an operation's function.
    pub fn wait(
        step: impl Future<Output = Result<Outcome, Error>> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Wait(Box::pin(step)))
    }

    /// Leaves a long read to be done.
    ///
    /// # Errors
    /// It never fails. The type is that of an operation's function.
    pub fn read(
        work: impl FnOnce(&Service) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Read(Box::new(work)))
    }

    /// Leaves a transaction to be done.
    ///
    /// # Errors
    /// It never fails. The type is that of an operation's function.
    pub fn write(
        work: impl FnOnce(&Service, &Tx<'_>) -> Result<Outcome, Error> + Send + 'static,
    ) -> Result<Job, Error> {
        Ok(Job::Write(Box::new(work)))
    }
}

/// Kinds of success. Each has a status of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// Something is shown.
    Shown,
    /// Something was created.
    Created,
    /// Something will be done.
    Accepted,
    /// There is nothing to show.
    Nothing,
}
