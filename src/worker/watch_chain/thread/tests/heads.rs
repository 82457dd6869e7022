//! Tests of a chain with several URLs. If the node at one URL reports no new blocks, a URL with a newer block is
//! used.

use super::{ChainWakers, FollowerState, PollIntervals};
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::chain::urls::Connector;
use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, WatchTargets};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::Chain;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Block, InputSource, Time, Units};
use crate::render::chains::ChainView;
use crate::service::tests::NOW;
use crate::worker::watch_chain::tests::shop::Shop;
use crate::worker::watch_chain::tests::start_watch;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const CHAIN: Chain = Chain::Bitcoin;

/// The node at one URL, which may have lost a block.
pub(super) struct NodeWithLostBlock {
    pub(super) node: MemoryNode,
    /// Height of the lost block, if any.
    lost: Option<u32>,
    /// `true` if the node names a block above its newest one for a payment.
    pub(super) names_block_above: bool,
}

struct SharedNode(Arc<Mutex<NodeWithLostBlock>>);

impl Node for SharedNode {
    fn network(&mut self) -> Result<String, NodeError> {
        self.0.lock().unwrap().node.network()
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.0.lock().unwrap().node.head()
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let mut url = self.0.lock().unwrap();
        let hash = url.node.block_hash_at(height)?;
        Ok(hash.filter(|_| url.lost != Some(height)))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let mut url = self.0.lock().unwrap();
        match url.lost {
            Some(lost) if (from..=to).contains(&lost) => Err(NodeError::Behind),
            _ => url.node.blocks(from, to, watched),
        }
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.0.lock().unwrap().node.mempool(unconfirmed, watched)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.0.lock().unwrap().node.block_of_transaction(txid)
    }

    fn lacks_named_block(&self) -> bool {
        self.0.lock().unwrap().names_block_above
    }
}

/// A connector for nodes at one or two URLs.
#[derive(Clone)]
pub(super) struct MemoryConnector {
    pub(super) urls: Vec<Arc<Mutex<NodeWithLostBlock>>>,
    asked: Arc<AtomicUsize>,
    looks: Arc<AtomicUsize>,
}

impl MemoryConnector {
    fn node_at(&self, place: usize) -> Box<dyn Node> {
        Box::new(SharedNode(Arc::clone(&self.urls[place])))
    }
}

impl Connector for MemoryConnector {
    fn node_after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        match failures {
            0 => Some(self.node_at(0)),
            _ if failures.is_multiple_of(3) => self.switch_node(1),
            _ => None,
        }
    }

    fn node_at_distance(&self, distance: usize) -> Option<Box<dyn Node>> {
        let asked = self.asked.load(Ordering::SeqCst);
        (distance < self.urls.len()).then(|| {
            self.looks.fetch_add(1, Ordering::SeqCst);
            self.node_at((asked + distance) % self.urls.len())
        })
    }

    fn switch_node(&mut self, distance: usize) -> Option<Box<dyn Node>> {
        let place = (self.asked.load(Ordering::SeqCst) + distance) % self.urls.len();
        self.asked.store(place, Ordering::SeqCst);
        (self.urls.len() > 1).then(|| self.node_at(place))
    }

    fn current_url(&self) -> Option<&str> {
        let labels = ["http://a (1 of 2)", "http://b (2 of 2)"];
        let place = self.asked.load(Ordering::SeqCst);
        (self.urls.len() > 1).then(|| labels[place])
    }
}

/// A shop, a chain, and its URLs.
pub(super) struct HeadScene {
    shop: Shop,
    pub(super) memory: Arc<Mutex<MemoryChain>>,
    time: Arc<ManualTime>,
    pub(super) two: MemoryConnector,
    following: FollowerState,
}

impl HeadScene {
    pub(super) fn new(urls: usize, network: &str) -> HeadScene {
        let shop = Shop::new("BTC");
        let memory = Arc::new(Mutex::new(MemoryChain::new(shop.asset, network, NOW)));
        let url = |_| {
            let node = MemoryNode::new(&memory);
            Arc::new(Mutex::new(NodeWithLostBlock { node, lost: None, names_block_above: false }))
        };
        let two = MemoryConnector {
            urls: (0..urls).map(url).collect(),
            asked: Arc::default(),
            looks: Arc::default(),
        };
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Clock::steady(TimeSource::Manual(Arc::clone(&time)), NOW);
        let wakers = ChainWakers::default();
        wakers.signal_rates_ready();
        let mut watch = start_watch(&shop.service, CHAIN, &[]);
        watch.test_networks = true;
        let (connect, waker) = (Box::new(two.clone()), wakers.for_chain(CHAIN));
        let following = FollowerState::new(
            watch,
            connect,
            Arc::new(clock),
            PollIntervals::for_chain(CHAIN),
            waker,
        );
        let mut scene = HeadScene { shop, memory, time, two, following };
        scene.mine_after_minutes(0);
        scene.poll();
        scene
    }

    fn now(&self) -> Time {
        self.following.clock.now()
    }

    /// Lets this many minutes pass, then mines all unconfirmed transactions.
    pub(super) fn mine_after_minutes(&mut self, minutes: i64) {
        self.time.advance(minutes * MINUTE_MS);
        self.memory.lock().unwrap().mine_block(self.now(), |_| true);
    }

    pub(super) fn poll_for_minutes(&mut self, minutes: i64) {
        for _ in 0..minutes {
            self.time.advance(MINUTE_MS);
            self.poll();
        }
    }

    pub(super) fn poll(&mut self) {
        while self.following.run_step().unwrap().most.is_zero() {}
    }

    pub(super) fn freeze_node(&self, place: usize) {
        self.two.urls[place].lock().unwrap().node.set_stuck(true);
    }

    pub(super) fn set_lost_block(&self, place: usize, lost: Option<u32>) {
        self.two.urls[place].lock().unwrap().lost = lost;
    }

    /// Pays an address of the shop.
    fn pay(&self, address: String) {
        let mut memory = self.memory.lock().unwrap();
        let (txid, other) = (memory.new_id(), memory.new_id());
        memory.send_transaction(MemoryTransaction {
            txid,
            spends: vec![InputSource::Output(other, 0)],
            pays: vec![(0, address, Units(100_000))],
            at: self.now(),
            nonce: None,
            reverts: false,
        });
    }

    fn take_other_url_poll_count(&self) -> usize {
        self.two.looks.swap(0, Ordering::SeqCst)
    }

    pub(super) fn current_url_index(&self) -> usize {
        self.two.asked.load(Ordering::SeqCst)
    }

    pub(super) fn chain_view(&self) -> ChainView {
        self.shop.service.chain_views(self.now()).unwrap().remove(0)
    }

    pub(super) fn chain_problem(&self) -> String {
        self.chain_view().problem.unwrap_or_default()
    }
}

#[test]
fn stale_head_switches_to_a_url_that_is_ahead() {
    let mut scene = HeadScene::new(2, "main");
    let now = scene.now();
    let address = scene.shop.create_invoice(now).unwrap();
    scene.poll();
    scene.freeze_node(0);
    scene.pay(address);
    scene.mine_after_minutes(1);
    scene.poll_for_minutes(29);
    assert_eq!((scene.take_other_url_poll_count(), scene.current_url_index()), (0, 0));
    assert_eq!(scene.chain_view().height, Some(1));
    scene.poll_for_minutes(1);
    assert_eq!((scene.take_other_url_poll_count(), scene.current_url_index()), (1, 1));
    assert_eq!(scene.chain_view().height, Some(2));
    assert_eq!(scene.shop.service.count_observations_above(CHAIN, 1).unwrap(), 1);
    // The URL stays in use, because the other URL has no newer block.
    scene.poll_for_minutes(40);
    assert!(scene.take_other_url_poll_count() > 0);
    assert_eq!(scene.current_url_index(), 1);
}

#[test]
fn other_urls_are_polled_once_a_minute_and_must_match_the_network() {
    let mut scene = HeadScene::new(2, "main");
    scene.poll_for_minutes(30);
    assert_eq!(scene.take_other_url_poll_count(), 0);
    scene.time.advance(MINUTE_MS);
    for _ in 0..4 {
        scene.poll();
    }
    assert_eq!(scene.take_other_url_poll_count(), 1);
    scene.poll_for_minutes(5);
    assert_eq!((scene.take_other_url_poll_count(), scene.current_url_index()), (5, 0));
    // The other URL leads to a longer chain of a test network.
    let other = MemoryChain::new(scene.shop.asset, "regtest", NOW);
    let other = Arc::new(Mutex::new(other));
    for _ in 0..9 {
        other.lock().unwrap().mine_block(scene.now(), |_| true);
    }
    scene.two.urls[1].lock().unwrap().node = MemoryNode::new(&other);
    scene.poll_for_minutes(5);
    assert_eq!((scene.take_other_url_poll_count(), scene.current_url_index()), (5, 0));
}

#[test]
fn stale_head_warns_after_nine_blocks_except_on_test_networks() {
    for (network, is_told) in [("main", true), ("regtest", false)] {
        let mut scene = HeadScene::new(1, network);
        let said = "no new block for 1 h: the newest of its node is 1, of ";
        scene.poll_for_minutes(90);
        assert!(!scene.chain_problem().starts_with(said));
        scene.poll_for_minutes(1);
        let problem = scene.chain_problem();
        assert_eq!(problem.starts_with(said), is_told, "{problem}");
        let verbose = scene.shop.service.chains_summary(scene.now()).unwrap();
        assert_eq!(verbose.contains("no new block for"), is_told, "{verbose}");
        scene.mine_after_minutes(1);
        scene.poll();
        assert!(!scene.chain_problem().starts_with(said));
    }
}

#[test]
fn lost_block_is_reported_and_the_next_url_is_used() {
    let mut scene = HeadScene::new(2, "main");
    scene.mine_after_minutes(1);
    scene.poll();
    let now = scene.now();
    assert!(scene.shop.create_invoice(now).is_some());
    // Block 2 is the last block that was read.
    scene.set_lost_block(0, Some(2));
    scene.memory.lock().unwrap().mine_block(now, |_| true);
    for _ in 0..2 {
        scene.poll();
        let shown = scene.chain_view();
        assert!(!shown.keeps_up);
        assert_eq!((shown.head_height, shown.lag_blocks), (Some(3), Some(1)));
        let problem = shown.problem.unwrap();
        let said = "its node has lost block 2, which was read already, and has block 3. Restart";
        assert!(problem.starts_with(said), "{problem}");
        assert!(scene.shop.create_invoice(now).is_none());
    }
    scene.poll();
    assert_eq!(scene.current_url_index(), 1);
    let shown = scene.chain_view();
    assert_eq!((shown.height, shown.keeps_up, shown.problem), (Some(3), true, None));
    assert!(scene.shop.create_invoice(now).is_some());
    // Block 4 is the next block to read.
    scene.set_lost_block(1, Some(4));
    scene.mine_after_minutes(1);
    scene.mine_after_minutes(1);
    let mut problems = Vec::new();
    while scene.current_url_index() == 1 {
        scene.poll();
        problems.push(scene.chain_problem());
    }
    assert_eq!(problems, ["", "", "",]);
    scene.poll();
    assert_eq!(scene.chain_view().height, Some(5));
}

#[test]
fn url_in_use_and_age_of_head_are_shown() {
    let mut scene = HeadScene::new(2, "main");
    let url = |scene: &HeadScene| scene.chain_view().node_in_use.unwrap();
    assert_eq!(url(&scene), "http://a (1 of 2)");
    assert_eq!(scene.chain_view().head_age_seconds, Some(0));
    scene.time.advance(90_000);
    assert_eq!(scene.chain_view().head_age_seconds, Some(90));
    scene.mine_after_minutes(1);
    scene.poll();
    scene.set_lost_block(0, Some(2));
    scene.mine_after_minutes(1);
    (0..3).for_each(|_| scene.poll());
    assert_eq!(url(&scene), "http://b (2 of 2)");
    assert_eq!(HeadScene::new(1, "main").chain_view().node_in_use, None);
}
