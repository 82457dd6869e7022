//! Rules for texts of bodies: names, URLs, e-mail addresses and others.

use super::json_schema::keywords;
use super::rule::Rule;
use super::schema::Keywords;
use super::{Fields, URL_CHARS_MAX};
use crate::domain::refusal::Refusal;
use serde_json::json;
use std::ops::RangeInclusive;

/// A text.
pub struct TextRule {
    chars: RangeInclusive<usize>,
    form: Option<(usize, &'static str)>,
    problem_if_absent: Option<&'static str>,
}

/// Returns the rule for a text of so many characters.
pub const fn text(chars: RangeInclusive<usize>) -> TextRule {
    TextRule {
        chars,
        form: None,
        problem_if_absent: None,
    }
}

impl TextRule {
    /// Describes the form that the operation checks: the length of the shortest text, and a regular expression.
    pub const fn of_form(mut self, chars_min: usize, pattern: &'static str) -> TextRule {
        self.form = Some((chars_min, pattern));
        self
    }

    /// Refuses a body without the field for this problem.
    pub const fn or_refused(mut self, problem: &'static str) -> TextRule {
        self.problem_if_absent = Some(problem);
        self
    }
}

impl Rule for TextRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        match (
            fields.text(name, self.chars.clone())?,
            self.problem_if_absent,
        ) {
            (None, Some(problem)) => Err(Refusal::field(name, problem)),
            (text, _) => Ok(text.map(str::to_owned)),
        }
    }

    fn keywords(&self) -> Keywords {
        let chars_min = self
            .form
            .map_or(*self.chars.start(), |(chars_min, _)| chars_min);
        let mut all = keywords([("type", json!("string"))]);
        if chars_min > 0 {
            all.insert("minLength".to_owned(), json!(chars_min));
        }
        all.insert("maxLength".to_owned(), json!(self.chars.end()));
        if let Some((_, pattern)) = self.form {
            all.insert("pattern".to_owned(), json!(pattern));
        }
        all
    }
}

/// A text that a function parses.
pub struct ParsedRule<T> {
    text: TextRule,
    parse: fn(&str) -> Result<T, String>,
}

/// Returns the rule for a text that a function parses. An error of the function says what would be right.
pub const fn parsed<T>(text: TextRule, parse: fn(&str) -> Result<T, String>) -> ParsedRule<T> {
    ParsedRule { text, parse }
}

impl<T> Rule for ParsedRule<T> {
    type Value = T;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<T>, Refusal> {
        let value = self.text.read(fields, name)?;
        let value = value.map(|text| (self.parse)(&text)).transpose();
        value.map_err(|problem| Refusal::field(name, problem))
    }

    fn keywords(&self) -> Keywords {
        self.text.keywords()
    }
}

/// The only text that a field may have.
pub struct ConstantRule(&'static str);

/// Returns the rule for a field that may only have this text.
pub const fn constant(text: &'static str) -> ConstantRule {
    ConstantRule(text)
}

impl Rule for ConstantRule {
    type Value = &'static str;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<&'static str>, Refusal> {
        match fields.text(name, 0..=40)? {
            Some(text) if text != self.0 => {
                Err(Refusal::field(name, format!("must be \"{}\"", self.0)))
            }
            text => Ok(text.map(|_| self.0)),
        }
    }

    fn keywords(&self) -> Keywords {
        keywords([("type", json!("string")), ("enum", json!([self.0]))])
    }
}

/// A name on one line.
pub struct NameRule(RangeInclusive<usize>);

/// Returns the rule for a name of so many characters, none of which is a control character.
pub const fn name(chars: RangeInclusive<usize>) -> NameRule {
    NameRule(chars)
}

impl Rule for NameRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let text = fields.name(name, self.0.clone())?;
        Ok(text.map(str::to_owned))
    }

    fn keywords(&self) -> Keywords {
        text(self.0.clone())
            .of_form(*self.0.start(), "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")
            .keywords()
    }
}

/// A URL.
pub struct UrlRule {
    takes_apps: bool,
}

/// Returns the rule for an absolute http or https URL.
pub const fn url() -> UrlRule {
    UrlRule { takes_apps: false }
}

/// Returns the rule for where a customer goes: an http or https URL, or one of an app.
pub const fn site_or_app() -> UrlRule {
    UrlRule { takes_apps: true }
}

impl Rule for UrlRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let url = if self.takes_apps {
            fields.site_or_app(name)?
        } else {
            fields.url(name)?
        };
        Ok(url.map(str::to_owned))
    }

    fn keywords(&self) -> Keywords {
        let pattern = if self.takes_apps {
            "^[A-Za-z][A-Za-z0-9+.-]*://"
        } else {
            "^[Hh][Tt][Tt][Pp][Ss]?://"
        };
        keywords([
            ("type", json!("string")),
            ("format", json!("uri")),
            ("pattern", json!(pattern)),
            ("maxLength", json!(URL_CHARS_MAX)),
        ])
    }
}

/// An e-mail address.
pub struct EmailRule {
    chars_max: usize,
}

/// Returns the rule for one e-mail address of at most so many characters.
pub const fn email(chars_max: usize) -> EmailRule {
    EmailRule { chars_max }
}

impl Rule for EmailRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let email = fields.email(name, self.chars_max)?;
        Ok(email.map(str::to_owned))
    }

    fn keywords(&self) -> Keywords {
        keywords([
            ("type", json!("string")),
            ("format", json!("idn-email")),
            ("maxLength", json!(self.chars_max)),
        ])
    }
}
