//! Kinds of nodes, such as Bitcoin-like or EVM nodes, with the chains that each kind supports.

use super::Node;
use super::cost::RequestCost;
use super::electrum::{Electrum, SCHEMES, ServerUrl};
use super::evm::Evm;
use super::rpc::{Endpoint, Limits, RequestWatch, Rpc};
use super::solana::Solana;
use super::tokens::Tokens;
use super::tron::Tron;
use super::utxo::Utxo;
use crate::domain::chain::Chain;

/// Settings of a node, which are known before the first request.
pub struct NodeSettings {
    pub chain: Chain,
    pub endpoint: Endpoint,
    /// Further urls of the chain. The Electrum client uses all urls, because one server may hide payments.
    pub others: Vec<Endpoint>,
    /// Headers of every request; a value may be a secret.
    pub headers: Vec<(String, String)>,
    /// Token contracts on a test network.
    pub tokens: Tokens,
    pub limits: Limits,
    /// Callback that learns when a request begins and ends.
    pub watch: Option<RequestWatch>,
}

pub struct NodeKind {
    pub chains: &'static [Chain],
    pub schemes: &'static [&'static str],
    /// `true` if requests use HTTP, so that the operator can set headers.
    pub takes_headers: bool,
    pub cost: fn(Chain) -> RequestCost,
    pub endpoint: fn(&str) -> Result<Endpoint, String>,
    /// Creates a node; `None` for a chain that this kind does not support.
    pub node: fn(NodeSettings) -> Option<Box<dyn Node>>,
}

const HTTP: &[&str] = &["http", "https"];

/// All kinds of nodes. A url belongs to the first kind that supports its chain and its scheme.
pub static NODE_KINDS: &[NodeKind] = &[
    NodeKind {
        chains: &[Chain::Bitcoin, Chain::Litecoin, Chain::Dogecoin],
        schemes: HTTP,
        takes_headers: true,
        cost: RequestCost::for_chain,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Utxo::new(at.chain, at.rpc())?)),
    },
    NodeKind {
        chains: &[Chain::Bitcoin, Chain::Litecoin],
        schemes: &SCHEMES,
        takes_headers: false,
        cost: RequestCost::for_electrum,
        endpoint: |url| Ok(Endpoint::non_http(url, ServerUrl::parse(url)?.label())),
        node: |at| {
            let endpoints = std::iter::once(&at.endpoint).chain(&at.others);
            let urls = endpoints.filter_map(|one| ServerUrl::parse(one.url()).ok());
            Some(Box::new(Electrum::new(at.chain, urls.collect(), at.limits)?))
        },
    },
    NodeKind {
        chains: &[Chain::Ethereum, Chain::Base, Chain::Polygon],
        schemes: HTTP,
        takes_headers: true,
        cost: RequestCost::for_chain,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Evm::new(at.chain, at.rpc(), at.tokens))),
    },
    NodeKind {
        chains: &[Chain::Tron],
        schemes: HTTP,
        takes_headers: true,
        cost: RequestCost::for_chain,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Tron::new(at.rpc(), at.tokens))),
    },
    NodeKind {
        chains: &[Chain::Solana],
        schemes: HTTP,
        takes_headers: true,
        cost: RequestCost::for_chain,
        endpoint: Endpoint::parse,
        node: |at| Some(Box::new(Solana::new(at.rpc(), at.tokens)?)),
    },
];

impl NodeSettings {
    fn rpc(&self) -> Rpc {
        let rpc = Rpc::new(vec![self.endpoint.clone()], self.headers.clone(), self.limits);
        rpc.with_watch(self.watch.clone())
    }
}

/// Returns the kind of node for a chain and a url scheme; `None` if no kind supports both.
pub fn find_kind(chain: Chain, scheme: &str) -> Option<&'static NodeKind> {
    let mut kinds = NODE_KINDS.iter().filter(|kind| kind.chains.contains(&chain));
    kinds.find(|kind| kind.schemes.contains(&scheme))
}

/// Parses the url of a node.
///
/// # Errors
/// A message that says what would be valid, without any part of the url.
pub fn parse_endpoint(chain: Chain, url: &str) -> Result<Endpoint, String> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    match find_kind(chain, &scheme.to_ascii_lowercase()) {
        Some(kind) => (kind.endpoint)(url),
        None => Endpoint::parse(url),
    }
}

pub fn is_supported_chain(chain: Chain) -> bool {
    NODE_KINDS.iter().any(|kind| kind.chains.contains(&chain))
}

#[cfg(test)]
mod tests {
    use super::find_kind;
    use crate::domain::asset::Chain;

    #[test]
    fn each_chain_has_a_kind_of_node_with_http_urls() {
        for chain in Chain::ALL {
            assert!(find_kind(*chain, "http").is_some(), "{chain}");
        }
    }
}
