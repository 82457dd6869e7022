//! Settings of nodes: `--node`, `--node-header`, `--token` and `--test-networks`.
//!
//! Invariant: urls and headers may be secrets. Messages contain only scheme, host and port of a url, and its number
//! in the list.

pub mod probe;

use super::Node;
use super::cost::RequestCost;
use super::kind::{self, NodeSettings};
use super::rpc::metadata::{REFUSED, is_refused_host};
use super::rpc::{Endpoint, Limits, RequestWatch};
use super::tokens::Tokens;
use crate::domain::chain::Chain;
use crate::domain::{Asset, Network, address};
use std::fmt;
use std::str::FromStr;

const HEADER_CHARS_MAX: usize = 4096;

/// Largest number of urls of a chain that an operator enters.
const STORED_URLS_MAX: usize = 4;

/// Error for a `--node-header` of a chain without HTTP urls.
const NO_HEADERS: &str =
    "is sent to http:// and https:// urls only, and the chain has none: leave it out";

/// Node urls of one chain, with headers and token contracts.
#[derive(Clone, PartialEq, Eq)]
pub struct ChainNodes {
    /// Chain of the urls.
    pub chain: Chain,
    endpoints: Vec<Endpoint>,
    /// Headers of every request; a value may be a secret.
    headers: Vec<(String, String)>,
    tokens: Tokens,
    /// `true` for a url that an operator entered on the page. Link-local addresses are refused for it.
    is_stored: bool,
}

/// Node urls of all followed chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowedNodeUrls {
    /// Urls of each followed chain, one entry per chain.
    pub of_chains: Vec<ChainNodes>,
    /// `true` if test networks are allowed. Coins of a test network have no value.
    pub test_networks: bool,
}

/// Key and value for each use of a repeated flag. The key is, for example, a chain.
pub type KeyedValues = Vec<(String, String)>;

impl fmt::Debug for ChainNodes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ChainNode({} {:?})", self.chain, self.endpoints)
    }
}

impl FollowedNodeUrls {
    /// Parses the settings.
    ///
    /// # Errors
    /// A message with the flag and the key, without any url or header.
    pub fn parse_settings(
        nodes: &KeyedValues,
        headers: &KeyedValues,
        tokens: &KeyedValues,
        test_networks: bool,
    ) -> Result<FollowedNodeUrls, String> {
        let mut read = FollowedNodeUrls { of_chains: Vec::new(), test_networks };
        for (key, urls) in nodes {
            let wrong = |problem: String| format!("--node {key}: {problem}");
            let chain = parse_followed_chain(key).map_err(wrong)?;
            if read.for_chain(chain).is_some() {
                let once = "must be given once: several urls have commas between them";
                return Err(wrong(once.to_owned()));
            }
            read.of_chains.push(ChainNodes {
                chain,
                endpoints: Endpoint::parse_list_with(urls, |url| kind::parse_endpoint(chain, url))
                    .map_err(wrong)?,
                headers: Vec::new(),
                tokens: Tokens::new(),
                is_stored: false,
            });
        }
        for (key, header) in headers {
            let wrong = |problem: String| format!("--node-header {key}: {problem}");
            let chain = parse_followed_chain(key).map_err(wrong)?;
            let node =
                read.for_chain(chain).ok_or_else(|| wrong(unsupported_chain_error(chain)))?;
            let takes_headers = |at: &Endpoint| {
                let kind = kind::find_kind(chain, at.scheme());
                kind.is_some_and(|kind| kind.takes_headers)
            };
            if !node.endpoints.iter().any(takes_headers) {
                return Err(wrong(NO_HEADERS.to_owned()));
            }
            node.headers.push(parse_header(header).map_err(wrong)?);
        }
        for (key, contract) in tokens {
            let wrong = |problem: String| format!("--token {key}: {problem}");
            if !test_networks {
                let problem = "is for test networks: elsewhere each token has its issuer's contract; \
                    --test-networks takes it";
                return Err(wrong(problem.to_owned()));
            }
            let (asset, contract) = parse_token(key, contract).map_err(wrong)?;
            let node = read.for_chain(asset.chain);
            let node = node.ok_or_else(|| wrong(unsupported_chain_error(asset.chain)))?;
            node.tokens.insert(asset.id, contract);
        }
        Ok(read)
    }

    /// Returns the nodes of a chain.
    pub fn find(&self, chain: Chain) -> Option<&ChainNodes> {
        self.of_chains.iter().find(|node| node.chain == chain)
    }

    fn for_chain(&mut self, chain: Chain) -> Option<&mut ChainNodes> {
        self.of_chains.iter_mut().find(|node| node.chain == chain)
    }
}

impl ChainNodes {
    /// Parses the url of a node that an operator entered, or several urls with commas between them.
    ///
    /// # Errors
    /// The end of a sentence that begins with the field's name. It repeats no part of the url.
    pub fn parse_stored(chain: Chain, url: &str) -> Result<ChainNodes, String> {
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must be plain ASCII without spaces and line breaks".to_owned());
        }
        let endpoints = Endpoint::parse_list_with(url, |url| parse_stored_url(chain, url))?;
        if endpoints.len() > STORED_URLS_MAX {
            return Err(format!("must have at most {STORED_URLS_MAX} urls"));
        }
        Ok(ChainNodes {
            chain,
            endpoints,
            headers: Vec::new(),
            tokens: Tokens::new(),
            is_stored: true,
        })
    }

    /// Returns scheme, host and port of each url, and its number in the list.
    pub fn label(&self) -> String {
        let shown: Vec<&str> = self.endpoints.iter().map(Endpoint::label).collect();
        shown.join(", ")
    }

    /// Returns one text for each url: scheme, host, port, and number in the list.
    pub fn url_labels(&self) -> impl Iterator<Item = &str> {
        self.endpoints.iter().map(Endpoint::label)
    }

    /// Returns the tokens whose contracts are in the settings.
    pub fn tokens(&self) -> impl Iterator<Item = &'static str> {
        self.tokens.keys().copied()
    }

    /// Returns the cost of following the chain with the first url.
    pub fn cost(&self) -> RequestCost {
        let scheme = self.endpoints.first().map_or("", Endpoint::scheme);
        let kind = kind::find_kind(self.chain, scheme);
        kind.map_or_else(|| RequestCost::for_chain(self.chain), |kind| (kind.cost)(self.chain))
    }

    /// Creates a client for the url with this index; `None` after the last url.
    pub fn create_node(&self, place: usize, limits: Limits) -> Option<Box<dyn Node>> {
        self.create_watched_node(place, limits, None)
    }

    /// Creates a client like [`ChainNodes::create_node`]. `watch` learns when a request begins and ends.
    pub fn create_watched_node(
        &self,
        place: usize,
        limits: Limits,
        watch: Option<RequestWatch>,
    ) -> Option<Box<dyn Node>> {
        let endpoint = self.endpoints.get(place)?;
        let kind = kind::find_kind(self.chain, endpoint.scheme())?;
        let (before, after) = self.endpoints.split_at_checked(place)?;
        let others = after.iter().skip(1).chain(before);
        (kind.node)(NodeSettings {
            chain: self.chain,
            endpoint: endpoint.clone(),
            others: others.cloned().collect(),
            headers: self.headers.clone(),
            tokens: self.tokens.clone(),
            limits: Limits { refuses_metadata: self.is_stored, ..limits },
            watch,
        })
    }
}

/// Parses one url that an operator entered. Refuses hosts that no such node may have.
fn parse_stored_url(chain: Chain, url: &str) -> Result<Endpoint, String> {
    let endpoint = kind::parse_endpoint(chain, url)?;
    let label = endpoint.label();
    let (_, site) = label.split_once("://").unwrap_or(("", label));
    let host = match site.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => site.split(':').next(),
    };
    match host.is_none_or(is_refused_host) {
        true => Err(format!("must be of a node: {REFUSED}")),
        false => Ok(endpoint),
    }
}

fn followed_chains() -> impl Iterator<Item = Chain> {
    let chains = Chain::ALL.iter().copied();
    chains.filter(|chain| kind::is_supported_chain(*chain))
}

fn parse_followed_chain(key: &str) -> Result<Chain, String> {
    let chain = Chain::from_str(key).ok();
    let chain = chain.filter(|chain| followed_chains().any(|other| other == *chain));
    chain.ok_or_else(|| {
        let names: Vec<&str> = followed_chains().map(Chain::as_str).collect();
        format!("must be for one of {}", names.join(", "))
    })
}

fn unsupported_chain_error(chain: Chain) -> String {
    format!("{chain} has no node: name it by --node {chain}=URL")
}

/// Parses a header such as `X-Api-Key: value`.
fn parse_header(text: &str) -> Result<(String, String), String> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let (name, value) = text.split_once(':').unwrap_or_default();
    let (name, value) = (name.trim(), value.trim());
    let is_name = !name.is_empty() && name.bytes().all(is_of_name);
    let is_value = (1..=HEADER_CHARS_MAX).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_name && is_value {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err("must be a name and a value in printable ASCII, like 'X-Api-Key: value'".to_owned())
    }
}

/// Parses a token and its contract into canonical form.
fn parse_token(key: &str, contract: &str) -> Result<(&'static Asset, String), String> {
    let asset = Asset::find(key).filter(|asset| asset.kind.has_contract());
    let asset = asset.ok_or("must be for a token, like USDC-BASE")?;
    let parsed = address::parse_on_any_network(asset.chain, &Network::BOTH, contract.trim());
    let canonical = parsed.map(|(_, canonical)| canonical);
    let canonical = canonical.map_err(|problem| format!("the contract is {problem}"))?;
    Ok((asset, canonical))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{FollowedNodeUrls, KeyedValues};

    fn keyed_values(given: &[(&str, &str)]) -> KeyedValues {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        given.iter().map(own).collect()
    }

    const CONTRACT: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

    #[test]
    fn secrets_are_not_shown() {
        let nodes = keyed_values(&[
            ("litecoin", "http://coffer:secret@127.0.0.1:9332"),
            ("base", "https://a.example/v2/secret, https://b.example:8443/?key=secret"),
        ]);
        let headers = keyed_values(&[("base", "X-Api-Key: secret:with colon")]);
        let tokens = keyed_values(&[("USDC-BASE", CONTRACT)]);
        let read = FollowedNodeUrls::parse_settings(&nodes, &headers, &tokens, true).unwrap();
        let shown: Vec<_> = read.of_chains.iter().map(super::ChainNodes::label).collect();
        assert_eq!(
            shown,
            [
                "http://127.0.0.1:9332",
                "https://a.example (1 of 2), https://b.example:8443 (2 of 2)"
            ]
        );
        assert!(!format!("{read:?}").contains("secret"), "{read:?}");
        let [litecoin, base] = read.of_chains.as_slice() else {
            unreachable!();
        };
        assert_eq!(litecoin.tokens().count(), 0);
        assert_eq!(base.tokens().collect::<Vec<_>>(), ["USDC-BASE"]);
    }

    type KeyValueLiterals = &'static [(&'static str, &'static str)];

    const NODE: KeyValueLiterals = &[("base", "http://a")];
    /// Invalid values of `--node`, `--node-header` and `--token`, each with the expected error.
    const WRONG: &[(KeyValueLiterals, KeyValueLiterals, KeyValueLiterals, &str)] = &[
        (
            &[("ripple", "http://secret")],
            &[],
            &[],
            "--node ripple: must be for one of bitcoin, litecoin",
        ),
        (&[("solana", "electrum://secret:1")], &[], &[], "--node solana: must be a url like"),
        (&[("base", "secret")], &[], &[], "--node base: must be a url like"),
        (&[("base", "")], &[], &[], "--node base: must be a url like"),
        (&[("bitcoin", "electrum://secret")], &[], &[], "--node bitcoin: must "),
        (
            &[("base", "http://a"), ("base", "http://b")],
            &[],
            &[],
            "--node base: must be given once",
        ),
        (&[], &[("base", "a: secret")], &[], "--node-header base: base has no node"),
        (
            &[("litecoin", "electrums://secret:1,electrum://secret:2")],
            &[("litecoin", "a: secret")],
            &[],
            "--node-header litecoin: is sent to http:// and https:// urls only",
        ),
        (NODE, &[("base", "secret")], &[], "--node-header base: must be a name and a value"),
        (NODE, &[("base", "a b: secret")], &[], "--node-header base: must be a name and a value"),
        (
            NODE,
            &[("base", "a: secret\r\nb: c")],
            &[],
            "--node-header base: must be a name and a value",
        ),
        (NODE, &[("base", "a:")], &[], "--node-header base: must be a name and a value"),
        (NODE, &[], &[("USDC", CONTRACT)], "--token USDC: must be for a token, like USDC-BASE"),
        (NODE, &[], &[("ETH", CONTRACT)], "--token ETH: must be for a token, like USDC-BASE"),
        (NODE, &[], &[("USDC-POLYGON", CONTRACT)], "--token USDC-POLYGON: polygon has no node"),
        (NODE, &[], &[("USDC-BASE", "0x1")], "--token USDC-BASE: the contract is "),
    ];

    #[test]
    fn invalid_setting_is_rejected_without_repeating_it() {
        for (nodes, headers, tokens, said) in WRONG {
            let read = FollowedNodeUrls::parse_settings(
                &keyed_values(nodes),
                &keyed_values(headers),
                &keyed_values(tokens),
                true,
            );
            let problem = read.unwrap_err();
            assert!(problem.starts_with(said), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
        let read = FollowedNodeUrls::parse_settings(
            &keyed_values(NODE),
            &KeyedValues::new(),
            &keyed_values(&[("USDC-BASE", CONTRACT)]),
            false,
        );
        assert!(read.unwrap_err().contains("--test-networks takes it"));
    }
}
