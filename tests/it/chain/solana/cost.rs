//! Number of requests to follow a Solana chain.

use super::fixtures::{Follower, UNTESTED, solana_client};
use crate::support::rpc_proxy::RpcProxy;
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, address_without_key};
use coffer::chain::Node;
use coffer::chain::cost::RequestCost;
use coffer::domain::asset::Chain;

/// Returns the number of requests for block times. Only surfpool needs them, because the blocks of surfpool have
/// wrong times.
fn block_time_requests(liar: &RpcProxy) -> u64 {
    u64::try_from(liar.call_count("getBlockTime")).unwrap()
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the number of requests")]
fn poll_makes_the_documented_number_of_requests() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours: Vec<String> = (0..20).map(address_without_key).collect();
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    let mut cost = {
        let mut before = 0;
        move |follower: &Follower, liar: &RpcProxy| {
            let asked = follower.node.request_count() - block_time_requests(liar);
            std::mem::replace(&mut before, asked).abs_diff(asked)
        }
    };
    cost(&follower, &liar);
    follower.poll();
    // The first poll reads the head and the final blocks.
    node.wait_for_slots(600);
    follower.poll();
    let first = cost(&follower, &liar);
    node.wait_for_slots(25);
    follower.poll();
    let poll = cost(&follower, &liar);
    let told = RequestCost::for_chain(Chain::Solana);
    assert_eq!(poll, told.a_poll);
    // After 600 more slots, the client reads the final slots again.
    node.wait_for_slots(600);
    follower.poll();
    let finals = cost(&follower, &liar);
    // On a real chain the head moves during these requests, which costs one more request.
    assert_eq!(finals + 1, told.a_poll + told.a_final);
    // A payment costs three requests when it is seen, and three when it is final: for a history, a transaction and a
    // block.
    node.pay(SOL, &ours[3], 1_000_000);
    follower.poll();
    let seen = cost(&follower, &liar);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    let settled = cost(&follower, &liar);
    let payment = seen + settled + 1 - 2 * told.a_poll - told.a_final;
    eprintln!(
        "20 addresses: first look {first}, a poll {poll}, with what is final {finals}, a payment {payment}: {} requests a \
         day, {} while money is expected all day",
        told.requests_per_day(1_440),
        told.requests_per_day(8_640)
    );
    assert!(payment <= 8, "{payment}");
}
