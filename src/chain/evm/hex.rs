//! Numbers and bytes of Ethereum JSON-RPC, which are hexadecimal strings.
//!
//! Invariant: a number is never truncated. A conversion to a smaller type returns `None` if the number does not fit.

use crate::chain::rpc::deserialize_str;
use base16ct::HexDisplay;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Largest number of digits without leading zeros, for 256 bits.
const DIGITS_MAX: usize = 64;

/// Array of bytes of a fixed length, such as a hash or an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FixedBytes<const N: usize>(pub [u8; N]);

/// Hash of a block or a transaction, or an EVM word of 256 bits.
pub type Word = FixedBytes<32>;
/// Address of an account or a contract.
pub type Account = FixedBytes<20>;

/// A number of up to 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A number that fits into 128 bits.
    Small(u128),
    /// A number that needs more than 128 bits.
    Large,
}

/// Length and first word of a byte string. The remaining bytes are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPrefix {
    /// Length of the byte string, in bytes.
    pub length: usize,
    /// Number in the first 32 bytes; `None` if the string is shorter.
    pub first: Option<Number>,
}

impl<const N: usize> fmt::Display for FixedBytes<N> {
    /// Writes `0x` and lower-case hexadecimal digits.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "0x{:x}", HexDisplay(&self.0))
    }
}

impl<const N: usize> fmt::Debug for FixedBytes<N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl<const N: usize> FixedBytes<N> {
    /// Parses `0x` and hexadecimal digits in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        FixedBytes::parse_digits(strip_0x(text)?)
    }

    /// Parses hexadecimal digits in upper or lower case, without `0x`.
    pub fn parse_digits(digits: &[u8]) -> Option<Self> {
        let mut bytes = [0; N];
        let length = base16ct::mixed::decode(digits, &mut bytes).ok()?.len();
        (length == N).then_some(FixedBytes(bytes))
    }
}

impl Word {
    /// Returns the account in the last 20 bytes; `None` if the first 12 bytes are not zero.
    pub fn to_account(self) -> Option<Account> {
        let (before, account) = self.0.split_at(12);
        let is_padded = before.iter().all(|byte| *byte == 0);
        account.try_into().ok().filter(|_| is_padded).map(FixedBytes)
    }
}

impl Account {
    /// Returns the account as a word, with 12 zero bytes before it.
    pub fn to_word(self) -> Word {
        let mut word = [0; 32];
        if let Some(end) = word.get_mut(12..) {
            end.copy_from_slice(&self.0);
        }
        FixedBytes(word)
    }
}

impl Number {
    /// Parses `0x` and at least one hexadecimal digit.
    pub fn parse(text: &str) -> Option<Number> {
        Number::parse_digits(strip_0x(text)?)
    }

    /// Parses at least one hexadecimal digit, without `0x`.
    pub fn parse_digits(digits: &[u8]) -> Option<Number> {
        Some(digits).filter(|digits| !digits.is_empty()).and_then(parse_number)
    }

    /// Returns the number; `None` if it has more than 128 bits.
    pub fn to_u128(self) -> Option<u128> {
        match self {
            Number::Small(number) => Some(number),
            Number::Large => None,
        }
    }

    /// Returns `true` if the number is zero.
    pub fn is_zero(self) -> bool {
        self == Number::Small(0)
    }

    /// Returns the number; `None` if it has more than 32 bits.
    pub fn to_u32(self) -> Option<u32> {
        u32::try_from(self.to_u128()?).ok()
    }
}

impl DataPrefix {
    fn parse(text: &str) -> Option<DataPrefix> {
        let digits = strip_0x(text)?;
        let (pairs, rest) = digits.as_chunks::<2>();
        let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
        if !is_hex || !rest.is_empty() {
            return None;
        }
        Some(DataPrefix {
            length: pairs.len(),
            first: digits.get(..DIGITS_MAX).and_then(parse_number),
        })
    }
}

/// Returns the digits after `0x`; `None` if the prefix is missing.
fn strip_0x(text: &str) -> Option<&[u8]> {
    text.strip_prefix("0x").map(str::as_bytes)
}

/// Parses a number; `None` if a character is not a digit, or the number has more than 256 bits.
fn parse_number(digits: &[u8]) -> Option<Number> {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let digits = digits.get(zeros..).unwrap_or_default();
    if digits.len() > DIGITS_MAX {
        return None;
    }
    let mut number = Number::Small(0);
    for digit in digits {
        let nibble = u128::from(char::from(*digit).to_digit(16)?);
        number = match number {
            Number::Small(number) if number >> 124 == 0 => Number::Small(number << 4 | nibble),
            _ => Number::Large,
        };
    }
    Some(number)
}

impl<'de, const N: usize> Deserialize<'de> for FixedBytes<N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "a hash or an address in hexadecimal", FixedBytes::parse)
    }
}

impl<const N: usize> Serialize for FixedBytes<N> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "a number in hexadecimal", Number::parse)
    }
}

impl<'de> Deserialize<'de> for DataPrefix {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "bytes in hexadecimal", DataPrefix::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, DataPrefix, FixedBytes, Number, Word};

    #[test]
    fn large_number_is_not_truncated() {
        let largest = format!("0x{}", "f".repeat(32));
        let padded = format!("0x{}2a", "0".repeat(100));
        for (text, number) in [
            ("0x0", Some(Number::Small(0))),
            ("0x2A", Some(Number::Small(42))),
            (padded.as_str(), Some(Number::Small(42))),
            (largest.as_str(), Some(Number::Small(u128::MAX))),
            (&format!("0x1{}", "0".repeat(32)), Some(Number::Large)),
            (&format!("0x{}", "f".repeat(64)), Some(Number::Large)),
            (&format!("0x1{}", "0".repeat(64)), None),
            ("0x", None),
            ("", None),
            ("42", None),
            ("0X2a", None),
            ("0x-1", None),
            ("0x+1", None),
            ("0x2g", None),
            ("0x2é", None),
            (" 0x2", None),
        ] {
            assert_eq!(Number::parse(text), number, "{text}");
            let json = serde_json::to_string(text).unwrap_or_default();
            let read = serde_json::from_str::<Number>(&json).ok();
            assert_eq!(read, number, "{text}");
        }
        assert!(serde_json::from_str::<Number>("7").is_err());
        assert!(serde_json::from_str::<Number>("null").is_err());
        assert_eq!(Number::Small(1 << 32).to_u32(), None);
        assert_eq!(Number::Large.to_u32(), None);
    }

    #[test]
    fn bytes_have_fixed_length_and_print_in_lower_case() {
        let text = "0x00000000000000000000000000000000000000Ab";
        let account = Account::parse(text);
        let written = account.map(|account| account.to_string());
        assert_eq!(written, Some(text.to_lowercase()));
        for wrong in ["", "0x", &text[..41], &text[2..], "0xzz", &format!("{text}00")] {
            assert_eq!(Account::parse(wrong), None, "{wrong}");
        }
        let word = account.map(Account::to_word);
        assert_eq!(word.and_then(Word::to_account), account);
        let mut high = [0; 32];
        high[11] = 1;
        assert_eq!(FixedBytes(high).to_account(), None);
    }

    #[test]
    fn data_prefix_keeps_length_and_first_word() {
        let one = format!("0x{:064x}", 1);
        let large = format!("0x{}{}", "f".repeat(64), "0".repeat(64));
        let data = |length, first| Some(DataPrefix { length, first });
        assert_eq!(DataPrefix::parse("0x"), data(0, None));
        assert_eq!(DataPrefix::parse("0x01"), data(1, None));
        assert_eq!(DataPrefix::parse(&one), data(32, Some(Number::Small(1))));
        assert_eq!(DataPrefix::parse(&large), data(64, Some(Number::Large)));
        assert_eq!(DataPrefix::parse("0x0"), None);
        assert_eq!(DataPrefix::parse("0xgg"), None);
    }
}
