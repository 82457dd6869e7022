//! What every handler receives: the path, the query, the body.
//!
//! What always holds: a query that reaches a handler is as its route declares it.

use super::client;
use super::front::Front;
use super::policy::Policy;
pub(super) use crate::api::query::{ID_CHARS_MAX, Param, ParamKind, Query, decode};
use crate::domain::asset::Mode;
use crate::domain::fields::Fields;
use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::wallet::Secret;
use crate::service::idempotency::KEY_CHARS_MAX;
use crate::service::{Error, Member, Scope};
use hyper::HeaderMap;
use hyper::body::Bytes;
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;

/// A request, ready to be handled.
pub(super) struct Call {
    pub(super) front: Arc<Front>,
    pub(super) now: Time,
    pub(super) headers: HeaderMap,
    /// Who is connected: the client, or the last proxy before it.
    pub(super) peer: IpAddr,
    pub(super) body: Bytes,
    pub(super) query: Query,
    pub(super) path: Vec<String>,
    /// What the answer may do, where it is a page.
    pub(super) policy: Policy<'static>,
}

impl Call {
    /// Who is signed in, on the data of the account that the path begins with, in the mode of the query; live where it
    /// names none.
    ///
    /// # Errors
    /// `not_found` where that account is not there or not the member's.
    pub(super) fn scope(&self, member: &Member) -> Result<Scope, Error> {
        let mode = self.query.choice("mode")?.unwrap_or(Mode::Live);
        self.front.service.scope(member, self.id(), mode)
    }

    /// The address of the client behind this call.
    pub(super) fn client(&self) -> IpAddr {
        client::behind(self.peer, &self.headers, &self.front.trusted_proxy)
    }

    /// The path's first parameter, which mostly is its only one.
    pub(super) fn id(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// The path's second parameter: on paths about an account, what of it is meant.
    pub(super) fn second(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// The path's only parameter, which must be a UUID to name anything.
    ///
    /// # Errors
    /// `not_found` where it is none.
    pub(super) fn uuid(&self, what: &str) -> Result<String, Error> {
        id::parse(self.id()).ok_or_else(|| Refusal::not_found(what).into())
    }

    /// The body, which must be a JSON object.
    ///
    /// # Errors
    /// `invalid_request`.
    pub(super) fn object(&self) -> Result<Map<String, Value>, Refusal> {
        Fields::parse(&self.body, false)
    }
}

/// The values of a route's path, ids in the small letters that they are stored in.
pub(super) fn path_values(path: &str, mut values: Vec<String>) -> Vec<String> {
    let names = path.split('/').filter(|part| part.starts_with('{'));
    for (value, name) in values.iter_mut().zip(names) {
        if matches!(name, "{id}" | "{account}") {
            value.make_ascii_lowercase();
        }
    }
    values
}

/// A path as it is logged and told: without a private key that somebody has put into it.
pub(super) fn shown(path: &str) -> &str {
    let holds = |part: &str| decode(part).is_some_and(|part| Secret::in_text(&part).is_some());
    if path.split('/').any(holds) {
        "(a path that holds a private key)"
    } else {
        path
    }
}

/// A header as text. The same value may be sent more than once.
///
/// # Errors
/// `invalid_request` where it is there with different values, or not printable ASCII.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.any(|other| other != value) {
        let problem = "must be sent once, and was sent with different values";
        return Err(Refusal::field(name, problem));
    }
    let text = value.to_str().map(Some);
    text.map_err(|_| Refusal::field(name, "must be printable ASCII"))
}

/// The Idempotency-Key, where there is one.
///
/// # Errors
/// `invalid_request` where it is too long or not printable ASCII, or where there are different ones.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    const NAME: &str = "Idempotency-Key";
    let Some(key) = header(headers, NAME)? else {
        return Ok(None);
    };
    // A tab passes as text of a header; it is no printable character.
    let printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if printable && (1..=KEY_CHARS_MAX).contains(&key.len()) {
        Ok(Some(key.to_owned()))
    } else {
        Err(Refusal::field(
            NAME,
            format!("must have 1 to {KEY_CHARS_MAX} printable ASCII characters"),
        ))
    }
}
