//! Bytes in the Tron HTTP API: hexadecimal digits without `0x`.

use crate::chain::evm::hex::{self, FixedBytes, Number, Word};
use crate::chain::rpc::deserialize_str;
use base16ct::HexDisplay;
use serde::{Deserialize, Deserializer};
use std::fmt;

/// Number of hexadecimal digits of a 32-byte word.
const WORD_DIGITS: usize = 64;
/// Prefix byte of an address, as hexadecimal digits (<https://developers.tron.network/docs/account>).
const PREFIX: &[u8] = b"41";

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TronId(Word);

/// Address of an account or a contract. The text of an address may begin with a prefix, which logs omit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TronAccount(pub hex::Account);

impl fmt::Display for TronId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FixedBytes(bytes) = self.0;
        write!(out, "{:x}", HexDisplay(&bytes))
    }
}

impl fmt::Debug for TronId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl TronId {
    /// Parses 64 hexadecimal digits in upper or lower case.
    pub fn parse(text: &str) -> Option<TronId> {
        FixedBytes::parse_digits(text.as_bytes()).map(TronId)
    }

    /// Returns the height of a block, which is in the first bytes of its id.
    pub fn height(self) -> u64 {
        let FixedBytes(bytes) = self.0;
        let first = bytes.first_chunk::<8>();
        first.map_or(0, |first| u64::from_be_bytes(*first))
    }
}

impl TronAccount {
    /// Parses 40 hexadecimal digits, or 42 with the prefix.
    pub fn parse(text: &str) -> Option<TronAccount> {
        let digits = text.as_bytes();
        let plain = match digits.strip_prefix(PREFIX) {
            Some(plain) if digits.len() == 42 => plain,
            _ => digits,
        };
        FixedBytes::parse_digits(plain).map(TronAccount)
    }
}

/// Splits the digits after index `from` into words of 64 digits.
pub fn split_words(text: &str, from: usize) -> impl Iterator<Item = &[u8]> {
    let digits = text.as_bytes().get(from..).unwrap_or_default();
    digits.as_chunks::<WORD_DIGITS>().0.iter().map(<[u8; 64]>::as_slice)
}

/// Returns the account in the last 20 bytes of a word. Ignores the first 12 bytes, because token contracts ignore
/// them.
pub fn word_to_account(word: &[u8]) -> Option<hex::Account> {
    FixedBytes::parse_digits(word.get(24..)?)
}

pub fn word_to_number(text: &str) -> Option<Number> {
    let digits = text.as_bytes();
    Some(digits).filter(|digits| digits.len() == WORD_DIGITS).and_then(Number::parse_digits)
}

impl<'de> Deserialize<'de> for TronId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "an id of 64 digits in hexadecimal", TronId::parse)
    }
}

impl<'de> Deserialize<'de> for TronAccount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_str(from, "an address in hexadecimal", TronAccount::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::{TronAccount, TronId, split_words, word_to_account, word_to_number};
    use crate::chain::evm::hex::Number;

    #[test]
    fn id_begins_with_the_height_of_its_block() {
        // Id of block 66 987 565 on the Nile test network, from the documentation of `/wallet/getblockbynum`.
        let text = "0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e";
        let id = TronId::parse(text);
        assert_eq!(id.map(TronId::height), Some(66_987_565));
        assert_eq!(id.map(|id| id.to_string()).as_deref(), Some(text));
        for wrong in ["", "0x", &text[1..], &format!("0x{}", &text[2..])] {
            assert_eq!(TronId::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn account_parses_with_and_without_prefix() {
        let plain = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
        let account = TronAccount::parse(plain);
        assert!(account.is_some());
        assert_eq!(TronAccount::parse(&format!("41{plain}")), account);
        let own = format!("41{}", &plain[2..]);
        assert_ne!(TronAccount::parse(&own), TronAccount::parse(plain));
        for wrong in ["", "41", &plain[2..], &format!("42{plain}"), "0x", &format!("4141{plain}")] {
            assert_eq!(TronAccount::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn account_is_last_20_bytes_of_word() {
        let data = format!("a9059cbb{:024}{}{:064x}12", 41, "ab".repeat(20), 7);
        let words: Vec<_> = split_words(&data, 8).collect();
        assert_eq!(words.len(), 2);
        let account = words.first().and_then(|word| word_to_account(word));
        assert_eq!(account.map(|account| account.0), Some([0xab; 20]));
        let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
        let number = words.get(1).and_then(|word| word_to_number(&text(word)));
        assert_eq!(number, Some(Number::Small(7)));
        assert_eq!(word_to_number("07"), None);
    }
}
