//! Reads the fields of JSON objects, and declares request and response bodies.
//!
//! An error names the field and the valid values.
//!
//! Invariant: a field with the value null counts as absent.

mod camel_case;
mod input;
mod json_schema;
pub mod rule;
mod schema;
pub mod text_rule;
pub mod view;

pub use camel_case::CamelCase;
pub(crate) use input::input;
pub(in crate::domain) use json_schema::schema_from_keywords;
pub use rule::{Rule, rule_for};
pub(crate) use schema::schema;
pub use schema::{Component, FieldSchema, Keywords, Object, Property, Schema};
pub use view::ViewField;
pub(crate) use view::view;

use super::json::JsonProblem;
use super::refusal::{Refusal, RefusalCode};
use super::url::{SiteOrAppUrl, SiteUrl, UrlProblem};
use super::{email, json};
use serde_json::{Map, Number, Value};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Longest accepted URL, in characters.
pub const URL_CHARS_MAX: usize = 2048;

/// A reader of the fields of a JSON object.
#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Wraps a JSON object.
    pub fn new(map: &'a Map<String, Value>) -> Fields<'a> {
        Fields(map)
    }

    /// Parses a body as a JSON object. If `empty_is_object`, an empty body counts as `{}`.
    ///
    /// # Errors
    /// `invalid_request` if the body is not JSON or not an object, or if it has a field twice.
    pub fn parse(body: &[u8], empty_is_object: bool) -> Result<Map<String, Value>, Refusal> {
        if empty_is_object && body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Map::new());
        }
        match json::parse(body) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(_) => {
                Err(Refusal::new(RefusalCode::InvalidRequest, "the body must be a JSON object"))
            }
            Err(JsonProblem::RepeatedField(path)) => {
                Err(Refusal::field(&path, "stands twice in the body; send it once"))
            }
            Err(JsonProblem::Syntax(problem)) => Err(Refusal::new(
                RefusalCode::InvalidRequest,
                format!("the body must be JSON: {problem}"),
            )),
        }
    }

    /// Returns the value of a field; `None` if the field is absent or null.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns `true` if the object has the field, even with the value null.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the names of the fields that are not in `known`, in the order of the body.
    pub fn unknown_names(&self, known: &[&str]) -> Vec<&'a str> {
        self.0.keys().map(String::as_str).filter(|name| !known.contains(name)).collect()
    }

    /// Refuses a body with a field that is not in `known`.
    ///
    /// # Errors
    /// `invalid_request` that lists the known fields.
    pub fn refuse_unknown(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.unknown_names(known).first() {
            None => Ok(()),
            Some(name) => Err(Refusal::field(
                name,
                format!("is an unknown field; the fields are {}", known.join(", ")),
            )),
        }
    }

    /// Reads a string with a number of characters in the range `length`.
    ///
    /// # Errors
    /// `invalid_request` if the value is not a string, too short or too long.
    pub fn text(
        &self,
        name: &str,
        length: RangeInclusive<usize>,
    ) -> Result<Option<&'a str>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let text = value.as_str().ok_or_else(|| Refusal::field(name, "must be a string"))?;
        if !length.contains(&text.chars().count()) {
            let (min, max) = (length.start(), length.end());
            return Err(Refusal::field(name, format!("must have {min} to {max} characters")));
        }
        Ok(Some(text))
    }

    /// Reads a name of one line, without control characters, with a number of characters in the range `length`.
    ///
    /// # Errors
    /// `invalid_request` as for [`Fields::text`], and for a control character.
    pub fn name(
        &self,
        name: &str,
        length: RangeInclusive<usize>,
    ) -> Result<Option<&'a str>, Refusal> {
        let text = self.text(name, length)?;
        text.map_or(Ok(()), |text| check_one_line(name, text))?;
        Ok(text)
    }

    /// Reads one of the texts of an enumeration.
    ///
    /// # Errors
    /// `invalid_request` that lists the texts.
    pub fn choice<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name, 0..=200)? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|problem| Refusal::field(name, problem))
    }

    /// Reads a whole number in `range`. A number like `60.0` counts as whole.
    ///
    /// # Errors
    /// `invalid_request` that names the range.
    pub fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_number().and_then(parse_whole_number);
        number.filter(|number| range.contains(number)).map(Some).ok_or_else(|| {
            let (min, max) = (range.start(), range.end());
            Refusal::field(name, format!("must be a whole number from {min} to {max}"))
        })
    }

    /// Reads a boolean.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_bool().map(Some).ok_or_else(|| Refusal::field(name, "must be true or false"))
    }

    /// Reads a JSON object.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_object().map(Some).ok_or_else(|| Refusal::field(name, "must be a JSON object"))
    }

    /// Reads a JSON array.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn list(&self, name: &str) -> Result<Option<&'a Vec<Value>>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value.as_array().map(Some).ok_or_else(|| Refusal::field(name, "must be a JSON array"))
    }

    /// Reads an absolute http or https URL in plain ASCII.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn url(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let problem =
            "must be an absolute http:// or https:// url in plain ASCII; a host name in punycode";
        self.read_url(name, |text| SiteUrl::parse(text).map(drop), problem)
    }

    /// Reads the URL of a page for customers: http, https, or a scheme that belongs to an app, like `myshop://paid`.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn site_or_app_url(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let problem = "must be an absolute http:// or https:// url, or one of an app's own scheme like myshop://paid, \
             in plain ASCII; a host name in punycode";
        let is_right = |text: &str| match SiteOrAppUrl::parse(text) {
            Some(_) => Ok(()),
            None => SiteUrl::parse(text).map(drop),
        };
        self.read_url(name, is_right, problem)
    }

    fn read_url(
        &self,
        name: &str,
        is_right: impl Fn(&str) -> Result<(), UrlProblem>,
        problem: &str,
    ) -> Result<Option<&'a str>, Refusal> {
        let text = self.text(name, 1..=URL_CHARS_MAX)?;
        match text.map_or(Ok(()), is_right) {
            Ok(()) => Ok(text),
            Err(fault) => Err(Refusal::field(name, fault.remedy().unwrap_or(problem))),
        }
    }

    /// Reads one email address by the rule of HTML's `<input type=email>`, with letters beyond ASCII allowed.
    ///
    /// # Errors
    /// `invalid_request` for any other value.
    pub fn email(&self, name: &str, chars_max: usize) -> Result<Option<&'a str>, Refusal> {
        match self.text(name, 1..=chars_max)? {
            Some(text) if !email::is_email(text) => {
                let problem = "must be one e-mail address, like ada@example.com";
                Err(Refusal::field(name, problem))
            }
            text => Ok(text),
        }
    }
}

/// Checks that a text fits on one line: it has no control character, such as a line break, a tab or an escape.
///
/// # Errors
/// `invalid_request` for a control character.
pub fn check_one_line(name: &str, text: &str) -> Result<(), Refusal> {
    match text.contains(char::is_control) {
        true => Err(Refusal::field(name, "must be one line, without control characters")),
        false => Ok(()),
    }
}

/// Parses a whole JSON number from its digits, without rounding; `None` if the number has a fraction.
fn parse_whole_number(number: &Number) -> Option<i64> {
    let text = number.as_str();
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    digits.parse().ok()
}
