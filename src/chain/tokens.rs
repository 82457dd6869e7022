//! Contracts of the listed tokens, as the table or the settings name them.

use super::NodeError;
use super::evm::hex::{Account, Bytes};
use crate::domain::address;
use crate::domain::asset::{ASSETS, Asset, Chain};
use crate::domain::token::contract_of;
use std::collections::BTreeMap;

/// Contracts that take the place of those of [`CONTRACTS`](crate::domain::token::CONTRACTS) on test networks, by the id of
/// the coin.
pub type Tokens = BTreeMap<&'static str, [u8; 20]>;

/// Contracts of the listed tokens of a chain, on this network.
///
/// # Errors
/// [`NodeError::Wrong`] where a setting names a contract of the main network.
pub fn tokens_on(
    chain: Chain,
    network: &str,
    overridden: &Tokens,
) -> Result<Vec<(Account, &'static Asset)>, NodeError> {
    let is_main = network == chain.row().networks.0;
    let listed = ASSETS.iter().filter(|asset| asset.chain == chain);
    let mut tokens = Vec::new();
    for asset in listed.filter(|asset| asset.kind.has_contract()) {
        let overridden = overridden.get(asset.id).copied();
        if is_main && overridden.is_some() {
            return Err(NodeError::Wrong(format!(
                "it is of the main network, on which no setting says where {} is",
                asset.id
            )));
        }
        let listed = || contract_of(asset, network).and_then(|text| address::account(chain, text));
        let contract = overridden.or_else(listed).map(Bytes);
        tokens.extend(contract.map(|contract| (contract, asset)));
    }
    Ok(tokens)
}
