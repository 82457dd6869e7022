//! Receives the body of a request, up to the size limit of its route.
//!
//! Invariant: a body over 64 KiB is received only for a route that takes a file, and only from a signed-in user. Each
//! user may send a limited number of such bodies at once.

use crate::domain::{Refusal, RefusalCode};
use crate::http::auth;
use crate::http::connection::IncomingBody;
use crate::http::permits::Permit;
use crate::http::router::RouteMatch;
use crate::http::state::HttpState;
use crate::service::QuotaOwner;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::HeaderMap;
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_ENCODING, HeaderValue};
use hyper::http::request::Parts;
use std::time::Duration;

/// Largest size of a body, except of files.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Receives the body of a request. Also returns the permit of a body over 64 KiB, which is held while the body is in
/// memory.
pub(super) async fn receive_body(
    http: &HttpState,
    found: &RouteMatch,
    parts: &Parts,
    body: IncomingBody,
) -> (Result<Bytes, Refusal>, Option<Permit<QuotaOwner>>) {
    if body.is_end_stream() {
        return (Ok(Bytes::new()), None);
    }
    let upload = match found {
        RouteMatch::Route(_, route, _) => route.upload,
        RouteMatch::OtherMethods(_) | RouteMatch::Nothing => None,
    };
    let usual = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    let is_large = body.size_hint().upper().is_none_or(|bytes| bytes > usual);
    let (bytes_max, permit) = match upload.filter(|_| is_large) {
        None => (BODY_BYTES_MAX, None),
        Some(upload) => match take_permit(http, parts) {
            Ok(Some(permit)) => (upload.bytes_max, Some(permit)),
            Ok(None) => (BODY_BYTES_MAX, None),
            Err(refusal) => return (Err(refusal), None),
        },
    };
    (read_body(body, bytes_max, http.body_timeout).await, permit)
}

/// Takes one of the permits of the signed-in user. Returns `None` if nobody is signed in: the request is refused after
/// its body was received up to the usual limit.
///
/// # Errors
/// `overloaded` if the user is sending too many files.
fn take_permit(http: &HttpState, parts: &Parts) -> Result<Option<Permit<QuotaOwner>>, Refusal> {
    let member = auth::authenticate_member(http, &parts.method, &parts.headers).ok();
    member.map(|member| http.uploads.take_or_refuse(member.quota_owner())).transpose()
}

/// Reads the whole body, within this size limit and this time limit.
async fn read_body(
    body: IncomingBody,
    bytes_max: usize,
    timeout: Duration,
) -> Result<Bytes, Refusal> {
    let too_large = || {
        let message = format!("the body must be at most {bytes_max} bytes");
        Refusal::new(RefusalCode::PayloadTooLarge, message)
    };
    if body.size_hint().lower() > u64::try_from(bytes_max).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    match tokio::time::timeout(timeout, collect_body(Limited::new(body, bytes_max))).await {
        Ok(Ok(whole)) => Ok(whole.into()),
        Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Ok(Err(error)) => {
            Err(Refusal::new(RefusalCode::InvalidRequest, format!("the body ended early: {error}")))
        }
        Err(_) => Err(Refusal::new(
            RefusalCode::RequestTimeout,
            format!("the body took longer than {} ms to arrive", timeout.as_millis()),
        )),
    }
}

/// Refuses the body of a request that its headers call encoded, for example compressed.
///
/// # Errors
/// `invalid_request` that names the header `Content-Encoding`.
pub(super) fn refuse_encoding(headers: &HeaderMap) -> Result<(), Refusal> {
    let is_plain = |value: &HeaderValue| {
        let mut codings = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
    };
    match headers.get_all(CONTENT_ENCODING).iter().find(|value| !is_plain(value)) {
        None => Ok(()),
        Some(value) => {
            let problem = format!("must not be {value:?}: send the body unencoded");
            Err(Refusal::field("Content-Encoding", problem))
        }
    }
}

/// Returns the bytes of a body, copied into one buffer. Without the copy, a few bytes of a body could keep a large
/// read buffer allocated.
async fn collect_body(
    mut body: Limited<IncomingBody>,
) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let mut whole = Vec::new();
    while let Some(piece) = body.frame().await {
        if let Ok(bytes) = piece?.into_data() {
            whole.extend_from_slice(&bytes);
        }
    }
    Ok(whole)
}
