//! Telling private keys and seed phrases in a text, so that they are refused by what they are.
//!
//! What always holds: whoever asks learns which kind it is, and nothing of the text.

use super::extended::EXTENDED_BYTES;
use crate::domain::text_enum::text_enum;

text_enum! {
    /// What gives away the money of a wallet.
    pub enum Secret {
        /// An extended private key: xprv, yprv, zprv, tprv, Ltpv, dgpv and the like.
        Extended = "an extended private key",
        /// The words of a wallet (BIP 39), of whatever list.
        Phrase = "a seed phrase",
        /// A single private key in base58.
        Wif = "a private key (WIF)",
        /// The same, under a password (BIP 38).
        Encrypted = "an encrypted private key (BIP 38)",
        /// A single private key in hexadecimal.
        Hex = "a private key in hexadecimal",
    }
}

/// How extended private keys begin (SLIP-132, and those of litecoin and dogecoin).
const BEGINNINGS: [&str; 15] = [
    "xprv", "yprv", "zprv", "Yprv", "Zprv", "tprv", "uprv", "vprv", "Uprv", "Vprv", "Ltpv", "Mtpv",
    "ttpv", "dgpv", "tgpv",
];

/// The fewest words of a phrase.
const WORDS_MIN: usize = 12;
/// The longest word of a list, in characters.
const WORD_CHARS_MAX: usize = 16;
/// The shortest text that is taken for the beginning of an extended key.
const BEGUN_BYTES_MIN: usize = 16;

impl Secret {
    /// The first that is found anywhere in a text.
    pub fn in_text(text: &str) -> Option<Secret> {
        Secret::in_argument(text).or_else(|| pieces(text).find_map(hexadecimal))
    }

    /// The same in what may hold numbers in hexadecimal besides, which are a private key only where they stand alone.
    pub fn in_argument(text: &str) -> Option<Secret> {
        let found = pieces(text).find_map(of_piece);
        found
            .or_else(|| is_phrase(text).then_some(Secret::Phrase))
            .or_else(|| hexadecimal(text.trim()))
    }
}

/// Are so many of these texts in a row single words that they are a phrase?
pub fn are_phrase<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let mut row: usize = 0;
    texts.into_iter().any(|text| {
        let is_word = !text.is_empty() && text.chars().all(char::is_alphabetic);
        row = if is_word { row.saturating_add(1) } else { 0 };
        row >= WORDS_MIN
    })
}

/// Is this, alone on a line, what the words of a phrase are? No public key is so short.
pub fn is_word(text: &str) -> bool {
    let chars = text.chars().count();
    (1..=WORD_CHARS_MAX).contains(&chars) && text.chars().all(char::is_alphabetic)
}

/// The texts between all that is neither letter nor digit.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|piece| !piece.is_empty())
}

/// What a text without gaps is, if it is secret. One with a mistake in it is told by its beginning and its length.
fn of_piece(piece: &str) -> Option<Secret> {
    let begins = BEGINNINGS.iter().any(|begin| piece.starts_with(begin));
    if begins && piece.len() >= BEGUN_BYTES_MIN {
        return Some(Secret::Extended);
    }
    let mut bytes = [0; EXTENDED_BYTES + 4];
    let decoded = bs58::decode(piece).with_check(None).onto(&mut bytes);
    match (decoded, piece.len()) {
        // The key of an extended one begins with 0 where it is private.
        (Ok(EXTENDED_BYTES), _) => (bytes.get(45) == Some(&0)).then_some(Secret::Extended),
        (Ok(33 | 34), _) => Some(Secret::Wif),
        (Ok(39), _) | (_, 58) if piece.starts_with("6P") => Some(Secret::Encrypted),
        (_, 51 | 52) if is_base58(piece) => Some(Secret::Wif),
        _ => None,
    }
}

fn is_base58(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'O' | b'I' | b'l'))
}

/// 32 bytes in hexadecimal, with 0x or without.
fn hexadecimal(text: &str) -> Option<Secret> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    let is_key = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_key.then_some(Secret::Hex)
}

/// Twelve words or more, whatever separates or numbers them, except that the parts of a path are no words.
fn is_phrase(text: &str) -> bool {
    let pieces = text.split(|c: char| !c.is_alphanumeric() && c != '/');
    pieces.filter(|piece| is_word(piece)).count() >= WORDS_MIN
}
