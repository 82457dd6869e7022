//! Parses JSON from callers.
//!
//! Invariant: a value is at most 128 levels deep, the limit of `serde_json`. Visiting or dropping a value cannot
//! overflow a thread's stack.

mod distinct;

use serde_json::Value;
use std::borrow::Cow;

/// Prefix of the names that `serde_json` uses internally to mark special objects.
///
/// `serde_json` also accepts these names in its input. It then parses the string after the name as JSON, without a
/// depth limit.
const RESERVED: &[u8] = b"$serde_json::private::";

/// First bytes of texts that are not the UTF-8 of JSON, and the end of a sentence that says what they are.
const FOREIGN_BEGINNINGS: [(&[u8], &str); 4] = [
    (b"\xEF\xBB\xBF", "it begins with a byte order mark (EF BB BF); send it without"),
    (b"\xFF\xFE", "it begins with a byte order mark of UTF-16 (FF FE); send UTF-8 without one"),
    (b"\xFE\xFF", "it begins with a byte order mark of UTF-16 (FE FF); send UTF-8 without one"),
    (b"\x1F\x8B", "it is compressed by gzip; send it unencoded"),
];

/// Reason why a text is not accepted as JSON.
#[derive(Debug, PartialEq, Eq)]
pub enum JsonProblem {
    /// End of a sentence like "the body must be JSON: …".
    Syntax(String),
    /// Path of a field that an object has twice, for example `metadata.lines[0].sku`.
    RepeatedField(String),
}

impl std::fmt::Display for JsonProblem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JsonProblem::Syntax(problem) => out.write_str(problem),
            JsonProblem::RepeatedField(path) => write!(out, "it has the field {path} twice"),
        }
    }
}

/// Parses a text as JSON in which every object has each of its fields once.
///
/// # Errors
/// The problem of the text, or the path of a repeated field.
pub fn parse(text: &[u8]) -> Result<Value, JsonProblem> {
    let mut beginnings = FOREIGN_BEGINNINGS.iter();
    if let Some((_, problem)) = beginnings.find(|(bytes, _)| text.starts_with(bytes)) {
        return Err(JsonProblem::Syntax((*problem).to_owned()));
    }
    refuse_reserved_name(text).map_err(JsonProblem::Syntax)?;
    distinct::parse(text)
}

/// Parses a text as JSON that is only looked at. Of a repeated field, the last value remains.
///
/// # Errors
/// The problem, as the end of a sentence like "the body must be JSON: …".
pub fn parse_leniently(text: &[u8]) -> Result<Value, String> {
    refuse_reserved_name(text)?;
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

fn refuse_reserved_name(text: &[u8]) -> Result<(), String> {
    match has_reserved_name(text) {
        true => Err("names that begin with \"$serde_json::private::\" are not taken".to_owned()),
        false => Ok(()),
    }
}

/// Returns `true` if the text contains a reserved name, also as a part of a longer string.
fn has_reserved_name(text: &[u8]) -> bool {
    let is_escaped = text.windows(4).any(|part| part == b"\\u00");
    let plain =
        if is_escaped { Cow::Owned(replace_byte_escapes(text)) } else { Cow::Borrowed(text) };
    plain.windows(RESERVED.len()).any(|part| part == RESERVED)
}

/// Replaces every escape `\u00XX` by its byte. Other escapes, such as `\n`, cannot occur in a reserved name.
fn replace_byte_escapes(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = parse_escape(rest).unwrap_or((*first, after));
        plain.push(byte);
        rest = after;
    }
    plain
}

/// Returns the byte of the escape `\u00XX` at the start of the text, and the rest of the text.
fn parse_escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, after) = text.strip_prefix(b"\\u00")?.split_at_checked(2)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u8::from_str_radix(digits, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::{JsonProblem, parse, parse_leniently};
    use serde_json::Value;

    #[test]
    fn reserved_name_is_refused_in_any_spelling() {
        for text in [
            r#"{"$serde_json::private::RawValue": "[1]"}"#,
            r#"{"a": [{"$serde_json::private::RawValue": "[1]"}]}"#,
            r#"{"a": {"$serde_json::private::Number": "1"}}"#,
            r#"{"\u0024serde_json::private::RawValue": "[1]"}"#,
            r#"{"$\u0073erde_json\u003A\u003a\u0070rivate::RawValue": "[1]"}"#,
            r#"{"\\": 1, "\u0024serde_json::private::\u0052awValue": "[1]"}"#,
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
            assert!(parse_leniently(text.as_bytes()).is_err(), "{text}");
        }
        for text in [
            r#"{"serde_json": "$serde_json", "b": "\u0024 20", "c": "\u00e9\u0000", "d": 1.10}"#,
            r#"{"a": "C:\\u0041", "b": "\\\u0041"}"#,
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        assert!(parse(br#""\u00zz""#).is_err());
    }

    #[test]
    fn repeated_field_is_refused_by_its_path() {
        for (text, path) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"b":2,"\u0061":null}"#, "a"),
            (r#"{"a":{"b":{"c":1,"d":2,"c":3}}}"#, "a.b.c"),
            (r#"{"a":[1,{"x":1},{"y":[[],[{"z":1,"z":2}]]}]}"#, "a[2].y[1][0].z"),
            (r#"[{"a":1,"a":2}]"#, "[0].a"),
            (r#"{"":1,"":2}"#, ""),
            (r#"{"a":1,"a":2,"#, "a"),
        ] {
            let problem = JsonProblem::RepeatedField(path.to_owned());
            assert_eq!(parse(text.as_bytes()), Err(problem), "{text}");
        }
        // The same name in different objects is no repetition.
        for text in [r#"{"a":{"a":[{"a":1},{"a":1}]}}"#, r#"[{"a":1},{"a":2}]"#, r#"{"a":1,"A":1}"#]
        {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn values_and_problems_are_those_of_serde_json() {
        let expected = |text: &str| {
            let value = serde_json::from_str::<Value>(text);
            value.map_err(|error| JsonProblem::Syntax(error.to_string()))
        };
        for text in [
            r#"{"b":1.10,"a":[0,-0,-1,18446744073709551616,1e400,0.1e-5,-9223372036854775808]}"#,
            r#"[true,false,null,"\u00e9\n\ud83d\ude00",{},[],"",-0.0,1E+2]"#,
            " 7 ",
            "\"x\"",
            "1.0",
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
            assert_eq!(parse(text.as_bytes()), expected(text), "{text}");
        }
        for wrong in
            ["", "{", "{} x", "[1,]", "01", "nul", "{\"a\"}", "\"\u{1}\"", "1.", "- 1", "{1:2}"]
        {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
            assert_eq!(parse(wrong.as_bytes()), expected(wrong), "{wrong}");
        }
        for wrong in [&b"\"\xff\""[..], b"{\"\xc3\":1}"] {
            assert!(parse(wrong).is_err());
        }
        let deep = |levels| ["[".repeat(levels), "]".repeat(levels)].concat();
        assert!(parse(deep(127).as_bytes()).is_ok());
        assert!(parse(deep(128).as_bytes()).is_err());
        assert!(parse(deep(100_000).as_bytes()).is_err());
    }
}
