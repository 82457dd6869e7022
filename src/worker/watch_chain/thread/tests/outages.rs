//! Tests of a chain that cannot be read: its coins leave the offer in time, and come back with the first good step.

use super::{ChainWakers, FollowerState, PollIntervals};
use crate::chain::memory::{MemoryChain, MemoryNode};
use crate::chain::urls::Connector;
use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, WatchTargets};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::stale_head::unread_ms_max;
use crate::domain::time::SECOND_MS;
use crate::domain::{AlarmKind, Block, MailPreferences, SalesMail, Time};
use crate::render::chains::ChainView;
use crate::service::tests::{NOW, write};
use crate::store::{mail_preferences, users};
use crate::worker::watch_chain::tests::shop::Shop;
use crate::worker::watch_chain::tests::start_watch;
use std::sync::{Arc, Mutex};

/// The coins of the tests, with their usual block times in seconds.
const COINS: [(&str, i64); 5] =
    [("BTC", 600), ("ETH", 12), ("USDC-BASE", 2), ("TRX", 3), ("SOL", 1)];
/// The methods of a node that each step on a chain with a new block calls.
const METHODS: [&str; 4] = ["network", "head", "block_hash_at", "blocks"];

/// A fault of a node: the failing method, its error, and the time until the error in milliseconds.
type NodeFault = (&'static str, NodeError, i64);

/// A node with at most one fault.
struct FaultyNode {
    node: MemoryNode,
    fault: Arc<Mutex<Option<NodeFault>>>,
    time: Arc<ManualTime>,
    /// A wrong answer about the network, which a client remembers.
    remembered: Mutex<Option<NodeError>>,
}

/// Makes clients of the one node of a chain.
struct FaultyConnector {
    of: Arc<Mutex<MemoryChain>>,
    fault: Arc<Mutex<Option<NodeFault>>>,
    time: Arc<ManualTime>,
}

impl Connector for FaultyConnector {
    fn node_after_failures(&mut self, failures: u32) -> Option<Box<dyn Node>> {
        (failures == 0).then(|| self.renew_node()).flatten()
    }

    fn renew_node(&mut self) -> Option<Box<dyn Node>> {
        Some(Box::new(FaultyNode {
            node: MemoryNode::new(&self.of),
            fault: Arc::clone(&self.fault),
            time: Arc::clone(&self.time),
            remembered: Mutex::default(),
        }))
    }
}

impl FaultyNode {
    fn check(&self, method: &str) -> Result<(), NodeError> {
        let mut remembered = self.remembered.lock().unwrap();
        if let Some(error) = &*remembered {
            return Err(error.clone());
        }
        match &*self.fault.lock().unwrap() {
            Some((failing, error, after_ms)) if *failing == method => {
                self.time.advance(*after_ms);
                let is_wrong = matches!(error, NodeError::Wrong(_));
                *remembered = is_wrong.then(|| error.clone());
                Err(error.clone())
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Node for FaultyNode {
    fn network(&mut self) -> Result<String, NodeError> {
        self.check("network")?;
        self.node.network()
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.check("head")?;
        self.node.head()
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.check("block_hash_at")?;
        self.node.block_hash_at(height)
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.check("blocks")?;
        self.node.blocks(from, to, watched)
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.node.mempool(unconfirmed, watched)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.node.block_of_transaction(txid)
    }
}

/// A shop, a chain with one node, and its follower.
struct OutageScene {
    shop: Shop,
    memory: Arc<Mutex<MemoryChain>>,
    time: Arc<ManualTime>,
    fault: Arc<Mutex<Option<NodeFault>>>,
    following: FollowerState,
}

impl OutageScene {
    fn new(asset: &str) -> OutageScene {
        let shop = Shop::new(asset);
        let chain = shop.asset.chain;
        let memory = MemoryChain::new(shop.asset, chain.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        let (time, fault) = (Arc::new(ManualTime::new(NOW)), Arc::default());
        let connect = Box::new(FaultyConnector {
            of: Arc::clone(&memory),
            fault: Arc::clone(&fault),
            time: Arc::clone(&time),
        });
        let clock = Arc::new(Clock::steady(TimeSource::Manual(Arc::clone(&time)), NOW));
        let wakers = ChainWakers::default();
        wakers.signal_rates_ready();
        let (watch, waker) = (start_watch(&shop.service, chain, &[]), wakers.for_chain(chain));
        let following =
            FollowerState::new(watch, connect, clock, PollIntervals::for_chain(chain), waker);
        write(&shop.service, NOW, |step| {
            let user = users::all(step.tx)?.remove(0);
            let preferences = MailPreferences { sales: SalesMail::Off, tasks: false, alarms: true };
            Ok(mail_preferences::put(step.tx, &user, &preferences)?)
        });
        let mut scene = OutageScene { shop, memory, time, fault, following };
        scene.mine_and_read();
        scene
    }

    fn now(&self) -> Time {
        self.following.clock.now()
    }

    /// Mines a block. Makes steps until the thread pauses, and returns the length of the pause in milliseconds.
    fn mine_and_read(&mut self) -> i64 {
        self.memory.lock().unwrap().mine_block(self.now(), |_| true);
        loop {
            let pause = self.following.run_step().unwrap();
            if !pause.most.is_zero() {
                return i64::try_from(pause.most.as_millis()).unwrap() + 1;
            }
        }
    }

    fn set_fault(&self, fault: Option<NodeFault>) {
        *self.fault.lock().unwrap() = fault;
    }

    fn view_at(&self, now: Time) -> ChainView {
        self.shop.service.chain_views(now).unwrap().remove(0)
    }

    /// Asserts whether the coin is on offer, and which problem is shown.
    #[track_caller]
    fn assert_offer(&mut self, is_on_offer: bool, problem: Option<&str>, about: &str) {
        let now = self.now();
        let view = self.view_at(now);
        assert_eq!(view.keeps_up, is_on_offer, "{about}: {:?}", view.problem);
        let found = view.problem.unwrap_or_default();
        assert!(problem.is_none_or(|text| found.contains(text)), "{about}: {found}");
        assert_eq!(problem.is_none(), found.is_empty(), "{about}: {found}");
        let alarms = self.shop.service.alarm_conditions(now).unwrap().unwrap();
        let mut alarms = alarms.iter().filter(|one| one.kind == AlarmKind::Chain);
        let told = alarms.next().map(|one| one.detail.clone());
        assert_eq!(told, (!is_on_offer).then_some(found), "{about}");
        // An account gets only a few imported addresses each minute.
        if !self.shop.asset.chain.row().imported {
            let invoice = self.shop.create_invoice(now);
            assert_eq!(invoice.is_some(), is_on_offer, "{about}");
        }
    }
}

/// Errors of every kind, with texts of their messages.
fn node_errors() -> [(NodeError, &'static str); 5] {
    let text = |text: &str| text.to_owned();
    [
        (NodeError::Wrong(text("it refuses the login (status 403)")), "status 403"),
        (NodeError::Lied(text("its answer is not JSON")), "is not JSON"),
        (NodeError::Unreachable(text("connection refused")), "connection refused"),
        (NodeError::Limited(text("it answered with status 429")), "status 429"),
        (NodeError::Behind, "does not have"),
    ]
}

#[test]
fn failing_chain_leaves_the_offer_within_three_block_times() {
    for (asset, block_seconds) in COINS {
        let unread_ms = (3 * block_seconds).max(5) * SECOND_MS;
        let mut scene = OutageScene::new(asset);
        scene.assert_offer(true, None, asset);
        for ((error, text), method) in node_errors().into_iter().zip(METHODS.into_iter().cycle()) {
            let about = format!("{asset}: {method}: {error:?}");
            let is_behind = error == NodeError::Behind;
            scene.set_fault(Some((method, error, 0)));
            let begun = scene.now();
            let mut pause = scene.mine_and_read();
            scene.assert_offer(true, (!is_behind).then_some(text), &about);
            while scene.view_at(scene.now()).keeps_up {
                let passed = scene.now().since_ms(begun);
                assert!(passed <= unread_ms + 2, "{about}: {passed} ms");
                scene.time.advance(pause);
                pause = scene.mine_and_read();
            }
            scene.assert_offer(false, Some(text), &about);
            scene.set_fault(None);
            scene.time.advance(pause);
            scene.mine_and_read();
            scene.assert_offer(true, None, &about);
        }
    }
}

#[test]
fn failures_that_end_at_once_take_no_coin_off_the_offer() {
    for (asset, _) in COINS {
        let mut scene = OutageScene::new(asset);
        // The pause between two outages is shorter than the limit, and each outage counts for itself.
        for _ in 0..5 {
            for method in METHODS {
                let error = NodeError::Unreachable("the connection failed".to_owned());
                scene.set_fault(Some((method, error, 0)));
                let pause = scene.mine_and_read();
                scene.assert_offer(true, Some("the connection failed"), asset);
                scene.set_fault(None);
                scene.time.advance(pause);
                scene.mine_and_read();
                scene.assert_offer(true, None, asset);
            }
        }
    }
}

#[test]
fn hanging_node_takes_its_coins_off_the_offer() {
    for (asset, _) in COINS.into_iter().filter(|(asset, _)| *asset != "BTC") {
        for method in METHODS {
            let about = format!("{asset}: {method}");
            let mut scene = OutageScene::new(asset);
            let error = NodeError::Unreachable("no answer in time".to_owned());
            scene.set_fault(Some((method, error, 60 * SECOND_MS)));
            let pause = scene.mine_and_read();
            scene.assert_offer(false, Some("no answer in time"), &about);
            scene.set_fault(None);
            scene.time.advance(pause);
            scene.mine_and_read();
            scene.assert_offer(true, None, &about);
        }
        let mut scene = OutageScene::new(asset);
        let (chain, now) = (scene.shop.asset.chain, scene.now());
        scene.shop.service.record_head_request_start(chain, now);
        let unread_ms = unread_ms_max(chain);
        for (ms, keeps_up) in [(unread_ms, true), (unread_ms + 1, false)] {
            assert_eq!(scene.view_at(now.plus_ms(ms)).keeps_up, keeps_up, "{asset} {ms}");
        }
        scene.time.advance(unread_ms + 1);
        scene.assert_offer(false, Some("its node has not answered for"), asset);
    }
}
