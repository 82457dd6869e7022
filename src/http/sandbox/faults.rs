//! Faults that the sandbox pretends, for seeing what a shop does then.
//!
//! What lives here: calls that are answered late, wrongly or not at all, by count. What does not: the empty pool and the
//! stale rates (`service`), which use cases ask for. What always holds: the sandbox's own controls have no faults.

use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::routes::{Route, routes};
use crate::http::{Front, error, limit, refused};
use crate::service::{Error, Faults};
use hyper::StatusCode;
use hyper::header::{ALLOW, CONNECTION, RETRY_AFTER};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What may be sent.
const FIELDS: [&str; 7] = [
    "route",
    "status",
    "delayMs",
    "dropAnswer",
    "times",
    "pool",
    "rates",
];

/// What the next calls meet.
#[derive(Clone)]
pub(in crate::http) struct Fault {
    /// Which operation; nothing: every one outside `/sandbox`.
    route: Option<&'static Route>,
    /// How it is answered instead of being done.
    pub(in crate::http) status: Option<StatusCode>,
    /// How long it waits first.
    pub(in crate::http) delay: Duration,
    /// Is it done, and then not answered?
    pub(in crate::http) drops_answer: bool,
    /// How many more calls.
    times: u64,
}

/// The faults that are still to be met, the oldest first.
#[derive(Default)]
pub(in crate::http) struct FaultState(Mutex<Vec<Fault>>);

impl FaultState {
    /// The fault that a call of this route meets, counted.
    pub(in crate::http) fn meet(&self, route: &'static Route) -> Option<Fault> {
        if route.path.starts_with("/sandbox") {
            return None;
        }
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_for = |fault: &&mut Fault| {
            fault
                .route
                .is_none_or(|wanted| wanted.operation == route.operation)
        };
        let fault = faults.iter_mut().find(is_for)?;
        fault.times = fault.times.saturating_sub(1);
        let met = fault.clone();
        faults.retain(|fault| fault.times > 0);
        Some(met)
    }

    /// Ends all of them.
    pub(in crate::http) fn clear(&self) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.clear();
    }

    fn add(&self, fault: Fault) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(fault);
    }

    /// What is pretended, as `GET /sandbox` shows it.
    pub(in crate::http) fn view(&self, pretended: Faults) -> Value {
        let faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = faults.iter().map(|fault| {
            json!({
                "route": fault.route.map(|route| format!("{} {}", route.method, route.path)),
                "status": fault.status.map(|status| status.as_u16()),
                "delayMs": u64::try_from(fault.delay.as_millis()).unwrap_or(u64::MAX),
                "dropAnswer": fault.drops_answer,
                "times": fault.times,
            })
        });
        json!({
            "calls": calls.collect::<Vec<_>>(),
            "pool": pretended.pool_empty.then_some("empty"),
            "rates": pretended.rates_stale.then_some("stale"),
        })
    }
}

/// How a call of this route is answered that meets this status: as if it had been refused so, with the headers of a
/// real refusal.
pub(in crate::http) fn answer(
    front: &Front,
    (route, status): (&Route, StatusCode),
    path: &str,
    request_id: &str,
) -> Reply {
    let code = code(route, status);
    let refusal = Refusal::new(code, format!("a fault of the sandbox: {status}"));
    let reply = refused(path, refusal.into(), request_id);
    let reply = Reply { status, ..reply };
    match status {
        StatusCode::METHOD_NOT_ALLOWED => reply.with(ALLOW, &front.router.methods(path)),
        StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE => {
            reply.with(CONNECTION, "close")
        }
        StatusCode::TOO_MANY_REQUESTS => {
            let headers = if code == Code::RateLimited {
                limit::spent()
            } else {
                Vec::new()
            };
            let reply = reply.with(RETRY_AFTER, "1");
            Reply {
                headers: [reply.headers, headers].concat(),
                ..reply
            }
        }
        _ => reply,
    }
}

/// The code of a status: the first of this operation's own refusals, else of all that it is refused with, else of all
/// there are.
fn code(route: &Route, status: StatusCode) -> Code {
    let has_status = |code: &Code| error::status(*code) == status;
    let own = route.refusals.iter().copied().find(has_status);
    let of_route = own.or_else(|| route.codes().into_iter().find(has_status));
    let of_all = || Code::ALL.iter().copied().find(has_status);
    of_route
        .or_else(of_all)
        .unwrap_or(if status.is_client_error() {
            Code::InvalidRequest
        } else {
            Code::InternalError
        })
}

/// POST /sandbox/faults
pub(in crate::http) async fn add(call: Call) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&FIELDS)?;
    let mut pretended = call.front.service.faults();
    pretended.pool_empty |= only_text(&fields, "pool", "empty")?;
    pretended.rates_stale |= only_text(&fields, "rates", "stale")?;
    let fault = fault(&fields)?;
    if fault.is_none() && !fields.names("pool") && !fields.names("rates") {
        let message = "give status, delayMs or dropAnswer with times, or pool, or rates";
        return Err(Refusal::new(Code::InvalidRequest, message).into());
    }
    call.front.service.set_faults(pretended);
    if let (Some(fault), Some(sandbox)) = (fault, &call.front.sandbox) {
        sandbox.faults.add(fault);
    }
    super::answer_state(&call)
}

/// DELETE /sandbox/faults
pub(in crate::http) async fn end(call: Call) -> Result<Reply, Error> {
    call.front.service.set_faults(Faults::default());
    if let Some(sandbox) = &call.front.sandbox {
        sandbox.faults.clear();
    }
    Ok(Reply::nothing())
}

/// Is the field there? It has one possible text.
fn only_text(fields: &Fields<'_>, name: &str, only: &str) -> Result<bool, Refusal> {
    match fields.text(name, 0..=40)? {
        None => Ok(false),
        Some(text) if text == only => Ok(true),
        Some(_) => Err(Refusal::field(name, format!("must be \"{only}\""))),
    }
}

/// The fault of calls, where one is asked for.
fn fault(fields: &Fields<'_>) -> Result<Option<Fault>, Refusal> {
    let status = fields.integer("status", 400..=599)?;
    let status = status
        .and_then(|status| u16::try_from(status).ok())
        .and_then(|status| StatusCode::from_u16(status).ok());
    let delay_ms = fields.integer("delayMs", 0..=60_000)?;
    let drops_answer = fields.flag("dropAnswer")?.unwrap_or(false);
    let route = fields.text("route", 1..=200)?.map(named).transpose()?;
    let times = fields.integer("times", 1..=1_000_000)?;
    if status.is_none() && delay_ms.is_none() && !drops_answer {
        let about_calls = route.is_some() || times.is_some();
        return if about_calls {
            Err(Refusal::field(
                "status",
                "must be given, or delayMs, or dropAnswer: what the calls meet",
            ))
        } else {
            Ok(None)
        };
    }
    if status.is_some() && drops_answer {
        return Err(Refusal::field(
            "dropAnswer",
            "does the work, so it does not go with status",
        ));
    }
    let times = times.ok_or_else(|| Refusal::field("times", "must be given: how many calls"))?;
    Ok(Some(Fault {
        route,
        status,
        delay: Duration::from_millis(delay_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0)),
        drops_answer,
        times: u64::try_from(times).unwrap_or(1),
    }))
}

/// The route of a text like `POST /v1/invoices`.
fn named(text: &str) -> Result<&'static Route, Refusal> {
    let found = routes(false).find(|route| text == format!("{} {}", route.method, route.path));
    found.ok_or_else(|| {
        Refusal::field(
            "route",
            "must be a method and a path of the document outside /sandbox, like \"POST /v1/invoices\"",
        )
    })
}
