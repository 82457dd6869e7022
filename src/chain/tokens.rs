//! Contracts of the tokens that Coffer lists, from the built-in table or the settings.

use super::NodeError;
use super::evm::hex::{Account, FixedBytes};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::token::contract_address;
use crate::domain::{Asset, address};
use std::collections::BTreeMap;

/// Contracts by coin id, in canonical form. On test networks, they replace the contracts in
/// [`CONTRACTS`](crate::domain::token::CONTRACTS).
pub type Tokens = BTreeMap<&'static str, String>;

/// Returns the contract accounts of the listed tokens of a chain.
///
/// # Errors
/// [`NodeError::Wrong`] if a setting names a contract of the main network.
pub fn token_accounts_on_network(
    chain: Chain,
    network: &str,
    overridden: &Tokens,
) -> Result<Vec<(Account, &'static Asset)>, NodeError> {
    let contracts = contracts_on_network(chain, network, overridden)?.into_iter();
    let tokens = contracts.filter_map(|(text, asset)| {
        Some((FixedBytes(address::account_bytes(chain, &text)?), asset))
    });
    Ok(tokens.collect())
}

/// Returns the contracts of the listed tokens of a chain, in canonical form.
///
/// # Errors
/// [`NodeError::Wrong`] if a setting names a contract of the main network.
pub fn contracts_on_network(
    chain: Chain,
    network: &str,
    overridden: &Tokens,
) -> Result<Vec<(String, &'static Asset)>, NodeError> {
    let is_main = network == chain.row().networks.0;
    let listed = ASSETS.iter().filter(|asset| asset.chain == chain);
    let mut tokens = Vec::new();
    for asset in listed.filter(|asset| asset.kind.has_contract()) {
        let overridden = overridden.get(asset.id).cloned();
        if is_main && overridden.is_some() {
            return Err(NodeError::Wrong(format!(
                "it is of the main network, on which no setting says where {} is",
                asset.id
            )));
        }
        let listed = || contract_address(asset, network).map(str::to_owned);
        let contract = overridden.or_else(listed);
        tokens.extend(contract.map(|contract| (contract, asset)));
    }
    Ok(tokens)
}
