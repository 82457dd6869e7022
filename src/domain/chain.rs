//! The supported chains and their properties.
//!
//! Invariant: the rows of `CHAINS` contain everything that differs between chains. A new chain is one new row.

use super::address::encoding::{self, Encoding};
use super::money::coin::Units;
use super::text_enum::text_enum;
use crate::domain::fields::{Schema, ViewField, schema};
use serde::{Serialize, Serializer};

/// Depth of a block in its chain: a number of confirmations, or finality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// This number of confirmations. The block itself is the first confirmation.
    Blocks(u32),
    /// The chain itself reports that the block is final.
    Final,
}

impl ViewField for Depth {
    const SCHEMA: Schema =
        schema!({ "type": ["integer", "string"], "minimum": 1, "pattern": "^final$" });
}

impl Serialize for Depth {
    /// Writes a number of blocks, or `final`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Depth::Blocks(blocks) => serializer.serialize_u32(*blocks),
            Depth::Final => serializer.serialize_str("final"),
        }
    }
}

text_enum! {
    /// A group of chains on which a customer has the same address.
    pub enum ChainFamily {
        /// Solana.
        Solana = "solana",
        /// All EVM chains, which share one address.
        Evm = "evm",
        /// Tron.
        Tron = "tron",
        /// Bitcoin only. Every other utxo chain would need another address, and a customer has one address per
        /// family.
        Utxo = "utxo",
    }
}

/// Properties of one chain.
#[derive(Debug)]
pub struct ChainRow {
    /// Chain that has these properties.
    pub chain: Chain,
    /// Name of the chain's address pool. Chains with the same pool share every address.
    pub pool: &'static str,
    pub(super) encoding: Encoding,
    /// Family of the chain; `None` if customers have no addresses on the chain.
    pub customer_family: Option<ChainFamily>,
    /// `true` if the operator imports the chain's addresses, because no public key can derive them.
    pub imported: bool,
    /// Name of the main network, and names of the test networks, as the chain's nodes use them.
    pub networks: (&'static str, &'static [&'static str]),
    /// Depth up to which a payment is watched for reorgs.
    pub horizon: Depth,
    /// Default confirmations for small, medium and large amounts.
    pub confirmations: [Depth; 3],
    /// URL of an explorer. A transaction id is appended to it.
    pub explorer: &'static str,
    /// `true` if some heights have no block. A height is then a slot number.
    pub has_gaps: bool,
    /// Largest number of heights that one step along the chain reads.
    pub step_blocks_max: u32,
    /// Usual time between two blocks, and usual time until a block is final, in seconds.
    pub usual_seconds: [u32; 2],
    /// Built-in network fees, in base units: for a transfer of the chain's own coin, and for a transfer of a token.
    pub fixed_fees: [Units; 2],
    /// Id of the coin that pays fees; `None` if no rate source has that coin.
    pub gas_coin: Option<&'static str>,
    /// `true` if a transaction pays a data fee in addition to the gas price.
    pub charges_for_data: bool,
}

/// Declares the enumeration [`Chain`] and the table [`CHAINS`].
macro_rules! chains {
    ($($(#[$about:meta])* $name:ident = $text:literal { $($field:ident: $value:expr),+ $(,)? })+) => {
        text_enum! {
            /// A supported chain.
            pub enum Chain { $($(#[$about])* $name = $text),+ }
        }

        /// Every chain, in the order of [`Chain::ALL`].
        pub static CHAINS: &[&ChainRow] = &[$(Chain::$name.row()),+];

        impl Chain {
            /// Returns the properties of the chain.
            pub const fn row(self) -> &'static ChainRow {
                match self {
                    $(Chain::$name => {
                        const ROW: ChainRow = ChainRow { chain: Chain::$name, $($field: $value),+ };
                        &ROW
                    })+
                }
            }
        }
    };
}

chains! {
    /// Bitcoin.
    Bitcoin = "bitcoin" {
        pool: "bitcoin",
        encoding: encoding::BITCOIN,
        customer_family: Some(ChainFamily::Utxo),
        imported: false,
        networks: ("main", &["test", "testnet4", "signet", "regtest"]),
        horizon: Depth::Blocks(100),
        confirmations: [Depth::Blocks(1), Depth::Blocks(2), Depth::Blocks(6)],
        explorer: "https://mempool.space/tx/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [600, 60_000],
        fixed_fees: [Units(2_000), Units(2_000)],
        gas_coin: Some("BTC"),
        charges_for_data: false,
    }
    /// Litecoin.
    Litecoin = "litecoin" {
        pool: "litecoin",
        encoding: encoding::LITECOIN,
        customer_family: None,
        imported: false,
        networks: ("main", &["test", "signet", "regtest"]),
        horizon: Depth::Blocks(200),
        confirmations: [Depth::Blocks(3), Depth::Blocks(6), Depth::Blocks(12)],
        explorer: "https://litecoinspace.org/tx/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [150, 30_000],
        fixed_fees: [Units(10_000), Units(10_000)],
        gas_coin: Some("LTC"),
        charges_for_data: false,
    }
    /// Dogecoin.
    Dogecoin = "dogecoin" {
        pool: "dogecoin",
        encoding: encoding::DOGECOIN,
        customer_family: None,
        imported: false,
        networks: ("main", &["test", "regtest"]),
        horizon: Depth::Blocks(400),
        confirmations: [Depth::Blocks(10), Depth::Blocks(20), Depth::Blocks(40)],
        explorer: "https://blockchair.com/dogecoin/transaction/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [60, 24_000],
        fixed_fees: [Units(100_000_000), Units(100_000_000)],
        gas_coin: Some("DOGE"),
        charges_for_data: false,
    }
    /// Ethereum.
    Ethereum = "ethereum" {
        pool: "evm",
        encoding: Encoding::Evm,
        customer_family: Some(ChainFamily::Evm),
        imported: false,
        networks: ("1", &["11155111", "560048"]),
        horizon: Depth::Final,
        confirmations: [Depth::Blocks(6), Depth::Blocks(12), Depth::Final],
        explorer: "https://etherscan.io/tx/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [12, 900],
        fixed_fees: [Units(200_000_000_000_000), Units(1_000_000)],
        gas_coin: Some("ETH"),
        charges_for_data: false,
    }
    /// Base.
    Base = "base" {
        pool: "evm",
        encoding: Encoding::Evm,
        customer_family: Some(ChainFamily::Evm),
        imported: false,
        networks: ("8453", &["84532"]),
        horizon: Depth::Final,
        confirmations: [Depth::Blocks(10), Depth::Blocks(30), Depth::Final],
        explorer: "https://basescan.org/tx/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [2, 1_200],
        fixed_fees: [Units(200_000_000_000_000), Units(10_000)],
        gas_coin: Some("ETH"),
        charges_for_data: true,
    }
    /// Polygon.
    Polygon = "polygon" {
        pool: "evm",
        encoding: Encoding::Evm,
        customer_family: Some(ChainFamily::Evm),
        imported: false,
        networks: ("137", &["80002"]),
        horizon: Depth::Final,
        confirmations: [Depth::Blocks(32), Depth::Blocks(64), Depth::Final],
        explorer: "https://polygonscan.com/tx/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [2, 60],
        fixed_fees: [Units(200_000_000_000_000), Units(10_000)],
        gas_coin: None,
        charges_for_data: false,
    }
    /// Tron.
    Tron = "tron" {
        pool: "tron",
        encoding: Encoding::Tron,
        customer_family: Some(ChainFamily::Tron),
        imported: false,
        networks: ("mainnet", &["shasta", "nile"]),
        horizon: Depth::Final,
        confirmations: [Depth::Final, Depth::Final, Depth::Final],
        explorer: "https://tronscan.org/#/transaction/",
        has_gaps: false,
        step_blocks_max: 100,
        usual_seconds: [3, 60],
        fixed_fees: [Units(1_000_000), Units(1_500_000)],
        gas_coin: Some("TRX"),
        charges_for_data: false,
    }
    /// Solana.
    Solana = "solana" {
        pool: "solana",
        encoding: Encoding::Solana,
        customer_family: Some(ChainFamily::Solana),
        imported: true,
        networks: ("mainnet-beta", &["testnet", "devnet", "localnet"]),
        horizon: Depth::Final,
        confirmations: [Depth::Final, Depth::Final, Depth::Final],
        explorer: "https://solscan.io/tx/",
        has_gaps: true,
        step_blocks_max: 10_000,
        usual_seconds: [1, 15],
        fixed_fees: [Units(5_000), Units(10_000)],
        gas_coin: Some("SOL"),
        charges_for_data: false,
    }
}

impl Chain {
    /// Returns the pool of this chain's addresses. Each chain has its own pool, except that all EVM chains share one
    /// pool.
    pub const fn address_pool(self) -> &'static str {
        self.row().pool
    }

    /// Returns `true` if the chain keeps money in transaction outputs, `false` if it keeps money in accounts.
    pub const fn has_outputs(self) -> bool {
        matches!(self.row().encoding, Encoding::Utxo(_))
    }

    /// Returns a transaction id in the form in which it is stored.
    ///
    /// An id of 64 hex digits becomes lower case, with the prefix `0x` on EVM chains only. Any other text is returned
    /// unchanged.
    pub fn canonical_txid(self, text: &str) -> String {
        let prefix = match self.row().encoding {
            Encoding::Utxo(_) | Encoding::Tron => "",
            Encoding::Evm => "0x",
            Encoding::Solana => return text.to_owned(),
        };
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let digits = digits.unwrap_or(text);
        if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            format!("{prefix}{}", digits.to_ascii_lowercase())
        } else {
            text.to_owned()
        }
    }

    /// Returns the URL of a transaction in the explorer; `None` on test networks, which the explorer does not cover.
    pub fn explorer_url(self, network: &str, txid: &str) -> Option<String> {
        let row = self.row();
        (network == row.networks.0).then(|| format!("{}{txid}", row.explorer))
    }

    /// Returns the first chain of each address pool.
    pub fn first_of_each_pool() -> impl Iterator<Item = Chain> {
        let first = |row: &&&ChainRow| {
            let of_pool = CHAINS.iter().find(|other| other.pool == row.pool);
            of_pool.is_some_and(|other| other.chain == row.chain)
        };
        CHAINS.iter().filter(first).map(|row| row.chain)
    }

    /// Returns the chains whose live addresses are imported by the operator.
    pub fn with_imported_addresses() -> impl Iterator<Item = Chain> {
        Chain::first_of_each_pool().filter(|chain| chain.row().imported)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHAINS, Chain, Depth};

    #[test]
    fn row_names_its_own_chain() {
        assert_eq!(CHAINS.len(), Chain::ALL.len());
        for chain in Chain::ALL {
            assert_eq!(chain.row().chain, *chain);
            assert!(chain.row().explorer.starts_with("https://"), "{chain}");
        }
    }

    #[test]
    fn chains_of_one_pool_share_their_encoding() {
        for chain in Chain::ALL {
            for other in Chain::ALL {
                let (one, two) = (chain.row(), other.row());
                if one.pool == two.pool {
                    assert_eq!(one.encoding, two.encoding, "{chain} {other}");
                    assert_eq!(one.imported, two.imported, "{chain} {other}");
                }
            }
        }
        assert_eq!(Chain::Base.address_pool(), "evm");
        assert_eq!(Chain::Bitcoin.address_pool(), "bitcoin");
        let pools: Vec<_> = Chain::first_of_each_pool().map(Chain::address_pool).collect();
        assert_eq!(pools, ["bitcoin", "litecoin", "dogecoin", "evm", "tron", "solana"]);
    }

    #[test]
    fn transaction_id_has_one_stored_form() {
        let (small, large) = ("ab".repeat(32), "AB".repeat(32));
        for (chain, expected) in [
            (Chain::Bitcoin, small.clone()),
            (Chain::Tron, small.clone()),
            (Chain::Base, format!("0x{small}")),
        ] {
            for text in [&small, &large, &format!("0x{small}"), &format!("0X{large}")] {
                assert_eq!(chain.canonical_txid(text), expected, "{chain}");
            }
            for other in ["", "0x", "My-Own", &large[1..]] {
                assert_eq!(chain.canonical_txid(other), other, "{chain}");
            }
        }
        assert_eq!(Chain::Solana.canonical_txid(&large), large);
    }

    #[test]
    fn only_main_networks_have_explorer_urls() {
        let url = |network| Chain::Litecoin.explorer_url(network, "ab");
        assert_eq!(url("main").as_deref(), Some("https://litecoinspace.org/tx/ab"));
        assert_eq!(url("regtest"), None);
        let url = Chain::Ethereum.explorer_url("1", "0xab");
        assert_eq!(url.as_deref(), Some("https://etherscan.io/tx/0xab"));
        assert_eq!(Chain::Ethereum.explorer_url("11155111", "0xab"), None);
    }

    #[test]
    fn larger_amounts_need_no_fewer_confirmations() {
        let blocks = |depth: Depth| match depth {
            Depth::Blocks(blocks) => blocks,
            Depth::Final => u32::MAX,
        };
        for row in CHAINS {
            let needed = row.confirmations.map(blocks);
            assert!(needed.is_sorted(), "{}", row.chain);
            assert!(needed.iter().all(|needed| *needed <= blocks(row.horizon)), "{}", row.chain);
        }
    }
}
