//! Reads a JSON object field by field, and declares request and response bodies.
//!
//! An error names the field and says what would be valid. Invariant: a field that is null counts as absent.

mod camel_case;
mod input;
mod json_schema;
pub mod rule;
mod schema;
pub mod text_rule;
pub mod view;

pub use camel_case::CamelCase;
pub(crate) use input::input;
pub(in crate::domain) use json_schema::keywords;
pub use rule::{Rule, rule_for};
pub(crate) use schema::schema;
pub use schema::{Component, Describing, Keywords, Object, Property, Schema};
pub use view::Shown;
pub(crate) use view::view;

use super::refusal::{Code, Refusal};
use super::url::{Destination, Site, UrlProblem};
use super::{email, json};
use serde_json::{Map, Number, Value};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The longest url that is taken, in characters.
pub const URL_CHARS_MAX: usize = 2048;

/// A JSON object being read.
#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Reads this object.
    pub fn of(map: &'a Map<String, Value>) -> Fields<'a> {
        Fields(map)
    }

    /// Parses a body. An empty one is `{}` where `empty_is_object`.
    ///
    /// # Errors
    /// `invalid_request` where it is not JSON or not an object.
    pub fn parse(body: &[u8], empty_is_object: bool) -> Result<Map<String, Value>, Refusal> {
        if empty_is_object && body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Map::new());
        }
        match json::parse(body) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(_) => Err(Refusal::new(
                Code::InvalidRequest,
                "the body must be a JSON object",
            )),
            Err(error) => Err(Refusal::new(
                Code::InvalidRequest,
                format!("the body must be JSON: {error}"),
            )),
        }
    }

    /// The field, unless absent or null.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Is the field there, be it null?
    pub fn names(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names that are none of `known`, in the order they were sent.
    pub fn unknown(&self, known: &[&str]) -> Vec<&'a str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|name| !known.contains(name))
            .collect()
    }

    /// Refuses names that are none of `known`.
    ///
    /// # Errors
    /// `invalid_request` that lists what may be sent.
    pub fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.unknown(known).first() {
            None => Ok(()),
            Some(name) => Err(Refusal::field(
                name,
                format!("is not known here; fields are {}", known.join(", ")),
            )),
        }
    }

    /// A string of `length` characters.
    ///
    /// # Errors
    /// `invalid_request` where it is no string, too short or too long.
    pub fn text(
        &self,
        name: &str,
        length: RangeInclusive<usize>,
    ) -> Result<Option<&'a str>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let text = value
            .as_str()
            .ok_or_else(|| Refusal::field(name, "must be a string"))?;
        if !length.contains(&text.chars().count()) {
            let (min, max) = (length.start(), length.end());
            return Err(Refusal::field(
                name,
                format!("must have {min} to {max} characters"),
            ));
        }
        Ok(Some(text))
    }

    /// A name of `length` characters, on one line: none of them is a control character.
    ///
    /// # Errors
    /// `invalid_request` as [`Fields::text`], and for what no line can show.
    pub fn name(
        &self,
        name: &str,
        length: RangeInclusive<usize>,
    ) -> Result<Option<&'a str>, Refusal> {
        let text = self.text(name, length)?;
        text.map_or(Ok(()), |text| one_line(name, text))?;
        Ok(text)
    }

    /// One of an enumeration's texts.
    ///
    /// # Errors
    /// `invalid_request` that lists them.
    pub fn choice<T: FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name, 0..=200)? else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|problem| Refusal::field(name, problem))
    }

    /// A whole number in `range`; `60.0` is one.
    ///
    /// # Errors
    /// `invalid_request` that gives the range.
    pub fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_number().and_then(whole);
        number
            .filter(|number| range.contains(number))
            .map(Some)
            .ok_or_else(|| {
                let (min, max) = (range.start(), range.end());
                Refusal::field(name, format!("must be a whole number from {min} to {max}"))
            })
    }

    /// True or false.
    ///
    /// # Errors
    /// `invalid_request` for anything else.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value
            .as_bool()
            .map(Some)
            .ok_or_else(|| Refusal::field(name, "must be true or false"))
    }

    /// A JSON object.
    ///
    /// # Errors
    /// `invalid_request` for anything else.
    pub fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value
            .as_object()
            .map(Some)
            .ok_or_else(|| Refusal::field(name, "must be a JSON object"))
    }

    /// A JSON array.
    ///
    /// # Errors
    /// `invalid_request` for anything else.
    pub fn list(&self, name: &str) -> Result<Option<&'a Vec<Value>>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value
            .as_array()
            .map(Some)
            .ok_or_else(|| Refusal::field(name, "must be a JSON array"))
    }

    /// An absolute http or https url, in plain ASCII.
    ///
    /// # Errors
    /// `invalid_request` for anything else.
    pub fn url(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let problem =
            "must be an absolute http:// or https:// url in plain ASCII; a host name in punycode";
        self.url_that(name, |text| Site::parse(text).map(drop), problem)
    }

    /// Returns the URL of a page for customers: as [`Fields::url`], or with an app's own scheme, like
    /// `myshop://paid`.
    ///
    /// # Errors
    ///
    /// `invalid_request` for anything else.
    pub fn site_or_app(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        let problem = "must be an absolute http:// or https:// url, or one of an app's own scheme like myshop://paid, \
             in plain ASCII; a host name in punycode";
        let is_right = |text: &str| match Destination::parse(text) {
            Some(_) => Ok(()),
            None => Site::parse(text).map(drop),
        };
        self.url_that(name, is_right, problem)
    }

    fn url_that(
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

    /// One e-mail address, by the rule of HTML's `<input type=email>`, with letters beyond ASCII too.
    ///
    /// # Errors
    /// `invalid_request` for anything else.
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

/// Can a field's text be shown on one line?
///
/// # Errors
/// `invalid_request` where a control character stands in it: a line break, a tab, an escape.
pub fn one_line(name: &str, text: &str) -> Result<(), Refusal> {
    match text.contains(char::is_control) {
        true => Err(Refusal::field(
            name,
            "must be one line, without control characters",
        )),
        false => Ok(()),
    }
}

/// The whole number in a JSON number's own digits.
fn whole(number: &Number) -> Option<i64> {
    let text = number.as_str();
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        Some(_) => return None,
        None => text,
    };
    digits.parse().ok()
}
