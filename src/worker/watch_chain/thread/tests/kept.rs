//! Tests of state that a thread keeps between steps: failures while addresses are derived, and a running rescan.

use super::{ChainWakers, FollowerState, PollIntervals};
use crate::chain::Node;
use crate::chain::memory::{MemoryChain, MemoryNode};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::Chain;
use crate::service::tests::NOW;
use crate::worker::watch_chain::tests::shop::Shop;
use crate::worker::watch_chain::tests::start_watch;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

const CHAIN: Chain = Chain::Bitcoin;

/// A shop with a wallet, a chain of a hundred blocks, and its follower. `failures` receives the number of consecutive
/// failures at each connection attempt.
struct FollowerScene {
    shop: Shop,
    memory: Arc<Mutex<MemoryChain>>,
    following: FollowerState,
    failures: Receiver<u32>,
}

impl FollowerScene {
    fn new() -> FollowerScene {
        let shop = Shop::new("BTC");
        let memory = MemoryChain::new(shop.asset, CHAIN.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        for _ in 0..100 {
            memory.lock().unwrap().mine_block(NOW, |_| true);
        }
        let (asked, failures) = channel();
        let of = Arc::clone(&memory);
        let connect = Box::new(move |after| {
            // The send fails if the test has ended.
            let _ = asked.send(after);
            Some(Box::new(MemoryNode::new(&of)) as Box<dyn Node>)
        });
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Arc::new(Clock::steady(TimeSource::Manual(time), NOW));
        let wakers = ChainWakers::default();
        wakers.signal_rates_ready();
        let (watch, waker) = (start_watch(&shop.service, CHAIN, &[]), wakers.for_chain(CHAIN));
        let following =
            FollowerState::new(watch, connect, clock, PollIntervals::for_chain(CHAIN), waker);
        let mut scene = FollowerScene { shop, memory, following, failures };
        scene.run_until_idle();
        scene
    }

    /// Makes steps until the thread pauses. Returns the number of steps.
    fn run_until_idle(&mut self) -> usize {
        let mut turns = 0;
        while self.following.run_step().unwrap().most.is_zero() {
            turns += 1;
        }
        turns
    }
}

#[test]
fn failure_count_survives_address_derivation() {
    let mut scene = FollowerScene::new();
    let network = scene.memory.lock().unwrap().network.clone();
    assert_eq!(scene.failures.try_iter().collect::<Vec<_>>(), [0]);
    scene.memory.lock().unwrap().network = "test".to_owned();
    for before in 0..5 {
        // The new invoice uses up an address, so the follower derives another one.
        scene.shop.create_invoice(NOW).unwrap();
        let derived = scene.run_until_idle();
        assert!(derived > 0, "nothing was derived");
        // The node is on the wrong network, so each round adds one failure.
        assert_eq!(scene.failures.try_iter().collect::<Vec<_>>(), [before + 1]);
    }
    scene.memory.lock().unwrap().network = network;
    scene.shop.create_invoice(NOW).unwrap();
    scene.run_until_idle();
    scene.memory.lock().unwrap().network = "test".to_owned();
    scene.run_until_idle();
    // After a successful read, failures are counted from zero.
    assert_eq!(scene.failures.try_iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn rescan_is_read_to_its_end_without_a_pause() {
    let mut scene = FollowerScene::new();
    let service = Arc::clone(&scene.shop.service);
    service.order_rescan(NOW, CHAIN, 0).unwrap();
    let is_under_way = || {
        let known = service.chain_state(NOW, CHAIN, 1, false).unwrap();
        known.rescan.is_some()
    };
    let mut parts = 0;
    while is_under_way() {
        let pause = scene.following.run_step().unwrap();
        assert!(pause.most.is_zero() || !is_under_way(), "it rests behind part {parts}");
        parts += 1;
    }
    // The rescan reads 100 blocks, seven in each of its steps. Only every second step belongs to the rescan.
    assert!((2 * 100 / 7..=2 * 100 / 7 + 4).contains(&parts), "{parts}");
    assert!(scene.run_until_idle() <= 1);
}
