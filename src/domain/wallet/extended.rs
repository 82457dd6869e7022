//! Extended public keys (BIP 32): parsing them, and deriving public children.
//!
//! Invariant: a parsed key is a point of the curve, so children can be derived from it.

use super::{Network, ScriptType};
use crate::domain::asset::Chain;
use hmac::{Hmac, KeyInit, Mac};
use k256::elliptic_curve::PrimeField;
use k256::elliptic_curve::group::Group;
use k256::elliptic_curve::sec1::ToSec1Point;
use k256::{FieldBytes, ProjectivePoint, PublicKey, Scalar};
use sha2::Sha512;

/// Depth of an account's key: m/purpose'/coin'/account'.
pub(super) const ACCOUNT_DEPTH: u8 = 3;

/// Size of an extended key in bytes: version, depth, parent's fingerprint, child number, chain code and key.
pub(super) const EXTENDED_BYTES: usize = 78;

/// An extended public key: a key and its chain code. Together they identify a wallet, regardless of the version in
/// the key's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedKey {
    /// Compressed public key.
    pub key: [u8; 33],
    /// Chain code (BIP 32).
    pub chain_code: [u8; 32],
}

impl ExtendedKey {
    /// Returns the child key at this index; `None` for a hardened index, or if the index has no key (probability
    /// 2^-127).
    pub fn child_key(&self, index: u32) -> Option<ExtendedKey> {
        let parent = PublicKey::from_sec1_bytes(&self.key).ok()?.to_projective();
        derive_child(&parent, self, index)
    }
}

/// Returns the child key at this index of a key whose point is already computed.
pub(super) fn derive_child(
    parent: &ProjectivePoint,
    extended: &ExtendedKey,
    index: u32,
) -> Option<ExtendedKey> {
    if index >= super::INDEX_END {
        return None;
    }
    let mut mac = Hmac::<Sha512>::new_from_slice(&extended.chain_code).ok()?;
    mac.update(&extended.key);
    mac.update(&index.to_be_bytes());
    let digest: [u8; 64] = mac.finalize().into_bytes().into();
    let (left, chain_code) = digest.split_first_chunk::<32>()?;
    Some(ExtendedKey {
        key: compress_point(&add_generators(parent, left)?)?,
        chain_code: chain_code.try_into().ok()?,
    })
}

/// Adds `number` times the generator to a point; `None` if the number is not a valid scalar or the sum is infinity.
#[expect(clippy::arithmetic_side_effects, reason = "the sum of two points of a curve is one")]
pub(super) fn add_generators(
    point: &ProjectivePoint,
    number: &[u8; 32],
) -> Option<ProjectivePoint> {
    let scalar: Option<Scalar> = Scalar::from_repr(FieldBytes::from(*number)).into();
    let sum = ProjectivePoint::mul_by_generator(&scalar?) + point;
    (!bool::from(sum.is_identity())).then_some(sum)
}

pub(super) fn compress_point(point: &ProjectivePoint) -> Option<[u8; 33]> {
    let point = point.to_affine().to_sec1_point(true);
    point.as_bytes().try_into().ok()
}

/// Meaning of a version, which is the first four bytes of an extended public key.
///
/// The versions come from SLIP-132, and from the exports of each chain's wallets.
#[derive(Debug)]
pub(super) struct KeyVersion {
    bytes: u32,
    /// Chains whose wallets use this version. All EVM chains are listed as one, because they share their addresses.
    pub(super) chains: &'static [Chain],
    pub(super) network: Network,
    /// Script type of this version; `None` if the version fits several script types.
    pub(super) script: Option<ScriptType>,
    /// `true` if the version always means this script type. Some wallets use a version like `Ltub` for every script
    /// type.
    pub(super) is_script_fixed: bool,
}

const ALL: &[Chain] =
    &[Chain::Bitcoin, Chain::Litecoin, Chain::Dogecoin, Chain::Ethereum, Chain::Tron];
const SEGWIT: &[Chain] = &[Chain::Bitcoin, Chain::Litecoin];
const LITECOIN: &[Chain] = &[Chain::Litecoin];
const DOGECOIN: &[Chain] = &[Chain::Dogecoin];

const fn key_version(
    bytes: u32,
    chains: &'static [Chain],
    network: Network,
    script: Option<ScriptType>,
) -> KeyVersion {
    KeyVersion { bytes, chains, network, script, is_script_fixed: bytes != LTUB }
}

const LTUB: u32 = 0x019d_a462;

const VERSIONS: [KeyVersion; 11] = [
    // Versions xpub, ypub and zpub of main networks.
    key_version(0x0488_b21e, ALL, Network::Main, None),
    key_version(0x049d_7cb2, SEGWIT, Network::Main, Some(ScriptType::ShWpkh)),
    key_version(0x04b2_4746, SEGWIT, Network::Main, Some(ScriptType::Wpkh)),
    // Versions tpub, upub and vpub of test networks.
    key_version(0x0435_87cf, ALL, Network::Test, None),
    key_version(0x044a_5262, SEGWIT, Network::Test, Some(ScriptType::ShWpkh)),
    key_version(0x045f_1cf6, SEGWIT, Network::Test, Some(ScriptType::Wpkh)),
    // Versions Ltub, Mtub and ttub of Litecoin.
    key_version(LTUB, LITECOIN, Network::Main, Some(ScriptType::Pkh)),
    key_version(0x01b2_6ef6, LITECOIN, Network::Main, Some(ScriptType::ShWpkh)),
    key_version(0x0436_f6e1, LITECOIN, Network::Test, None),
    // Versions dgub and tgub of Dogecoin.
    key_version(0x02fa_cafd, DOGECOIN, Network::Main, Some(ScriptType::Pkh)),
    key_version(0x0432_a9a8, DOGECOIN, Network::Test, Some(ScriptType::Pkh)),
];

/// Versions Ypub, Zpub, Upub and Vpub, for keys of multisignature wallets.
const MULTISIG: [u32; 4] = [0x0295_b43f, 0x02aa_7ed3, 0x0242_89ef, 0x0257_5483];

/// Reads an extended public key. Returns the key, the meaning of its version, and its depth.
///
/// # Errors
/// The problem, to be appended to the name of its field.
pub(super) fn read(text: &str) -> Result<(ExtendedKey, &'static KeyVersion, u8), &'static str> {
    let mut bytes = [0; EXTENDED_BYTES + 4];
    match bs58::decode(text).with_check(None).onto(&mut bytes) {
        Ok(EXTENDED_BYTES) => {}
        Err(bs58::decode::Error::InvalidChecksum { .. }) => {
            return Err("has a checksum that does not match: copy it again");
        }
        Ok(_) | Err(_) => {
            return Err(
                "is no extended public key (xpub, ypub, zpub, tpub, upub, vpub, Ltub, Mtub, dgub) and no descriptor",
            );
        }
    }
    let (version, rest) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    let version = u32::from_be_bytes(*version);
    if MULTISIG.contains(&version) {
        return Err("is a key of a multi-signature wallet, which is not supported");
    }
    let known = VERSIONS.iter().find(|known| known.bytes == version);
    let known = known.ok_or("is an extended key of an unknown kind")?;
    let unreadable = "is an extended public key of the wrong form";
    let ([depth], rest) = rest.split_first_chunk::<1>().ok_or(unreadable)?;
    let (parent_and_number, rest) = rest.split_first_chunk::<8>().ok_or(unreadable)?;
    let (chain_code, rest) = rest.split_first_chunk::<32>().ok_or(unreadable)?;
    let (key, _) = rest.split_first_chunk::<33>().ok_or(unreadable)?;
    let is_first_without_parent = *depth != 0 || *parent_and_number == [0; 8];
    let is_compressed = matches!(key.first(), Some(2 | 3));
    if !is_first_without_parent || !is_compressed || PublicKey::from_sec1_bytes(key).is_err() {
        return Err(unreadable);
    }
    let extended = ExtendedKey { key: *key, chain_code: *chain_code };
    Ok((extended, known, *depth))
}
