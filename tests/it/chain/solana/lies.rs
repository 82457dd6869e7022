//! False responses of a Solana node, which are rejected and change nothing.

use super::fixtures::{Follower, UNTESTED, solana_client, solana_client_with_tokens};
use crate::chain::watch::error_kind;
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT};
use coffer::chain::Node;
use coffer::chain::tokens::Tokens;
use coffer::domain::asset::Chain;
use coffer::domain::{Block, ChainState};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MAIN: &str = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/// Returns a fault that changes the result of a transaction.
fn transaction_result_fault(change: fn(&mut Value)) -> RpcFault {
    RpcFault::from_change(move |_, answer| change(&mut answer["result"]))
}

/// Returns the false responses of each method: method, fault, and expected error.
fn false_response_cases() -> Vec<(&'static str, RpcFault, &'static str)> {
    let skip = |field: &'static str| {
        RpcFault::from_change(move |_, answer| {
            let result = answer["result"].as_object_mut().unwrap();
            result.remove(field);
        })
    };
    vec![
        ("getSlot", RpcFault::Status(429), "limited"),
        ("getSlot", RpcFault::Truncated(20), "unreachable"),
        ("getSlot", RpcFault::result(json!(-1)), "lied"),
        ("getSlot", RpcFault::result(json!(1_u64 << 40)), "lied"),
        ("getBlock", skip("blockhash"), "lied"),
        (
            "getBlock",
            RpcFault::from_change(|_, answer| answer["result"]["parentSlot"] = 9_999_999.into()),
            "lied",
        ),
        (
            "getBlock",
            RpcFault::from_change(|_, answer| answer["result"]["blockhash"] = "no hash".into()),
            "lied",
        ),
        ("getBlock", RpcFault::result(Value::Null), "behind"),
        ("getBlock", RpcFault::huge_result(2 << 20), "limited"),
        ("getBlockTime", RpcFault::result(json!(i64::MAX)), "lied"),
        ("getBlockTime", RpcFault::result(Value::Null), "unreachable"),
        (
            "getMultipleAccounts",
            RpcFault::from_change(|_, answer| answer["result"]["context"]["slot"] = 3.into()),
            "behind",
        ),
        (
            "getMultipleAccounts",
            RpcFault::from_change(|_, answer| {
                drop(answer["result"]["value"].as_array_mut().unwrap().pop())
            }),
            "lied",
        ),
        (
            "getMultipleAccounts",
            RpcFault::error(-32016, "Minimum context slot has not been reached"),
            "behind",
        ),
        (
            "getSignaturesForAddress",
            RpcFault::result(json!([{ "signature": "1", "slot": 5 }])),
            "lied",
        ),
    ]
}

/// Returns false responses about the effects of a transaction. The client sets the transaction aside.
fn false_transaction_cases() -> Vec<RpcFault> {
    vec![
        RpcFault::result(Value::Null),
        transaction_result_fault(|tx| tx["meta"] = Value::Null),
        transaction_result_fault(|tx| tx["meta"]["postTokenBalances"] = Value::Null),
        transaction_result_fault(|tx| tx["transaction"]["signatures"] = json!(["other"])),
        transaction_result_fault(|tx| tx["meta"]["preBalances"] = json!([1])),
        transaction_result_fault(|tx| {
            tx["meta"]["postTokenBalances"][0]["accountIndex"] = 200.into()
        }),
        transaction_result_fault(|tx| {
            for one in tx["meta"]["postTokenBalances"].as_array_mut().unwrap() {
                one["uiTokenAmount"]["amount"] = "99999999999999999999".into();
            }
        }),
        transaction_result_fault(|tx| {
            for one in tx["meta"]["postTokenBalances"].as_array_mut().unwrap() {
                one.as_object_mut().unwrap().remove("owner");
            }
        }),
    ]
}

#[test]
fn false_node_responses_change_nothing() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    follower.poll();
    for lie in false_transaction_cases() {
        let before = follower.found.len();
        node.pay(USDC, &ours[0], 20);
        liar.inject("getTransaction", lie);
        follower.step().unwrap();
        assert_eq!((follower.found.len(), follower.node.set_aside().len()), (before, 1));
        liar.clear_faults();
        let seen = [follower.poll(), follower.poll()].concat();
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
    for (method, lie, expected) in false_response_cases() {
        let before = follower.found.len();
        node.pay(USDC, &ours[0], 20);
        liar.inject(method, lie);
        let error = follower.step().unwrap_err();
        assert_eq!(error_kind(&error), expected, "{method}: {error}");
        assert_eq!(follower.found.len(), before, "{method}");
        liar.clear_faults();
        let seen = follower.poll();
        assert_eq!(seen.len(), 1, "{method}: {seen:?}");
    }
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    let ours: BTreeSet<String> = ours.into_iter().collect();
    assert_eq!(follower.observed_payments(), node.received_amounts(&ours));
}

#[test]
fn payment_hidden_at_the_head_is_seen_later() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    follower.poll();
    // Simulates a load balancer that selects a node with a shorter history. The client requests the account's history
    // again, because the account has changed.
    liar.inject("getSignaturesForAddress", RpcFault::result(json!([])));
    node.pay(SOL, &ours[0], 1_000_000);
    assert!(follower.poll().is_empty());
    liar.clear_faults();
    assert_eq!(follower.poll().len(), 1);
    // The node reports that the accounts do not exist, so the client finds the payment only when it reads the final
    // slots again.
    let nobody = |_: &Value, answer: &mut Value| {
        for one in answer["result"]["value"].as_array_mut().unwrap() {
            *one = Value::Null;
        }
    };
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    let seen = follower.found.len();
    node.pay(USDC, &ours[1], 5);
    liar.inject("getMultipleAccounts", RpcFault::from_change(nobody));
    liar.inject("getSignaturesForAddress", RpcFault::result(json!([])));
    assert!(follower.poll().is_empty());
    liar.clear_faults();
    node.wait_for_slots(700);
    assert!(!follower.poll().is_empty());
    let told: Vec<_> = follower.found[seen..].iter().map(|one| one.amount.0).collect();
    assert!(told.contains(&5), "{told:?}");
    // A node whose head is lower than before counts as lagging. The final slot never becomes lower.
    let complete = follower.complete_height();
    let slot = node.newest_slot();
    liar.inject("getSlot", RpcFault::result(json!(slot - 500)));
    assert!(follower.step().unwrap().is_none());
    liar.clear_faults();
    follower.poll();
    assert!(follower.complete_height() >= complete);
    let ours: BTreeSet<String> = ours.into_iter().collect();
    assert_eq!(follower.observed_payments(), node.received_amounts(&ours));
}

#[test]
fn skipped_slot_differs_from_a_future_slot() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let mut client = solana_client(&node, &liar.url());
    node.wait_for_slots(400);
    let head = client.head().unwrap();
    let finalized = head.finalized.unwrap();
    let mut known = ChainState::initial(Chain::Solana);
    let hash = client.block_hash_at(finalized).unwrap().unwrap();
    known.kept.push(Block { height: finalized, hash });
    let mut told = |lie: RpcFault, slot: u32| {
        liar.inject("getBlock", lie);
        client.begin_step(&known);
        let told = client.block_hash_at(slot);
        liar.clear_faults();
        told
    };
    let skipped = || {
        RpcFault::error(
            -32007,
            "Slot 5 was skipped, or missing due to ledger jump to recent snapshot",
        )
    };
    let stored = || RpcFault::error(-32009, "Slot 5 was skipped, or missing in long-term storage");
    for lie in [skipped(), stored()] {
        assert_eq!(told(lie.clone(), finalized).unwrap().as_deref(), Some("skipped"));
        assert_eq!(told(lie, finalized + 1), Ok(None));
    }
    for lie in [
        RpcFault::result(Value::Null),
        RpcFault::error(-32004, "Block not available for slot 5"),
        RpcFault::error(-32014, "Block status not yet available for slot 5"),
    ] {
        assert_eq!(told(lie.clone(), finalized), Ok(None));
        assert_eq!(told(lie, finalized - 150).unwrap().as_deref(), Some("skipped"));
    }
    let gone = RpcFault::error(
        -32001,
        "Block 5 cleaned up, does not exist on node. First available block: 9",
    );
    // A slot that the client has read must still exist on the node. Other slots may be missing.
    assert!(told(gone.clone(), finalized - 1).unwrap().is_some());
    let error = told(gone, finalized).unwrap_err();
    assert!(error.to_string().contains("name a node that keeps older blocks"), "{error}");
    let refused = told(RpcFault::error(-32000, "no such thing"), finalized).unwrap_err();
    assert_eq!(error_kind(&refused), "unreachable");
}

#[test]
fn range_ends_at_its_last_block_if_its_last_slot_is_skipped() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let mut client = solana_client(&node, &liar.url());
    node.wait_for_slots(100);
    let finalized = client.head().unwrap().finalized.unwrap();
    let last = finalized;
    let change = move |params: &Value, answer: &mut Value| {
        if params[0] == last {
            answer["result"] = Value::Null;
        }
    };
    liar.inject("getBlock", RpcFault::from_change(change));
    liar.inject(
        "getBlocks",
        RpcFault::from_change(move |_, answer| {
            let slots = answer["result"].as_array_mut().unwrap();
            slots.retain(|slot| *slot != last);
        }),
    );
    let time = client.block_time_at(last).unwrap();
    assert!(time.is_some(), "the time of the next block");
    let blocks =
        client.blocks(last - 5, last, &super::fixtures::WatchedAddresses(Vec::new())).unwrap();
    assert_eq!(blocks.last().unwrap().block.height, last - 1);
}

#[test]
fn node_of_another_network_or_mint_is_rejected() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let mut known = solana_client(&node, &liar.url());
    assert_eq!(known.network().unwrap(), "localnet");
    // After a failure the client checks the network again, because the URL may lead to another node.
    liar.inject("getSlot", RpcFault::Status(500));
    known.head().unwrap_err();
    liar.clear_faults();
    liar.inject("getGenesisHash", RpcFault::result(json!(MAIN)));
    let refused = known.head().unwrap_err().to_string();
    assert!(refused.contains("on which no setting says where"), "{refused}");
    let refused = solana_client(&node, &liar.url()).network().unwrap_err().to_string();
    assert!(refused.contains("it is of the main network"), "{refused}");
    assert_eq!(
        solana_client_with_tokens(&liar.url(), Tokens::new()).network().unwrap(),
        "mainnet-beta"
    );
    liar.clear_faults();
    for (mint, problem) in [
        (node.mint_address("token2022"), "those of Token-2022 are not taken"),
        (&node.payer, "is not of the token program"),
        (MAIN, "is not there"),
    ] {
        let tokens = Tokens::from([(USDT, mint.to_owned())]);
        let refused =
            solana_client_with_tokens(&liar.url(), tokens).network().unwrap_err().to_string();
        assert!(refused.contains(problem) && refused.contains(mint), "{refused}");
    }
    // Accounts are requested in batches. If the node reports a limit, the client halves the batch.
    liar.inject("getMultipleAccounts", RpcFault::Status(413));
    assert_eq!(error_kind(&solana_client(&node, &liar.url()).network().unwrap_err()), "limited");
}
