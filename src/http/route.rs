//! What an operation is, as data: for the router, the key check, the document, the metrics and the tests.
//!
//! What lives here: the types. What does not: the operations, which stand beside their handlers, and the one list of them
//! (`routes`). What always holds: who may call an operation follows from its handler's type.

use super::auth::{Auth, Operator, Scraper};
pub(super) use super::content::{Answer, Content};
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

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every operation.
    All,
    /// Every operation but those that have a listener of their own.
    AllButOwn,
    /// Operations that have a listener of their own, and nothing else.
    OnlyOwn,
}

impl Scope {
    /// Is this operation served?
    pub(super) fn has(self, route: &Route) -> bool {
        match self {
            Scope::All => true,
            Scope::AllButOwn => !route.has_own_listener,
            Scope::OnlyOwn => route.has_own_listener,
        }
    }
}

/// A resource: its operations. What they are sent and answer with is in the JSON file beside it.
pub(super) struct Resource {
    pub(super) routes: &'static [Route],
}

/// One operation.
pub struct Route {
    /// Its name: in the document, in metrics, in idempotency.
    pub operation: &'static str,
    /// GET, POST, PUT, PATCH, DELETE or OPTIONS.
    pub method: &'static str,
    /// Its path, parameters in braces.
    pub path: &'static str,
    /// One line for the document.
    pub(super) summary: &'static str,
    /// What it is grouped by in the document.
    pub(super) tag: Option<Tag>,
    /// What its query may hold.
    pub(super) query: &'static [Param],
    /// Its body.
    pub(super) body: Option<Body>,
    /// What its answers are to whoever gets them, refusals too.
    pub(super) form: Form,
    /// How it answers when it does what it is asked; none: it is for browsers, and the document leaves it out.
    pub(super) answers: &'static [Answer],
    /// The refusals of its own, beside those of its key, its body and its path.
    pub(super) refusals: &'static [Code],
    /// Does it count against the key's rate?
    pub(super) is_rate_limited: bool,
    /// Need of a password that was given lately, in a session.
    pub recent_password: RecentPassword,
    /// Does it take an Idempotency-Key?
    pub(super) is_idempotent: bool,
    /// May a sandbox be called something else here than elsewhere: is any `Host` let in?
    pub(super) takes_any_host: bool,
    /// Is it served by a listener of its own, where there is one?
    pub(super) has_own_listener: bool,
    /// What does it, and for whom.
    pub(super) handler: Handler,
}

/// What answers are to whoever gets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// They are pages, with this policy where they are no refusals; nothing: they are for programs.
    pub(super) page: Option<Policy<'static>>,
    /// They are for the caller alone, and are kept by nobody on the way.
    pub(super) is_private: bool,
    /// Pages of all sites may read them.
    pub(super) is_shared: bool,
    /// They are pages for customers, who pay this: the second part of the path is its id.
    pub(super) payers_of: Option<Payable>,
}

/// What customers pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payable {
    /// An invoice, at its checkout.
    Invoice,
    /// What a payment link names.
    Link,
}

impl Form {
    /// What both are.
    pub(super) fn common(self, other: Form) -> Form {
        Form {
            page: self.page.filter(|_| other.page.is_some()),
            is_private: self.is_private && other.is_private,
            is_shared: self.is_shared && other.is_shared,
            payers_of: self.payers_of.filter(|of| other.payers_of == Some(*of)),
        }
    }
}

/// An answer that is being made.
pub(super) type Answering = Boxed<'static, Result<Reply, Error>>;

/// What does an operation. Who may call it follows from what it has to be given: each of these is made in `auth` alone,
/// from what a request has proved.
pub(super) enum Handler {
    /// For everybody.
    Open(fn(Call) -> Answering),
    /// For everybody who is signed in.
    Session(fn(Call, Member) -> Answering),
    /// For operators who are signed in.
    Operator(fn(Call, Operator) -> Answering),
    /// For who may read the counters.
    Metrics(fn(Call, Scraper) -> Answering),
    /// For callers on this machine that are no foreign page.
    Sandbox(fn(Call, Arc<Sandbox>) -> Answering),
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
            routes[at] = Route::of(operations[at]);
            at += 1;
        }
        routes
    }

    /// Returns the route of a declared operation.
    const fn of(operation: &'static Declared) -> Route {
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

    /// Returns the answers that are no refusals.
    pub(super) fn answers(&self) -> Vec<Answer> {
        match self.handler {
            Handler::Declared(operation) => {
                let answers = operation.answers.iter();
                answers.map(Answer::of).collect()
            }
            _ => self.answers.to_vec(),
        }
    }

    /// What it is called, and where it is.
    pub(super) fn named(&self) -> Operation {
        Operation {
            name: self.operation,
            method: self.method,
            path: self.path,
            is_control: self.auth() == Auth::Sandbox,
        }
    }

    /// Who may call it.
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

    /// Is it in the document? What is only for browsers is not.
    pub fn is_documented(&self) -> bool {
        !self.answers().is_empty()
    }
}

/// Answers for programs, which anybody may keep.
pub(super) const FOR_ALL: Form = Form {
    page: None,
    is_private: false,
    is_shared: false,
    payers_of: None,
};

/// A route without anything optional: entries say only what is different.
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

/// The same, and what it answers is for the caller alone.
pub(super) const PRIVATE: Route = Route {
    form: Form {
        is_private: true,
        ..FOR_ALL
    },
    ..PLAIN
};

/// The same, and pages of all sites may read it.
pub(super) const SHARED: Route = Route {
    form: Form {
        is_shared: true,
        ..PRIVATE.form
    },
    ..PLAIN
};

/// A page, shown by itself only. It is for browsers, so it has no answers that the document could describe.
pub(super) const PAGE: Route = page(Policy::ALONE);

/// A page that a script fills: shown by itself only, and shows other pages of this service inside itself.
pub(super) const APP: Route = page(Policy::APP);

/// A page on which an invoice is paid, which pages of other sites may show inside themselves.
pub(super) const CHECKOUT_PAGE: Route = page_for(Policy::FRAMED, Payable::Invoice);

/// A page of a payment link.
pub(super) const LINK_PAGE: Route = page_for(Policy::LINK, Payable::Link);

/// A page with this policy for those who pay, kept by nobody.
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

/// A page with this policy, kept by nobody.
const fn page(policy: Policy<'static>) -> Route {
    Route {
        form: Form {
            page: Some(policy),
            ..PRIVATE.form
        },
        ..PLAIN
    }
}
