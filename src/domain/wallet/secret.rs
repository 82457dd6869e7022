//! Detects private keys and seed phrases in a text, so that a refusal can name their kind.
//!
//! Invariant: the caller learns only the kind of the secret, and no part of the text.

use super::extended::EXTENDED_BYTES;
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Kind of a secret that controls the money of a wallet.
    pub enum WalletSecret {
        /// An extended private key: xprv, yprv, zprv, tprv, Ltpv, dgpv and the like.
        Extended = "an extended private key",
        /// Seed phrase of a wallet (BIP 39), in any language.
        Phrase = "a seed phrase",
        /// A single private key in base58.
        Wif = "a private key (WIF)",
        /// A single private key with a password (BIP 38).
        Encrypted = "an encrypted private key (BIP 38)",
        /// A single private key in hexadecimal.
        Hex = "a private key in hexadecimal",
    }
}

/// Prefixes of extended private keys (SLIP-132, Litecoin and Dogecoin).
const BEGINNINGS: [&str; 15] = [
    "xprv", "yprv", "zprv", "Yprv", "Zprv", "tprv", "uprv", "vprv", "Uprv", "Vprv", "Ltpv", "Mtpv",
    "ttpv", "dgpv", "tgpv",
];

/// Smallest number of words in a seed phrase.
const WORDS_MIN: usize = 12;
/// Longest word in a seed phrase, in characters.
const WORD_CHARS_MAX: usize = 16;
/// Shortest text that is recognized as a truncated extended key, in bytes.
const BEGUN_BYTES_MIN: usize = 16;

impl WalletSecret {
    /// Returns the first secret found anywhere in a text.
    pub fn find_in_text(text: &str) -> Option<WalletSecret> {
        WalletSecret::find_in_argument(text).or_else(|| split_words(text).find_map(detect_hex_key))
    }

    /// Returns the first secret in a text that may contain harmless hexadecimal numbers. A hexadecimal number counts
    /// only if it is the whole text.
    pub fn find_in_argument(text: &str) -> Option<WalletSecret> {
        let found = split_words(text).find_map(detect_secret);
        found
            .or_else(|| is_seed_phrase(text).then_some(WalletSecret::Phrase))
            .or_else(|| detect_hex_key(text.trim()))
    }
}

/// Returns `true` if at least twelve texts in a row are single words, which may be a seed phrase.
pub fn contains_seed_phrase<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let mut row: usize = 0;
    texts.into_iter().any(|text| {
        let is_word = !text.is_empty() && text.chars().all(char::is_alphabetic);
        row = if is_word { row.saturating_add(1) } else { 0 };
        row >= WORDS_MIN
    })
}

/// Returns `true` if the text may be one word of a seed phrase. No public key is as short as a word.
pub fn may_be_seed_phrase_word(text: &str) -> bool {
    let chars = text.chars().count();
    (1..=WORD_CHARS_MAX).contains(&chars) && text.chars().all(char::is_alphabetic)
}

/// Splits a text at every character that is not a letter or digit.
fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty())
}

/// Returns the kind of secret in a piece of text. A mistyped secret is recognized by its prefix and length.
fn detect_secret(piece: &str) -> Option<WalletSecret> {
    let begins = BEGINNINGS.iter().any(|begin| piece.starts_with(begin));
    if begins && piece.len() >= BEGUN_BYTES_MIN {
        return Some(WalletSecret::Extended);
    }
    let mut bytes = [0; EXTENDED_BYTES + 4];
    let decoded = bs58::decode(piece).with_check(None).onto(&mut bytes);
    match (decoded, piece.len()) {
        // In an extended private key, the byte before the key is 0.
        (Ok(EXTENDED_BYTES), _) => (bytes.get(45) == Some(&0)).then_some(WalletSecret::Extended),
        (Ok(33 | 34), _) => Some(WalletSecret::Wif),
        (Ok(39), _) | (_, 58) if piece.starts_with("6P") => Some(WalletSecret::Encrypted),
        (_, 51 | 52) if is_base58(piece) => Some(WalletSecret::Wif),
        _ => None,
    }
}

fn is_base58(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'O' | b'I' | b'l'))
}

/// Returns [`WalletSecret::Hex`] for 32 bytes in hexadecimal, with or without 0x.
fn detect_hex_key(text: &str) -> Option<WalletSecret> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    let is_key = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_key.then_some(WalletSecret::Hex)
}

/// Returns `true` for twelve words or more, with any separators or numbers between them. Parts of a path do not count
/// as words.
fn is_seed_phrase(text: &str) -> bool {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '/');
    pieces.filter(|piece| may_be_seed_phrase_word(piece)).count() >= WORDS_MIN
}
