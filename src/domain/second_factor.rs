//! Second factor: codes of an authenticator app (TOTP, RFC 6238), and recovery codes as a substitute.
//!
//! Invariant: codes are compared in constant time, and no code here prints a secret.

use super::apikey;
use super::refusal::{self, Refusal};
use super::time::{SECOND_MS, Time};
use super::user::User;
use totp_rs::{Algorithm, Builder, Secret as Bytes, Totp};

/// Number of recovery codes that a user gets at once.
pub const RECOVERY_CODES: usize = 10;
/// Longest accepted text of a code, in characters: a recovery code with spaces.
pub const CODE_CHARS_MAX: usize = 40;
/// Message for a missing code.
pub const CODE_MISSING: &str =
    "code must be given: the six digits that your authenticator app shows now, or a recovery code";

/// Returns the refusal for a code that was used before. Such a code does not count as a wrong guess, since the user
/// knew the code.
pub fn used_code_refusal() -> Refusal {
    let message = "code was used already, or a later one was; wait for the next code of your authenticator app";
    Refusal::for_param(refusal::RefusalCode::InvalidCredentials, "code", message)
}

/// Issuer that authenticator apps display.
const ISSUER: &str = "Coffer";
/// Number of digits of a code. Every app supports six digits, and many support no other number.
const DIGITS: u8 = 6;
/// Length of a time step. Every app supports 30 seconds, and many support no other length.
const STEP_SECONDS: u64 = 30;
/// Accepted clock difference, in time steps earlier or later.
const DRIFT: u16 = 1;
/// Number of characters of a recovery code: 5 random bits each, 80 in all.
const RECOVERY_CHARS: usize = 16;
/// Number of characters in a displayed group of a recovery code.
const GROUP: usize = 4;

/// Secret that an authenticator app and Coffer share: 160 random bits, as RFC 4226 recommends.
pub struct TotpSecret(pub [u8; 20]);

impl TotpSecret {
    fn totp(&self) -> Totp {
        Builder::new()
            .with_algorithm(Algorithm::SHA1)
            .with_digits(DIGITS)
            .with_step_duration(STEP_SECONDS)
            .with_skew(DRIFT)
            .with_secret(Bytes::new_stack(self.0))
            .build_noncompliant()
    }

    /// Returns the accepted time step around `real_now` whose code is `digits`; `None` if there is none.
    pub fn matching_step(&self, digits: &str, real_now: Time) -> Option<i64> {
        let seconds = u64::try_from(real_now.0.div_euclid(SECOND_MS)).ok()?;
        let step = self.totp().check(digits, seconds)?;
        i64::try_from(step).ok()
    }

    /// Returns the newest time step whose code is accepted at `real_now`.
    pub fn newest_step(real_now: Time) -> i64 {
        let seconds = u64::try_from(real_now.0.div_euclid(SECOND_MS)).unwrap_or_default();
        let step = seconds.div_euclid(STEP_SECONDS);
        i64::try_from(step.saturating_add(DRIFT.into())).unwrap_or(i64::MAX)
    }

    /// Returns the secret in base32 without padding, for typing into an app.
    pub fn to_base32(&self) -> String {
        Bytes::new_stack(self.0).to_base32()
    }

    /// Returns the secret as an `otpauth` URI for a QR code, with everything that an app needs.
    pub fn otpauth_uri(&self, user: &User) -> String {
        format!(
            "otpauth://totp/{ISSUER}:{}?secret={}&issuer={ISSUER}&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}",
            percent_encode(&user.email),
            self.to_base32()
        )
    }
}

/// Percent-encodes a text as part of a path. The unreserved characters of RFC 3986 are kept.
fn percent_encode(text: &str) -> String {
    let mut path = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

/// A code that a user entered.
pub enum EnteredCode {
    /// Six digits from an authenticator app.
    OfApp(String),
    /// SHA-256 of a recovery code.
    Recovery([u8; 32]),
}

impl EnteredCode {
    /// Reads a code with any spacing. A recovery code may be in upper or lower case, with hyphens or without.
    ///
    /// # Errors
    /// `invalid_request` if the text is neither kind of code.
    pub fn read(text: &str) -> Result<EnteredCode, Refusal> {
        let is_shown = |letter: &char| !letter.is_whitespace() && *letter != '-';
        let plain: String = text.chars().filter(is_shown).collect();
        let plain = plain.to_ascii_uppercase();
        if plain.len() == usize::from(DIGITS) && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(EnteredCode::OfApp(plain));
        }
        let is_base32 = |byte: u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
        if plain.len() == RECOVERY_CHARS && plain.bytes().all(is_base32) {
            return Ok(EnteredCode::Recovery(apikey::hash_key(&plain)));
        }
        let problem =
            "must be the six digits that your authenticator app shows now, or a recovery code";
        Err(Refusal::field("code", problem))
    }
}

/// Makes a recovery code of these random bits. Returns its text and its SHA-256.
pub fn recovery_code(random: [u8; 10]) -> (String, [u8; 32]) {
    let plain = Bytes::new(Box::new(random)).to_base32();
    let hash = apikey::hash_key(&plain);
    let mut shown = String::with_capacity(RECOVERY_CHARS.saturating_add(3));
    for (at, letter) in plain.chars().enumerate() {
        if at > 0 && at.is_multiple_of(GROUP) {
            shown.push('-');
        }
        shown.push(letter.to_ascii_lowercase());
    }
    (shown, hash)
}

#[cfg(test)]
mod tests {
    use super::{EnteredCode, TotpSecret, percent_encode, recovery_code};
    use crate::domain::time::Time;

    const VECTORS: TotpSecret = TotpSecret(*b"12345678901234567890");

    /// The expected codes are the last six of the eight digits that RFC 6238 lists in appendix B for SHA-1.
    #[test]
    fn totp_codes_match_rfc_6238() {
        for (seconds, digits) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            let now = Time(seconds * 1000);
            assert_eq!(VECTORS.matching_step(digits, now), Some(seconds / 30), "{digits}");
        }
        assert_eq!(VECTORS.to_base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn code_is_accepted_one_step_early_or_late() {
        // This is the code of step 1, which lasts from 30 s to 59.999 s.
        for (ms, fits) in [
            (0, true),
            (30_000, true),
            (59_999, true),
            (89_999, true),
            (90_000, false),
            (-1, false),
            (i64::MIN, false),
        ] {
            let step = VECTORS.matching_step("287082", Time(ms));
            assert_eq!(step, fits.then_some(1), "{ms}");
            let newest = TotpSecret::newest_step(Time(ms));
            assert_eq!(fits, ms >= 0 && (1..=3).contains(&newest), "{ms}");
        }
        for digits in ["287083", "", "28708", "2870820", "+28708", "２87082"] {
            assert_eq!(VECTORS.matching_step(digits, Time(59_000)), None, "{digits}");
        }
    }

    #[test]
    fn code_is_read_with_any_spacing_and_case() {
        for text in ["287082", " 287 082\n", "287-082"] {
            let is_same =
                matches!(EnteredCode::read(text), Ok(EnteredCode::OfApp(code)) if code == "287082");
            assert!(is_same, "{text}");
        }
        let (shown, hash) = recovery_code([0xa5; 10]);
        assert_eq!(shown.len(), 19);
        for text in
            [shown.clone(), shown.to_uppercase(), shown.replace('-', " "), shown.replace('-', "")]
        {
            let is_same =
                matches!(EnteredCode::read(&text), Ok(EnteredCode::Recovery(read)) if read == hash);
            assert!(is_same, "{text}");
        }
        for text in ["", "12345", "1234567", "abcdef", "１23456", "abcd-efgh-ijkl-mno1"] {
            assert!(EnteredCode::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn email_is_escaped_in_an_otpauth_uri() {
        assert_eq!(percent_encode("a+b:c?d@shop.test"), "a%2Bb%3Ac%3Fd%40shop.test");
        assert_eq!(percent_encode("ä@x"), "%C3%A4%40x");
    }
}
