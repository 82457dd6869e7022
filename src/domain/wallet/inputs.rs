//! Request bodies for wallets and own addresses.

use super::{
    INDEX_END, NAME_CHARS_MAX, ScriptType, Wallet, WalletHints, WalletNetwork, find_wallet_chain,
    read,
};
use crate::domain::asset::Chain;
use crate::domain::fields::rule::{choice, described, integer};
use crate::domain::fields::text_rule::{name, text};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema, schema_from_keywords};
use crate::domain::refusal::Refusal;
use serde_json::json;

const KEY_CHARS_MAX: usize = 1024;

const CHAIN_CHARS_MAX: usize = 40;

/// Highest index at which a wallet can start.
const INDEX_MAX: i64 = INDEX_END.saturating_sub(1) as i64;

input! {
    /// A wallet to add. A private key is refused and not kept.
    pub AddWallet, checked chain, script, network, key, next, name; unknown refused {
        /// Chain or chain family: bitcoin, litecoin, dogecoin, evm or tron. evm stands for all EVM chains.
        required chain: Chain = PoolRule(find_wallet_chain), "bitcoin";
        /// The account's extended public key (xpub, ypub, zpub, tpub, upub, vpub, Ltub, Mtub, dgub), or a descriptor
        /// pkh(), wpkh(), sh(wpkh()) or tr() of one such key with its origin, /0/* and checksum.
        required key: Wallet = WalletRule, "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
        /// Type of the output script; needed for a plain xpub of bitcoin or litecoin.
        optional script: ScriptType = choice();
        /// Network of an ambiguous test key; default test.
        optional network: WalletNetwork = described(choice(), NETWORK_NAMED);
        /// First index to assign, for a key that was used elsewhere; default 0, or the present index of a known
        /// wallet. At most 100000 above the present index, and above every assigned index.
        optional next: i64 = integer(0..=INDEX_MAX);
        /// Name that the owner chose.
        optional name: String = name(1..=NAME_CHARS_MAX), "Till";
    }
}

input! {
    /// An own address to declare.
    pub AddOwnAddress, checked chain, address; unknown refused {
        /// Chain or chain family: bitcoin, litecoin, dogecoin, evm, tron or solana. evm stands for all EVM chains.
        required chain: Chain = PoolRule(find_pool_chain), "evm";
        /// The address.
        required address: String = text(1..=128), "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
    }
}

const NETWORK_NAMED: Schema =
    schema!({ "type": ["string", "null"], "enum": ["main", "test", "regtest", null] });

struct PoolRule(fn(&str) -> Result<Chain, Refusal>);

impl Rule for PoolRule {
    type Value = Chain;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Chain>, Refusal> {
        let text = fields.text(name, 1..=CHAIN_CHARS_MAX)?;
        text.map(self.0).transpose()
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("string")), ("examples", json!(["bitcoin"]))])
    }
}

/// Rule for a wallet: reads the key, and the fields `chain`, `script` and `network` of the body.
struct WalletRule;

impl Rule for WalletRule {
    type Value = Wallet;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Wallet>, Refusal> {
        let Some(key) = fields.text(name, 1..=KEY_CHARS_MAX)? else {
            return Ok(None);
        };
        let said = WalletHints {
            script: AddWallet::script(fields)?,
            network: AddWallet::network(fields)?,
        };
        read(AddWallet::chain(fields)?, key, &said).map(Some)
    }

    fn json_schema(&self) -> Keywords {
        text(1..=KEY_CHARS_MAX).json_schema()
    }
}

/// Returns the chain with this name, otherwise the first chain of the pool with this name.
fn find_pool_chain(name: &str) -> Result<Chain, Refusal> {
    let chain = Chain::first_of_each_pool().find(|chain| chain.address_pool() == name);
    chain.or_else(|| name.parse().ok()).ok_or_else(|| {
        let names: Vec<_> = Chain::first_of_each_pool().map(Chain::address_pool).collect();
        Refusal::field("chain", format!("must be one of {}", names.join(", ")))
    })
}
