//! Parses JSON from callers.
//!
//! Invariant: a value is at most 128 levels deep, the limit of `serde_json`. Visiting or dropping a value cannot
//! overflow a thread's stack.

use serde_json::Value;
use std::borrow::Cow;

/// Prefix of the names that `serde_json` uses internally to mark special objects.
///
/// `serde_json` also accepts these names in its input. It then parses the string after the name as JSON, without a
/// depth limit.
const RESERVED: &[u8] = b"$serde_json::private::";

/// Parses a text as JSON.
///
/// # Errors
/// The problem, as the end of a sentence like "the body must be JSON: …".
pub fn parse(text: &[u8]) -> Result<Value, String> {
    if has_reserved_name(text) {
        return Err("names that begin with \"$serde_json::private::\" are not taken".to_owned());
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
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
