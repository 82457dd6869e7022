//! Payment URIs for wallets: BIP 321, EIP-681, Solana Pay.
//!
//! Invariant: a URI names its network or is valid on one network only, so a wallet cannot pay on another network. If
//! no standard has such a URI for a coin, the coin has no payment URI.

use super::asset::{Asset, AssetKind, Chain};
use super::money::coin::Units;
use super::token::contract_address;

/// Returns the URI that asks a wallet to send this amount of a coin to an address. `network` is the name that nodes
/// use.
///
/// `None` if there is no standard (Tron), or if a wallet could send real money to a test network.
pub fn payment_uri(asset: &Asset, network: &str, address: &str, amount: Units) -> Option<String> {
    match asset.chain {
        Chain::Bitcoin | Chain::Litecoin | Chain::Dogecoin => {
            let (chain, amount) = (asset.chain, asset.format_units(amount));
            Some(format!("{chain}:{address}?amount={amount}"))
        }
        Chain::Ethereum | Chain::Base | Chain::Polygon => match asset.kind {
            AssetKind::Native => Some(format!("ethereum:{address}@{network}?value={}", amount.0)),
            AssetKind::Erc20 | AssetKind::Spl | AssetKind::Trc20 => {
                let token = contract_address(asset, network)?;
                let amount = amount.0;
                Some(format!(
                    "ethereum:{token}@{network}/transfer?address={address}&uint256={amount}"
                ))
            }
        },
        Chain::Solana if network == asset.chain.row().networks.0 => {
            let uri = format!("solana:{address}?amount={}", asset.format_units(amount));
            if asset.kind == AssetKind::Native {
                return Some(uri);
            }
            let mint = contract_address(asset, network)?;
            Some(format!("{uri}&spl-token={mint}"))
        }
        Chain::Solana | Chain::Tron => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Asset, Units, payment_uri};
    use crate::domain::asset::ASSETS;

    const EVM: &str = "0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359";

    fn uri(asset: &str, network: &str, address: &str, amount: u128) -> Option<String> {
        payment_uri(Asset::find(asset).unwrap(), network, address, Units(amount))
    }

    #[test]
    fn uri_follows_its_standard() {
        // This is an example of BIP 321, for 20.3 BTC.
        let address = "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W";
        assert_eq!(
            uri("BTC", "main", address, 2_030_000_000).as_deref(),
            Some("bitcoin:175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W?amount=20.3")
        );
        assert_eq!(
            uri("LTC", "main", "ltc1q", 1).as_deref(),
            Some("litecoin:ltc1q?amount=0.00000001")
        );
        assert_eq!(
            uri("DOGE", "test", "nabc", 500_000_000).as_deref(),
            Some("dogecoin:nabc?amount=5")
        );
        // This is the example of EIP-681, for 2.014 ether. Our URI also names the chain.
        assert_eq!(
            uri("ETH", "1", EVM, 2_014_000_000_000_000_000).as_deref(),
            Some("ethereum:0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359@1?value=2014000000000000000")
        );
        assert_eq!(
            uri("USDC-BASE", "84532", EVM, 1_500_000).unwrap(),
            format!(
                "ethereum:0x036CbD53842c5426634e7929541eC2318f3dCF7e@84532/transfer?address={EVM}&uint256=1500000"
            )
        );
        // These are the examples of Solana Pay, for 1 SOL and 0.01 USDC.
        let address = "mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN";
        assert_eq!(
            uri("SOL", "mainnet-beta", address, 1_000_000_000).unwrap(),
            format!("solana:{address}?amount=1")
        );
        assert_eq!(
            uri("USDC-SPL", "mainnet-beta", address, 10_000).unwrap(),
            format!(
                "solana:{address}?amount=0.01&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
            )
        );
    }

    #[test]
    fn coin_has_no_uri_on_an_unknown_network() {
        assert_eq!(uri("TRX", "mainnet", "T", 1), None);
        assert_eq!(uri("USDT-TRC20", "mainnet", "T", 1), None);
        assert_eq!(uri("SOL", "devnet", "S", 1), None);
        assert_eq!(uri("USDT-ERC20", "11155111", EVM, 1), None);
        for asset in &ASSETS {
            let (main, _) = asset.chain.row().networks;
            let found = payment_uri(asset, main, "A", Units(7));
            let is_tron = asset.chain.as_str() == "tron";
            assert_eq!(found.is_none(), is_tron, "{}", asset.id);
        }
    }
}
