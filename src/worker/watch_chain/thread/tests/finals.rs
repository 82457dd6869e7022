//! Tests of the reported problem while the nodes behind one URL disagree about final blocks.

use super::{ChainWakers, Following, Pace};
use crate::chain::Node;
use crate::chain::memory::{Memory, MemoryNode, TwoMinds};
use crate::clock::{Clock, ManualTime, TimeSource};
use crate::domain::asset::{Asset, Chain};
use crate::service::Service;
use crate::service::tests::{File, NOW, found_by_audit, seeded, takes_for_final, with_nodes};
use crate::worker::watch_chain::tests::watch;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

const CHAIN: Chain = Chain::Ethereum;

/// A chain with twelve read blocks, of which four are final. The URL leads to two nodes. The second one has eight
/// more blocks, which a reorg removed before they were read.
struct Scene {
    service: Arc<Service>,
    memory: Arc<Mutex<Memory>>,
    below: Arc<AtomicU32>,
    following: Following,
    _file: File,
}

impl Scene {
    fn new() -> Scene {
        let (_, file) = seeded();
        let service = with_nodes(&file, &[CHAIN]);
        let asset = Asset::find("ETH").unwrap();
        let memory = Memory::new(asset, CHAIN.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        mine(&memory, 20);
        let below = Arc::new(AtomicU32::new(0));
        let (of, own) = (Arc::clone(&memory), Arc::clone(&below));
        let mut other = MemoryNode::new(&memory);
        other.stick(true);
        let mut other = Some(other);
        let connect = Box::new(move |_| {
            let both = TwoMinds {
                one: MemoryNode::new(&of),
                other: other.take()?,
                below: Arc::clone(&own),
            };
            Some(Box::new(both) as Box<dyn Node>)
        });
        memory.lock().unwrap().give_up(8, |_| true);
        let time = Arc::new(ManualTime::new(NOW));
        let clock = Arc::new(Clock::steady(TimeSource::Manual(time), NOW));
        let wakers = ChainWakers::default();
        wakers.hear_of_rates();
        let (watch, waker) = (watch(&service, CHAIN, &[]), wakers.of(CHAIN));
        let following = Following::new(watch, connect, clock, Pace::of(CHAIN), waker);
        let mut scene = Scene {
            service,
            memory,
            below,
            following,
            _file: file,
        };
        scene.rests();
        assert_eq!(scene.shown(), (Some(12), Some(4), None));
        scene
    }

    fn rests(&mut self) {
        while self.following.turn().unwrap().most.is_zero() {}
    }

    /// Mines this many blocks and reads them. Returns the read height, the completely read height, and the problem.
    fn reads(&mut self, blocks: usize) -> (Option<u32>, Option<u32>, Option<String>) {
        mine(&self.memory, blocks);
        self.rests();
        self.shown()
    }

    fn shown(&self) -> (Option<u32>, Option<u32>, Option<String>) {
        let shown = self.service.chains(NOW).unwrap().remove(0);
        (shown.height, shown.complete_height, shown.problem)
    }

    fn is_right(&self) {
        let findings = found_by_audit(&self.service);
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

fn mine(memory: &Mutex<Memory>, blocks: usize) {
    for _ in 0..blocks {
        memory.lock().unwrap().mine(NOW, |_| true);
    }
}

#[test]
fn nodes_of_two_minds_are_told_the_chain_is_followed_on_and_it_goes_on_by_itself() {
    let mut scene = Scene::new();
    // The second node now answers requests for blocks below 13.
    scene.below.store(13, Ordering::SeqCst);
    for (head, mined) in [(22, 10), (25, 3)] {
        let (height, complete, problem) = scene.reads(mined);
        assert_eq!(height, Some(head));
        assert!(complete < Some(14), "{complete:?}");
        let problem = problem.unwrap();
        let what = "what is final is not read again until the node agrees";
        assert!(problem.contains(what), "{problem}");
        let short = scene.service.chains_in_short(NOW).unwrap();
        assert_eq!(short, format!("ethereum: {problem}"));
    }
    scene.below.store(0, Ordering::SeqCst);
    assert_eq!(scene.reads(0), (Some(25), Some(17), None));
    scene.is_right();
}

#[test]
fn what_was_taken_for_final_and_is_not_is_told_and_a_rescan_mends_it() {
    let mut scene = Scene::new();
    assert_eq!(scene.reads(13), (Some(25), Some(17), None));
    takes_for_final(&scene.service, CHAIN, "0xother");
    for head in [26, 27] {
        let (height, complete, problem) = scene.reads(1);
        let problem = problem.unwrap();
        let (what, mend) = (
            "and 0xother was final before",
            "`coffer rescan ethereum --from 17`",
        );
        assert!(
            problem.contains(what) && problem.ends_with(mend),
            "{problem}"
        );
        assert_eq!((height, complete), (Some(head), Some(17)));
    }
    scene.service.order_rescan(NOW, CHAIN, 17).unwrap();
    scene.rests();
    assert_eq!(scene.reads(0), (Some(27), Some(19), None));
    scene.is_right();
}
