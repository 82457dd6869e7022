//! Wallets: the public key from which the live addresses of a chain are derived.
//!
//! What lives here: what a wallet is, and reading one from the text that its owner exports. What does not: which index is
//! next, and who owns an address (`store`). What always holds: nothing private is taken in: a text that holds a private
//! key is refused before any other look at it, and no message repeats what was read.

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

pub use branch::{Branch, Derived};
pub use extended::ExtendedKey;
pub use gap::Gaps;
pub use inputs::{AddOwnAddress, AddWallet};
pub use reached::Reached;
pub use secret::{Secret, are_phrase, is_word};

/// Longer texts are refused unread: a descriptor with its origin and checksum has some 200.
const TEXT_BYTES_MAX: usize = 1024;

/// Indexes from here on are hardened, which no public key derives (BIP 32).
pub const INDEX_END: u32 = 0x8000_0000;

/// The longest name of a wallet, in characters.
pub const NAME_CHARS_MAX: usize = 80;

/// What it means that something came to an index of a wallet that was not handed out yet.
pub fn stopped_problem(id: &str, index: u32) -> String {
    format!(
        "the wallet {id} is stopped: something came to its index {index}, which this file has not handed out: \
         this file is older than the wallet, or the key is used elsewhere"
    )
}

/// What lets such a wallet go on.
pub fn stopped_mend(chain: &str, index: u32) -> String {
    format!(
        "look up the last index that was handed out elsewhere, then `coffer wallet add {chain} --next N` with the same \
         key, N at least {}",
        index.saturating_add(1)
    )
}

text_enum! {
    /// What the outputs of a wallet's addresses hold, on chains whose outputs hold scripts.
    pub enum Script {
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
    /// The network that a wallet's addresses are for.
    pub enum WalletNetwork {
        /// The one whose coins are worth something.
        Main = "main",
        /// Testnet or signet.
        Test = "test",
        /// A chain of one's own, for tests: its segwit addresses look different.
        Regtest = "regtest",
        /// Every network of the chain: addresses of EVM and Tron are the same on all.
        Any = "any",
    }
}

impl WalletNetwork {
    /// The networks that a person may name.
    pub const NAMED: [WalletNetwork; 3] = [
        WalletNetwork::Main,
        WalletNetwork::Test,
        WalletNetwork::Regtest,
    ];

    /// Does a wallet of this network have addresses on the network of a node, by the name of
    /// [`Row::networks`](super::chain::Row::networks)?
    pub fn agrees_with(self, chain: Chain, network: &str) -> bool {
        let (main, tests) = chain.row().networks;
        match self {
            WalletNetwork::Any => true,
            WalletNetwork::Main => network == main,
            WalletNetwork::Regtest => network == "regtest",
            WalletNetwork::Test => network != "regtest" && tests.contains(&network),
        }
    }

    /// Are its coins worth something?
    pub const fn is_main(self) -> bool {
        matches!(self, WalletNetwork::Main | WalletNetwork::Any)
    }

    /// How its addresses are written.
    fn encoding(self) -> Network {
        if self.is_main() {
            Network::Main
        } else {
            Network::Test
        }
    }
}

/// A wallet: a key, and what its addresses look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// The first chain of the pool that it hands out addresses for.
    pub chain: Chain,
    /// The network of its addresses.
    pub network: WalletNetwork,
    /// What its outputs hold; none on EVM and Tron.
    pub script: Option<Script>,
    /// The account's key; addresses are at m/0/index of it.
    pub key: ExtendedKey,
}

/// What is said besides the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    /// The script, where the key does not tell it.
    pub script: Option<Script>,
    /// The network, where the key leaves several.
    pub network: Option<WalletNetwork>,
}

/// The chains, by the first of each pool, whose live addresses wallets derive.
pub fn chains() -> impl Iterator<Item = Chain> {
    Chain::of_each_pool().filter(|chain| !chain.row().imported)
}

/// The chain of wallets with this name: that of its pool.
///
/// # Errors
/// `invalid_request` that lists the names.
pub fn chain_named(name: &str) -> Result<Chain, Refusal> {
    let found = chains().find(|chain| chain.address_pool() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = chains().map(Chain::address_pool).collect();
        Refusal::field("chain", format!("must be one of {}", names.join(", ")))
    })
}

/// Refuses a text that holds a private key, by what it is.
///
/// # Errors
/// `invalid_request` for this field; the message does not repeat the text.
pub fn refuse_secrets(param: &str, text: &str) -> Result<(), Refusal> {
    match Secret::in_text(text) {
        None => Ok(()),
        Some(secret) => Err(Refusal::field(param, secret_problem(secret))),
    }
}

/// Refuses a body that holds a private key, as a value at any depth or as a name.
///
/// # Errors
/// `invalid_request` for the field, or for the body where a name is one; the message does not repeat it.
pub fn refuse_secrets_in(body: &Map<String, Value>) -> Result<(), Refusal> {
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

/// What is said of a private key, to follow the name of the field that holds it.
pub fn secret_problem(secret: Secret) -> String {
    format!(
        "holds {secret}, which is refused and was not kept: give the extended public key of the account, and \
         treat what was sent here as known to others"
    )
}

/// Reads a wallet from an extended public key, or from a descriptor of one.
///
/// # Errors
/// `invalid_request` that names `key`, `script` or `network` and says what would be right.
pub fn read(chain: Chain, text: &str, said: &Said) -> Result<Wallet, Refusal> {
    refuse_secrets("key", text)?;
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX || !text.is_ascii() {
        return Err(key_problem("is no extended public key and no descriptor"));
    }
    let (key, of_descriptor) = if text.contains('(') {
        let described = descriptor::read(text).map_err(key_problem)?;
        (described.key, Some(described.script))
    } else {
        (text, None)
    };
    let (key, version, depth) = extended::read(key).map_err(key_problem)?;
    if of_descriptor.is_none() && depth > extended::ACCOUNT_DEPTH {
        return Err(key_problem(
            "is of a level below the account: export the key of the account itself, like m/84'/0'/0'",
        ));
    }
    if !version.chains.contains(&chain) {
        let problem = format!("is one for another chain than {}", chain.address_pool());
        return Err(key_problem(problem));
    }
    if !chain.has_outputs() {
        return account(chain, key, of_descriptor, said);
    }
    let script = script_of(chain, version, of_descriptor, said)?;
    let network = network_of(version, said)?;
    if network == WalletNetwork::Regtest && !chain.row().networks.1.contains(&"regtest") {
        return Err(Refusal::field("network", "has no regtest on this chain"));
    }
    Ok(Wallet {
        chain,
        network,
        script: Some(script),
        key,
    })
}

/// A wallet of a chain without scripts.
fn account(
    chain: Chain,
    key: ExtendedKey,
    of_descriptor: Option<Script>,
    said: &Said,
) -> Result<Wallet, Refusal> {
    let pool = chain.address_pool();
    if of_descriptor.is_some() {
        let problem = format!("is a descriptor, which {pool} has none of: give the key alone");
        return Err(key_problem(problem));
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
    Ok(Wallet {
        chain,
        network: WalletNetwork::Any,
        script: None,
        key,
    })
}

/// The script, which descriptor, key and person tell alike.
fn script_of(
    chain: Chain,
    version: &extended::Version,
    of_descriptor: Option<Script>,
    said: &Said,
) -> Result<Script, Refusal> {
    let fixed = version.script.filter(|_| version.is_script_fixed);
    let told: Vec<Script> = [of_descriptor, said.script, fixed]
        .into_iter()
        .flatten()
        .collect();
    if let [first, rest @ ..] = told.as_slice()
        && let Some(other) = rest.iter().find(|other| *other != first)
    {
        let problem =
            format!("is {first} by one and {other} by another of key, descriptor and script");
        return Err(Refusal::field("script", problem));
    }
    let only = (chain == Chain::Dogecoin).then_some(Script::Pkh);
    let script = told.first().copied().or(version.script).or(only);
    let script = script.ok_or_else(|| {
        let problem = format!(
            "must be given, as the key does not tell it: {}",
            Script::TEXTS.join(", ")
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

/// The network, which key and person tell alike.
fn network_of(version: &extended::Version, said: &Said) -> Result<WalletNetwork, Refusal> {
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

/// Refuses the key.
fn key_problem(problem: impl std::fmt::Display) -> Refusal {
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
