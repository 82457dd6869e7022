//! Declarations of operations, and the requests that their functions get.

pub use super::outcome::{Job, Outcome, OutcomeBody, Success};
use super::query::{Param, Query};
use super::tag::Tag;
use crate::domain::asset::Mode;
use crate::domain::fields::{Component, Fields};
use crate::domain::id;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::service::{Caller, Error, Member, Scope, Service};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One operation of the interface. Routes, documents, metrics and authentication follow from it.
pub struct Operation {
    /// Name in the document, in metrics and of idempotency keys.
    pub id: &'static str,
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Group in the document.
    pub tag: Tag,
    /// Summary in the documents.
    pub summary: &'static str,
    /// Parameters of the query.
    pub query: &'static [Param],
    /// Body of a request.
    pub body: Option<Body>,
    /// Successful answers.
    pub answers: &'static [Answer],
    /// Codes of its own, besides those of the caller, the body and the path.
    pub refusals: &'static [Code],
    /// Requests that need a password confirmed in the last 15 minutes.
    pub recent_password: RecentPassword,
    /// Whether a request counts against the rate of its key.
    pub is_rate_limited: bool,
    /// Whether a request can have an Idempotency-Key.
    pub is_idempotent: bool,
    /// Function of the operation, by caller.
    pub run: Run,
}

/// Functions of operations, by caller.
#[derive(Clone, Copy)]
pub enum Run {
    /// Everybody.
    Open(fn(&Context<'_>) -> Result<Job, Error>),
    /// A server with a secret or legacy key.
    Secret(fn(&Context<'_>, &Arc<Caller>) -> Result<Job, Error>),
    /// A page with a public key that the account allows.
    Public(fn(&Context<'_>, &Caller) -> Result<Job, Error>),
    /// A browser's preflight request, which needs no work.
    Preflight,
    /// Signed-in users.
    Session(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// Signed-in operators.
    Operator(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// The holder of a reseller's token, in the token's mode.
    Reseller(fn(&Context<'_>, &Scope) -> Result<Job, Error>),
    /// A caller of a sandbox on this machine that is no page of another site.
    Sandbox(fn(&Context<'_>) -> Result<Job, Error>),
}

/// A request whose caller was admitted.
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
    /// The Idempotency-Key, or the reason for its refusal.
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

/// Requests that need a password confirmed in the last 15 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentPassword {
    /// No request: the operation moves no money, raises no limit and returns no secret.
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

/// A successful answer.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Kind of success.
    pub success: Success,
    /// Description in the documents.
    pub about: &'static str,
    /// Schema of the body, `None` for an empty one.
    pub component: Option<&'static Component>,
}

impl Answer {
    /// Returns an answer with a resource or a list.
    pub const fn ok(about: &'static str, component: &'static Component) -> Answer {
        Answer {
            success: Success::Ok,
            about,
            component: Some(component),
        }
    }

    /// Returns an answer with a created resource.
    pub const fn created(about: &'static str, component: &'static Component) -> Answer {
        Answer {
            success: Success::Created,
            about,
            component: Some(component),
        }
    }

    /// Returns an answer with a resource that will change.
    pub const fn accepted(about: &'static str, component: &'static Component) -> Answer {
        Answer {
            success: Success::Accepted,
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

/// An operation with defaults. Declarations say only what differs.
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
