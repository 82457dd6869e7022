//! Identifies the network of a node, and the mints of the listed tokens on that network.

use super::Solana;
use super::answers::{AccountJson, Commitment, WithSlot};
use crate::chain::NodeError;
use crate::chain::tokens::contracts_on_network;
use crate::domain::Asset;
use crate::domain::address::TOKEN_PROGRAM;
use crate::domain::asset::Chain;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::json;

/// Genesis hashes and their networks (<https://docs.anza.xyz/clusters/available>).
const GENESIS_HASHES: [(&str, &str); 3] = [
    ("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", "mainnet-beta"),
    ("4uhcVJyU9pJkvQyUS88uRDiswHScSCkY3XQawwTJpEhb", "testnet"),
    ("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrfBG", "devnet"),
];
/// Network of any other genesis hash. Each local validator creates its own genesis block.
const LOCAL: &str = "localnet";

/// Offset, in bytes, of the number of decimals in the data of a mint.
const DECIMALS_AT: usize = 44;

/// Network and mints of the node. Valid until a request fails, because the next request may reach another node.
#[derive(Clone)]
pub(super) struct SolanaIdentity {
    epoch: u64,
    pub network: &'static str,
    /// Mint and coin of each listed token.
    pub mints: Vec<(String, &'static Asset)>,
}

impl Solana {
    /// Returns network and mints. After a failed request, requests both again, and rejects the node if it is on
    /// another network.
    pub(super) fn verify_identity(&mut self) -> Result<SolanaIdentity, NodeError> {
        let epoch = self.rpc.failure_epoch();
        let before = match &self.identity {
            Some(known) if known.epoch == epoch => return Ok(known.clone()),
            Some(known) => Some(known.network),
            None => None,
        };
        let identity = self.fetch_identity()?;
        let now = identity.network;
        if let Some(before) = before.filter(|before| *before != now) {
            self.rpc.distrust_node();
            return Err(NodeError::Wrong(format!(
                "it is of the network {now}, and was of {before}"
            )));
        }
        self.identity = Some(identity.clone());
        Ok(identity)
    }

    /// Requests the genesis hash and looks up the mints of its network.
    fn fetch_identity(&mut self) -> Result<SolanaIdentity, NodeError> {
        let first: String = self.call_required("getGenesisHash", &json!([]))?;
        let mut networks = GENESIS_HASHES.iter();
        let network = networks.find(|(of, _)| *of == first);
        let network = network.map_or(LOCAL, |(_, network)| *network);
        let mints = contracts_on_network(Chain::Solana, network, &self.overridden)?;
        self.check_mints(&mints)?;
        Ok(SolanaIdentity { epoch: self.rpc.failure_epoch(), network, mints })
    }

    /// Rejects a mint from the settings if it does not belong to the token program, or if its number of decimals
    /// differs from the coin's.
    fn check_mints(&mut self, mints: &[(String, &'static Asset)]) -> Result<(), NodeError> {
        let overridden = &self.overridden;
        let named = mints.iter().filter(|(_, asset)| overridden.contains_key(asset.id));
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = named.iter().map(|(mint, _)| mint.as_str()).collect();
        let params = json!([names, {
            "commitment": Commitment::Confirmed, "encoding": "base64",
            "dataSlice": { "offset": DECIMALS_AT, "length": 1 },
        }]);
        let answer: WithSlot<Vec<Option<AccountJson>>> =
            self.call_required("getMultipleAccounts", &params)?;
        let mut answers = answer.value.into_iter();
        for (mint, asset) in named {
            let account = answers.next().flatten();
            let wrong = |problem: &str| {
                let id = asset.id;
                Err(NodeError::Wrong(format!("the mint {mint} of {id} {problem}")))
            };
            let Some(account) = account else {
                return wrong("is not there");
            };
            if account.owner != TOKEN_PROGRAM {
                return wrong("is not of the token program; those of Token-2022 are not taken");
            }
            let decimals = BASE64_STANDARD.decode(&account.data.0).unwrap_or_default();
            if decimals.first().copied().map(u32::from) != Some(asset.decimals) {
                return wrong("has other decimals than the coin");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{GENESIS_HASHES, LOCAL};
    use crate::domain::asset::Chain;

    #[test]
    fn every_network_has_a_known_genesis_hash() {
        let (main, tests) = Chain::Solana.row().networks;
        let mut named: Vec<&str> = std::iter::once(main).chain(tests.iter().copied()).collect();
        let mut known: Vec<&str> = GENESIS_HASHES.iter().map(|(_, network)| *network).collect();
        known.push(LOCAL);
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
    }
}
