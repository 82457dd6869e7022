//! Tests of a chain with several URLs. One URL stands still, and another one that is ahead takes over.

use super::{ChainWakers, Following, Pace};
use crate::chain::memory::{Memory, MemoryNode, Sent};
use crate::chain::urls::Connector;
use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, Watched};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::Chain;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource};
use crate::domain::render::chains::ChainView;
use crate::domain::time::{MINUTE_MS, Time};
use crate::service::tests::NOW;
use crate::worker::watch_chain::tests::shop::Shop;
use crate::worker::watch_chain::tests::watch;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const CHAIN: Chain = Chain::Bitcoin;

/// The node at one URL, which may have lost a block.
struct Url {
    node: MemoryNode,
    /// Height of the lost block, if any.
    lost: Option<u32>,
}

struct Asked(Arc<Mutex<Url>>);

impl Node for Asked {
    fn network(&mut self) -> Result<String, NodeError> {
        self.0.lock().unwrap().node.network()
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.0.lock().unwrap().node.head()
    }

    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let mut url = self.0.lock().unwrap();
        let hash = url.node.hash_at(height)?;
        Ok(hash.filter(|_| url.lost != Some(height)))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
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
        watched: &dyn Watched,
    ) -> Result<MempoolRead, NodeError> {
        self.0.lock().unwrap().node.mempool(unconfirmed, watched)
    }

    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.0.lock().unwrap().node.block_of(txid)
    }
}

/// A connector for nodes at one or two URLs.
#[derive(Clone)]
struct Two {
    urls: Vec<Arc<Mutex<Url>>>,
    asked: Arc<AtomicUsize>,
    looks: Arc<AtomicUsize>,
}

impl Two {
    fn node(&self, place: usize) -> Box<dyn Node> {
        Box::new(Asked(Arc::clone(&self.urls[place])))
    }
}

impl Connector for Two {
    fn after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        match failures {
            0 => Some(self.node(0)),
            _ if failures.is_multiple_of(3) => self.turn(1),
            _ => None,
        }
    }

    fn other(&self, distance: usize) -> Option<Box<dyn Node>> {
        let asked = self.asked.load(Ordering::SeqCst);
        (distance < self.urls.len()).then(|| {
            self.looks.fetch_add(1, Ordering::SeqCst);
            self.node((asked + distance) % self.urls.len())
        })
    }

    fn turn(&mut self, distance: usize) -> Option<Box<dyn Node>> {
        let place = (self.asked.load(Ordering::SeqCst) + distance) % self.urls.len();
        self.asked.store(place, Ordering::SeqCst);
        (self.urls.len() > 1).then(|| self.node(place))
    }
}

/// A shop, a chain, and its URLs.
struct Scene {
    shop: Shop,
    memory: Arc<Mutex<Memory>>,
    time: Arc<ManualTime>,
    two: Two,
    following: Following,
}

impl Scene {
    fn new(urls: usize, network: &str) -> Scene {
        let shop = Shop::new("BTC");
        let memory = Arc::new(Mutex::new(Memory::new(shop.asset, network, NOW)));
        let url = |_| {
            let node = MemoryNode::new(&memory);
            Arc::new(Mutex::new(Url { node, lost: None }))
        };
        let two = Two {
            urls: (0..urls).map(url).collect(),
            asked: Arc::default(),
            looks: Arc::default(),
        };
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Clock::steady(TimeSource::Manual(Arc::clone(&time)), NOW);
        let wakers = ChainWakers::default();
        wakers.hear_of_rates();
        let mut watch = watch(&shop.service, CHAIN, &[]);
        watch.test_networks = true;
        let (connect, waker) = (Box::new(two.clone()), wakers.of(CHAIN));
        let following = Following::new(watch, connect, Arc::new(clock), Pace::of(CHAIN), waker);
        let mut scene = Scene {
            shop,
            memory,
            time,
            two,
            following,
        };
        scene.mines(0);
        scene.polls();
        scene
    }

    fn now(&self) -> Time {
        self.following.clock.now()
    }

    /// Mines all unconfirmed transactions after this many minutes.
    fn mines(&mut self, minutes: i64) {
        self.time.pass(minutes * MINUTE_MS);
        self.memory.lock().unwrap().mine(self.now(), |_| true);
    }

    fn passes(&mut self, minutes: i64) {
        for _ in 0..minutes {
            self.time.pass(MINUTE_MS);
            self.polls();
        }
    }

    fn polls(&mut self) {
        while self.following.turn().unwrap().most.is_zero() {}
    }

    fn sticks(&self, place: usize) {
        self.two.urls[place].lock().unwrap().node.stick(true);
    }

    fn loses(&self, place: usize, lost: Option<u32>) {
        self.two.urls[place].lock().unwrap().lost = lost;
    }

    /// Pays an address of the shop.
    fn pays(&self, address: String) {
        let mut memory = self.memory.lock().unwrap();
        let (txid, other) = (memory.id(), memory.id());
        memory.send(Sent {
            txid,
            spends: vec![InputSource::Output(other, 0)],
            pays: vec![(0, address, Units(100_000))],
            at: self.now(),
            nonce: None,
            reverts: false,
        });
    }

    fn looks(&self) -> usize {
        self.two.looks.swap(0, Ordering::SeqCst)
    }

    fn asked(&self) -> usize {
        self.two.asked.load(Ordering::SeqCst)
    }

    fn shown(&self) -> ChainView {
        self.shop.service.chains(self.now()).unwrap().remove(0)
    }

    fn problem(&self) -> String {
        self.shown().problem.unwrap_or_default()
    }
}

#[test]
fn another_url_takes_over_where_the_head_has_not_moved_for_three_blocks_and_it_is_ahead() {
    let mut scene = Scene::new(2, "main");
    let now = scene.now();
    let address = scene.shop.sell(now).unwrap();
    scene.polls();
    scene.sticks(0);
    scene.pays(address);
    scene.mines(1);
    scene.passes(29);
    assert_eq!((scene.looks(), scene.asked()), (0, 0));
    assert_eq!(scene.shown().height, Some(1));
    scene.passes(1);
    assert_eq!((scene.looks(), scene.asked()), (1, 1));
    assert_eq!(scene.shown().height, Some(2));
    assert_eq!(scene.shop.service.seen_above(CHAIN, 1).unwrap(), 1);
    // The URL in use stays, because the other one is not ahead.
    scene.passes(40);
    assert!(scene.looks() > 0);
    assert_eq!(scene.asked(), 1);
}

#[test]
fn other_urls_are_looked_at_once_a_minute_and_one_of_another_network_never_takes_over() {
    let mut scene = Scene::new(2, "main");
    scene.passes(30);
    assert_eq!(scene.looks(), 0);
    scene.time.pass(MINUTE_MS);
    for _ in 0..4 {
        scene.polls();
    }
    assert_eq!(scene.looks(), 1);
    scene.passes(5);
    assert_eq!((scene.looks(), scene.asked()), (5, 0));
    // The other url leads to a longer chain of a test network.
    let other = Memory::new(scene.shop.asset, "regtest", NOW);
    let other = Arc::new(Mutex::new(other));
    for _ in 0..9 {
        other.lock().unwrap().mine(scene.now(), |_| true);
    }
    scene.two.urls[1].lock().unwrap().node = MemoryNode::new(&other);
    scene.passes(5);
    assert_eq!((scene.looks(), scene.asked()), (5, 0));
}

#[test]
fn a_person_is_told_after_nine_blocks_but_never_on_test_networks() {
    for (network, is_told) in [("main", true), ("regtest", false)] {
        let mut scene = Scene::new(1, network);
        let said = "no new block for 1 h: the newest of its node is 1, of ";
        scene.passes(90);
        assert!(!scene.problem().starts_with(said));
        scene.passes(1);
        let problem = scene.problem();
        assert_eq!(problem.starts_with(said), is_told, "{problem}");
        let verbose = scene.shop.service.chains_in_short(scene.now()).unwrap();
        assert_eq!(verbose.contains("no new block for"), is_told, "{verbose}");
        scene.mines(1);
        scene.polls();
        assert!(!scene.problem().starts_with(said));
    }
}

#[test]
fn a_node_that_lost_a_block_is_told_with_its_height_and_the_next_url_is_asked() {
    let mut scene = Scene::new(2, "main");
    scene.mines(1);
    scene.polls();
    let now = scene.now();
    assert!(scene.shop.sell(now).is_some());
    // Block 2 is the last block that was read.
    scene.loses(0, Some(2));
    scene.memory.lock().unwrap().mine(now, |_| true);
    for _ in 0..2 {
        scene.polls();
        let shown = scene.shown();
        assert!(!shown.keeps_up);
        assert_eq!((shown.head_height, shown.lag_blocks), (Some(3), Some(1)));
        let problem = shown.problem.unwrap();
        let said = "its node has lost block 2, which was read already, and has block 3. Restart";
        assert!(problem.starts_with(said), "{problem}");
        assert!(scene.shop.sell(now).is_none());
    }
    scene.polls();
    assert_eq!(scene.asked(), 1);
    let shown = scene.shown();
    assert_eq!(
        (shown.height, shown.keeps_up, shown.problem),
        (Some(3), true, None)
    );
    assert!(scene.shop.sell(now).is_some());
    // Block 4 is the next block to read.
    scene.loses(1, Some(4));
    scene.mines(1);
    scene.mines(1);
    let mut problems = Vec::new();
    while scene.asked() == 1 {
        scene.polls();
        problems.push(scene.problem());
    }
    assert_eq!(problems, ["", "", "",]);
    scene.polls();
    assert_eq!(scene.shown().height, Some(5));
}

#[test]
fn a_single_node_that_lacks_a_block_is_told_until_it_has_it_again() {
    let mut scene = Scene::new(1, "main");
    scene.mines(1);
    scene.mines(1);
    scene.loses(0, Some(3));
    for failures in 0..6 {
        scene.polls();
        let (shown, is_told) = (scene.shown(), failures > 2);
        assert_eq!(shown.keeps_up, !is_told, "{failures}");
        let said =
            "its node says that its newest block is 3, and does not have all blocks from 2 on";
        assert_eq!(
            shown.problem.is_some_and(|text| text.starts_with(said)),
            is_told
        );
    }
    scene.loses(0, None);
    scene.polls();
    let shown = scene.shown();
    assert_eq!(
        (shown.height, shown.keeps_up, shown.problem),
        (Some(3), true, None)
    );
}

#[test]
fn the_head_is_told_while_a_node_is_behind_and_one_that_stays_behind_does_not_keep_up() {
    let mut scene = Scene::new(1, "main");
    for _ in 0..5 {
        scene.mines(1);
    }
    scene.polls();
    let behind = |scene: &mut Scene, behind| {
        scene.two.urls[0].lock().unwrap().node.behind = behind;
        scene.polls();
        let shown = scene.shown();
        assert_eq!((shown.height, shown.lag_blocks), (Some(6), Some(0)));
        let problem = shown.problem.unwrap();
        let said = "its node does not have block 6, which was read already; its newest is ";
        assert!(problem.starts_with(said), "{problem}");
        (shown.head_height, shown.keeps_up)
    };
    assert_eq!(behind(&mut scene, 3), (Some(3), true));
    assert_eq!(behind(&mut scene, 1), (Some(5), true));
    scene.passes(31);
    assert_eq!(behind(&mut scene, 1), (Some(5), false));
    scene.two.urls[0].lock().unwrap().node.behind = 0;
    scene.polls();
    assert_eq!(
        (scene.shown().head_height, scene.shown().keeps_up),
        (Some(6), true)
    );
}
