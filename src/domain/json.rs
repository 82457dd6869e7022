//! Reading JSON that somebody else has written.
//!
//! What lives here: reading a text into a value. What does not: which fields it may have (`fields`). What always
//! holds: a value is at most as deep as `serde_json` reads a text (128 levels), so walking through it or dropping
//! it never exhausts a thread's stack.

use serde_json::Value;
use std::borrow::Cow;

/// What the names begin with by which `serde_json` tells itself what an object stands for. It takes them from a text too,
/// and reads the string behind one of them as JSON anew, so that the text could be of any depth.
const RESERVED: &[u8] = b"$serde_json::private::";

/// Reads a text as JSON.
///
/// # Errors
/// What is wrong with it, to follow "the body must be JSON: " and the like.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    if names_reserved(text) {
        return Err("names that begin with \"$serde_json::private::\" are not taken".to_owned());
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Is there a name of the library's own anywhere in the text? One inside a longer string counts too.
fn names_reserved(text: &[u8]) -> bool {
    let is_escaped = text.windows(4).any(|part| part == b"\\u00");
    let plain = if is_escaped {
        Cow::Owned(unescaped(text))
    } else {
        Cow::Borrowed(text)
    };
    plain.windows(RESERVED.len()).any(|part| part == RESERVED)
}

/// The text with every `\u00XX` as the byte that it stands for; the short escapes stand for nothing in a name of the
/// library's.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = escaped(rest).unwrap_or((*first, after));
        plain.push(byte);
        rest = after;
    }
    plain
}

/// The byte that a `\u00XX` at the beginning stands for, and what follows it.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, after) = text.strip_prefix(b"\\u00")?.split_at_checked(2)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u8::from_str_radix(digits, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_name_of_the_librarys_own_is_refused_however_it_is_written() {
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
