//! Queries: which parameters an operation takes, and their values in a request.

use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::UnknownText;
use crate::domain::time::{Time, parse_span_ms};
use percent_encoding::percent_decode_str;
use std::str::FromStr;

/// The longest id that a query may name.
pub const ID_CHARS_MAX: usize = 40;

/// A parameter of a query, as data: for checking it and for the document.
pub struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: ParamKind,
}

impl Param {
    /// `limit` of a list.
    pub const fn limit(max: u32, default: u32) -> Param {
        Param {
            name: "limit",
            about: "Maximum number of items.",
            kind: ParamKind::Limit { max, default },
        }
    }
}

/// Kind of a parameter's values.
pub enum ParamKind {
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

/// The query, decoded and checked.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes a query and checks it against these parameters; others are ignored.
    ///
    /// # Errors
    /// `invalid_request` that names the parameter.
    pub fn parse(text: &str, params: &'static [Param]) -> Result<Query, Refusal> {
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
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// A parameter that is one of an enumeration's.
    ///
    /// # Errors
    /// `invalid_request`, which the route's own check has ruled out.
    pub fn choice<T: FromStr<Err = UnknownText>>(&self, name: &str) -> Result<Option<T>, Refusal> {
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
    pub fn moment(&self, name: &str) -> Result<Option<Time>, Refusal> {
        let moment = self.text(name).map(str::parse).transpose();
        moment.map_err(|problem: String| Refusal::field(name, problem))
    }

    /// The `limit`, or the route's default.
    pub fn limit(&self, default: u32) -> u32 {
        self.text("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    }
}

impl ParamKind {
    /// Returns the problem with a value that the parameter does not take, `None` if it takes every value.
    pub fn problem(&self) -> Option<String> {
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

/// Percent and plus decoded; nothing where that is no UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .ok()
        .map(|text| text.into_owned())
}
