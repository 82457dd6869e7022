//! Tests of the polling interval of a node and of its request count, with a manual clock.

use super::{ChainWaker, ChainWakers, EXPECTED_MS, Follower, FollowerState, PollIntervals};
use crate::chain::memory::{MemoryChain, MemoryNode};
use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, WatchTargets};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS, SECOND_MS};
use crate::domain::transfer::inputs::MoveTransfer;
use crate::domain::{Asset, Block, TransferKind};
use crate::service::Service;
use crate::service::tests::{
    NOW, TempFile, block_on, create_invoice_address, create_live_invoice, live_caller,
    request_refund, request_without_key, sandbox_with_expected_money_callback, service_with_nodes,
};
use crate::worker::watch_chain::tests::start_watch;
use crate::worker::watch_chain::waker::Pause;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A node that counts its requests, and reports each request for its newest block to the test.
struct CountingNode {
    of: MemoryNode,
    asked: u64,
    heads: Sender<()>,
    /// `true` if the node has a notification.
    news: Arc<AtomicBool>,
}

impl Node for CountingNode {
    fn network(&mut self) -> Result<String, NodeError> {
        self.asked += 1;
        self.of.network()
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.asked += 1;
        // The send fails if the test has ended.
        let _ = self.heads.send(());
        self.of.head()
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.asked += 1;
        self.of.block_hash_at(height)
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.asked += 1;
        self.of.blocks(from, to, watched)
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.asked += 1;
        self.of.mempool(unconfirmed, watched)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.asked += 1;
        self.of.block_of_transaction(txid)
    }

    fn request_count(&self) -> u64 {
        self.asked
    }

    fn sends_notifications(&self) -> bool {
        true
    }

    fn has_notification(&mut self) -> bool {
        self.news.swap(false, Ordering::Relaxed)
    }
}

/// A shop, a chain, and its follower.
struct PaceScene {
    service: Arc<Service>,
    memory: Arc<Mutex<MemoryChain>>,
    chain_wakers: Arc<ChainWakers>,
    time: Arc<ManualTime>,
    heads: Receiver<()>,
    news: Arc<AtomicBool>,
    following: FollowerState,
    _file: TempFile,
}

impl PaceScene {
    fn new(asset: &str) -> PaceScene {
        let asset = Asset::find(asset).unwrap();
        let chain = asset.chain;
        let chain_wakers = Arc::new(ChainWakers::default());
        let own = Arc::clone(&chain_wakers);
        let (service, file) =
            sandbox_with_expected_money_callback(move |chain| own.signal_expected_payment(chain));
        let memory = MemoryChain::new(asset, chain.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        let (asked, heads) = channel();
        let (of, news) = (Arc::clone(&memory), Arc::<AtomicBool>::default());
        let told = Arc::clone(&news);
        let connect = Box::new(move |_| {
            Some(Box::new(CountingNode {
                of: MemoryNode::new(&of),
                asked: 0,
                heads: asked.clone(),
                news: Arc::clone(&told),
            }) as Box<dyn Node>)
        });
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Clock::steady(TimeSource::Manual(Arc::clone(&time)), NOW);
        let watch = start_watch(&service, chain, &[]);
        let (pace, waker) = (PollIntervals::for_chain(chain), chain_wakers.for_chain(chain));
        chain_wakers.signal_rates_ready();
        let following = FollowerState::new(watch, connect, Arc::new(clock), pace, waker);
        PaceScene { service, memory, chain_wakers, time, heads, news, following, _file: file }
    }

    fn chain(&self) -> Chain {
        self.following.watch.chain
    }

    /// Makes steps until the thread pauses. Returns two pause lengths in seconds: without expected money, and with
    /// expected money. The second is `None` if expected money does not shorten the pause.
    fn run_until_idle(&mut self) -> (u64, Option<u64>) {
        loop {
            let pause = self.following.run_step().unwrap();
            if !pause.most.is_zero() {
                return (pause.most.as_secs(), pause.expected.map(|most| most.as_secs()));
            }
        }
    }

    /// Returns `true` if a pause of an hour ends at once.
    fn pause_ends_at_once(&self) -> bool {
        let hour = Pause { most: Duration::from_secs(3600), expected: Some(Duration::ZERO) };
        self.following.waker.wait_pause(&self.following.clock, hour, None::<fn() -> bool>)
    }
}

#[test]
fn chain_of_a_selected_coin_is_polled_at_once_and_often() {
    for (asset, quick, slow) in [("BTC", 10, 30), ("LTC", 10, 30), ("ETH", 15, 60)] {
        let mut scene = PaceScene::new(asset);
        assert_eq!(scene.run_until_idle(), (slow, Some(quick)), "{asset}");
        scene.time.advance(MINUTE_MS);
        assert_eq!(scene.run_until_idle(), (slow, Some(quick)));
        let merchant = live_caller(&scene.service);
        assert!(create_invoice_address(&scene.service, &merchant, NOW, asset).is_some());
        assert!(scene.pause_ends_at_once());
        for other in [Chain::Dogecoin, Chain::Base] {
            assert!(
                !scene.chain_wakers.for_chain(other).take_expected_payment_signal(),
                "{asset} is none of {other}"
            );
        }
        assert_eq!(scene.run_until_idle(), (quick, Some(quick)));
        // The invoice can be paid only until its deadline. After that, the chain is no longer polled often.
        scene.time.advance(EXPECTED_MS);
        assert_eq!(scene.run_until_idle(), (quick, Some(quick)));
        let service = &scene.service;
        let late = NOW.plus_ms(30 * DAY_MS);
        let chain = scene.chain();
        assert!(block_on(service.expire_invoices(late)).is_ok());
        scene.time.advance(30 * DAY_MS);
        scene.memory.lock().unwrap().mine_block(late, |_| true);
        scene.run_until_idle();
        block_on(clone_service(&scene).expire_invoices(late.plus_ms(DAY_MS))).unwrap();
        assert_eq!(scene.run_until_idle(), (slow, Some(quick)), "{chain}");
    }
}

fn clone_service(scene: &PaceScene) -> Arc<Service> {
    Arc::clone(&scene.service)
}

#[test]
fn chain_of_a_processing_refund_is_polled_at_once() {
    let scene = PaceScene::new("LTC");
    let (service, merchant) = (&scene.service, live_caller(&scene.service));
    let paid = json!({ "invoice": create_live_invoice(service), "asset": "LTC" });
    let seen = block_on(service.add_transaction(NOW, request_without_key(&paid)));
    let seen: Value = serde_json::from_str(&seen.unwrap().body).unwrap();
    let confirmed = request_without_key(&json!({ "state": "confirmed" }));
    block_on(service.change_payment_state(NOW, seen["id"].as_str().unwrap(), confirmed)).unwrap();
    let to = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9";
    let id = request_refund(service, &merchant, NOW, "5.00", to);
    for (action, is_woken) in [("approve", false), ("process", true)] {
        let waker = scene.chain_wakers.for_chain(scene.chain());
        waker.take_expected_payment_signal();
        let body = json!({ "action": action });
        let body = MoveTransfer::read(body.as_object().unwrap()).unwrap();
        block_on(service.apply_operator_step(
            NOW,
            "op",
            TransferKind::Refund,
            &id,
            body.into(),
            request_without_key(&json!({})),
        ))
        .unwrap();
        assert_eq!(waker.take_expected_payment_signal(), is_woken, "{action}");
    }
}

#[test]
fn chain_is_polled_often_after_a_customer_address_is_shown() {
    for (asset, quick, slow) in [("BTC", 10, 30), ("ETH", 15, 60)] {
        let mut scene = PaceScene::new(asset);
        assert_eq!(scene.run_until_idle(), (slow, Some(quick)));
        for _ in 0..2 {
            let caller = live_caller(&scene.service);
            let asked = scene.service.get_or_create_customer_addresses(NOW, &caller, "ada");
            block_on(asked).unwrap();
            assert!(scene.pause_ends_at_once());
            assert_eq!(scene.run_until_idle(), (quick, Some(quick)));
            scene.time.advance(EXPECTED_MS - SECOND_MS);
            assert_eq!(scene.run_until_idle(), (quick, Some(quick)));
            scene.time.advance(SECOND_MS);
            assert_eq!(scene.run_until_idle(), (slow, Some(quick)));
        }
    }
}

#[test]
fn expected_money_and_notifications_end_a_pause_except_after_a_failure() {
    let PaceScene { chain_wakers, heads, news, following, service, _file: _kept, .. } =
        PaceScene::new("BTC");
    let chain = following.watch.chain;
    let pace = PollIntervals {
        expected: Duration::ZERO,
        otherwise: Duration::from_secs(3600),
        for_rates: Duration::ZERO,
    };
    let FollowerState { watch, connect, clock, .. } = following;
    let waker = chain_wakers.for_chain(chain);
    // A wake-up does not shorten the pause after a failure.
    waker.signal_expected_payment();
    let short = Pause::fixed(Duration::from_millis(1));
    assert!(waker.wait_pause(&clock, short, None::<fn() -> bool>));
    assert!(waker.take_expected_payment_signal() && !waker.take_expected_payment_signal());
    let follower = Follower::start(watch, connect, clock, pace, Arc::clone(&waker), None).unwrap();
    // The thread starts, reads to the head, and pauses for an hour.
    heads.recv().unwrap();
    heads.recv().unwrap();
    chain_wakers.signal_expected_payment(chain);
    heads.recv().unwrap();
    news.store(true, Ordering::Relaxed);
    heads.recv().unwrap();
    follower.ask_to_stop();
    assert!(follower.wait_for_end(Duration::MAX));
    drop(service);
}

#[test]
fn requests_to_a_node_are_counted_even_if_they_fail() {
    let mut scene = PaceScene::new("BTC");
    let service = service_with_nodes(&scene._file, &[Chain::Bitcoin]);
    scene.following.watch.service = Arc::downgrade(&service);
    let shown = |now| {
        let chains = service.chain_views(now).unwrap();
        (chains[0].requests, chains[0].requests_per_day)
    };
    assert_eq!(shown(NOW), (0, None));
    scene.run_until_idle();
    let (first, a_day) = shown(NOW);
    assert!(first > 0 && a_day.is_none());
    scene.run_until_idle();
    let each = shown(NOW).0 - first;
    // The node is changed to another network. The follower checks the network after each connection, which takes one
    // request.
    scene.memory.lock().unwrap().network = "test".to_owned();
    scene.run_until_idle();
    scene.run_until_idle();
    assert_eq!(shown(NOW).0, first + each + 2);
    let later = NOW.plus_ms(12 * 60 * MINUTE_MS);
    assert_eq!(shown(later).1, Some(2 * shown(later).0));
}

#[test]
fn first_step_waits_once_and_briefly_for_the_first_rates() {
    let clock = Clock::steady(TimeSource::Manual(Arc::new(ManualTime::new(NOW))), NOW);
    let hour = Duration::from_secs(3600);
    let waiting = |waker: &ChainWaker, most| {
        let mut began = false;
        let goes_on = waker.wait_for_rates(&clock, most, || began = true);
        (goes_on, began)
    };
    // The rates never become known.
    let waker = ChainWaker::default();
    assert_eq!(waiting(&waker, Duration::ZERO), (true, true));
    assert_eq!(waiting(&waker, hour), (true, false), "it waits once");
    // The wait ends when the thread is asked to stop, or when the rates are known.
    for asks_to_end in [false, true] {
        let waker = ChainWaker::default();
        let (begun, begins) = channel();
        std::thread::scope(|scope| {
            let waits = || waker.wait_for_rates(&clock, hour, || begun.send(()).unwrap());
            let waits = scope.spawn(waits);
            begins.recv().unwrap();
            // Other wake-ups do not end the wait.
            waker.signal_expected_payment();
            match asks_to_end {
                true => waker.ask_to_stop(),
                false => waker.signal_rates_ready(),
            }
            assert_eq!(waits.join().unwrap(), !asks_to_end);
        });
    }
    let wakers = ChainWakers::default();
    wakers.signal_rates_ready();
    for chain in Chain::ALL {
        assert_eq!(waiting(&wakers.for_chain(*chain), hour), (true, false), "{chain}");
    }
}
