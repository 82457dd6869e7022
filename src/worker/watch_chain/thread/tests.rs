//! Tests of the thread that follows a chain.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod finals;
mod heads;
mod kept;
mod lagging;
mod outages;
mod pace;

use super::pace::BACK_OFF_MAX;
use super::{EXPECTED_MS, Follower, FollowerState, PollIntervals, with_jitter};
use crate::chain::follow::AddressPools;
use crate::chain::{BlockRead, Head, MempoolRead, Node, NodeError, WatchTargets};
use crate::clock::Clock;
use crate::domain::Block;
use crate::domain::asset::Chain;
use crate::service::tests::{NOW, seeded_service, service_with_nodes};
use crate::worker::watch_chain::{ChainWaker, ChainWakers, ChainWatch};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A node that reports each request to the test and never answers.
struct HangingNode(Sender<()>, Receiver<()>);

impl Node for HangingNode {
    fn network(&mut self) -> Result<String, NodeError> {
        self.0.send(()).unwrap();
        // Blocks until the test drops the sender.
        let _ = self.1.recv();
        Err(NodeError::Behind)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        Err(NodeError::Behind)
    }

    fn block_hash_at(&mut self, _: u32) -> Result<Option<String>, NodeError> {
        Err(NodeError::Behind)
    }

    fn blocks(
        &mut self,
        _: u32,
        _: u32,
        _: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        Err(NodeError::Behind)
    }

    fn mempool(&mut self, _: &[String], _: &dyn WatchTargets) -> Result<MempoolRead, NodeError> {
        Err(NodeError::Behind)
    }

    fn block_of_transaction(&mut self, _: &str) -> Result<Option<Block>, NodeError> {
        Err(NodeError::Behind)
    }
}

#[test]
fn hanging_node_is_reported_and_keeps_no_file_open() {
    for waits_for_rates in [false, true] {
        assert_hang_is_reported(waits_for_rates);
    }
}

#[track_caller]
fn assert_hang_is_reported(waits_for_rates: bool) {
    let (_, file) = seeded_service();
    let chain = Chain::Bitcoin;
    let service = service_with_nodes(&file, &[chain]);
    let watch = ChainWatch {
        blocks_max: 1,
        outputs_max: 1,
        part_ms_max: 1000,
        ..ChainWatch::new(Arc::downgrade(&service), chain, AddressPools::default().for_chain(chain))
    };
    let (asked, is_asked) = channel();
    let (answer, answered) = channel();
    let mut ends = Some((asked, answered));
    let connect = Box::new(move |_| {
        let (asked, answered) = ends.take().unwrap();
        Some(Box::new(HangingNode(asked, answered)) as Box<dyn Node>)
    });
    let clock = Arc::new(Clock::new(0, Some(NOW)));
    let waker = ChainWakers::default().for_chain(chain);
    if !waits_for_rates {
        waker.signal_rates_ready();
    }
    let follower =
        Follower::start(watch, connect, clock, PollIntervals::for_chain(chain), waker, None)
            .unwrap();
    is_asked.recv().unwrap();
    let problem = |after_ms| {
        let chains = service.chain_views(NOW.plus_ms(after_ms)).unwrap();
        chains[0].problem.clone()
    };
    assert_eq!(problem(4_999), None);
    let said = "its node has not answered for 5 s";
    assert_eq!(problem(5_000).as_deref(), Some(said));
    follower.ask_to_stop();
    assert!(!follower.wait_for_end(Duration::ZERO));
    assert_eq!(Arc::strong_count(&service), 1);
    // The request to the node ends now, and then the thread ends.
    drop(answer);
    assert!(follower.wait_for_end(Duration::MAX));
}

#[test]
fn jitter_shortens_a_pause_by_up_to_a_quarter() {
    for _ in 0..100 {
        let pause = with_jitter(BACK_OFF_MAX);
        assert!(pause <= BACK_OFF_MAX && pause >= BACK_OFF_MAX * 3 / 4, "{pause:?}");
    }
}
