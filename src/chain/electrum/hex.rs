//! Converts bytes to and from hexadecimal text. The text of a hash lists its bytes in reverse order.

use base16ct::lower::encode_string;
use sha2::{Digest, Sha256};

/// Double SHA-256 hash in internal byte order, such as the id of a block or a transaction.
pub(super) type Hash256 = [u8; 32];

/// Parses lower-case hexadecimal digits.
pub(super) fn parse_bytes(text: &str) -> Option<Vec<u8>> {
    base16ct::lower::decode_vec(text).ok()
}

/// Parses a hash from its text, in reverse byte order.
pub(super) fn parse_hash(text: &str) -> Option<Hash256> {
    let mut hash = Hash256::try_from(parse_bytes(text)?).ok()?;
    hash.reverse();
    Some(hash)
}

/// Writes a hash as text, in reverse byte order.
pub(super) fn format_hash(hash: &Hash256) -> String {
    let mut hash = *hash;
    hash.reverse();
    encode_string(&hash)
}

pub(super) fn double_sha256(bytes: &[u8]) -> Hash256 {
    Sha256::digest(Sha256::digest(bytes)).into()
}

#[cfg(test)]
mod tests {
    use super::{double_sha256, encode_string, format_hash, parse_bytes, parse_hash};

    #[test]
    fn hex_round_trips() {
        assert_eq!(parse_bytes("00ff1a"), Some(vec![0, 255, 26]));
        assert_eq!(encode_string(&[0, 255, 26]), "00ff1a");
        for wrong in ["0", "0g", "FF", "é"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
        let one = format!("{}01", "00".repeat(31));
        assert_eq!(parse_hash(&one).map(|hash| format_hash(&hash)), Some(one));
        assert_eq!(parse_hash("00"), None);
        // Hash of "hello", from the Bitcoin developer documentation.
        let expected = "9595c9df90075148eb06860365df33584b75bff782a510c6cd4883a419833d50";
        assert_eq!(encode_string(&double_sha256(b"hello")), expected);
    }
}
