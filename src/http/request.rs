//! What every handler receives: the path, the query, the body.
//!
//! What always holds: a query that reaches a handler is as its route declares it.

use super::client;
use super::front::Front;
use super::policy::Policy;
use crate::domain::asset::Mode;
use crate::domain::fields::Fields;
use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::UnknownText;
use crate::domain::time::{Time, parse_span_ms};
use crate::domain::wallet::Secret;
use crate::service::idempotency::KEY_CHARS_MAX;
use crate::service::{Error, Member, Scope};
use hyper::HeaderMap;
use hyper::body::Bytes;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

/// The longest id that a query may name.
pub(super) const ID_CHARS_MAX: usize = 40;

/// A parameter of a query, as data: for checking it and for the document.
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: ParamKind,
}

impl Param {
    /// `limit` of a list.
    pub(super) const fn limit(max: u32, default: u32) -> Param {
        Param {
            name: "limit",
            about: "How many at most.",
            kind: ParamKind::Limit { max, default },
        }
    }
}

/// What a parameter may be.
pub(super) enum ParamKind {
    /// A whole number from 1 to `max`.
    Limit { max: u32, default: u32 },
    /// One of an enumeration's texts.
    OneOf(&'static [&'static str]),
    /// A text of 1 to `chars_max` characters.
    Text { chars_max: usize },
    /// Any text at all: what is wrong in it is not malformed, only unknown.
    Any,
    /// A span of time like 5s.
    Span,
    /// An id that is a UUID.
    Uuid,
    /// The id of anything, of 1 to 40 characters: what is wrong in it is not malformed, only unknown.
    Id,
    /// A moment.
    Moment,
}

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

    /// Does a long read for whoever is signed in, on a thread of its own and in its turn.
    ///
    /// # Errors
    /// Those of `work`; `overloaded` where too many of theirs wait already.
    pub(super) async fn long_read<T: Send + 'static>(
        &self,
        member: &Member,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.front.long_reads.read(member.asker(), work).await
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

    /// The body, which may be left out.
    ///
    /// # Errors
    /// `invalid_request` where it is there and no JSON object.
    pub(super) fn optional_object(&self) -> Result<Map<String, Value>, Refusal> {
        Fields::parse(&self.body, true)
    }
}

/// The query, decoded and checked.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes a query and checks it against these parameters; others are ignored.
    ///
    /// # Errors
    /// `invalid_request` that names the parameter.
    pub(super) fn parse(text: &str, params: &'static [Param]) -> Result<Query, Refusal> {
        let mut found: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name), decode(value));
            let mut params = params.iter();
            let Some(param) = params.find(|param| name.as_deref() == Some(param.name)) else {
                continue;
            };
            let value = value.ok_or_else(|| Refusal::field(param.name, "must be UTF-8"))?;
            if found.iter().any(|(name, _)| name == param.name) {
                return Err(Refusal::field(param.name, "must be given once"));
            }
            param
                .kind
                .check(&value)
                .map_err(|problem| Refusal::field(param.name, problem))?;
            // An id is stored in small letters.
            let value = match param.kind {
                ParamKind::Uuid | ParamKind::Id => value.to_ascii_lowercase(),
                _ => value,
            };
            found.push((param.name.to_owned(), value));
        }
        Ok(Query(found))
    }

    /// The text of a parameter.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// A parameter that is one of an enumeration's.
    ///
    /// # Errors
    /// `invalid_request`, which the route's own check has ruled out.
    pub(super) fn choice<T: FromStr<Err = UnknownText>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|problem| Refusal::field(name, problem))
    }

    /// A parameter that is a moment.
    ///
    /// # Errors
    /// `invalid_request`, which the route's own check has ruled out.
    pub(super) fn moment(&self, name: &str) -> Result<Option<Time>, Refusal> {
        let moment = self.text(name).map(str::parse).transpose();
        moment.map_err(|problem: String| Refusal::field(name, problem))
    }

    /// The `limit`, or the route's default.
    pub(super) fn limit(&self, default: u32) -> u32 {
        self.text("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    }
}

impl ParamKind {
    /// What is said of a value that it does not take; nothing where it takes every one.
    pub(super) fn problem(&self) -> Option<String> {
        ["?", ""].iter().find_map(|wrong| self.check(wrong).err())
    }

    /// Is the value as declared?
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            ParamKind::Limit { max, .. } => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let number = value
                    .parse::<u32>()
                    .ok()
                    .filter(|number| digits && (1..=*max).contains(number));
                number
                    .map(drop)
                    .ok_or_else(|| format!("must be a whole number from 1 to {max}"))
            }
            ParamKind::OneOf(texts) => {
                if texts.contains(&value) {
                    Ok(())
                } else {
                    Err(UnknownText { known: texts }.to_string())
                }
            }
            ParamKind::Any => Ok(()),
            ParamKind::Span => parse_span_ms(value).map(drop),
            ParamKind::Moment => value.parse::<Time>().map(drop),
            ParamKind::Uuid => id::parse(value)
                .map(drop)
                .ok_or_else(|| "must be a UUID".to_owned()),
            ParamKind::Id => of_length(value, ID_CHARS_MAX),
            ParamKind::Text { chars_max } => of_length(value, *chars_max),
        }
    }
}

/// Has a text 1 to `chars_max` characters?
fn of_length(text: &str, chars_max: usize) -> Result<(), String> {
    let fits = (1..=chars_max).contains(&text.chars().count());
    fits.then_some(())
        .ok_or_else(|| format!("must have 1 to {chars_max} characters"))
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

/// Percent and plus decoded; nothing where that is no UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .ok()
        .map(|text| text.into_owned())
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
