//! Number of requests to follow a Tron chain.

use super::fixtures::{shop_accounts, tron_client};
use crate::support::tron::{Node as Standin, encode_address};
use coffer::chain::Node;
use coffer::chain::cost::RequestCost;
use coffer::chain::follow::{FollowOutcome, StepOptions, compute_step};
use coffer::domain::asset::Chain;
use coffer::domain::{Block, ChainPosition, ChainState, ChainStepOutcome, Time};

/// Number of blocks between two polls.
const BLOCKS: u32 = 20;

/// Mines as many blocks as a chain adds between two polls, each with a contract call.
#[track_caller]
fn mine_blocks_of_one_poll(node: &Standin) {
    for _ in 0..BLOCKS {
        node.pay_token(&encode_address([0xbb; 20]), 1);
        node.mine(1);
    }
}

/// Returns the cursor at a height.
#[track_caller]
fn cursor_at(node: &Standin, height: u32) -> ChainPosition {
    let chain = node.chain();
    let block = &chain.blocks()[usize::try_from(height).unwrap()];
    let hash = block.id.clone();
    ChainPosition { block: Block { height, hash }, time: Time(block.time_ms) }
}

#[test]
fn poll_makes_the_documented_number_of_requests() {
    let node = Standin::start();
    mine_blocks_of_one_poll(&node);
    let mut client = tron_client(&node.url());
    client.head().unwrap();
    let height = node.height();
    let mut known = ChainState::initial(Chain::Tron);
    known.cursor = Some(cursor_at(&node, height));
    known.complete = Some(cursor_at(&node, height - 19).block);
    known.kept = vec![known.cursor.clone().unwrap().block];
    mine_blocks_of_one_poll(&node);
    let manner = StepOptions {
        now: cursor_at(&node, height + BLOCKS).time,
        blocks_max: 1_000,
        test_networks: true,
        rescans: false,
    };
    let before = client.request_count();
    // The poll takes a second step for the newly final blocks, and this step reads the head again.
    for is_last in [false, true] {
        let came =
            compute_step(&mut client, &known, &shop_accounts(), manner, &mut |_| {}).unwrap();
        let FollowOutcome::Step(taken) = came else { unreachable!("{came:?}") };
        let ChainStepOutcome::Forward(forward) = taken.outcome else {
            unreachable!("{:?}", taken.outcome)
        };
        assert_eq!(forward.to.block.height, height + BLOCKS);
        assert_eq!(forward.complete.is_none(), is_last);
        known.kept.extend(taken.keep.into_iter().rev());
        known.kept.sort_by_key(|block| std::cmp::Reverse(block.height));
        known.cursor = Some(forward.to);
        known.complete = forward.complete.or(known.complete);
    }
    let cost = RequestCost::for_chain(Chain::Tron);
    let told = cost.a_poll + cost.a_final + u64::from(BLOCKS) * cost.a_block;
    // A real chain usually grows during the poll, which costs one more request.
    assert_eq!(client.request_count() - before, told - 1);
}
