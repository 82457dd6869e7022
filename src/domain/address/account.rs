//! Converts account addresses of EVM chains and Tron to their twenty bytes and back.
//!
//! Invariant: an account has one canonical address and one byte value, so the bytes are enough to search a chain.

use super::{
    Chain, Encoding, Network, TRON_VERSION, hex, parse, read_base58check, write_base58check,
    write_evm,
};

/// Returns the twenty bytes of an account's address.
///
/// `None` for a text that is not an address of this chain, and on chains other than EVM chains and Tron.
pub fn account_bytes(chain: Chain, address: &str) -> Option<[u8; 20]> {
    let canonical = parse(chain, Network::Main, address).ok()?;
    match chain.row().encoding {
        Encoding::Evm => account_bytes_from_hex(canonical.strip_prefix("0x")?),
        Encoding::Tron => read_base58check(&canonical, "").ok().map(|(_, hash)| hash),
        Encoding::Utxo(_) | Encoding::Solana => None,
    }
}

/// Returns the canonical address of an account.
///
/// `None` on chains other than EVM chains and Tron, and for the all-zero account, which belongs to nobody.
pub fn account_address(chain: Chain, account: &[u8; 20]) -> Option<String> {
    if account.iter().all(|byte| *byte == 0) {
        return None;
    }
    match chain.row().encoding {
        Encoding::Evm => Some(write_evm(&hex(account))),
        Encoding::Tron => Some(write_base58check(TRON_VERSION, account)),
        Encoding::Utxo(_) | Encoding::Solana => None,
    }
}

fn account_bytes_from_hex(digits: &str) -> Option<[u8; 20]> {
    let mut bytes = [0; 20];
    let length = base16ct::mixed::decode(digits, &mut bytes).ok()?.len();
    (length == bytes.len()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Chain, account_address, account_bytes};
    use crate::domain::address::test_mode_address;

    #[test]
    fn account_bytes_and_address_round_trip() {
        for (chain, address, last) in [
            // Test cases of EIP-55, and the USDT contract on Tron.
            (Chain::Base, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", [0x1b, 0xea, 0xed]),
            (Chain::Ethereum, "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", [0xc8, 0xc6, 0xfb]),
            (Chain::Tron, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", [0xde, 0xd1, 0x3c]),
        ] {
            let bytes = account_bytes(chain, address);
            let is_it = bytes.is_some_and(|bytes| bytes.ends_with(&last));
            assert!(is_it, "{address}: {bytes:x?}");
            let text = bytes.and_then(|bytes| account_address(chain, &bytes));
            assert_eq!(text.as_deref(), Some(address));
        }
        for chain in [Chain::Ethereum, Chain::Polygon, Chain::Tron] {
            for index in 0..100 {
                let address = test_mode_address(chain, "accounts", index);
                let bytes = account_bytes(chain, &address);
                let text = bytes.and_then(|bytes| account_address(chain, &bytes));
                assert_eq!(text, Some(address));
            }
        }
        let small = account_bytes(Chain::Base, "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed");
        let cased = account_bytes(Chain::Base, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
        assert_eq!(small, cased);
    }

    #[test]
    fn non_account_address_has_no_account_bytes() {
        for (chain, text) in [
            (Chain::Bitcoin, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
            (Chain::Solana, "2vjuBUCFWKTimhLv5z1kay4oGevNRL3wqbhs7JhXk5T7"),
            (Chain::Base, "0x0000000000000000000000000000000000000000"),
            (Chain::Base, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
            (Chain::Base, "0x"),
            (Chain::Tron, ""),
        ] {
            assert_eq!(account_bytes(chain, text), None, "{text}");
        }
        assert_eq!(account_address(Chain::Base, &[0; 20]), None);
        assert_eq!(account_address(Chain::Bitcoin, &[1; 20]), None);
        assert_eq!(account_address(Chain::Solana, &[1; 20]), None);
    }
}
