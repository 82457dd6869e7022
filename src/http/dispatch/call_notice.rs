//! Reports a call and its answer to the listeners of `/sandbox/stream`.
//!
//! Invariant: this module does nothing outside the sandbox. Requests for pages and for `/sandbox/stream` itself are
//! not reported. Unknown keys and secrets are hidden.

use crate::clock::Stopwatch;
use crate::domain::Refusal;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::router::RouteMatch;
use crate::http::state::{HttpState, RequestId};
use crate::render::activity::CallView;
use crate::service::activity::{ActivityEntry, body_view, unstored_body_view};
use crate::service::sandbox::is_sandbox_key;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Uri};
use std::collections::BTreeMap;

/// Header of calls that `/sandbox/stream` must not report. The sandbox's page sends this header.
const UNREPORTED_HEADER: &str = "x-coffer-untold";

/// Text in place of a credential.
const HIDDEN: &str = "(hidden)";

/// Number of last characters of an unknown key that are shown.
const KEY_END_CHARS: usize = 4;

/// Data of a call, for the listeners of `/sandbox/stream`.
pub(super) struct CallNotice {
    stopwatch: Stopwatch,
    method: String,
    target: String,
    operation: Option<&'static str>,
    key: Option<String>,
    headers: BTreeMap<&'static str, String>,
    body: Bytes,
    /// `true` if the body is a file, of which the listeners get only the length.
    is_file: bool,
}

impl CallNotice {
    /// Collects the data of a call. Returns `None` for a call that is not reported.
    pub(super) fn new(
        http: &HttpState,
        found: &RouteMatch,
        uri: &Uri,
        parts: &Parts,
        body: &Result<Bytes, Refusal>,
    ) -> Option<CallNotice> {
        http.service.activity()?;
        let path = uri.path();
        let route = match found {
            RouteMatch::Route(_, route, _) => Some(*route),
            RouteMatch::OtherMethods(_) | RouteMatch::Nothing => None,
        };
        if route.is_some_and(is_unreported)
            || parts.headers.contains_key(UNREPORTED_HEADER)
            || path.starts_with("/assets/")
            || path == "/favicon.ico"
        {
            return None;
        }
        Some(CallNotice {
            stopwatch: http.clock.stopwatch(),
            method: parts.method.as_str().to_owned(),
            target: uri.path_and_query().map_or(path, PathAndQuery::as_str).to_owned(),
            operation: route.filter(|route| route.is_documented()).map(|route| route.operation),
            key: masked_key(&parts.headers),
            headers: shown_headers(&parts.headers),
            body: body.as_ref().cloned().unwrap_or_default(),
            is_file: route.is_some_and(|route| route.upload.is_some()),
        })
    }

    /// Notifies the sandbox's listeners of the call and its answer.
    pub(super) fn notify(self, http: &HttpState, id: RequestId, reply: &Reply) {
        let Some(activity) = http.service.activity() else {
            return;
        };
        let answered = reply.body.whole_bytes().unwrap_or_default();
        let sent = match self.is_file && !self.body.is_empty() {
            true => unstored_body_view(self.body.len()),
            false => body_view(&self.body),
        };
        activity.add(ActivityEntry::Call(CallView {
            kind: "call",
            request_id: id.to_string(),
            at: http.now(),
            method: self.method,
            target: self.target,
            operation: self.operation,
            status: reply.status.as_u16(),
            ms: self.stopwatch.elapsed_ms(),
            key: self.key,
            headers: self.headers,
            sent,
            answered: body_view(&answered),
        }));
    }
}

/// Returns `true` for routes whose calls are not reported: pages, `/sandbox/stream`, and inboxes. The sender reports
/// a delivery to an inbox, so the inbox does not report the delivery again.
fn is_unreported(route: &'static Route) -> bool {
    let is_stream = route.path == "/sandbox/stream";
    route.form.page.is_some() || route.takes_any_host || is_stream
}

/// Returns the headers of a call that a command needs to repeat the call. Credentials are hidden as in [`masked_key`].
fn shown_headers(headers: &HeaderMap) -> BTreeMap<&'static str, String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let key = masked_key(headers);
    let credential = if headers.contains_key("x-api-key") {
        Some(("X-API-Key", key.unwrap_or_else(|| HIDDEN.to_owned())))
    } else if headers.contains_key("authorization") {
        let bearer = key.map(|key| format!("Bearer {key}"));
        Some(("Authorization", bearer.unwrap_or_else(|| HIDDEN.to_owned())))
    } else {
        headers.contains_key("cookie").then(|| ("Cookie", HIDDEN.to_owned()))
    };
    let plain = [("Idempotency-Key", "idempotency-key"), ("Content-Type", "content-type")];
    let plain = plain.into_iter().filter_map(|(shown, name)| Some((shown, text(name)?.to_owned())));
    credential.into_iter().chain(plain).collect()
}

/// Returns the key of a call for display: a well-known key in full, another key by its last characters.
fn masked_key(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = || text("authorization")?.split_once(' ').map(|(_, key)| key.trim());
    let key = text("x-api-key").or_else(bearer)?;
    if is_sandbox_key(key) {
        return Some(key.to_owned());
    }
    let before_end = key.chars().count().saturating_sub(KEY_END_CHARS);
    let end: String = key.chars().skip(before_end.max(1)).collect();
    Some(format!("…{end}"))
}
