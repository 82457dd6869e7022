//! Declarations of operations, and what an operation needs and gives.

use super::query::{Param, Query};
use super::tag::Tag;
use crate::domain::asset::Mode;
use crate::domain::fields::{Component, Fields};
use crate::domain::id;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::service::events::Page;
use crate::service::{Caller, Error, Json, Member, Scope, Service, idempotency};
use crate::store::Tx;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;

/// One operation of the interface. The router, the document, the metrics and the checks of callers follow from it.
pub struct Operation {
    /// Name in the document, in metrics and of idempotency keys.
    pub id: &'static str,
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Group in the document.
    pub tag: Tag,
    /// One sentence for the document.
    pub summary: &'static str,
    /// Parameters of the query.
    pub query: &'static [Param],
    /// Body of a request.
    pub body: Option<Body>,
    /// Answers that are no refusals.
    pub answers: &'static [Answer],
    /// Refusals besides those of the caller, the body and the path.
    pub refusals: &'static [Code],
    /// Requests that need a password given in the last 15 minutes.
    pub recent_password: RecentPassword,
    /// Whether a request counts against the rate of its key.
    pub is_rate_limited: bool,
    /// Whether a request can have an Idempotency-Key.
    pub is_idempotent: bool,
    /// Function that does it, by who may call.
    pub run: Run,
}

/// Functions of operations, by who may call them.
#[derive(Clone, Copy)]
pub enum Run {
    /// Everybody.
    Open(fn(&Context<'_>) -> Result<Job, Error>),
    /// A server with a secret or legacy key.
    Secret(fn(&Context<'_>, &Arc<Caller>) -> Result<Job, Error>),
    /// Everybody who is signed in.
    Session(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// An operator who is signed in.
    Operator(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// A caller of a sandbox on this machine that is no foreign page.
    Sandbox(fn(&Context<'_>) -> Result<Job, Error>),
}

/// A request for an operation whose caller was admitted.
pub struct Context<'a> {
    /// The service.
    pub service: &'a Arc<Service>,
    /// Time of the request.
    pub now: Time,
    /// Values of the path's parameters, in their order.
    pub path: &'a [String],
    /// The query, checked against the operation's parameters.
    pub query: &'a Query,
    /// The body as it was sent.
    pub body: &'a [u8],
    /// Whether an empty body stands for `{}`.
    pub may_body_be_empty: bool,
    /// The Idempotency-Key, or why it is refused.
    pub idempotency_key: Result<Option<String>, Refusal>,
}

impl Context<'_> {
    /// Returns the account that the path begins with, in the mode of the query, by default live.
    ///
    /// # Errors
    /// `not_found` if the account does not exist or is not the member's.
    pub fn scope(&self, member: &Member) -> Result<Scope, Error> {
        let mode = self.query.choice("mode")?.unwrap_or(Mode::Live);
        self.service.scope(member, self.first(), mode)
    }

    /// Returns the path's first parameter, mostly an id.
    pub fn first(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// Returns the path's first parameter, which must be a UUID.
    ///
    /// # Errors
    /// `not_found` if it is none, with what is sought.
    pub fn uuid(&self, sought: &str) -> Result<String, Error> {
        id::parse(self.first()).ok_or_else(|| Refusal::not_found(sought).into())
    }

    /// Returns the path's second parameter: of a path about an account, the id of one of its things.
    pub fn second(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// Returns the body's fields.
    ///
    /// # Errors
    /// `invalid_request` if the body is no JSON object.
    pub fn object(&self) -> Result<Map<String, Value>, Refusal> {
        Fields::parse(self.body, self.may_body_be_empty)
    }
}

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

/// Requests that need a password given in the last 15 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentPassword {
    /// No request: the operation moves no money, widens no limit and hands out no secret.
    Never,
    /// Every request.
    Always,
    /// Requests whose body has one of these fields.
    ForFields(&'static [&'static str]),
}

impl RecentPassword {
    /// Returns `true` if a request with this body needs one. A body that cannot be read changes nothing.
    pub fn is_needed(self, body: &[u8]) -> bool {
        match self {
            RecentPassword::Never => false,
            RecentPassword::Always => true,
            RecentPassword::ForFields(fields) => Fields::parse(body, true).is_ok_and(|body| {
                let body = Fields::of(&body);
                fields.iter().any(|field| body.names(field))
            }),
        }
    }
}

/// Body of a request.
#[derive(Clone, Copy)]
pub struct Body {
    /// Schema.
    pub component: &'static Component,
    /// Whether a request must have it.
    pub is_required: bool,
}

impl Body {
    /// Returns a body that a request must have.
    pub const fn required(component: &'static Component) -> Option<Body> {
        Some(Body {
            component,
            is_required: true,
        })
    }

    /// Returns a body that a request may have.
    pub const fn optional(component: &'static Component) -> Option<Body> {
        Some(Body {
            component,
            is_required: false,
        })
    }
}

/// Answer that is no refusal.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Kind of success.
    pub success: Success,
    /// Sentence for the document.
    pub about: &'static str,
    /// Schema of the body, `None` for an empty one.
    pub component: Option<&'static Component>,
}

/// Kinds of success. Each has a status of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// Something is shown.
    Shown,
    /// Something was created.
    Created,
    /// There is nothing to show.
    Nothing,
}

impl Answer {
    /// Returns an answer that shows this.
    pub const fn shown(about: &'static str, component: &'static Component) -> Answer {
        Answer {
            success: Success::Shown,
            about,
            component: Some(component),
        }
    }

    /// Returns an answer that shows what was created.
    pub const fn created(about: &'static str, component: &'static Component) -> Answer {
        Answer {
            success: Success::Created,
            about,
            component: Some(component),
        }
    }

    /// Returns an answer without a body.
    pub const fn nothing(about: &'static str) -> Answer {
        Answer {
            success: Success::Nothing,
            about,
            component: None,
        }
    }
}

/// An operation of which everything that may be left out is. Declarations say only what differs.
pub const PLAIN: Operation = Operation {
    id: "",
    method: "GET",
    path: "",
    tag: Tag::Process,
    summary: "",
    query: &[],
    body: None,
    answers: &[],
    refusals: &[],
    recent_password: RecentPassword::Never,
    is_rate_limited: false,
    is_idempotent: false,
    run: Run::Open(|_| Err(Refusal::not_found("path").into())),
};
