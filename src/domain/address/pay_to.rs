//! Writes the address of a key hash, a script hash, a taproot key or an account.
//!
//! Invariant: the result reads back as an address of the same chain and network.

use super::{
    Chain, Encoding, Network, TRON_VERSION, UtxoPrefixes, hex, write_base58check, write_evm,
    write_p2wpkh,
};
use bech32::{Bech32m, ByteIterExt, Fe32, Fe32IterExt};

/// Payment target that an address encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPayload {
    /// HASH160 of a key: P2PKH.
    KeyHash([u8; 20]),
    /// HASH160 of a script: P2SH.
    ScriptHash([u8; 20]),
    /// HASH160 of a key, as a witness program of version 0: P2WPKH.
    WitnessKeyHash([u8; 20]),
    /// The x coordinate of a taproot output's key, as a witness program of version 1: P2TR.
    Taproot([u8; 32]),
    /// An account on EVM or Tron.
    Account([u8; 20]),
}

/// Returns the address of a payment target; `None` if the chain has no such address.
///
/// `is_regtest` selects the segwit prefix of regtest instead of the prefix of the other test networks.
pub fn write_address(
    chain: Chain,
    network: Network,
    is_regtest: bool,
    pay_to: &AddressPayload,
) -> Option<String> {
    let utxo = match (&chain.row().encoding, pay_to) {
        (Encoding::Evm, AddressPayload::Account(account)) => {
            return Some(write_evm(&hex(account)));
        }
        (Encoding::Tron, AddressPayload::Account(account)) => {
            return Some(write_base58check(TRON_VERSION, account));
        }
        (Encoding::Utxo(utxo), _) => utxo,
        (Encoding::Evm | Encoding::Tron | Encoding::Solana, _) => return None,
    };
    let prefixes = match network {
        Network::Main => utxo.main,
        Network::Test => utxo.test,
    };
    match pay_to {
        AddressPayload::KeyHash(hash) => write_base58_address(prefixes, 0, hash),
        AddressPayload::ScriptHash(hash) => write_base58_address(prefixes, 1, hash),
        AddressPayload::WitnessKeyHash(hash) => {
            let prefix = prefixes.hrps.get(usize::from(is_regtest))?;
            Some(write_p2wpkh(*prefix, hash))
        }
        AddressPayload::Taproot(key) => {
            let prefix = prefixes.hrps.get(usize::from(is_regtest))?;
            let program = key.iter().copied().bytes_to_fes();
            let program = program.with_checksum::<Bech32m>(prefix);
            Some(program.with_witness_version(Fe32::P).chars().collect())
        }
        AddressPayload::Account(_) => None,
    }
}

/// Encodes a hash in base58check. `place` is 0 for the hash of a key, and 1 for the hash of a script.
fn write_base58_address(prefixes: &UtxoPrefixes, place: usize, hash: &[u8]) -> Option<String> {
    let (_, version) = prefixes.versions.get(place)?;
    Some(write_base58check(*version, hash))
}
