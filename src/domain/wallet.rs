//! Wallets: public keys from which the live addresses of a chain are derived.
//!
//! Invariant: a text with a private key is refused before anything else reads it. No message repeats the text.

use super::address::Network;
use super::asset::Chain;
use super::refusal::Refusal;
use super::text_enum::text_enum;
use serde_json::{Map, Value};

mod branch;
mod descriptor;
mod extended;
mod gap;
mod inputs;
mod reached;
mod secret;

pub use branch::{ReceivingBranch, WalletAddress};
pub use extended::ExtendedKey;
pub use gap::IndexGaps;
pub use inputs::{AddOwnAddress, AddWallet};
pub use reached::WalletIndexes;
pub use secret::{WalletSecret, contains_seed_phrase, may_be_seed_phrase_word};

/// Longest accepted text, in bytes. A descriptor with its origin and checksum has about 200 bytes.
const TEXT_BYTES_MAX: usize = 1024;

/// First hardened index. Public keys derive only lower indexes (BIP 32).
pub const INDEX_END: u32 = 0x8000_0000;

/// Longest name of a wallet, in characters.
pub const NAME_CHARS_MAX: usize = 80;

/// Returns the problem of a stopped wallet: an index received a payment before the wallet handed out this index.
pub fn stopped_wallet_problem(id: &str, index: u32) -> String {
    format!(
        "the wallet {id} is stopped: something came to its index {index}, which this file has not handed out: \
         this file is older than the wallet, or the key is used elsewhere"
    )
}

/// Returns the remedy for a stopped wallet.
pub fn stopped_wallet_remedy(chain: &str, index: u32) -> String {
    format!(
        "look up the last index that was handed out elsewhere, then `coffer wallet add {chain} --next N` with the same \
         key, N at least {}",
        index.saturating_add(1)
    )
}

text_enum! {
    /// Script type of a wallet's addresses, on chains with transaction outputs.
    pub enum ScriptType {
        /// P2PKH: BIP 44, addresses that begin with 1, L or D.
        Pkh = "pkh",
        /// P2WPKH inside P2SH: BIP 49, addresses that begin with 3 or M.
        ShWpkh = "sh-wpkh",
        /// P2WPKH: BIP 84, addresses that begin with bc1q or ltc1q.
        Wpkh = "wpkh",
        /// P2TR: BIP 86, addresses that begin with bc1p or ltc1p.
        Tr = "tr",
    }
}

text_enum! {
    /// Network of a wallet's addresses.
    pub enum WalletNetwork {
        /// Main network.
        Main = "main",
        /// Testnet or signet, which share their address formats.
        Test = "test",
        /// A local test chain, with its own segwit prefixes.
        Regtest = "regtest",
        /// Every network of the chain: EVM and Tron addresses are the same on all networks.
        Any = "any",
    }
}

impl WalletNetwork {
    /// Networks that are valid in a request.
    pub const NAMED: [WalletNetwork; 3] =
        [WalletNetwork::Main, WalletNetwork::Test, WalletNetwork::Regtest];

    /// Returns `true` if the wallet's addresses are valid on a node's network.
    ///
    /// The name of the node's network is one of [`ChainRow::networks`](super::chain::ChainRow::networks).
    pub fn includes_node_network(self, chain: Chain, network: &str) -> bool {
        let (main, tests) = chain.row().networks;
        match self {
            WalletNetwork::Any => true,
            WalletNetwork::Main => network == main,
            WalletNetwork::Regtest => network == "regtest",
            WalletNetwork::Test => network != "regtest" && tests.contains(&network),
        }
    }

    /// Returns `true` for the main network.
    pub const fn is_main(self) -> bool {
        matches!(self, WalletNetwork::Main | WalletNetwork::Any)
    }

    fn encoding(self) -> Network {
        if self.is_main() { Network::Main } else { Network::Test }
    }
}

/// A wallet: a public key, and the kind of addresses that it derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// Chain of the wallet. If several chains share the wallet's addresses, as the EVM chains do, this is the first
    /// of them.
    pub chain: Chain,
    /// Network of the wallet's addresses.
    pub network: WalletNetwork,
    /// Script type of the wallet's addresses; `None` on EVM and Tron.
    pub script: Option<ScriptType>,
    /// Public key of the account. The wallet's addresses are at m/0/index below this key.
    pub key: ExtendedKey,
}

/// Properties of a wallet that a request may state in addition to the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct WalletHints {
    /// Script type, if the key does not determine it.
    pub script: Option<ScriptType>,
    /// Network, if the key is valid on several networks.
    pub network: Option<WalletNetwork>,
}

/// Returns the chains whose live addresses are derived from wallets: the first chain of each pool.
pub fn wallet_chains() -> impl Iterator<Item = Chain> {
    Chain::first_of_each_pool().filter(|chain| !chain.row().imported)
}

/// Finds the chain for which wallets of this address pool derive addresses.
///
/// # Errors
/// `invalid_request` that lists the names of the pools.
pub fn find_wallet_chain(name: &str) -> Result<Chain, Refusal> {
    let found = wallet_chains().find(|chain| chain.address_pool() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = wallet_chains().map(Chain::address_pool).collect();
        Refusal::field("chain", format!("must be one of {}", names.join(", ")))
    })
}

/// Refuses a text that contains a private key or a seed phrase. The message names the kind of secret.
///
/// # Errors
/// `invalid_request` for this field. The message does not repeat the text.
pub fn refuse_secrets(param: &str, text: &str) -> Result<(), Refusal> {
    match WalletSecret::find_in_text(text) {
        None => Ok(()),
        Some(secret) => Err(Refusal::field(param, secret_problem(secret))),
    }
}

/// Refuses a body that contains a private key or a seed phrase, as a value at any depth or as a field name.
///
/// # Errors
/// `invalid_request` for the field, or for the body if a name is a secret. The message does not repeat the secret.
pub fn refuse_secrets_in_body(body: &Map<String, Value>) -> Result<(), Refusal> {
    for (name, value) in body {
        refuse_secrets("body", name)?;
        let mut left = vec![value];
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => refuse_secrets(name, text)?,
                Value::Array(items) => left.extend(items),
                Value::Object(fields) => {
                    for inner in fields.keys() {
                        refuse_secrets(name, inner)?;
                    }
                    left.extend(fields.values());
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns the message about a secret in a field. The caller puts the name of the field before the message.
pub fn secret_problem(secret: WalletSecret) -> String {
    format!(
        "contains {secret}, which is refused and not stored: give the extended public key of the account, and consider the secret compromised"
    )
}

/// Reads a wallet from an extended public key, or from a descriptor that contains such a key.
///
/// # Errors
/// `invalid_request` that names `key`, `script` or `network`.
pub fn read(chain: Chain, text: &str, said: &WalletHints) -> Result<Wallet, Refusal> {
    refuse_secrets("key", text)?;
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX || !text.is_ascii() {
        return Err(key_refusal("is no extended public key and no descriptor"));
    }
    let (key, of_descriptor) = if text.contains('(') {
        let described = descriptor::read(text).map_err(key_refusal)?;
        (described.key, Some(described.script))
    } else {
        (text, None)
    };
    let (key, version, depth) = extended::read(key).map_err(key_refusal)?;
    if of_descriptor.is_none() && depth > extended::ACCOUNT_DEPTH {
        return Err(key_refusal(
            "is of a level below the account: export the key of the account itself, like m/84'/0'/0'",
        ));
    }
    if !version.chains.contains(&chain) {
        let problem = format!("is a key of another chain than {}", chain.address_pool());
        return Err(key_refusal(problem));
    }
    if !chain.has_outputs() {
        return wallet_on_account_chain(chain, key, of_descriptor, said);
    }
    let script = determine_script(chain, version, of_descriptor, said)?;
    let network = determine_network(version, said)?;
    if network == WalletNetwork::Regtest && !chain.row().networks.1.contains(&"regtest") {
        return Err(Refusal::field("network", "has no regtest on this chain"));
    }
    Ok(Wallet { chain, network, script: Some(script), key })
}

/// Returns a wallet on a chain with accounts. Such a chain has no scripts.
fn wallet_on_account_chain(
    chain: Chain,
    key: ExtendedKey,
    of_descriptor: Option<ScriptType>,
    said: &WalletHints,
) -> Result<Wallet, Refusal> {
    let pool = chain.address_pool();
    if of_descriptor.is_some() {
        let problem = format!("is a descriptor, which {pool} does not have: give the key alone");
        return Err(key_refusal(problem));
    }
    if said.script.is_some() {
        let problem = format!("must be left out: {pool} has no scripts");
        return Err(Refusal::field("script", problem));
    }
    if said.network.is_some() {
        let problem =
            format!("must be left out: addresses of {pool} are the same on every network");
        return Err(Refusal::field("network", problem));
    }
    Ok(Wallet { chain, network: WalletNetwork::Any, script: None, key })
}

/// Determines the script type. The descriptor, the key and the request must not contradict each other.
fn determine_script(
    chain: Chain,
    version: &extended::KeyVersion,
    of_descriptor: Option<ScriptType>,
    said: &WalletHints,
) -> Result<ScriptType, Refusal> {
    let fixed = version.script.filter(|_| version.is_script_fixed);
    let told: Vec<ScriptType> = [of_descriptor, said.script, fixed].into_iter().flatten().collect();
    if let [first, rest @ ..] = told.as_slice()
        && let Some(other) = rest.iter().find(|other| *other != first)
    {
        let problem =
            format!("is {first} by one and {other} by another of key, descriptor and script");
        return Err(Refusal::field("script", problem));
    }
    let only = (chain == Chain::Dogecoin).then_some(ScriptType::Pkh);
    let script = told.first().copied().or(version.script).or(only);
    let script = script.ok_or_else(|| {
        let problem = format!(
            "must be given, as the key does not contain it: {}",
            ScriptType::TEXTS.join(", ")
        );
        Refusal::field("script", problem)
    })?;
    match only {
        Some(only) if only != script => {
            let problem = format!("must be {only} on {}", chain.address_pool());
            Err(Refusal::field("script", problem))
        }
        Some(_) | None => Ok(script),
    }
}

/// Determines the network. The key and the request must not contradict each other.
fn determine_network(
    version: &extended::KeyVersion,
    said: &WalletHints,
) -> Result<WalletNetwork, Refusal> {
    let is_main = version.network == Network::Main;
    let refused = |problem: &str| Err(Refusal::field("network", problem));
    match said.network {
        None if is_main => Ok(WalletNetwork::Main),
        None => Ok(WalletNetwork::Test),
        Some(WalletNetwork::Main) if is_main => Ok(WalletNetwork::Main),
        Some(network @ (WalletNetwork::Test | WalletNetwork::Regtest)) if !is_main => Ok(network),
        Some(WalletNetwork::Any) => refused("must be main, test or regtest"),
        Some(_) if is_main => refused("must be main, as the key is one of the main network"),
        Some(_) => refused("must be test or regtest, as the key is one of test networks"),
    }
}

fn key_refusal(problem: impl std::fmt::Display) -> Refusal {
    Refusal::field("key", problem)
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
mod tests;
