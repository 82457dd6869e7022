//! Parses addresses on a network that is given by name, for example `signet`.

use super::{AddressError, Encoding, Network, parse};
use crate::domain::chain::Chain;
use bech32::Hrp;

/// Parses an address of `chain` on the network with this name. Returns the canonical text.
///
/// # Errors
///
/// [`AddressError`] with the expected form of an address. It is also returned if the prefix belongs to another test
/// network.
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
    // Regtest has the second of the two segwit prefixes. All other test networks have the first.
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
