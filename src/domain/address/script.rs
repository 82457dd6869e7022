//! Converts an address to the script of its outputs and back, on utxo chains.
//!
//! Invariant: a canonical address has one script, and a script has at most one canonical address on a network.

use super::{Chain, Encoding, UtxoEncoding, read_base58check, write_base58check};
use bech32::primitives::decode::SegwitHrpstring;
use bech32::{Fe32, segwit};

/// P2PKH script before and after the hash: OP_DUP, OP_HASH160 and a push of twenty bytes; then OP_EQUALVERIFY and
/// OP_CHECKSIG.
const P2PKH_AROUND_HASH: (&[u8], &[u8]) = (&[0x76, 0xa9, 0x14], &[0x88, 0xac]);
/// P2SH script before and after the hash: OP_HASH160 and a push of twenty bytes; then OP_EQUAL.
const P2SH_AROUND_HASH: (&[u8], &[u8]) = (&[0xa9, 0x14], &[0x87]);
/// Opcode OP_1, minus 1. The opcode of a witness version n above 0 is this value plus n.
const OP_1_MINUS_ONE: u8 = 0x50;

/// Returns the canonical address to which a script pays. `network` is the name that nodes use.
///
/// `None` for a script without an address, and on chains without scripts.
pub fn script_address(chain: Chain, network: &str, script: &[u8]) -> Option<String> {
    let Encoding::Utxo(utxo) = &chain.row().encoding else {
        return None;
    };
    let is_main = network == chain.row().networks.0;
    let prefixes = if is_main { utxo.main } else { utxo.test };
    for (place, (before, after)) in [P2PKH_AROUND_HASH, P2SH_AROUND_HASH].into_iter().enumerate() {
        let hash = script
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .and_then(|hash| <[u8; 20]>::try_from(hash).ok());
        if let Some(hash) = hash {
            let (_, version) = prefixes.versions.get(place)?;
            return Some(write_base58check(*version, &hash));
        }
    }
    let [version, length, program @ ..] = script else {
        return None;
    };
    let version = match (*version, program.len()) {
        (0, 20 | 32) => 0,
        (version, 32) if version.checked_sub(OP_1_MINUS_ONE) == Some(1) => 1,
        _ => return None,
    };
    if usize::from(*length) != program.len() {
        return None;
    }
    // Regtest has the second prefix. All other networks have the first.
    let prefix = prefixes.hrps.get(usize::from(network == "regtest"))?;
    segwit::encode(*prefix, Fe32::try_from(version).ok()?, program).ok()
}

/// Returns the bytes of the script with which an output pays to this address.
///
/// `None` on chains without scripts, and for a text that is not an address of this chain.
pub fn output_script(chain: Chain, address: &str) -> Option<Vec<u8>> {
    let Encoding::Utxo(utxo) = &chain.row().encoding else {
        return None;
    };
    match SegwitHrpstring::new(address) {
        Ok(segwit) => segwit_script(utxo, &segwit),
        Err(_) => legacy_script(utxo, address),
    }
}

/// Returns the script of a segwit address: the witness version and the witness program (BIP-141).
fn segwit_script(utxo: &UtxoEncoding, address: &SegwitHrpstring<'_>) -> Option<Vec<u8>> {
    let mut both_networks = [utxo.main, utxo.test].into_iter();
    both_networks.find(|prefixes| prefixes.hrps.contains(&address.hrp()))?;
    let version = match address.witness_version().to_u8() {
        0 => 0,
        version => version.checked_add(OP_1_MINUS_ONE)?,
    };
    let program = address.byte_iter();
    let length = u8::try_from(program.len()).ok()?;
    Some([version, length].into_iter().chain(program).collect())
}

/// Returns the script of a base58check address. The version byte of the address selects P2PKH or P2SH.
fn legacy_script(utxo: &UtxoEncoding, address: &str) -> Option<Vec<u8>> {
    let (version, hash) = read_base58check(address, "").ok()?;
    let place = [utxo.main, utxo.test]
        .iter()
        .find_map(|prefixes| prefixes.versions.iter().position(|(read, _)| *read == version))?;
    let (before, after) = if place == 0 { P2PKH_AROUND_HASH } else { P2SH_AROUND_HASH };
    Some([before, &hash, after].concat())
}

#[cfg(test)]
mod tests {
    use super::{Chain, output_script, script_address};
    use crate::domain::address::test_mode_address;

    fn output_script_hex(chain: Chain, address: &str) -> Option<String> {
        let bytes = output_script(chain, address)?;
        Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    #[test]
    fn output_script_matches_its_address() {
        for (chain, address, expected) in [
            // Examples of BIP-173 and BIP-350.
            (
                Chain::Bitcoin,
                "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
                "0014751e76e8199196d454941c45d1b3a323f1433bd6",
            ),
            (
                Chain::Bitcoin,
                "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
                "0014751e76e8199196d454941c45d1b3a323f1433bd6",
            ),
            (
                Chain::Bitcoin,
                "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
                "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            ),
            // The address of Bitcoin's first block, and the example of the wiki page "Pay to script hash".
            (
                Chain::Bitcoin,
                "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                "76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac",
            ),
            (
                Chain::Bitcoin,
                "3P14159f73E4gFr7JterCCQh9QjiTjiZrG",
                "a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87",
            ),
        ] {
            assert_eq!(output_script_hex(chain, address).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn base58check_version_selects_script_type() {
        for (chain, address, begins) in [
            (Chain::Litecoin, "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd", "a914"),
            (Chain::Litecoin, "3EUyNhvqZcLiNVskD2sjV9c4KMPgUsMve6", "a914"),
            (Chain::Dogecoin, "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W", "a914"),
            (Chain::Dogecoin, "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV", "76a914"),
            (Chain::Dogecoin, "2N63BSSrsB4r4aHWHtAVc76bKXhbrFCmUsd", "a914"),
        ] {
            let script = output_script_hex(chain, address);
            let is_told = script.as_ref().is_some_and(|script| script.starts_with(begins));
            assert!(is_told, "{address}: {script:?}");
        }
    }

    #[test]
    fn address_without_script_returns_none() {
        for (chain, address) in [
            (Chain::Ethereum, "0x8ba1f109551bD432803012645Ac136ddd64DBA72"),
            (Chain::Tron, "TZCkZBLd5aJyyicPjaTyXv36dCRpPLKy8z"),
            (Chain::Solana, "2vjuBUCFWKTimhLv5z1kay4oGevNRL3wqbhs7JhXk5T7"),
            (Chain::Bitcoin, ""),
            (Chain::Bitcoin, "nothing"),
            (Chain::Litecoin, "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"),
            (Chain::Dogecoin, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
        ] {
            assert_eq!(output_script_hex(chain, address), None, "{address}");
        }
    }

    #[test]
    fn script_and_address_round_trip() {
        for (chain, network, address) in [
            (Chain::Bitcoin, "main", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
            (Chain::Bitcoin, "main", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG"),
            (Chain::Bitcoin, "main", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
            (
                Chain::Bitcoin,
                "main",
                "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            ),
            (
                Chain::Bitcoin,
                "signet",
                "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
            ),
            (Chain::Litecoin, "main", "MLh7gbLoWjC9B19eJus5JnrTe3z8YkMsNd"),
            (Chain::Litecoin, "regtest", "rltc1qkqt6nvhapt7j54akala300v4td0wl7gzrnwyhj"),
            (Chain::Dogecoin, "main", "A5EE7YzjdgDcGsFDdAY9jHES1vmidfFW6W"),
            (Chain::Dogecoin, "test", "ngz7iS7xF6PLhJw6rLr9rh12HqDZGtDcyV"),
        ] {
            let bytes = output_script(chain, address).unwrap_or_default();
            let text = script_address(chain, network, &bytes);
            assert_eq!(text.as_deref(), Some(address));
        }
        for chain in [Chain::Bitcoin, Chain::Litecoin, Chain::Dogecoin] {
            for index in 0..100 {
                let address = test_mode_address(chain, "scripts", index);
                let bytes = output_script(chain, &address).unwrap_or_default();
                assert_eq!(script_address(chain, "test", &bytes), Some(address));
            }
        }
    }

    #[test]
    fn script_without_address_returns_none() {
        let to_key = [&[0x76, 0xa9, 0x14][..], &[1; 20], &[0x88, 0xac]].concat();
        let witness = [&[0, 20][..], &[1; 20]].concat();
        let half = |script: &[u8]| script.split_last().map(|(_, half)| half.to_vec());
        for (chain, script) in [
            (Chain::Bitcoin, Vec::new()),
            (Chain::Bitcoin, half(&to_key).unwrap_or_default()),
            (Chain::Bitcoin, [&to_key[..], &[0]].concat()),
            (Chain::Bitcoin, half(&witness).unwrap_or_default()),
            (Chain::Bitcoin, [&[0, 21][..], &[1; 20]].concat()),
            (Chain::Bitcoin, [&[0x52, 32][..], &[1; 32]].concat()),
            (Chain::Bitcoin, [&[0x6a, 20][..], &[1; 20]].concat()),
            (Chain::Dogecoin, witness),
            (Chain::Ethereum, to_key),
        ] {
            assert_eq!(script_address(chain, "main", &script), None, "{script:x?}");
        }
    }
}
