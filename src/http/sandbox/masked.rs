//! Hides secrets in bodies, paths and queries that a sandbox shows.
//!
//! Invariant: passwords, keys, secrets and codes are recognized by the name of their field or by their form, and
//! hidden. A sandbox's own keys are public and stay readable. A body that is not JSON is shown only if it cannot
//! contain a secret.

use crate::domain::wallet::contains_seed_phrase;
use crate::domain::{WalletSecret, json};
use crate::http::request::{masked_path, url_decode};
use crate::service::sandbox::is_public_credential;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Text that replaces a secret.
const HIDDEN: &str = "(hidden)";

/// Names of fields whose values are hidden. Comparison ignores case and punctuation.
const SECRET_NAMES: [&str; 7] = ["key", "code", "codes", "seed", "wif", "qr", "import"];
/// Parts of field names that mark a field as secret.
const SECRET_NAME_PARTS: [&str; 9] = [
    "password",
    "passphrase",
    "passwd",
    "secret",
    "apikey",
    "privatekey",
    "token",
    "mnemonic",
    "seedphrase",
];
/// Beginnings of secret keys and tokens of this service, and of links for authenticator apps.
const SECRET_PREFIXES: [&str; 5] = ["sk_live_", "sk_test_", "rt_", "whsec_", "otpauth:"];
/// Parts of field names. The values of these fields may look like keys (32 bytes in hexadecimal) but are not keys.
const HASH_NAME_PARTS: [&str; 4] = ["txid", "hash", "block", "signature"];
/// Names of fields that contain sentences of the service. Twelve words in such a field are not a wallet's recovery
/// phrase.
const SENTENCE_NAMES: [&str; 3] = ["message", "warnings", "error"];

/// Returns a body with its secrets hidden.
pub(super) fn mask_body(text: &str) -> Cow<'_, str> {
    let Ok(mut value) = json::parse_leniently(text.as_bytes()) else {
        return match may_contain_secret(text) {
            true => Cow::Borrowed("(a body that is no whole JSON, and may hold a secret)"),
            false => Cow::Borrowed(text),
        };
    };
    mask_field("", &mut value);
    // `masked` equals `text` if nothing is hidden and no field is repeated. The parser keeps only the last value of a
    // repeated field.
    match serde_json::to_string(&value) {
        Ok(masked) if masked == text => Cow::Borrowed(text),
        Ok(masked) => Cow::Owned(masked),
        Err(_) => Cow::Borrowed(HIDDEN),
    }
}

/// Returns the value of a header, hidden if it may contain a secret. Public keys of a sandbox stay readable.
pub(super) fn mask_header(text: &str) -> Cow<'_, str> {
    match has_key(text) || WalletSecret::find_in_text(text).is_some() {
        true => Cow::Borrowed(HIDDEN),
        false => Cow::Borrowed(text),
    }
}

/// Returns a path and its query with their secrets hidden.
pub(super) fn mask_target(text: &str) -> Cow<'_, str> {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let masked = masked_path(path);
    if masked != path {
        return Cow::Borrowed(masked);
    }
    let path = mask_path(path);
    match query.is_empty() {
        true => path,
        false => Cow::Owned(format!("{path}?{}", mask_query(query))),
    }
}

/// Returns a path in which segments that contain a key are hidden.
fn mask_path(path: &str) -> Cow<'_, str> {
    if !path.split('/').any(segment_has_key) {
        return Cow::Borrowed(path);
    }
    let masked = |part| if segment_has_key(part) { HIDDEN } else { part };
    Cow::Owned(path.split('/').map(masked).collect::<Vec<_>>().join("/"))
}

/// Returns `true` if a segment of a path contains a key or cannot be decoded.
fn segment_has_key(part: &str) -> bool {
    url_decode(part).is_none_or(|part| has_key(&part))
}

/// Returns a query string with its secrets hidden.
fn mask_query(text: &str) -> String {
    let masked = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_shown = match (url_decode(name), url_decode(value)) {
            (Some(name), Some(value)) => {
                let value = !is_hidden(&name) && !is_secret(&name, &value);
                value && !is_secret("", &name)
            }
            _ => false,
        };
        match is_shown {
            true => pair.to_owned(),
            false if is_secret("", name) || url_decode(name).is_none() => HIDDEN.to_owned(),
            false => format!("{name}={HIDDEN}"),
        }
    };
    let pairs: Vec<String> = text.split('&').map(masked).collect();
    let whole = url_decode(&text.replace('+', " ")).unwrap_or_default();
    // The phrase of a wallet may be split over several parameters.
    match WalletSecret::find_in_argument(&whole) {
        Some(WalletSecret::Phrase) => HIDDEN.to_owned(),
        _ => pairs.join("&"),
    }
}

/// Replaces secrets in the value of the field `name` by a placeholder.
fn mask_field(name: &str, value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) if is_public_credential(text) => {}
        Value::Number(_) | Value::String(_) if is_hidden(name) => *value = HIDDEN.into(),
        Value::Number(_) => {}
        Value::String(text) => {
            if is_secret(name, text) {
                *value = HIDDEN.into();
            }
        }
        Value::Array(values) => {
            if contains_seed_phrase(values.iter().filter_map(Value::as_str)) {
                *value = HIDDEN.into();
                return;
            }
            values.iter_mut().for_each(|value| mask_field(name, value));
        }
        Value::Object(fields) => {
            let is_hidden = is_hidden(name);
            let masked = std::mem::take(fields).into_iter().map(|(own, mut value)| {
                mask_field(if is_hidden { name } else { &own }, &mut value);
                match is_secret("", &own) {
                    true => (HIDDEN.to_owned(), value),
                    false => (own, value),
                }
            });
            *fields = masked.collect::<Map<String, Value>>();
            if contains_seed_phrase(fields.values().filter_map(Value::as_str)) {
                *value = HIDDEN.into();
            }
        }
    }
}

/// Returns the letters and digits of a name in lower case, for comparison.
fn normalize_name(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns `true` if values of a field with this name are always hidden.
fn is_hidden(name: &str) -> bool {
    let name = normalize_name(name);
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
}

/// Returns `true` if this text of the field `name` looks like a secret.
fn is_secret(name: &str, text: &str) -> bool {
    let name = normalize_name(name);
    if has_key(text) {
        return true;
    }
    match WalletSecret::find_in_argument(text) {
        None => false,
        Some(WalletSecret::Phrase) => !SENTENCE_NAMES.contains(&name.as_str()),
        Some(WalletSecret::Hex) => !HASH_NAME_PARTS.iter().any(|hash| name.contains(hash)),
        Some(_) => true,
    }
}

/// Returns `true` if a text contains a secret key or token of this service.
fn has_key(text: &str) -> bool {
    let mut pieces = text.split(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter));
    let begins = |piece: &str| SECRET_PREFIXES.iter().any(|begin| piece.starts_with(begin));
    pieces.any(|piece| begins(piece) && !is_public_credential(piece))
}

/// Returns `true` if a text that is not JSON may contain a secret.
fn may_contain_secret(text: &str) -> bool {
    let plain = normalize_name(text);
    let names = || SECRET_NAME_PARTS.iter().chain(&SECRET_NAMES);
    let is_written_otherwise = text.contains("\\u") || text.contains('%');
    is_written_otherwise
        || names().any(|name| plain.contains(name))
        || SECRET_PREFIXES.iter().any(|begin| text.contains(begin))
        || WalletSecret::find_in_text(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::{HIDDEN, mask_body, mask_query, mask_target};
    use serde_json::{Value, json};

    const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const PHRASE: &str = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

    fn masked_json(sent: &Value) -> String {
        mask_body(&sent.to_string()).into_owned()
    }

    #[test]
    fn secrets_are_hidden_by_name_and_by_value() {
        for hidden in [
            json!({ "password": "x1x" }),
            json!({ "new_Password": "x1x" }),
            json!({ "a": [{ "Secret": "x1x" }] }),
            json!({ "secret": { "a": ["x1x"] } }),
            json!({ "codes": ["x1x"] }),
            json!({ "code": "x1x" }),
            json!({ "import": "shop77.x1x", "mode": "live" }),
            json!({ "metadata": { "api-key": "x1x" } }),
            json!({ "description": "my key is sk_live_x1x" }),
            json!({ "uri": "otpauth://totp/Coffer:a?secret=x1x" }),
            json!({ "note": format!("{PHRASE} x1x") }),
            json!({ "words": PHRASE.split(' ').chain(["x1x"]).collect::<Vec<_>>() }),
        ] {
            let masked = masked_json(&hidden);
            assert!(!masked.contains("x1x") && masked.contains(HIDDEN), "{masked}");
        }
        assert_eq!(masked_json(&json!({ "note": KEY })), json!({ "note": HIDDEN }).to_string());
        let as_name = masked_json(&json!({ KEY: 1 }));
        assert!(!as_name.contains(KEY), "{as_name}");
    }

    #[test]
    fn public_values_stay_unchanged() {
        for text in [
            json!({ "txid": KEY, "id": "evt_0123456789abcdef0123456789abcdef", "amount": 1 }),
            json!({ "secretTest": "sk_test_sandbox", "key": "sk_live_sandbox" }),
            json!({ "description": "Coffee beans, 1 kg", "hasPassword": true }),
            json!({ "message": "a sentence of so many words that it could be what a wallet is made of" }),
        ] {
            assert_eq!(masked_json(&text), text.to_string());
        }
        for text in ["", "not JSON at all", "1 + 1"] {
            assert_eq!(mask_body(text), text);
        }
    }

    #[test]
    fn invalid_json_with_possible_secrets_is_hidden() {
        for text in [
            "{\"password\": \"x1x\"".to_owned(),
            "{\"pass\\u0077ord\": \"x1x\"".to_owned(),
            "pass%77ord=x1x".to_owned(),
            format!("key {KEY} x1x"),
            format!("{PHRASE} x1x"),
        ] {
            assert!(!mask_body(&text).contains("x1x"), "{text}");
        }
        let twice = format!("{{\"a\":\"{KEY}\",\"a\":\"b\"}}");
        assert_eq!(mask_body(&twice), "{\"a\":\"b\"}");
    }

    #[test]
    fn secrets_in_queries_and_paths_are_hidden() {
        for (text, expected) in [
            ("limit=5&type=invoice.paid", "limit=5&type=invoice.paid".to_owned()),
            ("token=x1x&a=1", format!("token={HIDDEN}&a=1")),
            ("pass%77ord=x1x", format!("pass%77ord={HIDDEN}")),
            (&format!("q={KEY}"), format!("q={HIDDEN}")),
            (&format!("q={}", PHRASE.replace(' ', "+")), HIDDEN.to_owned()),
            (KEY, HIDDEN.to_owned()),
            ("q=%ff", format!("q={HIDDEN}")),
        ] {
            assert_eq!(mask_query(text), expected, "{text}");
        }
        assert_eq!(mask_target("/v1/invoices"), "/v1/invoices");
        assert_eq!(mask_target("/v1/invoices?limit=5"), "/v1/invoices?limit=5");
        assert!(!mask_target(&format!("/v1/{KEY}?limit=5")).contains(KEY));
        for path in ["sk_live_x1x", "of%20rt_x1x", "%73k_live_x1x"] {
            let masked = format!("/v1/invoices/{HIDDEN}/select?a=1");
            assert_eq!(mask_target(&format!("/v1/invoices/{path}/select?a=1")), masked);
        }
        assert_eq!(mask_target("/v1/a/sk_live_sandbox"), "/v1/a/sk_live_sandbox");
    }
}
