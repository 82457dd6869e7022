//! Queries: their declared parameters, and the values of a request.

use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::UnknownText;
use crate::domain::time::{Time, parse_span_ms};
use percent_encoding::percent_decode_str;
use std::str::FromStr;

/// Longest id in a query.
pub const ID_CHARS_MAX: usize = 40;

/// A parameter of a query, for parsing and for the documents.
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
    /// Any text. An unknown value is not malformed.
    Any,
    /// A duration like 5s.
    Span,
    /// An id that is a UUID.
    Uuid,
    /// An id of 1 to 40 characters. An unknown value is not malformed.
    Id,
    /// A time.
    Moment,
}

/// A query, decoded and checked.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes a query and checks it against these parameters. Others are ignored.
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
            // Ids are stored in lower case.
            let value = match param.kind {
                ParamKind::Uuid | ParamKind::Id => value.to_ascii_lowercase(),
                _ => value,
            };
            found.push((param.name.to_owned(), value));
        }
        Ok(Query(found))
    }

    /// Returns the text of a parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns a parameter of an enumeration.
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

    /// Returns a parameter that is a time.
    ///
    /// # Errors
    /// `invalid_request`, which the route's own check has ruled out.
    pub fn moment(&self, name: &str) -> Result<Option<Time>, Refusal> {
        let moment = self.text(name).map(str::parse).transpose();
        moment.map_err(|problem: String| Refusal::field(name, problem))
    }

    /// Returns `limit`, or the route's default.
    pub fn limit(&self, default: u32) -> u32 {
        self.text("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    }
}

impl ParamKind {
    /// Returns an example problem of the parameter, `None` if it accepts every value.
    pub fn problem(&self) -> Option<String> {
        ["?", ""].iter().find_map(|wrong| self.check(wrong).err())
    }

    /// Checks a value against the declaration.
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

/// Checks that a text has 1 to `chars_max` characters.
fn of_length(text: &str, chars_max: usize) -> Result<(), String> {
    let fits = (1..=chars_max).contains(&text.chars().count());
    fits.then_some(())
        .ok_or_else(|| format!("must have 1 to {chars_max} characters"))
}

/// Decodes percent signs and plus signs. Returns `None` if the result is not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .ok()
        .map(|text| text.into_owned())
}
