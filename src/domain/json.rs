//! Reads JSON from outside.
//!
//! Invariant: a value is at most 128 levels deep, the limit of `serde_json`. Walking through a value or dropping it
//! cannot exhaust a thread's stack.

use serde_json::Value;
use std::borrow::Cow;

/// Prefix of the names that `serde_json` uses internally to mark special objects.
///
/// `serde_json` accepts them in a text too, and parses the string after such a name again as JSON of any depth.
const RESERVED: &[u8] = b"$serde_json::private::";

/// Reads a text as JSON.
///
/// # Errors
/// The problem, to follow "the body must be JSON: " and the like.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    if has_reserved_name(text) {
        return Err("names that begin with \"$serde_json::private::\" are not taken".to_owned());
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Returns `true` if a reserved name is anywhere in the text, also inside a longer string.
fn has_reserved_name(text: &[u8]) -> bool {
    let is_escaped = text.windows(4).any(|part| part == b"\\u00");
    let plain = if is_escaped {
        Cow::Owned(unescaped(text))
    } else {
        Cow::Borrowed(text)
    };
    plain.windows(RESERVED.len()).any(|part| part == RESERVED)
}

/// Replaces every `\u00XX` by its byte. The short escapes cannot occur in a reserved name.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = escaped(rest).unwrap_or((*first, after));
        plain.push(byte);
        rest = after;
    }
    plain
}

/// Returns the byte of a `\u00XX` at the start, and the rest of the text.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, after) = text.strip_prefix(b"\\u00")?.split_at_checked(2)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u8::from_str_radix(digits, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::parse;

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
        }
        for text in [
            r#"{"serde_json": "$serde_json", "b": "\u0024 20", "c": "\u00e9\u0000", "d": 1.10}"#,
            r#"{"a": "C:\\u0041", "b": "\\\u0041"}"#,
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        assert!(parse(br#""\u00zz""#).is_err());
    }
}
