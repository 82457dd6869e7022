//! Tests of the reported problem while the nodes behind one URL disagree about final blocks.

use super::{ChainWakers, FollowerState, PollIntervals};
use crate::chain::Node;
use crate::chain::memory::{MemoryChain, MemoryNode, SplitNode};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::Chain;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Asset, Time};
use crate::service::Service;
use crate::service::tests::{
    NOW, TempFile, audit_findings, seeded_service, service_with_nodes, set_final_hash,
};
use crate::worker::watch_chain::tests::start_watch;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

const CHAIN: Chain = Chain::Ethereum;

/// A chain with twelve read blocks, of which four are final. The URL leads to two nodes. The second node still has
/// eight more blocks, which a reorg has removed from the chain.
struct FinalityScene {
    service: Arc<Service>,
    memory: Arc<Mutex<MemoryChain>>,
    below: Arc<AtomicU32>,
    time: Arc<ManualTime>,
    following: FollowerState,
    _file: TempFile,
}

impl FinalityScene {
    fn new() -> FinalityScene {
        let (_, file) = seeded_service();
        let service = service_with_nodes(&file, &[CHAIN]);
        let asset = Asset::find("ETH").unwrap();
        let memory = MemoryChain::new(asset, CHAIN.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        mine_blocks(&memory, 20, NOW);
        let below = Arc::new(AtomicU32::new(0));
        let (of, own) = (Arc::clone(&memory), Arc::clone(&below));
        let mut other = MemoryNode::new(&memory);
        other.set_stuck(true);
        let mut other = Some(other);
        let connect = Box::new(move |_| {
            let both = SplitNode {
                one: MemoryNode::new(&of),
                other: other.take()?,
                below: Arc::clone(&own),
            };
            Some(Box::new(both) as Box<dyn Node>)
        });
        memory.lock().unwrap().remove_blocks(8, |_| true);
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Arc::new(Clock::steady(TimeSource::Manual(Arc::clone(&time)), NOW));
        let wakers = ChainWakers::default();
        wakers.signal_rates_ready();
        let (watch, waker) = (start_watch(&service, CHAIN, &[]), wakers.for_chain(CHAIN));
        let following =
            FollowerState::new(watch, connect, clock, PollIntervals::for_chain(CHAIN), waker);
        let mut scene = FinalityScene { service, memory, below, time, following, _file: file };
        scene.run_until_idle();
        assert_eq!(scene.heights_and_problem(), (Some(12), Some(4), None));
        scene
    }

    fn run_until_idle(&mut self) {
        while self.following.run_step().unwrap().most.is_zero() {}
    }

    /// Mines this many blocks and reads them. Returns the height of the newest read block, the height up to which all
    /// blocks are read, and the problem.
    fn mine_and_read(&mut self, blocks: usize) -> (Option<u32>, Option<u32>, Option<String>) {
        mine_blocks(&self.memory, blocks, self.following.clock.now());
        self.run_until_idle();
        self.heights_and_problem()
    }

    fn heights_and_problem(&self) -> (Option<u32>, Option<u32>, Option<String>) {
        let shown = self.service.chain_views(self.following.clock.now()).unwrap().remove(0);
        (shown.height, shown.complete_height, shown.problem)
    }

    fn assert_audit_clean(&self) {
        let findings = audit_findings(&self.service);
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

fn mine_blocks(memory: &Mutex<MemoryChain>, blocks: usize, at: Time) {
    for _ in 0..blocks {
        memory.lock().unwrap().mine_block(at, |_| true);
    }
}

#[test]
fn disagreement_about_final_blocks_is_reported_until_nodes_agree() {
    let mut scene = FinalityScene::new();
    // The second node now answers requests for blocks below 13.
    scene.below.store(13, Ordering::SeqCst);
    for (head, mined) in [(22, 10), (25, 3)] {
        let (height, complete, problem) = scene.mine_and_read(mined);
        assert_eq!(height, Some(head));
        assert!(complete < Some(14), "{complete:?}");
        let problem = problem.unwrap();
        let what = "what is final is not read again until the node agrees";
        assert!(problem.contains(what), "{problem}");
        let short = scene.service.chains_summary(NOW).unwrap();
        assert_eq!(short, format!("ethereum: {problem}"));
    }
    scene.below.store(0, Ordering::SeqCst);
    assert_eq!(scene.mine_and_read(0), (Some(25), Some(17), None));
    scene.assert_audit_clean();
}

#[test]
fn wrong_final_block_is_reported_until_a_rescan() {
    let mut scene = FinalityScene::new();
    assert_eq!(scene.mine_and_read(13), (Some(25), Some(17), None));
    set_final_hash(&scene.service, CHAIN, "0xother");
    for head in [26, 27] {
        let (height, complete, problem) = scene.mine_and_read(1);
        let problem = problem.unwrap();
        let (what, mend) = ("and 0xother was final before", "`coffer rescan ethereum --from 17`");
        assert!(problem.contains(what) && problem.ends_with(mend), "{problem}");
        assert_eq!((height, complete), (Some(head), Some(17)));
    }
    scene.service.order_rescan(NOW, CHAIN, 17).unwrap();
    scene.run_until_idle();
    assert_eq!(scene.mine_and_read(0), (Some(27), Some(19), None));
    scene.assert_audit_clean();
}

#[test]
fn stalled_finality_is_reported_while_new_blocks_are_read() {
    let mut scene = FinalityScene::new();
    let told = "its node has reported no new final block for ";
    // A final block of this chain usually comes 15 minutes after the block itself.
    for minutes in 1..=50 {
        scene.time.advance(MINUTE_MS);
        scene.memory.lock().unwrap().final_behind += 1;
        let (height, complete, problem) = scene.mine_and_read(1);
        assert_eq!((height, complete), (Some(12 + minutes), Some(4)));
        let is_told = problem.is_some_and(|problem| problem.starts_with(told));
        assert_eq!(is_told, minutes > 45, "{minutes}");
    }
    scene.memory.lock().unwrap().final_behind = 8;
    assert_eq!(scene.mine_and_read(1), (Some(63), Some(55), None));
    // Without new blocks, only the age of the newest block is reported.
    for _ in 0..60 {
        scene.time.advance(MINUTE_MS);
        let (.., problem) = scene.mine_and_read(0);
        assert!(problem.is_none_or(|problem| !problem.starts_with(told)));
    }
    scene.assert_audit_clean();
}
