//! Follows a chain in this process, on the file of a shop and without pauses, so that a test can play many faults.
//!
//! Invariant: the steps, the clients of the nodes and the writes are those of the server. As in the server, the next
//! url is used after three failures.

use crate::chain::watch::WatchedAccounts;
use coffer::chain::follow::AddressPools;
use coffer::chain::rpc::Limits;
use coffer::chain::setting::{ChainNodes, FollowedNodeUrls, KeyedValues};
use coffer::chain::{Node, NodeError};
use coffer::clock::Clock;
use coffer::domain::asset::Chain;
use coffer::domain::{ServerLimits, SetAside};
use coffer::render::LinkBuilder;
use coffer::service::followed::{LiveChain, LiveMode};
use coffer::service::{Caches, Service, init_file};
use coffer::store::{Durability, FileKind, Store, StoreOptions};
use coffer::worker::watch_chain::{ChainProgress, ChainWatch, StepError};
use std::path::Path;
use std::sync::Arc;

/// Number of failures after which the next url is used.
const FAILURES_MAX: usize = 3;

/// Returns the nodes at these urls.
#[track_caller]
fn parse_nodes(chain: Chain, urls: &str, tokens: &[(&str, &str)]) -> ChainNodes {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let urls = vec![(chain.to_string(), urls.to_owned())];
    let tokens: KeyedValues = tokens.iter().map(owned).collect();
    let parsed = FollowedNodeUrls::parse_settings(&urls, &KeyedValues::new(), &tokens, true);
    parsed.unwrap().of_chains[0].clone()
}

/// A follower of one chain.
pub struct StepFollower {
    watch: ChainWatch,
    clock: Clock,
    nodes: ChainNodes,
    node: Box<dyn Node>,
    /// Index of the url in use.
    place: usize,
    failures: usize,
    /// Number of polls in a row at which the node did not give everything.
    partial_polls: usize,
    limits: Limits,
    /// The watch holds the service only weakly.
    _service: Arc<Service>,
}

impl StepFollower {
    /// Opens the file of a shop whose server does not run. `urls` are the urls of the chain's nodes with commas between
    /// them, and `tokens` are tokens with their contracts.
    #[track_caller]
    pub fn open(file: &Path, chain: Chain, urls: &str, tokens: &[(&str, &str)]) -> Self {
        let opening = StoreOptions {
            path: file.to_owned(),
            durability: Durability::Process,
            create: false,
            kind: None,
            exclusive: false,
            tell: |_| {},
        };
        let store = Store::open(&opening, Box::new(|_| {})).unwrap();
        let row = init_file(&store, FileKind::Production, |_, _| Ok(())).unwrap()().unwrap();
        let links = LinkBuilder {
            public_url: "http://127.0.0.1".to_owned(),
            checkout_secret: row.checkout_secret,
        };
        let nodes = parse_nodes(chain, urls, tokens);
        let live = LiveChain { chain, node: nodes.label(), tokens: nodes.tokens().collect() };
        let live = LiveMode::new(vec![live], true);
        let (caches, limits) = (Arc::new(Caches::default()), ServerLimits::default());
        let check = Box::new(|_: &str| Ok(()));
        let kind = FileKind::Production;
        let service = Arc::new(Service::new(store, links, kind, check, limits, caches, live));
        let watch = ChainWatch {
            part_ms_max: 1_000,
            test_networks: true,
            ..ChainWatch::new(
                Arc::downgrade(&service),
                chain,
                AddressPools::default().for_chain(chain),
            )
        };
        watch.load_addresses().unwrap();
        let limits = Limits { answer_bytes_max: 1 << 20, ..Limits::default() };
        let node = nodes.create_node(0, limits).unwrap();
        let clock = Clock::new(0, None);
        let (place, failures, partial_polls, _service) = (0, 0, 0, service);
        StepFollower { watch, clock, nodes, node, place, failures, partial_polls, limits, _service }
    }

    /// Connects to the first url again, with this time limit of a request.
    #[track_caller]
    pub fn reconnect(&mut self, timeout_ms: u64) {
        self.limits.timeout_ms = timeout_ms;
        (self.place, self.failures, self.partial_polls) = (0, 0, 0);
        self.node = self.nodes.create_node(0, self.limits).unwrap();
    }

    /// Makes one step, and requests the fees at the head. Returns the problem of a step that read nothing.
    #[track_caller]
    pub fn step(&mut self) -> Result<ChainProgress, String> {
        while !self.watch.derive_more_addresses().unwrap() {}
        let now = self.clock.now();
        let mut is_wrong = false;
        let problem = match self.watch.make_step(self.node.as_mut(), now) {
            Ok(ChainProgress::NodeLags(lag)) => format!("does not have block {}", lag.lacks),
            Ok(ChainProgress::Stopped(why)) => unreachable!("the chain is stopped: {why}"),
            Ok(progress) => {
                self.failures = 0;
                if let ChainProgress::AtHead(_) = progress {
                    // The server ignores this failure, too.
                    let _ = self.watch.request_fees(self.node.as_mut(), now);
                    self.leave_partial_node();
                }
                return Ok(progress);
            }
            Err(error @ StepError::Node(_)) => {
                is_wrong = matches!(error, StepError::Node(NodeError::Wrong(_)));
                self.watch.failure_problem(&error)
            }
            Err(error) => unreachable!("{error}"),
        };
        self.failures += 1;
        if self.failures.is_multiple_of(FAILURES_MAX) {
            self.use_next_url();
        }
        // As in the server, the client of a wrong node is made anew.
        if is_wrong {
            self.node = self.nodes.create_node(self.place, self.limits).unwrap();
        }
        Err(problem)
    }

    /// Returns what the node did not give at the last step that read new blocks.
    pub fn set_aside(&self) -> &[SetAside] {
        &self.watch.set_aside
    }

    /// Returns the problem with final blocks.
    pub fn final_problem(&self) -> Option<&str> {
        self.watch.final_problem.as_deref()
    }

    /// Uses the next url, with a new client. Keeps the client if there is only one url.
    fn use_next_url(&mut self) {
        let urls = self.nodes.url_labels().count();
        if urls > 1 {
            self.place = (self.place + 1) % urls;
            self.node = self.nodes.create_node(self.place, self.limits).unwrap();
        }
    }

    /// Uses the next url after some polls at which the node of an account chain did not give everything.
    fn leave_partial_node(&mut self) {
        let is_partial = !self.watch.set_aside.is_empty() || self.watch.final_problem.is_some();
        let counts = is_partial && !self.watch.chain.has_outputs();
        self.partial_polls = if counts { self.partial_polls + 1 } else { 0 };
        if self.partial_polls == FAILURES_MAX {
            self.partial_polls = 0;
            self.use_next_url();
        }
    }

    /// Looks up a transaction by its id in every way. Asserts that a found block has this hash.
    #[track_caller]
    pub fn look_up(&mut self, txid: &str, hash: &str, about: &str) {
        use coffer::chain::LookupResult;
        let node = self.node.as_mut();
        let blocks = [
            node.block_of_transaction(txid).ok().flatten(),
            node.transaction_outcome(txid).ok().flatten().map(|outcome| outcome.block),
            match node.look_up_transaction(txid, &[], &WatchedAccounts(Vec::new())) {
                Ok(LookupResult::Found(found)) => found.block.map(|(block, _)| block),
                Ok(LookupResult::Absent | LookupResult::NoIndex) | Err(_) => None,
            },
        ];
        for block in blocks.into_iter().flatten() {
            assert_eq!(block.hash, hash, "{about}: {txid}");
        }
    }
}
