//! Hashes, scripts, amounts and times in responses, validated while they are parsed.
//!
//! Invariant: an amount is parsed from its decimal digits, without rounding.

use crate::chain::rpc::deserialize_str;
use crate::domain::time::SECOND_MS;
use crate::domain::{Time, Units};
use serde::{Deserialize, Deserializer};

/// Number of decimal places of every coin on UTXO chains.
const DECIMALS: i64 = 8;
/// Largest size of a stored script, in bytes. The script of an address has at most 34 bytes.
const SCRIPT_BYTES_MAX: usize = 40;
/// Largest number of digits of a parsed number. An amount has far fewer digits.
const DIGITS_MAX: usize = 64;

/// Hash of a block or a transaction, as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::chain) struct HashText(pub String);

/// A hash as bytes. Needs less memory than [`HashText`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct HashBytes(pub [u8; 32]);

/// A script; `None` if it is too long for an address.
pub(super) struct ShortScript(pub Option<([u8; SCRIPT_BYTES_MAX], usize)>);

impl ShortScript {
    /// Returns the bytes of the script; `None` if it is too long for an address.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        let (bytes, length) = self.0.as_ref()?;
        bytes.get(..*length)
    }
}

impl HashBytes {
    /// Parses 64 lower-case hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<HashBytes> {
        let mut bytes = [0; 32];
        let length = base16ct::lower::decode(text, &mut bytes).ok()?.len();
        (length == 32).then_some(HashBytes(bytes))
    }

    pub(super) fn hex_text(&self) -> String {
        base16ct::lower::encode_string(&self.0)
    }
}

impl<'de> Deserialize<'de> for HashText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "a hash of 64 hexadecimal digits", |text: &str| {
            is_hash_text(text).then(|| HashText(text.to_owned()))
        })
    }
}

impl<'de> Deserialize<'de> for HashBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "a hash of 64 hexadecimal digits", HashBytes::parse)
    }
}

impl<'de> Deserialize<'de> for ShortScript {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "a script in hexadecimal", |text: &str| {
            let mut bytes = [0; SCRIPT_BYTES_MAX];
            if text.len() > SCRIPT_BYTES_MAX.saturating_mul(2) {
                return Some(ShortScript(None));
            }
            let length = base16ct::mixed::decode(text, &mut bytes).ok()?.len();
            Some(ShortScript(Some((bytes, length))))
        })
    }
}

fn is_hash_text(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 64 && text.bytes().all(is_digit)
}

/// Parses an amount in coins, with or without an exponent. `None` if the amount is negative, too large, or has more
/// than eight decimal places.
pub(super) fn parse_amount(number: &serde_json::Number) -> Option<Units> {
    let text = number.to_string();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.len() > DIGITS_MAX || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let places = i64::try_from(fraction.len()).ok()?;
    let shift = i64::from(exponent).checked_add(DECIMALS)?.checked_sub(places)?;
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Units::ZERO);
    }
    let places = usize::try_from(shift.unsigned_abs()).ok()?;
    let units = if shift >= 0 {
        (places <= DIGITS_MAX).then(|| format!("{significant}{}", "0".repeat(places)))?
    } else {
        let kept = significant.len().checked_sub(places)?;
        let (kept, cut) = significant.split_at_checked(kept)?;
        cut.bytes().all(|digit| digit == b'0').then(|| kept.to_owned())?
    };
    let units: u128 = units.parse().ok()?;
    // Nodes store amounts as signed 64-bit integers.
    (units <= u128::from(i64::MAX.unsigned_abs())).then_some(Units(units))
}

/// Converts Unix seconds; `None` if the time is too large for [`Time`].
pub(in crate::chain) fn unix_time(seconds: u64) -> Option<Time> {
    let ms = i64::try_from(seconds).ok()?.checked_mul(SECOND_MS)?;
    (ms <= Time::MAX.0).then_some(Time(ms))
}

#[cfg(test)]
mod tests {
    use super::{HashBytes, HashText, ShortScript, parse_amount, unix_time};
    use crate::domain::Units;

    fn parse_amount_text(text: &str) -> Option<u128> {
        let number: serde_json::Number = serde_json::from_str(text).ok()?;
        parse_amount(&number).map(|Units(units)| units)
    }

    #[test]
    fn amount_is_parsed_without_rounding() {
        for (text, expected) in [
            ("0", 0),
            ("0.0", 0),
            ("0e99", 0),
            ("1", 100_000_000),
            ("0.00000001", 1),
            ("1e-8", 1),
            ("1E-08", 1),
            ("12.5e-8", 0),
            ("10.0e-8", 10),
            ("1.5e+3", 150_000_000_000),
            ("0.1", 10_000_000),
            ("0.10000000000", 10_000_000),
            ("20999999.97690000", 2_099_999_997_690_000),
            // A floating-point number of 64 bits cannot represent this amount.
            ("90071992547.40993001", 9_007_199_254_740_993_001),
            ("92233720368.54775807", 9_223_372_036_854_775_807),
        ] {
            let expected = Some(expected).filter(|_| text != "12.5e-8");
            assert_eq!(parse_amount_text(text), expected, "{text}");
        }
        for wrong in [
            "-1",
            "-0.5",
            "0.000000001",
            "1e-9",
            "92233720368.54775808",
            "1e30",
            "1e30000",
            "1e99999999999",
            "1e-30000",
            &"9".repeat(500),
            &format!("0.{}1", "0".repeat(500)),
        ] {
            assert_eq!(parse_amount_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn malformed_hashes_and_scripts_are_rejected() {
        let hash = "0f".repeat(32);
        let quoted = format!("\"{hash}\"");
        assert!(serde_json::from_str::<HashText>(&quoted).is_ok());
        let bytes: Result<HashBytes, _> = serde_json::from_str(&quoted);
        assert_eq!(bytes.map(|bytes| bytes.hex_text()).ok(), Some(hash.clone()));
        for wrong in [
            "\"\"".to_owned(),
            quoted.to_uppercase(),
            format!("\"0x{hash}\""),
            format!("\"{}g\"", "0f".repeat(31)),
            format!("\"{}\"", "é".repeat(32)),
            "7".to_owned(),
            "null".to_owned(),
        ] {
            assert!(serde_json::from_str::<HashText>(&wrong).is_err(), "{wrong}");
            assert!(serde_json::from_str::<HashBytes>(&wrong).is_err(), "{wrong}");
        }
        let script = |text: &str| {
            let script: Option<ShortScript> = serde_json::from_str(&format!("\"{text}\"")).ok();
            script.map(|script| script.bytes().map(<[u8]>::to_vec))
        };
        assert_eq!(script("00ff"), Some(Some(vec![0, 255])));
        assert_eq!(script(""), Some(Some(Vec::new())));
        assert_eq!(script(&"6a".repeat(41)), Some(None));
        assert_eq!(script("0"), None);
        assert_eq!(script("zz"), None);
    }

    #[test]
    fn unix_time_is_in_seconds() {
        assert_eq!(unix_time(1_300_000_000).map(|at| at.0), Some(1_300_000_000_000));
        assert_eq!(unix_time(u64::MAX), None);
        assert_eq!(unix_time(253_402_300_800), None);
    }
}
