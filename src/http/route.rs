//! Routes as data, for the router, authentication, documents, metrics and tests.
//!
//! Invariant: the type of a route's handler decides which callers may use the route.

use super::auth::{Auth, Operator, Scraper};
pub(super) use super::content::{Content, RouteAnswer};
use super::policy::PagePolicy;
use super::reply::Reply;
use super::request::{Call, Param};
use super::state::sandbox::Sandbox;
pub use crate::api::operation::RecentPassword;
pub(super) use crate::api::operation::{Body, Upload};
use crate::api::operation::{Operation as Declared, OperationFn};
pub(super) use crate::api::tag::Tag;
use crate::domain::{Refusal, RefusalCode, Role};
use crate::service::{Error, Member};
use std::pin::Pin;
use std::sync::Arc;

/// The set of routes that a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenerRoutes {
    /// All routes.
    All,
    /// All routes except the routes with a separate listener (`--metrics-listen`).
    AllButSeparate,
    /// Only routes with a separate listener (`--metrics-listen`).
    OnlySeparate,
}

impl ListenerRoutes {
    /// Returns `true` if the listener serves `route`.
    pub(super) fn includes(self, route: &Route) -> bool {
        match self {
            ListenerRoutes::All => true,
            ListenerRoutes::AllButSeparate => !route.has_separate_listener,
            ListenerRoutes::OnlySeparate => route.has_separate_listener,
        }
    }
}

/// The routes of one resource.
pub(super) struct Resource {
    pub(super) routes: &'static [Route],
}

/// A route: one operation with its method, its path and its handler.
pub struct Route {
    /// Name in the documents and the metrics, and part of idempotency keys.
    pub operation: &'static str,
    /// GET, POST, PUT, PATCH, DELETE or OPTIONS.
    pub method: &'static str,
    /// Path, with its parameters in braces.
    pub path: &'static str,
    /// Summary in the documents.
    pub(super) summary: &'static str,
    /// OpenAPI tag, which groups the routes.
    pub(super) tag: Option<Tag>,
    /// Parameters of the query.
    pub(super) query: &'static [Param],
    pub(super) body: Option<Body>,
    /// Limits of a body that is a file, `None` for a route that takes no file.
    pub(super) upload: Option<Upload>,
    /// Properties of all answers of the route, errors included.
    pub(super) form: AnswerPolicy,
    /// Successful answers. Empty for a page or file for browsers, which the documents omit.
    pub(super) answers: &'static [RouteAnswer],
    /// Additional error codes. Codes for authentication, path, query and body are derived from the route.
    pub(super) refusals: &'static [RefusalCode],
    /// `true` if requests count against the rate limit of the key.
    pub(super) is_rate_limited: bool,
    /// Rule that selects the requests that need a recently confirmed password.
    pub recent_password: RecentPassword,
    /// `true` if a request may have an Idempotency-Key.
    pub(super) is_idempotent: bool,
    /// `true` if a sandbox does not check the `Host` header for this route.
    pub(super) takes_any_host: bool,
    /// `true` if the route moves to a separate listener when one is configured.
    pub(super) has_separate_listener: bool,
    /// Handler, whose kind determines the callers that the route admits.
    pub(super) handler: Handler,
}

/// Properties of all answers of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerPolicy {
    /// Policy of the page, `None` if the route is not a page.
    pub(super) page: Option<PagePolicy<'static>>,
    /// `true` if caches must not store answers.
    pub(super) is_private: bool,
    /// `true` if pages of all sites may read answers.
    pub(super) is_shared: bool,
    /// Kind of object that customers pay on the page, `None` for other routes. The second segment of the path is the
    /// id of the object.
    pub(super) payable: Option<Payable>,
}

/// Kind of object that customers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payable {
    /// An invoice. Customers pay it on its checkout page.
    Invoice,
    /// A payment link. Its page creates the invoice that customers pay.
    Link,
}

impl AnswerPolicy {
    /// Returns the properties that both forms share.
    pub(super) fn intersection(self, other: AnswerPolicy) -> AnswerPolicy {
        AnswerPolicy {
            page: self.page.filter(|_| other.page.is_some()),
            is_private: self.is_private && other.is_private,
            is_shared: self.is_shared && other.is_shared,
            payable: self.payable.filter(|of| other.payable == Some(*of)),
        }
    }
}

/// Future of a handler's answer.
pub(super) type ReplyFuture = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send>>;

/// Handler of a route. The second argument of the function proves the authentication, because only `auth` creates
/// values of that argument's type.
pub(super) enum Handler {
    /// Handler for everybody.
    Open(fn(Call) -> ReplyFuture),
    /// Handler for signed-in users.
    Session(fn(Call, Member) -> ReplyFuture),
    /// Handler for signed-in operators.
    Operator(fn(Call, Operator) -> ReplyFuture),
    /// Handler for callers that may read the metrics.
    Metrics(fn(Call, Scraper) -> ReplyFuture),
    /// Handler for callers on this machine. Pages of other sites are refused.
    Sandbox(fn(Call, Arc<Sandbox>) -> ReplyFuture),
    /// Operation that `api` declares.
    Declared(&'static Declared),
}

impl Route {
    /// Returns the routes of operations that `api` declares.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "evaluated by the compiler, which refuses what overflows"
    )]
    pub(super) const fn for_operations<const N: usize>(
        operations: [&'static Declared; N],
    ) -> [Route; N] {
        let mut routes = [PRIVATE; N];
        let mut at = 0;
        while at < N {
            routes[at] = Route::for_operation(operations[at]);
            at += 1;
        }
        routes
    }

    const fn for_operation(operation: &'static Declared) -> Route {
        Route {
            operation: operation.id,
            method: operation.method,
            path: operation.path,
            summary: operation.summary,
            tag: Some(operation.tag),
            query: operation.query,
            body: operation.body,
            upload: operation.upload,
            refusals: operation.refusals,
            recent_password: operation.recent_password,
            is_rate_limited: operation.is_rate_limited,
            is_idempotent: operation.is_idempotent,
            form: match operation.run {
                OperationFn::Sandbox(_) | OperationFn::Controls(_) => UNRESTRICTED,
                OperationFn::Public(_) | OperationFn::Preflight => SHARED.form,
                _ => PRIVATE.form,
            },
            handler: Handler::Declared(operation),
            ..PLAIN
        }
    }

    /// Returns the successful answers. An operation of `api` declares its answers itself.
    pub(super) fn answers(&self) -> Vec<RouteAnswer> {
        match self.handler {
            Handler::Declared(operation) => {
                let answers = operation.answers.iter();
                answers.map(RouteAnswer::from_declared).collect()
            }
            _ => self.answers.to_vec(),
        }
    }

    /// Returns the credentials that the route requires.
    pub fn auth(&self) -> Auth {
        match self.handler {
            Handler::Open(_) => Auth::Open,
            Handler::Session(_) => Auth::Session(Role::Merchant),
            Handler::Operator(_) => Auth::Session(Role::Operator),
            Handler::Metrics(_) => Auth::Metrics,
            Handler::Sandbox(_) => Auth::Sandbox,
            Handler::Declared(operation) => match operation.run {
                OperationFn::Open(_) | OperationFn::Preflight => Auth::Open,
                OperationFn::Secret(_) => Auth::Secret,
                OperationFn::Public(_) => Auth::Public,
                OperationFn::Session(_) => Auth::Session(Role::Merchant),
                OperationFn::Operator(_) => Auth::Session(Role::Operator),
                OperationFn::Reseller(_) => Auth::Reseller,
                OperationFn::Sandbox(_) | OperationFn::Controls(_) => Auth::Sandbox,
            },
        }
    }

    /// Returns `true` if the route refuses query parameters that it does not declare: every route for programs, as a
    /// mistyped filter would otherwise select everything.
    ///
    /// Others ignore them: links to pages have parameters of advertisers, browsers call the public routes, and the
    /// inbox of the sandbox receives webhooks at any URL.
    pub(super) fn refuses_unknown_params(&self) -> bool {
        let prefixes = ["/v1/", "/dashboard/api/", "/sandbox", "/reseller/"];
        let is_for_programs = prefixes.iter().any(|prefix| self.path.starts_with(prefix));
        let is_public = self.path.starts_with("/v1/public/");
        is_for_programs && !is_public && !self.takes_any_host && self.form.page.is_none()
    }

    /// Returns `true` if an OpenAPI document describes the route.
    pub fn is_documented(&self) -> bool {
        !self.answers().is_empty()
    }
}

/// Answer form of routes that are not pages and whose answers every cache may store.
pub(super) const UNRESTRICTED: AnswerPolicy =
    AnswerPolicy { page: None, is_private: false, is_shared: false, payable: None };

/// Defaults of a route. Each route states only its differences.
pub(super) const PLAIN: Route = Route {
    operation: "",
    method: "GET",
    path: "",
    summary: "",
    tag: None,
    query: &[],
    body: None,
    upload: None,
    form: UNRESTRICTED,
    answers: &[],
    refusals: &[],
    is_rate_limited: false,
    recent_password: RecentPassword::Never,
    is_idempotent: false,
    takes_any_host: false,
    has_separate_listener: false,
    handler: Handler::Open(|_| Box::pin(async { Err(Refusal::not_found("path").into()) })),
};

/// Defaults of a route with private answers, which caches must not store.
pub(super) const PRIVATE: Route =
    Route { form: AnswerPolicy { is_private: true, ..UNRESTRICTED }, ..PLAIN };

/// Defaults of a route with shared answers, which pages of all sites may read.
pub(super) const SHARED: Route =
    Route { form: AnswerPolicy { is_shared: true, ..PRIVATE.form }, ..PLAIN };

/// Defaults of a page that no site may frame. The documents omit pages, because pages are for browsers.
pub(super) const PAGE: Route = page(PagePolicy::NOT_FRAMED);

/// Defaults of a page whose content a script creates. The page may frame other pages of this service.
pub(super) const APP: Route = page(PagePolicy::APP);

/// Defaults of a checkout page, which other sites may frame.
pub(super) const CHECKOUT_PAGE: Route = page_for(PagePolicy::FRAMED, Payable::Invoice);

/// Defaults of a page of a payment link.
pub(super) const LINK_PAGE: Route = page_for(PagePolicy::LINK, Payable::Link);

/// Returns the defaults of a page for paying customers. Caches must not store the page.
const fn page_for(policy: PagePolicy<'static>, payable: Payable) -> Route {
    Route {
        form: AnswerPolicy { page: Some(policy), payable: Some(payable), ..PRIVATE.form },
        ..PLAIN
    }
}

/// Returns the defaults of a page that caches must not store.
const fn page(policy: PagePolicy<'static>) -> Route {
    Route { form: AnswerPolicy { page: Some(policy), ..PRIVATE.form }, ..PLAIN }
}
