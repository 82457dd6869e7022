//! Routes as data, for the router, authentication, documents, metrics and tests.
//!
//! Invariant: the type of a route's handler decides who may call it.

use super::auth::{Auth, Operator, Scraper};
pub(super) use super::content::{Content, RouteAnswer};
use super::front::sandbox::Sandbox;
use super::front::{Boxed, Operation};
use super::policy::Policy;
use super::reply::Reply;
use super::request::{Call, Param};
pub(super) use crate::api::operation::Body;
pub use crate::api::operation::RecentPassword;
use crate::api::operation::{Operation as Declared, Run};
pub(super) use crate::api::tag::Tag;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::user::Role;
use crate::service::{Error, Member};
use std::sync::Arc;

/// Routes of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All routes.
    All,
    /// All routes but those with a listener of their own.
    AllButOwn,
    /// Routes with a listener of their own.
    OnlyOwn,
}

impl Scope {
    /// Returns `true` if the listener serves this route.
    pub(super) fn has(self, route: &Route) -> bool {
        match self {
            Scope::All => true,
            Scope::AllButOwn => !route.has_own_listener,
            Scope::OnlyOwn => route.has_own_listener,
        }
    }
}

/// Operations of one resource.
pub(super) struct Resource {
    pub(super) routes: &'static [Route],
}

/// One operation.
pub struct Route {
    /// Name in the documents, in metrics and of idempotency keys.
    pub operation: &'static str,
    /// GET, POST, PUT, PATCH, DELETE or OPTIONS.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Summary in the documents.
    pub(super) summary: &'static str,
    /// Group in the documents.
    pub(super) tag: Option<Tag>,
    /// Parameters of the query.
    pub(super) query: &'static [Param],
    pub(super) body: Option<Body>,
    /// Properties of all its answers, errors included.
    pub(super) form: Form,
    /// Successful answers; empty for a route for browsers, which the documents leave out.
    pub(super) answers: &'static [RouteAnswer],
    /// Codes of its own, besides those of its authentication, body and path.
    pub(super) refusals: &'static [Code],
    /// Whether a request counts against the key's rate.
    pub(super) is_rate_limited: bool,
    /// Requests that need a recently confirmed password.
    pub recent_password: RecentPassword,
    /// Whether a request can have an Idempotency-Key.
    pub(super) is_idempotent: bool,
    /// Whether a sandbox accepts any `Host` here.
    pub(super) takes_any_host: bool,
    /// Whether it has a listener of its own, if one is configured.
    pub(super) has_own_listener: bool,
    /// Function of the operation, by caller.
    pub(super) handler: Handler,
}

/// Properties of all answers of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Permissions of the page, `None` for answers to programs.
    pub(super) page: Option<Policy<'static>>,
    /// Whether answers must not be stored by caches.
    pub(super) is_private: bool,
    /// Whether pages of all sites may read answers.
    pub(super) is_shared: bool,
    /// Whether they are pages for paying customers. The second segment of the path is the id.
    pub(super) payers_of: Option<Payable>,
}

/// Something that customers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payable {
    /// An invoice, at its checkout.
    Invoice,
    /// A payment link.
    Link,
}

impl Form {
    /// Returns the properties that both forms have.
    pub(super) fn common(self, other: Form) -> Form {
        Form {
            page: self.page.filter(|_| other.page.is_some()),
            is_private: self.is_private && other.is_private,
            is_shared: self.is_shared && other.is_shared,
            payers_of: self.payers_of.filter(|of| other.payers_of == Some(*of)),
        }
    }
}

/// An answer in progress.
pub(super) type ReplyFuture = Boxed<'static, Result<Reply, Error>>;

/// Handler of an operation. Its argument proves the authentication: only `auth` makes these types.
pub(super) enum Handler {
    /// Everybody.
    Open(fn(Call) -> ReplyFuture),
    /// Signed-in users.
    Session(fn(Call, Member) -> ReplyFuture),
    /// Signed-in operators.
    Operator(fn(Call, Operator) -> ReplyFuture),
    /// Callers that may read the metrics.
    Metrics(fn(Call, Scraper) -> ReplyFuture),
    /// Callers on this machine that are no page of another site.
    Sandbox(fn(Call, Arc<Sandbox>) -> ReplyFuture),
    /// An operation of `api`.
    Declared(&'static Declared),
}

impl Route {
    /// Returns the routes of declared operations.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "evaluated by the compiler, which refuses what overflows"
    )]
    pub(super) const fn all_of<const N: usize>(operations: [&'static Declared; N]) -> [Route; N] {
        let mut routes = [PRIVATE; N];
        let mut at = 0;
        while at < N {
            routes[at] = Route::declared(operations[at]);
            at += 1;
        }
        routes
    }

    const fn declared(operation: &'static Declared) -> Route {
        Route {
            operation: operation.id,
            method: operation.method,
            path: operation.path,
            summary: operation.summary,
            tag: Some(operation.tag),
            query: operation.query,
            body: operation.body,
            refusals: operation.refusals,
            recent_password: operation.recent_password,
            is_rate_limited: operation.is_rate_limited,
            is_idempotent: operation.is_idempotent,
            form: match operation.run {
                Run::Sandbox(_) => FOR_ALL,
                Run::Public(_) | Run::Preflight => SHARED.form,
                _ => PRIVATE.form,
            },
            handler: Handler::Declared(operation),
            ..PLAIN
        }
    }

    /// Returns the successful answers.
    pub(super) fn answers(&self) -> Vec<RouteAnswer> {
        match self.handler {
            Handler::Declared(operation) => {
                let answers = operation.answers.iter();
                answers.map(RouteAnswer::declared).collect()
            }
            _ => self.answers.to_vec(),
        }
    }

    /// Returns name, method and path.
    pub(super) fn named(&self) -> Operation {
        Operation {
            name: self.operation,
            method: self.method,
            path: self.path,
            is_control: self.auth() == Auth::Sandbox,
        }
    }

    /// Returns the required credentials.
    pub fn auth(&self) -> Auth {
        match self.handler {
            Handler::Open(_) => Auth::Open,
            Handler::Session(_) => Auth::Session(Role::Merchant),
            Handler::Operator(_) => Auth::Session(Role::Operator),
            Handler::Metrics(_) => Auth::Metrics,
            Handler::Sandbox(_) => Auth::Sandbox,
            Handler::Declared(operation) => match operation.run {
                Run::Open(_) | Run::Preflight => Auth::Open,
                Run::Secret(_) => Auth::Secret,
                Run::Public(_) => Auth::Public,
                Run::Session(_) => Auth::Session(Role::Merchant),
                Run::Operator(_) => Auth::Session(Role::Operator),
                Run::Reseller(_) => Auth::Reseller,
                Run::Sandbox(_) => Auth::Sandbox,
            },
        }
    }

    /// Returns `true` if the documents have it.
    pub fn is_documented(&self) -> bool {
        !self.answers().is_empty()
    }
}

/// Answers to programs that anybody may cache.
pub(super) const FOR_ALL: Form = Form {
    page: None,
    is_private: false,
    is_shared: false,
    payers_of: None,
};

/// A route with defaults. Entries say only what differs.
pub(super) const PLAIN: Route = Route {
    operation: "",
    method: "GET",
    path: "",
    summary: "",
    tag: None,
    query: &[],
    body: None,
    form: FOR_ALL,
    answers: &[],
    refusals: &[],
    is_rate_limited: false,
    recent_password: RecentPassword::Never,
    is_idempotent: false,
    takes_any_host: false,
    has_own_listener: false,
    handler: Handler::Open(|_| Box::pin(async { Err(Refusal::not_found("path").into()) })),
};

/// A route with private answers.
pub(super) const PRIVATE: Route = Route {
    form: Form {
        is_private: true,
        ..FOR_ALL
    },
    ..PLAIN
};

/// A route whose answers pages of all sites may read.
pub(super) const SHARED: Route = Route {
    form: Form {
        is_shared: true,
        ..PRIVATE.form
    },
    ..PLAIN
};

/// A page without frames. Pages are for browsers, so the documents leave them out.
pub(super) const PAGE: Route = page(Policy::ALONE);

/// A page that a script fills, and that frames other pages of this service.
pub(super) const APP: Route = page(Policy::APP);

/// A checkout page, which other sites may frame.
pub(super) const CHECKOUT_PAGE: Route = page_for(Policy::FRAMED, Payable::Invoice);

/// A page of a payment link.
pub(super) const LINK_PAGE: Route = page_for(Policy::LINK, Payable::Link);

/// Returns a page for paying customers, which caches must not store.
const fn page_for(policy: Policy<'static>, payable: Payable) -> Route {
    Route {
        form: Form {
            page: Some(policy),
            payers_of: Some(payable),
            ..PRIVATE.form
        },
        ..PLAIN
    }
}

/// Returns a page that caches must not store.
const fn page(policy: Policy<'static>) -> Route {
    Route {
        form: Form {
            page: Some(policy),
            ..PRIVATE.form
        },
        ..PLAIN
    }
}
