//! Letting a request in: what its route asks for is proved, and handed to its handler.
//!
//! What lives here: one line for each kind of handler. What does not: the proofs (`auth`). What always holds: a handler is
//! not reached without the proof that it takes.

use crate::domain::refusal::Refusal;
use crate::http::front::Front;
use crate::http::request::Call;
use crate::http::route::{Answering, Handler, Route};
use crate::http::{auth, limit};
use crate::service::{Error, Member};
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;

/// A handler with what its caller has proved: it lacks nothing but the call.
pub(super) struct Admitted {
    pub(super) handler: Box<dyn FnOnce(Call) -> Answering>,
    /// Whose share of what is scarce it uses; nobody's where it asks neither for a key nor for a session.
    pub(super) asker: Option<String>,
}

impl Admitted {
    fn by(
        asker: impl Into<Option<String>>,
        handler: impl FnOnce(Call) -> Answering + 'static,
    ) -> Admitted {
        Admitted {
            handler: Box::new(handler),
            asker: asker.into(),
        }
    }
}

/// Lets a request in or not; `limits` are headers for the answer, whichever it is.
pub(super) fn admit(
    front: &Front,
    route: &'static Route,
    parts: &Parts,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<Admitted, Error> {
    let (method, headers) = (&parts.method, &parts.headers);
    Ok(match route.handler {
        Handler::Open(handler) => Admitted::by(None, handler),
        Handler::Secret(handler) => {
            let caller = auth::secret(front, headers)?;
            if route.is_rate_limited {
                rate(front, caller.key(), limits)?;
            }
            Admitted::by(caller.asker(), move |call| handler(call, caller))
        }
        Handler::Public(handler) => {
            let key = auth::public(front, headers)?;
            Admitted::by(key.asker(), move |call| handler(call, key))
        }
        Handler::Session(handler) => {
            let member = auth::member(front, method, headers)?;
            ask_for_password(front, route, &member)?;
            Admitted::by(member.asker().to_owned(), move |call| handler(call, member))
        }
        Handler::Operator(handler) => {
            let operator = auth::operator(front, method, headers)?;
            ask_for_password(front, route, &operator)?;
            Admitted::by(operator.asker().to_owned(), move |call| {
                handler(call, operator)
            })
        }
        Handler::Reseller(handler) => {
            let reseller = auth::reseller(front, headers)?;
            Admitted::by(reseller.asker(), move |call| handler(call, reseller))
        }
        Handler::Metrics(handler) => {
            let scraper = auth::scraper(front, headers)?;
            Admitted::by(None, move |call| handler(call, scraper))
        }
        Handler::Sandbox(handler) => {
            let sandbox = auth::sandbox(front, headers)?;
            Admitted::by(None, move |call| handler(call, sandbox))
        }
    })
}

/// Refuses what is sensitive unless the password was given lately.
fn ask_for_password(front: &Front, route: &Route, member: &Member) -> Result<(), Refusal> {
    if route.needs_recent_password {
        member.gave_password_lately(front.clock.real_now())?;
    }
    Ok(())
}

/// Counts one creation of a key.
fn rate(
    front: &Front,
    key: &str,
    limits: &mut Vec<(HeaderName, HeaderValue)>,
) -> Result<(), Refusal> {
    let Some(verdict) = front.limiter.count(key, front.clock.uptime()) else {
        return Ok(());
    };
    limits.extend(limit::headers(&front.limiter, &verdict));
    if verdict.allowed {
        return Ok(());
    }
    limits.push((RETRY_AFTER, HeaderValue::from(verdict.wait_seconds)));
    Err(verdict.refusal())
}
