//! Identifies the network of a node by its genesis block.

use crate::domain::chain::Chain;

/// Genesis blocks by chain and network. Source: `src/kernel/chainparams.cpp` of Bitcoin Core, `src/chainparams.cpp` of
/// Litecoin Core and of Dogecoin Core.
const GENESIS_BLOCKS: &[(Chain, &str, &str)] = &[
    (Chain::Bitcoin, "main", "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
    (Chain::Bitcoin, "test", "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
    (
        Chain::Bitcoin,
        "testnet4",
        "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043",
    ),
    (Chain::Bitcoin, "signet", "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"),
    (Chain::Bitcoin, "regtest", "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
    (Chain::Litecoin, "main", "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"),
    (Chain::Litecoin, "test", "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"),
    (
        Chain::Litecoin,
        "regtest",
        "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9",
    ),
    (Chain::Dogecoin, "main", "1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691"),
    (Chain::Dogecoin, "test", "bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e"),
    (
        Chain::Dogecoin,
        "regtest",
        "3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5",
    ),
];

/// Returns the network that has this genesis block; `None` if the chain has no such network.
pub(in crate::chain) fn network_of_genesis(
    chain: Chain,
    first_block: &str,
) -> Option<&'static str> {
    let mut rows = GENESIS_BLOCKS.iter();
    let row = rows.find(|(of, _, hash)| *of == chain && *hash == first_block)?;
    Some(row.1)
}

/// Returns a message that names the chain of a genesis block, or says that the block is of no known network.
pub(in crate::chain) fn describe_genesis(first_block: &str) -> String {
    let mut rows = GENESIS_BLOCKS.iter();
    match rows.find(|(_, _, hash)| *hash == first_block) {
        Some((chain, network, _)) => format!("it is a node of {chain} ({network})"),
        None => "its first block is of no network that is known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{GENESIS_BLOCKS, describe_genesis, network_of_genesis};
    use crate::domain::chain::Chain;

    #[test]
    fn genesis_block_identifies_a_network_of_its_chain() {
        for (chain, name, hash) in GENESIS_BLOCKS {
            let (main, tests) = chain.row().networks;
            assert!(*name == main || tests.contains(name), "{chain} {name}");
            assert_eq!(network_of_genesis(*chain, hash), Some(*name));
            assert_eq!(hash.len(), 64);
        }
        let litecoin = "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2";
        assert_eq!(network_of_genesis(Chain::Bitcoin, litecoin), None);
        assert_eq!(describe_genesis(litecoin), "it is a node of litecoin (main)");
    }
}
