//! Contracts of the tokens, on each network of their chains.
//!
//! Invariant: on a main network, a coin has the contract that its issuer publishes. No setting changes this contract.

use super::asset::Asset;

/// Contract of a token on one network.
#[derive(Debug)]
pub struct TokenContract {
    /// Id of the coin.
    pub asset: &'static str,
    /// Network, by the name that its nodes use.
    pub network: &'static str,
    /// Canonical address of the contract.
    pub address: &'static str,
}

const fn contract(
    asset: &'static str,
    network: &'static str,
    address: &'static str,
) -> TokenContract {
    TokenContract { asset, network, address }
}

/// All token contracts, as published by the issuers:
/// <https://developers.circle.com/stablecoins/usdc-contract-addresses> and
/// <https://tether.to/en/supported-protocols>. Tether has no contracts on test networks.
pub static CONTRACTS: &[TokenContract] = &[
    contract("USDT-ERC20", "1", "0xdAC17F958D2ee523a2206206994597C13D831ec7"),
    contract("USDC-ERC20", "1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    contract("USDC-ERC20", "11155111", "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
    contract("USDC-BASE", "8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
    contract("USDC-BASE", "84532", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
    contract("USDC-POLYGON", "137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
    contract("USDC-POLYGON", "80002", "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582"),
    contract("USDT-TRC20", "mainnet", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
    contract("USDC-SPL", "mainnet-beta", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"),
    contract("USDC-SPL", "devnet", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAERYPJgZJDncDU"),
    contract("USDT-SPL", "mainnet-beta", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB"),
];

/// Returns the contract address of a token on a network; `None` if the token has no contract there.
pub fn contract_address(asset: &Asset, network: &str) -> Option<&'static str> {
    let mut rows = CONTRACTS.iter();
    let row = rows.find(|row| row.asset == asset.id && row.network == network);
    row.map(|row| row.address)
}

#[cfg(test)]
mod tests {
    use super::{CONTRACTS, contract_address};
    use crate::domain::address::{Network, parse};
    use crate::domain::asset::{ASSETS, Asset};

    #[test]
    fn each_contract_is_a_canonical_address_of_its_chain() {
        for row in CONTRACTS {
            let asset = Asset::find(row.asset).filter(|asset| asset.kind.has_contract());
            let chain = asset.map(|asset| asset.chain);
            let canonical = chain.and_then(|chain| parse(chain, Network::Main, row.address).ok());
            // The address must be canonical. An EVM address in one letter case has no checksum that would reveal a
            // typing error.
            assert_eq!(canonical.as_deref(), Some(row.address), "{}", row.asset);
            let networks = chain.map(|chain| chain.row().networks);
            let is_known = networks
                .is_some_and(|(main, test)| row.network == main || test.contains(&row.network));
            assert!(is_known, "{} {}", row.asset, row.network);
        }
    }

    #[test]
    fn each_token_has_one_contract_on_its_main_network() {
        for asset in ASSETS.iter().filter(|asset| asset.kind.has_contract()) {
            assert!(
                contract_address(asset, asset.chain.row().networks.0).is_some(),
                "{}",
                asset.id
            );
        }
        for (at, row) in CONTRACTS.iter().enumerate() {
            let same = |other: &&super::TokenContract| {
                (other.asset, other.network) == (row.asset, row.network)
                    || other.address == row.address
            };
            let first = CONTRACTS.iter().position(|other| same(&other));
            assert_eq!(first, Some(at), "{} {}", row.asset, row.network);
        }
    }
}
