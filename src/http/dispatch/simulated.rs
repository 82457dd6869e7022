//! Answers to calls for which the sandbox simulates a fault.
//!
//! Invariant: the answer has the form and the headers of a real error.

use super::error_reply;
use crate::domain::{Refusal, RefusalCode};
use crate::http::pages::ErrorContext;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::{error, limit};
use hyper::StatusCode;
use hyper::header::{ALLOW, CONNECTION, RETRY_AFTER};

/// Returns the simulated answer of a route with this status. `methods` are the methods of the route's path.
pub(super) fn fault_reply(
    methods: &str,
    route: &Route,
    status: StatusCode,
    context: &ErrorContext<'_>,
) -> Reply {
    let code = code_with_status(route, status);
    let refusal = Refusal::new(code, format!("a fault of the sandbox: {status}"));
    let reply = error_reply(context, refusal.into());
    let reply = Reply { status, ..reply };
    match status {
        StatusCode::METHOD_NOT_ALLOWED => reply.with_header(ALLOW, methods),
        StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE => {
            reply.with_header(CONNECTION, "close")
        }
        StatusCode::TOO_MANY_REQUESTS => {
            let headers = if code == RefusalCode::RateLimited {
                limit::refusal_headers()
            } else {
                Vec::new()
            };
            let reply = reply.with_header(RETRY_AFTER, "1");
            Reply { headers: [reply.headers, headers].concat(), ..reply }
        }
        _ => reply,
    }
}

/// Returns an error code with this status. Prefers the codes that the route lists, then other codes of the route,
/// then any code.
fn code_with_status(route: &Route, status: StatusCode) -> RefusalCode {
    let has_status = |code: &RefusalCode| error::status(*code) == status;
    let own = route.refusals.iter().copied().find(has_status);
    let of_route = own.or_else(|| route.error_codes().into_iter().find(has_status));
    let of_all = || RefusalCode::ALL.iter().copied().find(has_status);
    of_route.or_else(of_all).unwrap_or(if status.is_client_error() {
        RefusalCode::InvalidRequest
    } else {
        RefusalCode::InternalError
    })
}
