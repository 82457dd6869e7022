//! Tests single steps of following a simulated chain.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod dated;
mod finals;
mod sent;
mod sent_by_accounts;

use super::{FollowOutcome, StepOptions, StepTargets, WatchedAddresses, compute_step};
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::chain::{Node, NodeError};
use crate::domain::address::simulated_address;
use crate::domain::asset::Chain;
use crate::domain::time::MINUTE_MS;
use crate::domain::{
    Asset, Block, ChainPosition, ChainState, ChainStep, ChainStepOutcome, ForwardStep, InputSource,
    Mode, OpenObservation, PaymentState, ReplacedTransaction, Rescan, Time, Units,
};
use std::sync::{Arc, Mutex, RwLock};

const NOW: Time = Time(1_795_253_400_000);

/// A simulated chain, its node, and the state that the database would have.
struct Scene {
    memory: Arc<Mutex<MemoryChain>>,
    node: MemoryNode,
    addresses: RwLock<WatchedAddresses>,
    known: ChainState,
    ours: String,
}

impl Scene {
    /// Creates a chain with this many blocks, followed from its head.
    fn new(asset: &str, blocks: u32) -> Scene {
        let asset = Asset::find(asset).unwrap();
        let chain = asset.chain;
        let network = chain.row().networks.0;
        let memory = Arc::new(Mutex::new(MemoryChain::new(asset, network, NOW)));
        let ours = simulated_address(Mode::Live, chain, 1);
        let mut addresses = WatchedAddresses::default();
        addresses.insert(chain, &ours);
        let node = MemoryNode::new(&memory);
        let known = ChainState::initial(chain);
        let mut scene = Scene { memory, node, addresses: RwLock::new(addresses), known, ours };
        scene.mine(blocks);
        let started = scene.step();
        scene.apply_step(&started);
        scene
    }

    fn mine(&self, blocks: u32) {
        for _ in 0..blocks {
            self.memory.lock().unwrap().mine_block(NOW, |_| true);
        }
    }

    /// Sends a transaction that spends the output `spends` and pays `units` to a watched address. Returns the
    /// transaction id.
    fn send(&self, spends: &str, units: u128) -> String {
        let mut memory = self.memory.lock().unwrap();
        let txid = memory.new_id();
        memory.send_transaction(MemoryTransaction {
            txid: txid.clone(),
            spends: vec![InputSource::Output(spends.to_owned(), 0)],
            pays: vec![(0, self.ours.clone(), Units(units))],
            at: NOW,
            nonce: None,
            reverts: false,
        });
        txid
    }

    fn try_step(&mut self) -> Result<FollowOutcome, NodeError> {
        self.try_step_from(None)
    }

    /// Makes one step. If `other` is given, the step uses the node `other` and not the node of the scene.
    fn try_step_from(&mut self, other: Option<&mut dyn Node>) -> Result<FollowOutcome, NodeError> {
        let manner = StepOptions { now: NOW, blocks_max: 5, test_networks: false, rescans: true };
        let looking = StepTargets::new(&self.addresses, &self.known);
        compute_step(other.unwrap_or(&mut self.node), &self.known, &looking, manner, &mut |_| {})
    }

    #[track_caller]
    fn step(&mut self) -> ChainStep {
        match self.try_step().unwrap() {
            FollowOutcome::Step(step) => *step,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn step_forward(&mut self) -> ForwardStep {
        let step = self.step();
        self.apply_step(&step);
        match step.outcome {
            ChainStepOutcome::Forward(forward) => *forward,
            other => panic!("{other:?}"),
        }
    }

    /// Updates the known state as the database would after this step.
    fn apply_step(&mut self, step: &ChainStep) {
        let known = &mut self.known;
        known.network = Some(step.network.clone());
        known.kept.extend(step.keep.clone());
        known.kept.sort_by_key(|block| std::cmp::Reverse(block.height));
        known.kept.dedup();
        match &step.outcome {
            ChainStepOutcome::Started { to, complete, .. } => {
                known.cursor = Some(to.clone());
                known.complete = Some(complete.clone());
            }
            ChainStepOutcome::RolledBackTo(fork) => {
                known.kept.retain(|block| block.height <= fork.height);
                let block = fork.clone();
                known.cursor = Some(ChainPosition { block, time: NOW });
            }
            ChainStepOutcome::Forward(forward) => {
                known.cursor = Some(forward.to.clone());
                known.complete = forward.complete.clone().or(known.complete.take());
            }
            ChainStepOutcome::Stopped(_)
            | ChainStepOutcome::Rescanned(_)
            | ChainStepOutcome::ClaimChecked(_)
            | ChainStepOutcome::BalancesChecked(_)
            | ChainStepOutcome::HeightFound { .. } => {}
        }
    }

    fn remove_blocks(&self, depth: usize) {
        self.memory.lock().unwrap().remove_blocks(depth, |_| true);
    }
}

fn create_open_observation(txid: &str, spends: &str) -> OpenObservation {
    OpenObservation {
        txid: txid.to_owned(),
        position: 0,
        address: "a".to_owned(),
        state: PaymentState::Seen,
        block: None,
        has_vanished: false,
        spends: vec![InputSource::Output(spends.to_owned(), 0)],
    }
}

fn observed_heights(forward: &ForwardStep) -> Vec<Option<u32>> {
    let block = |seen: &crate::domain::Observation| seen.block.as_ref().map(|b| b.height);
    forward.found.iter().map(block).collect()
}

#[test]
fn payment_is_found_in_mempool_and_block() {
    let mut scene = Scene::new("BTC", 20);
    let txid = scene.send("a", 500);
    let forward = scene.step_forward();
    assert_eq!(observed_heights(&forward), [None]);
    assert_eq!((forward.scanned_to, forward.found[0].seen_at), (Some(NOW), NOW));
    // The node reports the payment again until the database has stored it, because a step may fail.
    assert_eq!(scene.step_forward().found[0].txid, txid);
    scene.mine(3);
    let forward = scene.step_forward();
    assert_eq!(observed_heights(&forward), [Some(21)]);
    assert_eq!(forward.to.block.height, 23);
    // A step reads a limited number of blocks and reports nothing beyond them.
    scene.mine(8);
    let forward = scene.step_forward();
    assert_eq!((forward.to.block.height, forward.dropped_before), (28, None));
    assert_eq!(scene.step_forward().to.block.height, 31);
}

#[test]
fn lower_head_is_lag_and_different_hash_is_reorg() {
    for asset in ["BTC", "ETH"] {
        let mut scene = Scene::new(asset, 20);
        scene.mine(3);
        scene.step_forward();
        scene.node.behind = 2;
        assert!(
            matches!(scene.try_step(), Ok(FollowOutcome::Lagging(at)) if at.head.block.height == 21 && !at.has_lost_block())
        );
        scene.node.behind = 0;
        // A branch of two blocks replaces the newest two blocks. On UTXO chains, whose block hashes are all stored, a
        // branch of one block also replaces two blocks.
        let shorter = scene.known.chain.has_outputs().then_some(1);
        for blocks in [2].into_iter().chain(shorter) {
            scene.remove_blocks(2);
            scene.mine(blocks);
            let step = scene.step();
            scene.apply_step(&step);
            let ChainStepOutcome::RolledBackTo(fork) = step.outcome else {
                panic!("{step:?}");
            };
            assert!(fork.height <= 21 && fork.height >= 20, "{fork:?}");
            let forward = scene.step_forward();
            assert_eq!(forward.to.block, scene.memory.lock().unwrap().tip().block);
        }
    }
}

#[test]
fn stuck_node_on_abandoned_branch_does_not_stop_chain() {
    let mut scene = Scene::new("ETH", 20);
    scene.mine(2);
    scene.step_forward();
    let mut still = MemoryNode::new(&scene.memory);
    still.set_stuck(true);
    scene.remove_blocks(4);
    scene.mine(10);
    let is_final = |scene: &Scene| scene.known.complete.as_ref().map(|block| block.height);
    while is_final(&scene) != Some(20) {
        let step = scene.step();
        scene.apply_step(&step);
    }
    scene.known.kept.retain(|block| block.height >= 20);
    // The stuck node has another block at the height of the final block. The step then waits, and does not stop the
    // chain.
    std::mem::swap(&mut scene.node, &mut still);
    assert!(
        matches!(scene.try_step(), Ok(FollowOutcome::Lagging(at)) if at.head.block.height == 22 && !at.has_lost_block())
    );
    std::mem::swap(&mut scene.node, &mut still);
    assert_eq!(scene.step_forward().to.block.height, 28);
    // A node that has a longer chain, but none of the stored blocks, is not believed.
    scene.remove_blocks(15);
    scene.mine(16);
    let told = "it has another block at 20, which was final";
    assert!(matches!(scene.try_step(), Err(NodeError::Lied(why)) if why.starts_with(told)));
    // An operator may order to read the final blocks again.
    scene.known.rescan = Some(Rescan { from: 18, next: 18, last_hash: None, known: Vec::new() });
    let ChainStepOutcome::Rescanned(read) = scene.step().outcome else {
        panic!("it is no rescan");
    };
    let branch = scene.memory.lock().unwrap().active.clone();
    assert_eq!(read.to.unwrap().block, branch[20].block);
}

#[test]
fn reorg_below_the_first_block_rolls_back() {
    let mut scene = Scene::new("BTC", 300);
    scene.remove_blocks(30);
    scene.mine(31);
    let step = scene.step();
    assert!(
        matches!(&step.outcome, ChainStepOutcome::RolledBackTo(fork) if fork.height <= 270),
        "{step:?}"
    );
    // After a reorg that removes all stored blocks, the chain is no longer followed.
    scene.remove_blocks(150);
    scene.mine(160);
    assert!(matches!(scene.step().outcome, ChainStepOutcome::Stopped(_)));
    scene.known.stopped = Some("deep".to_owned());
    assert!(matches!(scene.try_step(), Ok(FollowOutcome::Stopped(_))));
    // The chain goes on once the node has the block of the cursor again.
    let block = scene.memory.lock().unwrap().tip().block.clone();
    scene.known.cursor = Some(ChainPosition { block: block.clone(), time: NOW });
    let step = scene.step();
    assert!(
        matches!(&step.outcome, ChainStepOutcome::RolledBackTo(fork) if *fork == block),
        "{step:?}"
    );
}

#[test]
fn replaced_transaction_is_gone_and_missing_one_vanishes() {
    let mut scene = Scene::new("BTC", 3);
    let first = scene.send("a", 500);
    let other = scene.send("b", 700);
    scene.step_forward();
    scene.known.open =
        vec![create_open_observation(&first, "a"), create_open_observation(&other, "b")];
    let second = scene.send("a", 400);
    let gone =
        |txid: &str, by: &str| ReplacedTransaction { txid: txid.to_owned(), by: by.to_owned() };
    let forward = scene.step_forward();
    assert_eq!(forward.gone, [gone(&first, &second)]);
    assert_eq!(forward.found[0].txid, second);
    // The payment is also gone if the node finds the spender in a block and not in the mempool.
    scene.mine(1);
    let forward = scene.step_forward();
    assert_eq!(forward.gone, [gone(&first, &second)]);
    assert!(forward.present.is_empty());
    // A transaction vanishes from the mempool and comes back.
    let mut vanished = create_open_observation(&"f".repeat(64), "c");
    scene.known.open = vec![vanished.clone()];
    assert_eq!(scene.step_forward().vanished, [vanished.txid.clone()]);
    vanished.has_vanished = true;
    scene.known.open = vec![vanished.clone()];
    assert!(scene.step_forward().vanished.is_empty());
    scene.memory.lock().unwrap().send_transaction(MemoryTransaction {
        txid: vanished.txid.clone(),
        spends: vanished.spends.clone(),
        pays: Vec::new(),
        at: NOW,
        nonce: None,
        reverts: false,
    });
    assert_eq!(scene.step_forward().present, [vanished.txid]);
}

#[test]
fn node_of_another_network_is_rejected() {
    let mut scene = Scene::new("BTC", 3);
    scene.memory.lock().unwrap().network = "test".to_owned();
    for network in [Some("main".to_owned()), None] {
        scene.known.network = network;
        assert!(matches!(scene.try_step(), Err(NodeError::Wrong(_))));
    }
}

#[test]
fn parents_come_before_their_children() {
    let mut scene = Scene::new("BTC", 3);
    let mut last = "a".to_owned();
    for _ in 0..300 {
        last = scene.send(&last, 500);
    }
    let forward = scene.step_forward();
    let mut before = "a".to_owned();
    for seen in &forward.found {
        assert_eq!(seen.spends, [InputSource::Output(before, 0)]);
        before = seen.txid.clone();
    }
    assert_eq!(forward.found.len(), 300);
}

#[test]
fn rescan_ends_at_cursor_and_restarts_after_reorg() {
    let mut scene = Scene::new("BTC", 10);
    let txid = scene.send("a", 500);
    scene.mine(1);
    scene.step_forward();
    let rescan = |next: u32, last_hash: Option<&str>, known: Vec<OpenObservation>| Rescan {
        from: 2,
        next,
        last_hash: last_hash.map(str::to_owned),
        known,
    };
    let mut missing = create_open_observation("gone", "b");
    missing.block = Some(Block { height: 9, hash: "given up".to_owned() });
    scene.known.rescan = Some(rescan(2, None, vec![missing.clone()]));
    let read = |scene: &mut Scene| match scene.step().outcome {
        ChainStepOutcome::Rescanned(read) => *read,
        other => panic!("{other:?}"),
    };
    let first = read(&mut scene);
    assert_eq!((first.to.unwrap().block.height, first.is_last), (6, false));
    assert!(first.missing.is_empty());
    let hash = scene.memory.lock().unwrap().active[6].block.hash.clone();
    scene.known.rescan = Some(rescan(7, Some(&hash), vec![missing]));
    let second = read(&mut scene);
    assert_eq!((second.to.unwrap().block.height, second.is_last), (11, true));
    assert_eq!(second.found[0].txid, txid);
    assert_eq!(second.missing, [("gone".to_owned(), 0)]);
    scene.known.rescan = Some(rescan(7, Some("other"), Vec::new()));
    assert!(read(&mut scene).to.is_none());
}

#[test]
fn chain_is_scanned_up_to_now_only_if_its_head_is_recent() {
    let mut scene = Scene::new("ETH", 3);
    assert_eq!(scene.step_forward().scanned_to, Some(NOW));
    let old = NOW.plus_ms(-3 * MINUTE_MS);
    scene.memory.lock().unwrap().mine_block(old, |_| true);
    assert_eq!(scene.step_forward().scanned_to, Some(old));
    assert_eq!(scene.known.chain, Chain::Ethereum);
}
