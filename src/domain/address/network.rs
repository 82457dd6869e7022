//! Reads addresses of one network, given the name that its nodes use.

use super::{AddressError, Encoding, Network, parse};
use crate::domain::chain::Chain;
use bech32::Hrp;

/// Reads an address of `chain` on the network with this name and returns its canonical text.
///
/// # Errors
/// [`AddressError`] with the expected form, also if the prefix belongs to another test network.
pub fn parse_on_named_network(
    chain: Chain,
    network: &str,
    text: &str,
) -> Result<String, AddressError> {
    const REGTEST: &str = "regtest";
    if network == chain.row().networks.0 {
        return parse(chain, Network::Main, text);
    }
    let canonical = parse(chain, Network::Test, text)?;
    let segwit = match &chain.row().encoding {
        Encoding::Utxo(utxo) => utxo.test.hrps,
        Encoding::Evm | Encoding::Tron | Encoding::Solana => &[],
    };
    // Test networks have two segwit prefixes. The second is for regtest, and the first is for all others.
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
