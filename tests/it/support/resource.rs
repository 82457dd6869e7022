//! The documented shape of a resource: the type of each field, and which fields may be null.

use coffer::domain::Time;
use serde_json::Value;
use std::collections::BTreeSet;

/// A documented field.
///
/// The kind is `uuid`, `text`, `money` (two decimals), `coin` (a plain decimal), `time`, `uri`, `flag`, `number`,
/// `object`, `list`, `=constant`, or the values of an enumeration separated by `|`.
struct DocumentedField {
    name: &'static str,
    kind: &'static str,
    is_nullable: bool,
}

/// The fields of a resource in order, and the values seen in checked objects.
pub struct ResourceShape {
    fields: Vec<DocumentedField>,
    seen: BTreeSet<(&'static str, String)>,
}

impl ResourceShape {
    /// Parses lines with one field each, for example `orderId text or null`.
    #[track_caller]
    pub fn parse(lines: &'static str) -> ResourceShape {
        let field = |line: &'static str| {
            let (name, kind) = line.trim().split_once(' ').unwrap();
            let bare = kind.strip_suffix(" or null");
            DocumentedField { name, kind: bare.unwrap_or(kind), is_nullable: bare.is_some() }
        };
        ResourceShape { fields: lines.trim().lines().map(field).collect(), seen: BTreeSet::new() }
    }

    /// Asserts that an object has exactly these fields, in this order and with these types.
    #[track_caller]
    pub fn assert_matches(&mut self, object: &Value) {
        let names: Vec<&String> = object.as_object().unwrap().keys().collect();
        let documented: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        assert_eq!(names, documented, "{object}");
        for DocumentedField { name, kind, is_nullable } in &self.fields {
            let value = &object[*name];
            let fits = is_kind(kind, value) || (*is_nullable && value.is_null());
            assert!(fits, "{name} is no {kind}: {value}");
            let is_listed = kind.contains('|') || value.is_null() || value.is_boolean();
            let shown = if is_listed { value.to_string() } else { "a value".to_owned() };
            self.seen.insert((name, shown));
        }
    }

    /// Asserts that the checked objects contained both null and another value for each nullable field, and both true
    /// and false for each flag.
    #[track_caller]
    pub fn assert_nulls_and_flags_seen(&self) {
        for field in &self.fields {
            let of_field = || self.seen.iter().filter(|(name, _)| *name == field.name);
            let has = |shown: &str| of_field().any(|(_, seen)| seen == shown);
            if field.is_nullable {
                assert!(has("null"), "{} was never null", field.name);
                assert!(of_field().count() > 1, "{} was always null", field.name);
            }
            let is_flag = field.kind == "flag";
            assert!(!is_flag || (has("true") && has("false")), "{}", field.name);
        }
    }

    /// Asserts that the checked objects contained each value of this enumeration.
    #[track_caller]
    pub fn assert_values_seen(&self, name: &str) {
        let field = self.fields.iter().find(|field| field.name == name).unwrap();
        for text in field.kind.split('|') {
            let shown = (field.name, format!("\"{text}\""));
            assert!(self.seen.contains(&shown), "{name} was never {text}");
        }
    }

    /// Asserts that an OpenAPI schema has exactly the fields of this shape and requires all of them.
    #[track_caller]
    pub fn assert_schema(&self, schema: &Value) {
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), self.fields.len(), "{schema}");
        assert_eq!(schema["additionalProperties"], false);
        for field in &self.fields {
            let required = schema["required"].as_array().unwrap();
            assert!(required.iter().any(|name| name == field.name), "{}", field.name);
            let property = &properties[field.name];
            let text = property.to_string();
            assert_eq!(text.contains("\"null\""), field.is_nullable, "{text}");
            if field.kind.contains('|') {
                let texts: Vec<&str> = field.kind.split('|').collect();
                let alternative = property.pointer("/oneOf/0/enum");
                let listed = alternative.unwrap_or(&property["enum"]);
                assert_eq!(listed, &serde_json::json!(texts), "{}", field.name);
            }
            let type_of_kind = match field.kind {
                "flag" => "\"boolean\"",
                "number" => "\"integer\"",
                "list" => "\"array\"",
                "object" => "object",
                _ => "\"string\"",
            };
            assert!(text.contains(type_of_kind), "{} is {text}", field.name);
        }
    }
}

/// Returns `true` if the value has this kind.
fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "flag" => value.is_boolean(),
        "number" => value.is_i64(),
        "object" => value.is_object(),
        "list" => value.is_array(),
        _ => value.as_str().is_some_and(|text| is_text_kind(kind, text)),
    }
}

/// Returns `true` if the text has this kind.
fn is_text_kind(kind: &str, text: &str) -> bool {
    match kind {
        "text" => !text.is_empty(),
        "uuid" => is_uuid(text),
        "event" => text.strip_prefix("evt_").is_some_and(|hex| hex.len() == 32 && is_hex(hex)),
        "money" => {
            let cents = text.strip_prefix('-').unwrap_or(text).split_once('.');
            cents.is_some_and(|(whole, cents)| {
                is_digits(whole) && is_digits(cents) && cents.len() == 2
            })
        }
        "coin" => {
            let (whole, part) = text.split_once('.').unwrap_or((text, "1"));
            is_digits(whole) && is_digits(part) && !part.ends_with('0')
        }
        // A time is in UTC with milliseconds, as Coffer formats it.
        "time" => text.parse::<Time>().is_ok_and(|time| time.to_string() == text),
        "uri" => text.starts_with("http://") || text.starts_with("https://"),
        listed if listed.contains('|') => listed.split('|').any(|one| one == text),
        constant => constant.strip_prefix('=') == Some(text),
    }
}

/// Returns `true` for a UUID of version 7.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && parts.iter().all(|part| is_hex(part))
        && parts[2].starts_with('7')
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
