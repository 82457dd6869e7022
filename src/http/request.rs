//! The input of every handler: path, query and body.
//!
//! Invariant: the query of a request has been checked against the parameters of its route.

use super::client;
use super::policy::PagePolicy;
use super::state::HttpState;
pub(super) use crate::api::query::{ID_CHARS_MAX, Param, ParamKind, Query, url_decode};
use crate::domain::fields::Fields;
use crate::domain::{Mode, Refusal, Time, WalletSecret, id};
use crate::service::idempotency::KEY_CHARS_MAX;
use crate::service::{Error, Member, Scope};
use hyper::HeaderMap;
use hyper::body::Bytes;
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;

pub(super) struct Call {
    pub(super) http: Arc<HttpState>,
    pub(super) now: Time,
    pub(super) headers: HeaderMap,
    /// Address of the connected peer, which is the client or the proxy nearest to the server.
    pub(super) peer: IpAddr,
    pub(super) body: Bytes,
    pub(super) query: Query,
    pub(super) path: Vec<String>,
    pub(super) policy: PagePolicy<'static>,
}

impl Call {
    /// Returns the account in the path, with the mode in the query. The default mode is live.
    ///
    /// # Errors
    /// `not_found` if the account does not exist or the member may not use it.
    pub(super) fn scope(&self, member: &Member) -> Result<Scope, Error> {
        let mode = self.query.enum_value("mode")?.unwrap_or(Mode::Live);
        self.http.service.scope_of_account(member, self.first_param(), mode)
    }

    /// Returns the address of the client, not of a trusted proxy between client and server.
    pub(super) fn client_address(&self) -> IpAddr {
        client::client_address(self.peer, &self.headers, &self.http.trusted_proxy)
    }

    pub(super) fn first_param(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// Returns the second parameter of the path, for example the id of a key after the id of its account.
    pub(super) fn second_param(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// Returns the first parameter of the path, which must be a UUID.
    ///
    /// # Errors
    /// `not_found` if the parameter is not a UUID.
    pub(super) fn uuid(&self, what: &str) -> Result<String, Error> {
        id::parse(self.first_param()).ok_or_else(|| Refusal::not_found(what).into())
    }

    /// Parses the body as a JSON object and returns its fields.
    ///
    /// # Errors
    /// `invalid_request` if the body is not a JSON object.
    pub(super) fn body_fields(&self) -> Result<Map<String, Value>, Refusal> {
        Fields::parse(&self.body, false)
    }
}

/// Returns the values of the path's parameters, with ids in lower case, as the database stores them.
pub(super) fn path_values(path: &str, mut values: Vec<String>) -> Vec<String> {
    let names = path.split('/').filter(|part| part.starts_with('{'));
    for (value, name) in values.iter_mut().zip(names) {
        if matches!(name, "{id}" | "{account}") {
            value.make_ascii_lowercase();
        }
    }
    values
}

/// Returns the path, or a placeholder if the path contains a private key. Used in the log and in the sandbox's
/// stream.
pub(super) fn masked_path(path: &str) -> &str {
    let holds = |part: &str| {
        url_decode(part).is_some_and(|part| WalletSecret::find_in_text(&part).is_some())
    };
    if path.split('/').any(holds) { "(a path that holds a private key)" } else { path }
}

/// Returns the value of a header as text. If the header is repeated, all values must be equal.
///
/// # Errors
/// `invalid_request` if the values differ or are not printable ASCII.
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

/// Returns the value of the header `Idempotency-Key`.
///
/// # Errors
/// `invalid_request` if the key is empty, too long, not printable ASCII, or sent with different values.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    const NAME: &str = "Idempotency-Key";
    let Some(key) = header(headers, NAME)? else {
        return Ok(None);
    };
    // A tab is valid in a header, but not printable.
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
