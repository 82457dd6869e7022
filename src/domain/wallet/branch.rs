//! Addresses of a wallet, at m/0/index below the account's key.
//!
//! Invariant: an address depends only on the wallet and the index.

use super::extended::{ExtendedKey, add_generators, derive_child};
use super::{ScriptType, Wallet};
use crate::domain::address::{self, AddressPayload};
use k256::elliptic_curve::sec1::ToSec1Point;
use k256::{ProjectivePoint, PublicKey};
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

/// Receiving branch of a wallet, m/0. Its point on the curve is computed once for all addresses.
#[derive(Clone, Debug)]
pub struct ReceivingBranch {
    wallet: Wallet,
    key: ExtendedKey,
    point: ProjectivePoint,
}

/// A derived address of a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletAddress {
    /// Canonical text of the address.
    pub address: String,
    /// Script of an output to the address, on chains with transaction outputs.
    pub script: Option<Vec<u8>>,
}

impl Wallet {
    /// Returns the receiving branch; `None` if the key is not a valid point, which never occurs for a parsed wallet.
    pub fn receiving_branch(&self) -> Option<ReceivingBranch> {
        let key = self.key.child_key(0)?;
        let point = PublicKey::from_sec1_bytes(&key.key).ok()?.to_projective();
        Some(ReceivingBranch { wallet: *self, key, point })
    }
}

impl ReceivingBranch {
    /// Returns the address at an index; `None` for an index of [`INDEX_END`](super::INDEX_END) or more.
    pub fn derive_address(&self, index: u32) -> Option<WalletAddress> {
        let key = derive_child(&self.point, &self.key, index)?.key;
        let pay_to = match self.wallet.script {
            None => AddressPayload::Account(address_bytes_of_key(&key)?),
            Some(ScriptType::Pkh) => AddressPayload::KeyHash(hash160(&key)),
            Some(ScriptType::Wpkh) => AddressPayload::WitnessKeyHash(hash160(&key)),
            Some(ScriptType::ShWpkh) => {
                // This is the witness program: version 0 and the hash of the key (BIP 141).
                let program = [&[0x00, 0x14][..], &hash160(&key)].concat();
                AddressPayload::ScriptHash(hash160(&program))
            }
            Some(ScriptType::Tr) => AddressPayload::Taproot(taproot_key(&key)?),
        };
        let (chain, network) = (self.wallet.chain, self.wallet.network);
        let is_regtest = network == super::WalletNetwork::Regtest;
        let address = address::write_address(chain, network.encoding(), is_regtest, &pay_to)?;
        let script = address::output_script(chain, &address);
        Some(WalletAddress { address, script })
    }
}

/// Returns HASH160 of the bytes: RIPEMD-160 of SHA-256.
fn hash160(bytes: &[u8]) -> [u8; 20] {
    Ripemd160::digest(Sha256::digest(bytes)).into()
}

/// Returns the bytes of a key's address on EVM and Tron: the last 20 bytes of Keccak-256 over the coordinates of the
/// key.
fn address_bytes_of_key(key: &[u8; 33]) -> Option<[u8; 20]> {
    let point = PublicKey::from_sec1_bytes(key).ok()?.to_sec1_point(false);
    let (_, coordinates) = point.as_bytes().split_first()?;
    let digest: [u8; 32] = Keccak256::digest(coordinates).into();
    digest.last_chunk::<20>().copied()
}

/// Returns the key of a taproot output that only its internal key spends (BIP 86, with the tweak of BIP 341).
fn taproot_key(key: &[u8; 33]) -> Option<[u8; 32]> {
    let (_, x) = key.split_first_chunk::<1>()?;
    // Two points have this x coordinate. BIP 341 uses the point with the even y coordinate.
    let even = [&[0x02][..], x].concat();
    let internal = PublicKey::from_sec1_bytes(&even).ok()?.to_projective();
    let tag = Sha256::digest("TapTweak");
    let tweak: [u8; 32] =
        Sha256::new().chain_update(tag).chain_update(tag).chain_update(x).finalize().into();
    let output = super::extended::compress_point(&add_generators(&internal, &tweak)?)?;
    output.last_chunk::<32>().copied()
}
