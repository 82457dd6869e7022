//! Queries: the declared parameters of an operation, and the values of a request.

use crate::domain::text_enum::UnknownText;
use crate::domain::time::parse_duration_ms;
use crate::domain::{Refusal, Time, id};
use percent_encoding::percent_decode_str;
use std::str::FromStr;

pub const ID_CHARS_MAX: usize = 40;
/// Length of an unknown parameter's name up to which an error repeats it, in characters. No declared name is longer, and
/// every key is: a key in the wrong place must not reach the log.
const UNKNOWN_NAME_CHARS_MAX: usize = 24;

/// Declaration of a query parameter, for parsing and for the documents.
pub struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: ParamKind,
}

impl Param {
    pub const fn limit(max: u32, default: u32) -> Param {
        Param {
            name: "limit",
            about: "Maximum number of items.",
            kind: ParamKind::Limit { max, default },
        }
    }
}

pub enum ParamKind {
    /// A whole number from 1 to `max`.
    Limit { max: u32, default: u32 },
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A text of 1 to `chars_max` characters.
    Text { chars_max: usize },
    /// Any text. An unknown value selects nothing and is not an error.
    Any,
    /// A duration, for example `5s`.
    Span,
    /// An id that is a UUID.
    Uuid,
    /// An id of 1 to 40 characters. An unknown id selects nothing and is not an error.
    Id,
    /// A time in the format of JSON bodies.
    Moment,
}

/// The query of a request, decoded and checked.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes a query string and checks it against these parameters. A parameter that is not declared is refused if
    /// `refuses_unknown` is `true`, else ignored.
    ///
    /// # Errors
    /// `invalid_request`, which names the wrong parameter.
    pub fn parse(
        text: &str,
        params: &'static [Param],
        refuses_unknown: bool,
    ) -> Result<Query, Refusal> {
        let mut found: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) =
                (url_decode(name).unwrap_or_else(|| name.to_owned()), url_decode(value));
            let Some(param) = params.iter().find(|param| param.name == name) else {
                if refuses_unknown {
                    return Err(unknown_param_refusal(&name, params));
                }
                continue;
            };
            let value = value.ok_or_else(|| Refusal::field(param.name, "must be UTF-8"))?;
            if found.iter().any(|(name, _)| name == param.name) {
                return Err(Refusal::field(param.name, "must be given once"));
            }
            param.kind.check(&value).map_err(|problem| Refusal::field(param.name, problem))?;
            // The database stores ids in lower case.
            let value = match param.kind {
                ParamKind::Uuid | ParamKind::Id => value.to_ascii_lowercase(),
                _ => value,
            };
            found.push((param.name.to_owned(), value));
        }
        Ok(Query(found))
    }

    /// Returns the text of a parameter, `None` if the query does not have the parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a parameter that is an enumeration.
    ///
    /// # Errors
    /// `invalid_request` for an invalid value, which a parsed query does not contain.
    pub fn enum_value<T: FromStr<Err = UnknownText>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|problem| Refusal::field(name, problem))
    }

    /// Returns the value of a parameter that is a time.
    ///
    /// # Errors
    /// `invalid_request` for an invalid value, which a parsed query does not contain.
    pub fn moment(&self, name: &str) -> Result<Option<Time>, Refusal> {
        let moment = self.text(name).map(str::parse).transpose();
        moment.map_err(|problem: String| Refusal::field(name, problem))
    }

    /// Returns the value of the parameter `limit`, or `default` if the query does not have the parameter.
    pub fn limit(&self, default: u32) -> u32 {
        self.number("limit", default)
    }

    /// Returns the value of a parameter that is a whole number.
    pub fn number(&self, name: &str, default: u32) -> u32 {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }
}

impl ParamKind {
    /// Returns an example of an error message about the parameter, `None` if the parameter accepts every value.
    pub fn example_problem(&self) -> Option<String> {
        ["?", ""].iter().find_map(|wrong| self.check(wrong).err())
    }

    /// Checks a value against the declaration. Returns an error message without the parameter's name; the caller adds
    /// the name.
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            ParamKind::Limit { max, .. } => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let number = value
                    .parse::<u32>()
                    .ok()
                    .filter(|number| digits && (1..=*max).contains(number));
                number.map(drop).ok_or_else(|| format!("must be a whole number from 1 to {max}"))
            }
            ParamKind::OneOf(texts) => {
                if texts.contains(&value) {
                    Ok(())
                } else {
                    Err(UnknownText { known: texts }.to_string())
                }
            }
            ParamKind::Any => Ok(()),
            ParamKind::Span => parse_duration_ms(value).map(drop),
            ParamKind::Moment => value.parse::<Time>().map(drop),
            ParamKind::Uuid => {
                id::parse(value).map(drop).ok_or_else(|| "must be a UUID".to_owned())
            }
            ParamKind::Id => check_length(value, ID_CHARS_MAX),
            ParamKind::Text { chars_max } => check_length(value, *chars_max),
        }
    }
}

/// Returns the refusal of a parameter that is not one of `params`. It lists those that exist.
fn unknown_param_refusal(name: &str, params: &[Param]) -> Refusal {
    let chars = name.chars().count();
    let name = match chars <= UNKNOWN_NAME_CHARS_MAX {
        true => name.to_owned(),
        false => format!("(a name of {chars} characters)"),
    };
    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Refusal::field(&name, format!("is not a parameter of this query; its parameters: {known}"))
}

fn check_length(text: &str, chars_max: usize) -> Result<(), String> {
    let fits = (1..=chars_max).contains(&text.chars().count());
    fits.then_some(()).ok_or_else(|| format!("must have 1 to {chars_max} characters"))
}

/// Decodes percent signs and plus signs of a query or a form. Returns `None` if the result is not UTF-8.
pub fn url_decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(|text| text.into_owned())
}
