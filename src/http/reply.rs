//! Answers of handlers, before they become HTTP responses.

use super::stream::ReplyBody;
use crate::api::operation::Success;
use crate::domain::Refusal;
use crate::service::page::Page;
use crate::service::{Error, Json};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Borrow;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: ReplyBody,
    /// Refusal that the reply reports, for the log.
    pub(super) refusal: Option<Box<Refusal>>,
}

/// Expected size of a list without its items, in bytes.
const ENVELOPE_BYTES: usize = 128;

/// Expected number of headers: content type, request id, caching, and one other header.
const HEADERS: usize = 4;

/// JSON body of a list that has no pages.
#[derive(Serialize)]
struct List<'a> {
    data: &'a [&'a RawValue],
}

/// JSON that several answers share, sent without a copy.
struct SharedJson(Arc<RawValue>);

impl AsRef<[u8]> for SharedJson {
    fn as_ref(&self) -> &[u8] {
        self.0.get().as_bytes()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageBody<'a> {
    data: &'a [&'a RawValue],
    has_more: bool,
    next_before: Option<&'a str>,
}

pub(super) const fn status(success: Success) -> StatusCode {
    match success {
        Success::Ok => StatusCode::OK,
        Success::Created => StatusCode::CREATED,
        Success::Accepted => StatusCode::ACCEPTED,
        Success::Nothing => StatusCode::NO_CONTENT,
    }
}

impl Reply {
    pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
        Reply::text(status, "application/json", body)
    }

    pub(super) fn text(
        status: StatusCode,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Reply {
        let mut headers = Vec::with_capacity(HEADERS);
        headers.push((CONTENT_TYPE, HeaderValue::from_static(content_type)));
        Reply { status, headers, body: ReplyBody::Whole(Full::new(body.into())), refusal: None }
    }

    /// Returns status 200 with a body that is created during transmission.
    pub(super) fn stream(content_type: &'static str, body: ReplyBody) -> Reply {
        Reply {
            status: StatusCode::OK,
            headers: vec![(CONTENT_TYPE, HeaderValue::from_static(content_type))],
            body,
            refusal: None,
        }
    }

    pub(super) fn ok(json: Json) -> Reply {
        Reply::json(StatusCode::OK, Box::<str>::from(json).into_string())
    }

    /// Returns status 200 with a resource that several answers share.
    pub(super) fn shared(json: Arc<RawValue>) -> Reply {
        Reply::json(StatusCode::OK, Bytes::from_owner(SharedJson(json)))
    }

    /// Returns status 200 with `{"data": […]}`.
    pub(super) fn list(data: &[impl Borrow<RawValue>]) -> Result<Reply, Error> {
        let data: Vec<&RawValue> = data.iter().map(Borrow::borrow).collect();
        Reply::from_resources(data.iter().copied(), &List { data: &data })
    }

    /// Returns status 200 with a page of a list.
    pub(super) fn page(page: &Page) -> Result<Reply, Error> {
        Reply::page_from_parts(&page.data, page.next_before.as_deref())
    }

    /// Returns status 200 with a page that contains these resources. `next_before` is the position at which the next
    /// page starts.
    pub(super) fn page_from_parts(
        data: &[impl Borrow<RawValue>],
        next_before: Option<&str>,
    ) -> Result<Reply, Error> {
        let data: Vec<&RawValue> = data.iter().map(Borrow::borrow).collect();
        let body = PageBody { data: &data, has_more: next_before.is_some(), next_before };
        Reply::from_resources(data.iter().copied(), &body)
    }

    /// Returns status 200 with `body`, serialized into one buffer. `data` are the resources in `body`. Their known
    /// sizes determine the size of the buffer.
    fn from_resources<'a>(
        data: impl Iterator<Item = &'a RawValue>,
        body: &impl Serialize,
    ) -> Result<Reply, Error> {
        let bytes = data.map(|json| json.get().len().saturating_add(1));
        let mut buffer = Vec::with_capacity(bytes.fold(ENVELOPE_BYTES, usize::saturating_add));
        serde_json::to_writer(&mut buffer, body)?;
        Ok(Reply::json(StatusCode::OK, buffer))
    }

    pub(super) fn no_content() -> Reply {
        Reply {
            status: StatusCode::NO_CONTENT,
            headers: Vec::new(),
            body: ReplyBody::Whole(Full::default()),
            refusal: None,
        }
    }

    /// Adds a header if its value is valid.
    pub(super) fn with_header(mut self, name: HeaderName, value: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Adds a header if its value is valid. Takes the value without copying it.
    pub(super) fn with_owned_header(mut self, name: HeaderName, value: String) -> Reply {
        if let Ok(value) = HeaderValue::try_from(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub(super) fn with_static_header(mut self, name: HeaderName, value: &'static str) -> Reply {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    pub(super) fn into_response(self) -> Response<ReplyBody> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        response.headers_mut().reserve(self.headers.len());
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}
