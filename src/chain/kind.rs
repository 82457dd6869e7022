//! The kinds of node, and the chains that each of them tells of.

use super::Node;
use super::cost::Cost;
use super::electrum::{Electrum, SCHEMES, ServerUrl};
use super::evm::Evm;
use super::rpc::{Endpoint, Limits, Rpc};
use super::solana::Solana;
use super::tokens::Tokens;
use super::tron::Tron;
use super::utxo::Utxo;
use crate::domain::chain::Chain;

/// Settings of a node that has not been asked yet.
pub struct At {
    /// Chain that it tells of.
    pub chain: Chain,
    /// Its url.
    pub endpoint: Endpoint,
    /// The other urls of the chain, which are asked besides by a node that cannot prove to have told everything.
    pub others: Vec<Endpoint>,
    /// Sent with every request; a value may be a secret.
    pub headers: Vec<(String, String)>,
    /// Contracts of tokens on a test network.
    pub tokens: Tokens,
    /// Limits of its answers.
    pub limits: Limits,
}

/// A kind of node.
pub struct Kind {
    /// Chains that such nodes tell of.
    pub chains: &'static [Chain],
    /// Schemes of their urls.
    pub schemes: &'static [&'static str],
    /// `true`: they are asked over HTTP, and headers of the operator's may be sent with it.
    pub takes_headers: bool,
    /// Returns what it costs to follow a chain.
    pub cost: fn(Chain) -> Cost,
    /// Reads a url.
    pub endpoint: fn(&str) -> Result<Endpoint, String>,
    /// Makes one; `None` on a chain that such nodes do not tell of.
    pub node: fn(At) -> Option<Box<dyn Node>>,
}

const HTTP: &[&str] = &["http", "https"];

/// Every kind of node. A url is of the first kind that has its chain and its scheme.
pub static KINDS: &[Kind] = &[
    Kind {
        chains: &[Chain::Bitcoin, Chain::Litecoin, Chain::Dogecoin],
        schemes: HTTP,
        takes_headers: true,
        cost: Cost::of,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Utxo::new(at.chain, at.rpc())?)),
    },
    Kind {
        chains: &[Chain::Bitcoin, Chain::Litecoin],
        schemes: &SCHEMES,
        takes_headers: false,
        cost: Cost::by_notices,
        endpoint: |url| Ok(Endpoint::of_other(url, ServerUrl::parse(url)?.shown())),
        node: |at| {
            let endpoints = std::iter::once(&at.endpoint).chain(&at.others);
            let urls = endpoints.filter_map(|one| ServerUrl::parse(one.url()).ok());
            Some(Box::new(Electrum::new(
                at.chain,
                urls.collect(),
                at.limits,
            )?))
        },
    },
    Kind {
        chains: &[Chain::Ethereum, Chain::Base, Chain::Polygon],
        schemes: HTTP,
        takes_headers: true,
        cost: Cost::of,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Evm::new(at.chain, at.rpc(), at.tokens))),
    },
    Kind {
        chains: &[Chain::Tron],
        schemes: HTTP,
        takes_headers: true,
        cost: Cost::of,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Tron::new(at.rpc(), at.tokens))),
    },
    Kind {
        chains: &[Chain::Solana],
        schemes: HTTP,
        takes_headers: true,
        cost: Cost::of,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Solana::new(at.rpc(), at.tokens)?)),
    },
];

impl At {
    /// Client of a node that speaks JSON over HTTP.
    fn rpc(&self) -> Rpc {
        Rpc::new(
            vec![self.endpoint.clone()],
            self.headers.clone(),
            self.limits,
        )
    }
}

/// The kind of the node of a chain at a url of this scheme.
pub fn of(chain: Chain, scheme: &str) -> Option<&'static Kind> {
    let mut kinds = KINDS.iter().filter(|kind| kind.chains.contains(&chain));
    kinds.find(|kind| kind.schemes.contains(&scheme))
}

/// Reads the url of a node of a chain.
///
/// # Errors
/// A text that says what would be right, and repeats nothing of the url.
pub fn endpoint(chain: Chain, url: &str) -> Result<Endpoint, String> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    match of(chain, &scheme.to_ascii_lowercase()) {
        Some(kind) => (kind.endpoint)(url),
        None => Endpoint::parse(url),
    }
}

/// Returns `true` if there is a kind of node for a chain.
pub fn is_followed(chain: Chain) -> bool {
    KINDS.iter().any(|kind| kind.chains.contains(&chain))
}
