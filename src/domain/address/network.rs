//! Addresses of one network, by the name that its nodes use.
//!
//! What does not live here: how addresses are read.

use super::{AddressError, Encoding, Network, parse};
use crate::domain::chain::Chain;
use bech32::Hrp;

/// Is `text` an address of `chain` on the network that its nodes call so? Answers its canonical text.
///
/// # Errors
/// What would be right there; also for an address of another test network, as far as it can be told by its prefix.
pub fn parse_for(chain: Chain, network: &str, text: &str) -> Result<String, AddressError> {
    const REGTEST: &str = "regtest";
    if network == chain.row().networks.0 {
        return parse(chain, Network::Main, text);
    }
    let canonical = parse(chain, Network::Test, text)?;
    let segwit = match &chain.row().encoding {
        Encoding::Utxo(utxo) => utxo.test.prefixes,
        Encoding::Evm | Encoding::Tron | Encoding::Solana => &[],
    };
    // Of test networks only regtest has a prefix of its own, the second.
    let is_with = |hrp: &Hrp| canonical.starts_with(&format!("{hrp}1"));
    let reason = match segwit.iter().position(is_with) {
        Some(0) if network == REGTEST => {
            "expected an address of regtest, not of another test network"
        }
        Some(1) if network != REGTEST => {
            "expected an address of the test network that is followed, not of regtest"
        }
        Some(_) | None => return Ok(canonical),
    };
    Err(AddressError { chain, reason })
}
