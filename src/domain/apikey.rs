//! Generates and checks API keys and resellers' tokens. A checksum detects typing errors without a database query.
//!
//! Invariant: a key is stored as its SHA-256 only, and a generated key ends in its own CRC-32.

use super::asset::Mode;
use super::text_enum::text_enum;
use sha2::{Digest, Sha256};

/// Number of random characters in a key. 30 characters of base62 have 178 random bits.
const RANDOM_CHARS: usize = 30;
/// Number of base62 characters of the CRC-32 at the end of a key.
const CHECK_CHARS: usize = 6;
/// Shortest secret of an imported legacy key, in characters.
const IMPORT_SECRET_CHARS_MIN: usize = 16;
/// Longest imported legacy key, in characters.
pub const IMPORT_CHARS_MAX: usize = 200;
/// Prefix of every reseller's token. A token has neither class nor mode.
const TOKEN_PREFIX: &str = "rt_";
/// Digits of base62, in the order of their values.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

text_enum! {
    /// Class of a key, which decides the routes that accept it.
    pub enum KeyClass {
        /// Key for the merchant's server. All non-public routes accept such a key.
        Secret = "secret",
        /// Key for the shop's page. Only the public routes accept such a key.
        Public = "public",
        /// Secret key in the older form `<id>.<secret>`.
        Legacy = "legacy",
    }
}

/// Returns the prefix of keys of this class and mode. Legacy keys have none.
const fn key_prefix(class: KeyClass, mode: Mode) -> &'static str {
    match (class, mode) {
        (KeyClass::Secret, Mode::Live) => "sk_live_",
        (KeyClass::Secret, Mode::Test) => "sk_test_",
        (KeyClass::Public, Mode::Live) => "pk_live_",
        (KeyClass::Public, Mode::Test) => "pk_test_",
        (KeyClass::Legacy, Mode::Live | Mode::Test) => "",
    }
}

/// Generates a key from random bytes.
///
/// A legacy key is `<16 characters>.<30 characters>`. Other keys consist of a prefix, a random part and a checksum.
pub fn generate_key(class: KeyClass, mode: Mode, random: &mut dyn FnMut() -> u8) -> String {
    match class {
        KeyClass::Legacy => {
            let mut text = random_text(16, random);
            text.push('.');
            text.push_str(&random_text(RANDOM_CHARS, random));
            text
        }
        KeyClass::Secret | KeyClass::Public => {
            generate_with_checksum(key_prefix(class, mode), random)
        }
    }
}

/// Generates a reseller's token from random bytes.
pub fn generate_token(random: &mut dyn FnMut() -> u8) -> String {
    generate_with_checksum(TOKEN_PREFIX, random)
}

/// Returns one text: the prefix, random characters, and a checksum of both.
fn generate_with_checksum(prefix: &str, random: &mut dyn FnMut() -> u8) -> String {
    let mut text = prefix.to_owned();
    text.push_str(&random_text(RANDOM_CHARS, random));
    let check = checksum(&text);
    text.push_str(&check);
    text
}

/// Returns `true` if the text has the prefix and the checksum of a generated key, or the form of a legacy key.
pub fn is_plausible_key(text: &str) -> bool {
    let made = [KeyClass::Secret, KeyClass::Public]
        .into_iter()
        .flat_map(|class| Mode::ALL.iter().map(move |mode| key_prefix(class, *mode)))
        .any(|prefix| text.starts_with(prefix));
    if !made {
        return text
            .split_once('.')
            .is_some_and(|(id, secret)| !id.is_empty() && !secret.is_empty());
    }
    has_valid_checksum(text)
}

/// Returns `true` if the text has the prefix and the checksum of a reseller's token.
pub fn is_plausible_token(text: &str) -> bool {
    text.starts_with(TOKEN_PREFIX) && has_valid_checksum(text)
}

/// Returns `true` if the text ends in the CRC-32 of the characters before it.
fn has_valid_checksum(text: &str) -> bool {
    let body = text.len().checked_sub(CHECK_CHARS).and_then(|at| text.split_at_checked(at));
    body.is_some_and(|(body, check)| check == checksum(body))
}

/// Returns `true` if the text is a legacy key that can be imported.
///
/// It must be `<id>.<secret>` with a secret of at least 16 characters, and must not begin like another kind of key.
pub fn is_importable_legacy_key(text: &str) -> bool {
    let plain = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let is_of_today = ["sk_", "pk_", TOKEN_PREFIX].iter().any(|prefix| text.starts_with(prefix));
    let parts = text.split_once('.');
    let fits = parts.is_some_and(|(id, secret)| {
        !id.is_empty() && plain(id) && secret.len() >= IMPORT_SECRET_CHARS_MIN && plain(secret)
    });
    fits && !is_of_today && text.len() <= IMPORT_CHARS_MAX
}

/// Returns the SHA-256 of a key, which is stored instead of the key.
pub fn hash_key(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Returns the last four characters, by which people recognize their keys.
pub fn last4(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(4);
    text.chars().skip(skipped).collect()
}

/// Returns a random base62 text. Each character is equally likely.
fn random_text(chars: usize, random: &mut dyn FnMut() -> u8) -> String {
    let mut text = String::with_capacity(chars);
    while text.len() < chars {
        // 248 is 4 × 62, the largest multiple of 62 in a byte. Bytes from 248 are skipped, so that all digits are
        // equally likely.
        let byte = random();
        if byte < 248 {
            text.push(base62_digit(u32::from(byte % 62)));
        }
    }
    text
}

/// Returns the CRC-32 of the text in six base62 digits, most significant first.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [' '; CHECK_CHARS];
    for place in digits.iter_mut().rev() {
        *place = base62_digit(rest % 62);
        rest /= 62;
    }
    digits.iter().collect()
}

fn base62_digit(value: u32) -> char {
    usize::try_from(value)
        .ok()
        .and_then(|value| BASE62.get(value))
        .map_or('0', |byte| char::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::{
        KeyClass, Mode, generate_key, generate_token, is_importable_legacy_key, is_plausible_key,
        is_plausible_token, last4,
    };

    fn generated_key(class: KeyClass, mode: Mode) -> String {
        let mut next = 0_u8;
        generate_key(class, mode, &mut || {
            next = next.wrapping_mul(37).wrapping_add(91);
            next
        })
    }

    #[test]
    fn generated_key_has_prefix_length_and_checksum() {
        for (class, mode, prefix) in [
            (KeyClass::Secret, Mode::Live, "sk_live_"),
            (KeyClass::Secret, Mode::Test, "sk_test_"),
            (KeyClass::Public, Mode::Live, "pk_live_"),
            (KeyClass::Public, Mode::Test, "pk_test_"),
        ] {
            let key = generated_key(class, mode);
            assert!(key.starts_with(prefix) && key.len() == 44, "{key}");
            assert!(is_plausible_key(&key));
        }
        let legacy = generated_key(KeyClass::Legacy, Mode::Live);
        assert!(legacy.split_once('.').is_some() && is_plausible_key(&legacy), "{legacy}");
    }

    #[test]
    fn generated_token_is_valid_and_is_not_a_key() {
        let mut next = 0_u8;
        let token = generate_token(&mut || {
            next = next.wrapping_add(7);
            next
        });
        assert!(token.starts_with("rt_") && token.len() == 39, "{token}");
        assert!(is_plausible_token(&token) && !is_plausible_key(&token));
        assert!(!is_plausible_token(&generated_key(KeyClass::Secret, Mode::Live)));
        for wrong in [token.to_ascii_uppercase().as_str(), "", "rt_", "rt_sandbox"] {
            assert!(!is_plausible_token(wrong), "{wrong}");
        }
        let (body, _) = token.split_at(38);
        assert!(!is_plausible_token(body) && !is_plausible_token(&format!("{token}0")));
    }

    #[test]
    fn one_wrong_character_is_detected() {
        let key = generated_key(KeyClass::Secret, Mode::Live);
        for at in 8..key.len() {
            let wrong: String = key
                .chars()
                .enumerate()
                .map(|(i, c)| if i == at { if c == 'x' { 'y' } else { 'x' } } else { c })
                .collect();
            assert!(!is_plausible_key(&wrong), "{wrong}");
        }
        for wrong in ["", "sk_live_", "sk_test_sandbox", "x", ".", "a.", ".b", "sk_live_é"] {
            assert!(!is_plausible_key(wrong), "{wrong}");
        }
    }

    #[test]
    fn imported_key_is_legacy_and_hard_to_guess() {
        assert!(
            is_importable_legacy_key("shop.0123456789abcdef")
                && is_importable_legacy_key("a-b_c.ABCDEFGHIJKLMNOP")
        );
        for wrong in [
            "",
            "shop",
            "shop.0123456789abcde",
            ".0123456789abcdef",
            "shop.0123456789abcde f",
            "shop.0123456789abcdef.",
            "sk_live_x.0123456789abcdef",
            "shop.0123456789abcdeé",
        ] {
            assert!(!is_importable_legacy_key(wrong), "{wrong}");
        }
        assert!(!is_importable_legacy_key(&format!("a.{}", "b".repeat(200))));
    }

    #[test]
    fn last4_returns_four_characters() {
        assert_eq!(last4("sk_test_sandbox"), "dbox");
        assert_eq!(last4("é"), "é");
    }
}
