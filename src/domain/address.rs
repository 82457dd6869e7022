//! Parses addresses of all chains, and generates the simulated addresses of test mode.
//!
//! Invariant: [`parse`] returns the same canonical text for all spellings of an address. It returns a canonical text
//! unchanged.

use std::fmt;

use bech32::primitives::decode::{
    CharError, SegwitHrpstring, SegwitHrpstringError, UncheckedHrpstringError,
};
use bech32::{Bech32, ByteIterExt, Fe32, Fe32IterExt, Hrp};
use sha2::{Digest, Sha256};
use sha3::Keccak256;

use super::asset::Mode;
use super::chain::Chain;
use super::signature::hex;
use encoding::{Encoding, SimulatedEncoding, UtxoEncoding, UtxoPrefixes};

mod account;
pub(super) mod encoding;
mod network;
mod pay_to;
mod script;
mod solana;

pub use account::{account_address, account_bytes};
pub use network::parse_on_named_network;
pub use pay_to::{AddressPayload, write_address};
pub use script::{output_script, script_address};
pub use solana::{TOKEN_PROGRAM, TOKEN_PROGRAMS, can_sign, is_solana_txid, token_account};

/// Longest accepted address, in bytes. The longest real address, a taproot address on regtest, has 64.
const TEXT_BYTES_MAX: usize = 128;

/// Length of the longest base58check address, in bytes. A longer text is parsed as a segwit address, which has at
/// least 42 bytes.
const BASE58CHECK_BYTES_MAX: usize = 35;

/// Version byte of every address on Tron (<https://developers.tron.network/docs/account>).
const TRON_VERSION: u8 = 0x41;

/// Main or test network. Only utxo chains have different address formats on the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Main network.
    Main,
    /// Every other network: testnet, signet and regtest.
    Test,
}

/// Error: the text is not an address of the chain. [`Display`](fmt::Display) names the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressError {
    chain: Chain,
    reason: AddressProblem,
}

/// Reason why a text is not an address, as the end of a message like "not an address on bitcoin: …".
type AddressProblem = &'static str;

const CHECKSUM_MISMATCH: AddressProblem = "its checksum does not match; copy it again";
const ALL_ZERO_ADDRESS: AddressProblem = "the all-zero address belongs to nobody";

impl Network {
    /// Both networks, the main one first.
    pub const BOTH: [Network; 2] = [Network::Main, Network::Test];
}

impl fmt::Display for AddressError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not an address on {}: {}", self.chain.as_str(), self.reason)
    }
}

impl std::error::Error for AddressError {}

/// Returns a deposit address without a private key, for test mode.
///
/// The address encodes SHA-256(label ‖ index), on most chains the first 20 bytes of the digest. The index is hashed
/// as eight bytes, big-endian. All EVM chains share one address, as in live mode.
pub fn test_mode_address(chain: Chain, label: &str, index: u64) -> String {
    let digest: [u8; 32] =
        Sha256::new().chain_update(label).chain_update(index.to_be_bytes()).finalize().into();
    let (hash, _) = digest.split_at(20);
    match &chain.row().encoding {
        Encoding::Utxo(utxo) => match utxo.simulated {
            SimulatedEncoding::Segwit(prefix) => write_p2wpkh(prefix, hash),
            SimulatedEncoding::Hash(version) => write_base58check(version, hash),
        },
        Encoding::Evm => write_evm(&hex(hash)),
        Encoding::Tron => write_base58check(TRON_VERSION, hash),
        Encoding::Solana => bs58::encode(digest).into_string(),
    }
}

/// Returns the address at an index of a simulated wallet. Each mode has one simulated wallet for each address pool.
pub fn simulated_address(mode: Mode, chain: Chain, index: u64) -> String {
    let label = format!("coffer {mode} {}", chain.address_pool());
    test_mode_address(chain, &label, index)
}

/// Parses an address of `chain` on the first of `networks` where the text is valid. Returns the network and the
/// canonical text.
///
/// # Errors
///
/// [`AddressError`] with the expected form of an address on the first network.
pub fn parse_on_any_network(
    chain: Chain,
    networks: &[Network],
    text: &str,
) -> Result<(Network, String), AddressError> {
    let mut problem = AddressError { chain, reason: "addresses of no network are taken here" };
    for (at, network) in networks.iter().enumerate() {
        match parse(chain, *network, text) {
            Ok(canonical) => return Ok((*network, canonical)),
            Err(error) if at == 0 => problem = error,
            Err(_) => {}
        }
    }
    Err(problem)
}

/// Parses an address of `chain` on this network. Returns the canonical text.
///
/// # Errors
///
/// [`AddressError`] with the expected form of an address on this network.
pub fn parse(chain: Chain, network: Network, text: &str) -> Result<String, AddressError> {
    read_address(chain, network, text).map_err(|reason| AddressError { chain, reason })
}

/// Returns the reason not to send money to an address whose form another chain has too; `None` for all other texts.
///
/// The result is the end of a sentence that begins with the field's name.
pub fn old_form_problem(chain: Chain, text: &str) -> Option<&'static str> {
    let Encoding::Utxo(utxo) = &chain.row().encoding else {
        return None;
    };
    let (version, _) = read_base58check(text, utxo.main.expected).ok()?;
    let shared = [utxo.main.shared, utxo.test.shared].into_iter().flatten();
    let mut shared = shared.filter(|(shared, _)| *shared == version);
    shared.next().map(|(_, problem)| problem)
}

fn read_address(chain: Chain, network: Network, text: &str) -> Result<String, AddressProblem> {
    if text.len() > TEXT_BYTES_MAX || !text.is_ascii() {
        return Err("expected at most 128 plain letters and digits");
    }
    match (&chain.row().encoding, network) {
        (Encoding::Utxo(utxo), Network::Main) => read_utxo(utxo.main, text),
        (Encoding::Utxo(utxo), Network::Test) => read_utxo(utxo.test, text),
        (Encoding::Evm, _) => read_evm(text),
        (Encoding::Tron, _) => read_tron(text),
        (Encoding::Solana, _) => read_solana(text),
    }
}

/// Parses a segwit or base58check address. The length of the text selects the encoding, because a base58check address
/// may begin like a segwit address, with `LTC1…`.
fn read_utxo(prefixes: &UtxoPrefixes, text: &str) -> Result<String, AddressProblem> {
    if text.len() > BASE58CHECK_BYTES_MAX {
        read_segwit(prefixes, text)
    } else {
        read_p2pkh_or_p2sh(prefixes, text)
    }
}

/// Reads a P2PKH or P2SH address: the hash of a key or of a script, in base58check.
fn read_p2pkh_or_p2sh(prefixes: &UtxoPrefixes, text: &str) -> Result<String, AddressProblem> {
    let (version, hash) = read_base58check(text, prefixes.expected)?;
    let known = prefixes.versions.iter().find(|(read, _)| *read == version);
    known.map(|(_, written)| write_base58check(*written, &hash)).ok_or(prefixes.expected)
}

/// Parses a P2WPKH, P2WSH or P2TR address: segwit version 0 (BIP-173, bech32) or 1 (BIP-350, bech32m).
///
/// Later versions are refused, although BIP-350 allows them. As long as no consensus rules exist for a version,
/// anybody can spend its outputs.
fn read_segwit(prefixes: &UtxoPrefixes, text: &str) -> Result<String, AddressProblem> {
    let address = SegwitHrpstring::new(text).map_err(|error| segwit_problem(&error, prefixes))?;
    let known = prefixes.hrps.contains(&address.hrp());
    match (address.witness_version().to_u8(), address.byte_iter().len()) {
        (0, 20 | 32) | (1, 32) if known => Ok(text.to_ascii_lowercase()),
        _ => Err(prefixes.expected),
    }
}

fn segwit_problem(error: &SegwitHrpstringError, prefixes: &UtxoPrefixes) -> AddressProblem {
    match error {
        SegwitHrpstringError::Checksum(_) => CHECKSUM_MISMATCH,
        SegwitHrpstringError::Unchecked(UncheckedHrpstringError::Char(CharError::MixedCase)) => {
            "its letters must be all lower case or all upper case"
        }
        _ => prefixes.expected,
    }
}

fn write_p2wpkh(prefix: Hrp, hash: &[u8]) -> String {
    let program = hash.iter().copied().bytes_to_fes();
    program.with_checksum::<Bech32>(&prefix).with_witness_version(Fe32::Q).chars().collect()
}

/// Parses an EVM address. Mixed case is checked as an EIP-55 checksum. A text in one case has no checksum
/// (<https://eips.ethereum.org/EIPS/eip-55>).
fn read_evm(text: &str) -> Result<String, AddressProblem> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    if digits.len() != 40 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err("expected 0x and 40 hexadecimal digits");
    }
    let lower = digits.to_ascii_lowercase();
    if lower.bytes().all(|digit| digit == b'0') {
        return Err(ALL_ZERO_ADDRESS);
    }
    let canonical = write_evm(&lower);
    let one_case = digits == lower || digits == digits.to_ascii_uppercase();
    if one_case || text == canonical { Ok(canonical) } else { Err(CHECKSUM_MISMATCH) }
}

/// Writes an EVM address with the letter case of EIP-55. A letter is a capital if the matching half byte of
/// Keccak-256 over the lower-case digits is at least 8.
fn write_evm(lower_digits: &str) -> String {
    let hash = Keccak256::digest(lower_digits);
    let halves = hash.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    let digits = lower_digits.chars().zip(halves);
    let cased =
        digits.map(|(digit, half)| if half >= 8 { digit.to_ascii_uppercase() } else { digit });
    "0x".chars().chain(cased).collect()
}

fn read_tron(text: &str) -> Result<String, AddressProblem> {
    const EXPECTED: AddressProblem =
        "expected a complete address of 34 characters that starts with T";
    match read_base58check(text, EXPECTED)? {
        (TRON_VERSION, hash) if hash == [0; 20] => Err(ALL_ZERO_ADDRESS),
        (TRON_VERSION, hash) => Ok(write_base58check(TRON_VERSION, &hash)),
        _ => Err(EXPECTED),
    }
}

/// Reads base58 of 32 bytes, without a checksum (<https://solana.com/docs/core/accounts>).
///
/// Refuses 32 zeros, which are the address of the system program.
fn read_solana(text: &str) -> Result<String, AddressProblem> {
    let mut key = [0; 32];
    match bs58::decode(text).onto(&mut key) {
        Ok(32) if key == [0; 32] => {
            Err("that is the system program's; expected an account's own address")
        }
        Ok(32) => Ok(bs58::encode(key).into_string()),
        _ => Err("expected 32 to 44 base58 characters that hold 32 bytes"),
    }
}

/// Reads the version and the hash of a base58check text (<https://en.bitcoin.it/wiki/Base58Check_encoding>).
fn read_base58check(
    text: &str,
    expected: AddressProblem,
) -> Result<(u8, [u8; 20]), AddressProblem> {
    let mut bytes = [0; 25];
    match bs58::decode(text).with_check(None).onto(&mut bytes) {
        Ok(21) => {
            let [version, hash @ .., _, _, _, _] = bytes;
            Ok((version, hash))
        }
        Err(bs58::decode::Error::InvalidChecksum { .. }) => Err(CHECKSUM_MISMATCH),
        _ => Err(expected),
    }
}

fn write_base58check(version: u8, hash: &[u8]) -> String {
    bs58::encode(hash).with_check_version(version).into_string()
}

#[cfg(test)]
mod tests;
