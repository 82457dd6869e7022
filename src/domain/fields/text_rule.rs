//! Rules for texts in request bodies: names, URLs, email addresses and others.

use super::json_schema::schema_from_keywords;
use super::rule::Rule;
use super::schema::Keywords;
use super::{Fields, URL_CHARS_MAX};
use crate::domain::refusal::Refusal;
use serde_json::json;
use std::ops::RangeInclusive;

/// Rule for a text.
pub struct TextRule {
    chars: RangeInclusive<usize>,
    form: Option<(usize, &'static str)>,
    problem_if_absent: Option<&'static str>,
}

/// Returns the rule for a text with a number of characters in this range.
pub const fn text(chars: RangeInclusive<usize>) -> TextRule {
    TextRule { chars, form: None, problem_if_absent: None }
}

impl TextRule {
    /// Adds a smallest number of characters and a regular expression to the schema. The operation checks them, not
    /// this rule.
    pub const fn with_pattern(mut self, chars_min: usize, pattern: &'static str) -> TextRule {
        self.form = Some((chars_min, pattern));
        self
    }

    /// Makes the field required. `problem` is the message for an absent field.
    pub const fn required_or(mut self, problem: &'static str) -> TextRule {
        self.problem_if_absent = Some(problem);
        self
    }
}

impl Rule for TextRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        match (fields.text(name, self.chars.clone())?, self.problem_if_absent) {
            (None, Some(problem)) => Err(Refusal::field(name, problem)),
            (text, _) => Ok(text.map(str::to_owned)),
        }
    }

    fn json_schema(&self) -> Keywords {
        let chars_min = self.form.map_or(*self.chars.start(), |(chars_min, _)| chars_min);
        let mut all = schema_from_keywords([("type", json!("string"))]);
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

/// Rule for a text that a function parses.
pub struct ParsedRule<T> {
    text: TextRule,
    parse: fn(&str) -> Result<T, String>,
}

/// Returns the rule for a text that `parse` converts. The error of `parse` is the message.
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

    fn json_schema(&self) -> Keywords {
        self.text.json_schema()
    }
}

/// Rule for a field that has only one valid text.
pub struct ConstantRule(&'static str);

/// Returns the rule for a field with this text as its only valid value.
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

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("string")), ("enum", json!([self.0]))])
    }
}

/// Rule for a name on one line.
pub struct NameRule(RangeInclusive<usize>);

/// Returns the rule for a name with a number of characters in this range, and without control characters.
pub const fn name(chars: RangeInclusive<usize>) -> NameRule {
    NameRule(chars)
}

impl Rule for NameRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let text = fields.name(name, self.0.clone())?;
        Ok(text.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        text(self.0.clone())
            .with_pattern(*self.0.start(), "^[^\\u0000-\\u001f\\u007f-\\u009f]+$")
            .json_schema()
    }
}

/// Rule for a URL.
pub struct UrlRule {
    takes_apps: bool,
}

/// Returns the rule for an absolute http or https URL.
pub const fn url() -> UrlRule {
    UrlRule { takes_apps: false }
}

/// Returns the rule for a URL to which customers are sent: http, https, or a scheme that belongs to an app.
pub const fn site_or_app_url() -> UrlRule {
    UrlRule { takes_apps: true }
}

impl Rule for UrlRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let url = if self.takes_apps { fields.site_or_app_url(name)? } else { fields.url(name)? };
        Ok(url.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        let pattern = if self.takes_apps {
            "^[A-Za-z][A-Za-z0-9+.-]*://"
        } else {
            "^[Hh][Tt][Tt][Pp][Ss]?://"
        };
        schema_from_keywords([
            ("type", json!("string")),
            ("format", json!("uri")),
            ("pattern", json!(pattern)),
            ("maxLength", json!(URL_CHARS_MAX)),
        ])
    }
}

/// Rule for an email address.
pub struct EmailRule {
    chars_max: usize,
}

/// Returns the rule for one email address of at most `chars_max` characters.
pub const fn email(chars_max: usize) -> EmailRule {
    EmailRule { chars_max }
}

impl Rule for EmailRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let email = fields.email(name, self.chars_max)?;
        Ok(email.map(str::to_owned))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("string")),
            ("format", json!("idn-email")),
            ("maxLength", json!(self.chars_max)),
        ])
    }
}
