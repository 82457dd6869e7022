//! Tests the second read of final blocks, also with two nodes on different branches behind one URL.

use super::{FollowOutcome, Scene, create_open_observation, observed_heights};
use crate::chain::Node;
use crate::chain::memory::{MemoryNode, SplitNode};
use crate::domain::{Block, ChainStepOutcome, ForwardStep};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

impl Scene {
    /// Makes one step in which the second node answers for final blocks.
    #[track_caller]
    fn step_forward_with(&mut self, both: &mut SplitNode) -> ForwardStep {
        let read = self.known.cursor.as_ref().unwrap().block.height;
        both.below.store(read, Ordering::SeqCst);
        let FollowOutcome::Step(step) = self.try_step_from(Some(both)).unwrap() else {
            unreachable!("it is another's")
        };
        self.apply_step(&step);
        match step.outcome {
            ChainStepOutcome::Forward(forward) => *forward,
            other => unreachable!("{other:?}"),
        }
    }

    fn complete_height(&self) -> u32 {
        self.known.complete.as_ref().unwrap().height
    }
}

/// Creates a chain of 34 blocks, of which 14 were read and 6 are final. Its two nodes disagree above block 14,
/// because the second node is on an abandoned branch.
fn create_split_scene() -> (Scene, SplitNode, String) {
    let scene = Scene::new("ETH", 14);
    assert_eq!(scene.complete_height(), 6);
    let txid = scene.send("a", 500);
    scene.mine(20);
    let mut other = MemoryNode::new(&scene.memory);
    other.set_stuck(true);
    scene.remove_blocks(20);
    scene.mine(20);
    let both = SplitNode {
        one: MemoryNode::new(&scene.memory),
        other,
        below: Arc::new(AtomicU32::new(0)),
    };
    (scene, both, txid)
}

#[test]
fn final_block_on_another_branch_is_not_stored() {
    for reads_all_first in [true, false] {
        let (mut scene, mut both, txid) = create_split_scene();
        if reads_all_first {
            // The first node alone answers up to block 34. The last final block is then set to the oldest block with
            // a stored hash.
            scene.known.complete = None;
            while scene.step_forward().to.block.height < 34 {}
            scene.known.complete = scene.known.kept.last().cloned();
        }
        let mut disputes = 0;
        for _ in 0..8 {
            let forward = scene.step_forward_with(&mut both);
            let branch = scene.memory.lock().unwrap().active.clone();
            let complete = scene.known.complete.clone().unwrap();
            let at = usize::try_from(complete.height).unwrap();
            assert_eq!(complete, branch[at].block);
            if let Some(why) = &forward.disputed {
                disputes += 1;
                assert!(why.contains("is not read again until the node agrees"), "{why}");
                assert!(forward.complete.is_none() && forward.missing.is_empty());
                assert_eq!(forward.dropped_before, None);
            }
        }
        assert!(disputes > 1 && scene.complete_height() < 15, "{disputes}");
        assert_eq!(scene.known.cursor.as_ref().unwrap().block.height, 34);
        // New blocks are still read, although the final blocks are disputed.
        scene.mine(3);
        let forward = scene.step_forward_with(&mut both);
        assert_eq!(forward.to.block.height, 37);
        assert!(forward.disputed.is_some());
        // Once the nodes agree, further final blocks and their payments are read.
        let mut found = Vec::new();
        for _ in 0..6 {
            let forward = scene.step_forward();
            assert_eq!(forward.disputed, None);
            found.extend(observed_heights(&forward));
        }
        assert_eq!((scene.complete_height(), found), (29, vec![Some(15)]), "{txid}");
    }
}

#[test]
fn lost_final_block_is_disputed_until_node_has_it() {
    let (mut scene, mut both, txid) = create_split_scene();
    while scene.step_forward().to.block.height < 34 {}
    while scene.complete_height() < 26 {
        scene.step_forward();
    }
    let own = scene.known.complete.clone().unwrap();
    let hash = both.other.block_hash_at(26).unwrap().unwrap();
    let theirs = Block { height: 26, hash };
    // The stored final block is of the other branch.
    scene.known.complete = Some(theirs.clone());
    let mut known = create_open_observation(&txid, "a");
    known.block = Some(own.clone());
    scene.known.open = vec![known];
    scene.mine(4);
    for _ in 0..3 {
        let forward = scene.step_forward();
        let why = forward.disputed.unwrap();
        assert!(why.contains(&theirs.hash) && why.contains(&own.hash), "{why}");
        assert!(forward.missing.is_empty() && forward.complete.is_none());
        assert_eq!(scene.known.complete, Some(theirs.clone()));
    }
    assert_eq!(scene.known.cursor.as_ref().unwrap().block.height, 38);
    scene.known.open = Vec::new();
    scene.known.complete = Some(own);
    assert_eq!(scene.step_forward().disputed, None);
    assert_eq!(scene.complete_height(), 30);
}

#[test]
fn only_final_blocks_read_twice_count_as_complete() {
    let mut scene = Scene::new("ETH", 20);
    let complete = |scene: &Scene| scene.known.complete.as_ref().unwrap().height;
    assert_eq!(complete(&scene), 12);
    scene.send("a", 500);
    scene.mine(1);
    scene.node.hides = true;
    // The head does not report the payment. The second read finds it once its block is final.
    let forward = scene.step_forward();
    assert!(forward.found.is_empty());
    assert_eq!((forward.to.block.height, complete(&scene)), (21, 13));
    let mut found = Vec::new();
    for _ in 0..4 {
        scene.mine(3);
        found.extend(observed_heights(&scene.step_forward()));
    }
    assert_eq!((found.as_slice(), complete(&scene)), (&[Some(21)][..], 25));
}

#[test]
fn payment_absent_from_second_read_is_missing_unless_node_has_it() {
    let mut scene = Scene::new("ETH", 20);
    let txid = scene.send("a", 500);
    scene.mine(1);
    scene.step_forward();
    let block = scene.memory.lock().unwrap().tip().block.clone();
    let mut known = create_open_observation(&txid, "a");
    known.block = Some(block.clone());
    let mut other = create_open_observation("0xother", "b");
    other.block = Some(block);
    scene.known.open = vec![known, other];
    scene.mine(8);
    scene.step_forward();
    let missing = scene.step_forward().missing;
    assert_eq!(missing, [("0xother".to_owned(), 0)]);
}
