//! Declarations of operations, and the requests that their functions receive.

pub use super::outcome::{Job, Outcome, OutcomeBody, Success};
use super::query::{Param, Query};
use super::tag::Tag;
use crate::domain::fields::{Component, Fields};
use crate::domain::{Mode, Refusal, RefusalCode, Time, id};
use crate::service::idempotency::IdempotentRequest;
use crate::service::sandbox::controls::SandboxControls;
use crate::service::{Caller, Error, Member, Scope, Service};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Declaration of one operation. Its routes, documents, metrics and authentication are derived from the declaration.
pub struct Operation {
    /// Name in the documents and the metrics, and part of idempotency keys.
    pub id: &'static str,
    /// HTTP method: GET, POST, PUT, PATCH, DELETE or OPTIONS.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Tag that groups the operation in the documents.
    pub tag: Tag,
    /// Summary in the documents.
    pub summary: &'static str,
    /// Parameters of the query.
    pub query: &'static [Param],
    /// Body of a request, `None` for an operation without a body.
    pub body: Option<Body>,
    /// Limits of a body that is a file, `None` for an operation that takes no file.
    pub upload: Option<Upload>,
    /// Successful answers, for the documents.
    pub answers: &'static [Answer],
    /// Additional error codes. Codes for the kind of caller, the body and the path are derived from the operation.
    pub refusals: &'static [RefusalCode],
    /// Rule that selects the requests that need a password confirmed in the last 15 minutes.
    pub recent_password: RecentPassword,
    /// `true` if requests count against the rate limit of the key.
    pub is_rate_limited: bool,
    /// `true` if a request may have an Idempotency-Key.
    pub is_idempotent: bool,
    /// Function of the operation. Its variant determines who may call the operation.
    pub run: OperationFn,
}

/// Function of an operation. Each variant is for one kind of caller.
#[derive(Clone, Copy)]
pub enum OperationFn {
    /// Function for everybody.
    Open(fn(&Context<'_>) -> Result<Job, Error>),
    /// Function for a shop's server with a secret or legacy key.
    Secret(fn(&Context<'_>, &Arc<Caller>) -> Result<Job, Error>),
    /// Function for a page with a public key. The account must allow the page's origin.
    Public(fn(&Context<'_>, &Caller) -> Result<Job, Error>),
    /// No function, because a CORS preflight request of a browser needs no work.
    Preflight,
    /// Function for signed-in users.
    Session(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// Function for signed-in operators.
    Operator(fn(&Context<'_>, &Member) -> Result<Job, Error>),
    /// Function for the holder of a reseller's token, in the mode of the token.
    Reseller(fn(&Context<'_>, &Scope) -> Result<Job, Error>),
    /// Function for a caller on the same machine as the sandbox. Pages of other sites are refused.
    Sandbox(fn(&Context<'_>) -> Result<Job, Error>),
    /// Function for the same callers as `Sandbox`, with the controls of the whole sandbox.
    Controls(fn(&Context<'_>, &Controls) -> Result<Job, Error>),
}

/// Controls of a whole sandbox, which only a request that may use them gets.
pub type Controls = Arc<dyn SandboxControls>;

/// A request whose caller has been authenticated.
pub struct Context<'a> {
    /// Name of the operation.
    pub operation: &'static str,
    /// Service on which the operation works.
    pub service: &'a Arc<Service>,
    /// Path of the operation, with its parameters in braces.
    pub template: &'static str,
    /// Time of the request, by the server's clock.
    pub now: Time,
    /// Values of the path's parameters, in the order of the path.
    pub path: &'a [String],
    /// Query of the request, checked against the operation's parameters.
    pub query: &'a Query,
    /// Body of the request, as it was sent.
    pub body: &'a [u8],
    /// `true` if the operation accepts an empty body and treats it as `{}`.
    pub may_body_be_empty: bool,
    /// Idempotency-Key of the request, or the reason why the key is refused.
    pub idempotency_key: Result<Option<String>, Refusal>,
}

impl Context<'_> {
    /// Returns the account in the path, with the mode in the query. The default mode is live.
    ///
    /// # Errors
    /// `not_found` if the account does not exist or the member may not use it.
    pub fn scope(&self, member: &Member) -> Result<Scope, Error> {
        let mode = self.query.enum_value("mode")?.unwrap_or(Mode::Live);
        self.service.scope_of_account(member, self.first_param(), mode)
    }

    /// Returns the first parameter of the path, which is usually an id.
    pub fn first_param(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// Returns the first parameter of the path, which must be a UUID. `sought` names the resource in the error.
    ///
    /// # Errors
    /// `not_found` if the parameter is not a UUID.
    pub fn uuid(&self, sought: &str) -> Result<String, Error> {
        id::parse(self.first_param()).ok_or_else(|| Refusal::not_found(sought).into())
    }

    /// Returns the second parameter of the path, for example the id of a key after the id of its account.
    pub fn second_param(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// Returns the request with this body, as a request that runs at most once for its Idempotency-Key.
    ///
    /// # Errors
    /// `invalid_request` if the key is invalid.
    pub fn idempotent_request(
        &self,
        body: Map<String, Value>,
    ) -> Result<IdempotentRequest, Refusal> {
        let names = self.template.split('/').filter(|segment| segment.starts_with('{'));
        let path_ids = names.zip(self.path).map(|(name, value)| match name {
            "{ref}" => value.clone(),
            // An id in capital letters is the same id.
            _ => id::parse(value).unwrap_or_else(|| value.clone()),
        });
        Ok(IdempotentRequest {
            operation: self.operation,
            path_ids: path_ids.collect::<Vec<_>>().join("/"),
            client_key: self.idempotency_key.clone()?,
            body,
        })
    }

    /// Parses the body as a JSON object and returns its fields.
    ///
    /// # Errors
    /// `invalid_request` if the body is not a JSON object.
    pub fn body_fields(&self) -> Result<Map<String, Value>, Refusal> {
        Fields::parse(self.body, self.may_body_be_empty)
    }
}

/// Rule that selects the requests that need a password confirmed in the last 15 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentPassword {
    /// No request needs a recent password: the operation moves no money, raises no limit and returns no secret.
    Never,
    /// Every request needs a recent password.
    Always,
    /// Requests whose body has at least one of these fields need a recent password.
    ForFields(&'static [&'static str]),
}

impl RecentPassword {
    /// Returns `true` if a request with this body needs a recent password. Returns `false` for a body that cannot be
    /// parsed, because the request is refused anyway.
    pub fn is_needed(self, body: &[u8]) -> bool {
        match self {
            RecentPassword::Never => false,
            RecentPassword::Always => true,
            RecentPassword::ForFields(fields) => Fields::parse(body, true).is_ok_and(|body| {
                let body = Fields::new(&body);
                fields.iter().any(|field| body.contains(field))
            }),
        }
    }
}

/// Declaration of a request's body.
#[derive(Clone, Copy)]
pub struct Body {
    /// Schema of the body.
    pub component: &'static Component,
    /// `true` if every request must have the body.
    pub is_required: bool,
}

impl Body {
    /// Declares a body that every request must have.
    pub const fn required(component: &'static Component) -> Option<Body> {
        Some(Body { component, is_required: true })
    }

    /// Declares a body that a request may omit.
    pub const fn optional(component: &'static Component) -> Option<Body> {
        Some(Body { component, is_required: false })
    }
}

/// Declaration of a request's body that is a file instead of JSON.
#[derive(Clone, Copy)]
pub struct Upload {
    /// Largest size of the file, in bytes.
    pub bytes_max: usize,
    /// Media types of the file, for the documents. The operation reads the kind of the file from its content.
    pub media_types: &'static [&'static str],
}

/// Declaration of a successful answer.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Kind of success, which determines the HTTP status.
    pub success: Success,
    /// Description in the documents.
    pub about: &'static str,
    /// Schema of the body, `None` for an answer without a body.
    pub component: Option<&'static Component>,
}

impl Answer {
    /// Declares an answer with a resource or a list.
    pub const fn ok(about: &'static str, component: &'static Component) -> Answer {
        Answer { success: Success::Ok, about, component: Some(component) }
    }

    /// Declares an answer with a created resource.
    pub const fn created(about: &'static str, component: &'static Component) -> Answer {
        Answer { success: Success::Created, about, component: Some(component) }
    }

    /// Declares an answer with a resource that will still change.
    pub const fn accepted(about: &'static str, component: &'static Component) -> Answer {
        Answer { success: Success::Accepted, about, component: Some(component) }
    }

    /// Declares an answer without a body.
    pub const fn no_content(about: &'static str) -> Answer {
        Answer { success: Success::Nothing, about, component: None }
    }
}

/// Defaults of an operation. Each declaration states only its differences.
pub const PLAIN: Operation = Operation {
    id: "",
    method: "GET",
    path: "",
    tag: Tag::Process,
    summary: "",
    query: &[],
    body: None,
    upload: None,
    answers: &[],
    refusals: &[],
    recent_password: RecentPassword::Never,
    is_rate_limited: false,
    is_idempotent: false,
    run: OperationFn::Open(|_| Err(Refusal::not_found("path").into())),
};
