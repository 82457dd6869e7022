//! Solana addresses: whether an address can sign, and the token account of an owner for a mint.
//!
//! Sources: <https://solana.com/docs/core/pda>, <https://www.solana-program.com/docs/associated-token-account>.

use super::{Chain, Network, parse};
use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest, Sha256};

/// Address of the SPL token program. Token-2022 is another program.
pub const TOKEN_PROGRAM: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_PROGRAM: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
/// Programs that handle tokens, each with its name (<https://solana.com/docs/tokens>).
pub const TOKEN_PROGRAMS: [(&str, &str); 3] = [
    (TOKEN_PROGRAM, "token program"),
    ("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", "Token-2022 program"),
    (ASSOCIATED_PROGRAM, "associated token program"),
];
/// Suffix of the bytes whose SHA-256 is a program-derived address.
const DERIVED: &[u8] = b"ProgramDerivedAddress";

/// Returns `true` if a Solana address is a public key. All other addresses are derived from programs and cannot sign.
pub fn can_sign(address: &str) -> bool {
    decode_key(address).is_some_and(|key| is_on_curve(&key))
}

/// Returns the token account of an owner for a mint, in base58; `None` if `owner` or `mint` is not an address.
pub fn token_account(owner: &str, mint: &str) -> Option<String> {
    let [owner, mint] = [decode_key(owner)?, decode_key(mint)?];
    let [tokens, associated] = [decode_key(TOKEN_PROGRAM)?, decode_key(ASSOCIATED_PROGRAM)?];
    let derived = |bump: u8| -> [u8; 32] {
        let mut hash = Sha256::new();
        for seed in [&owner, &tokens, &mint] {
            hash.update(seed);
        }
        hash.update([bump]);
        hash.update(associated);
        hash.update(DERIVED);
        hash.finalize().into()
    };
    let found = (0..=u8::MAX).rev().map(derived);
    let mut found = found.filter(|derived| !is_on_curve(derived));
    found.next().map(|key| bs58::encode(key).into_string())
}

/// Returns `true` if the text is a transaction id: a signature of 64 bytes in base58.
pub fn is_solana_txid(text: &str) -> bool {
    let mut bytes = [0; 64];
    bs58::decode(text).onto(&mut bytes) == Ok(64)
}

fn decode_key(address: &str) -> Option<[u8; 32]> {
    let canonical = parse(Chain::Solana, Network::Main, address).ok()?;
    let mut key = [0; 32];
    let length = bs58::decode(canonical).onto(&mut key).ok()?;
    (length == key.len()).then_some(key)
}

fn is_on_curve(key: &[u8; 32]) -> bool {
    CompressedEdwardsY(*key).decompress().is_some()
}

#[cfg(test)]
mod tests {
    use super::{can_sign, is_on_curve, is_solana_txid, token_account};

    const USDC: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const USDT: &str = "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB";

    /// Each owner with its token accounts for USDC and USDT, computed with `@solana/spl-token` 0.4.
    const ACCOUNTS: [[&str; 3]; 3] = [
        [
            "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
            "5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt",
            "6pXYguUixhfdydHDMgsvSy3sAWjStL2eEYh4KeYJAUDk",
        ],
        [
            "mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN",
            "5ZGPSxMzV9xV5s3Wep73r8k5MsPAtLYs11dGDdknznM5",
            "DjxdiLYpPaD4TR4vPyEZM4TaNxmjxQCMzCGio2oD5NFV",
        ],
        [
            "So11111111111111111111111111111111111111112",
            "DHe62eeQVEnNK7vg5xUpDkJm7tuqHadjhvmPRFBG9UPo",
            "GyLsRihLyJjjd6y95k4kEHisNnbDNVjmWGrwfwG3K2kh",
        ],
    ];

    #[test]
    fn token_account_of_an_owner_is_derived_and_cannot_sign() {
        for [owner, usdc, usdt] in ACCOUNTS {
            assert!(can_sign(owner), "{owner}");
            for (mint, expected) in [(USDC, usdc), (USDT, usdt)] {
                let account = token_account(owner, mint);
                assert_eq!(account.as_deref(), Some(expected));
                assert!(!can_sign(expected), "{expected}");
            }
        }
        assert_eq!(token_account("", USDC), None);
        assert_eq!(token_account(USDC, "0x1"), None);
        assert!(!can_sign("0x1"));
    }

    /// The expected results were computed with `@solana/web3.js` 1.99.
    #[test]
    fn only_points_on_curve_can_sign() {
        let on_curve = (1..=12_u8).filter(|byte| is_on_curve(&[*byte; 32]));
        let on_curve: Vec<u8> = on_curve.collect();
        assert_eq!(on_curve, [1, 3, 6, 9, 10, 11, 12]);
    }

    #[test]
    fn transaction_id_is_64_bytes_of_base58() {
        let signature = "2GtsnFeSYHtKJditnNNYd8hcZ9SwmHcXJLmuxj4mdARyr7wQqJm5bZo5cJz1R3jF7QSo8TfkDsr54BPqevHYLxxr";
        assert!(is_solana_txid(signature));
        for wrong in ["", USDC, &signature[2..], &format!("{signature}1")] {
            assert!(!is_solana_txid(wrong), "{wrong}");
        }
    }
}
