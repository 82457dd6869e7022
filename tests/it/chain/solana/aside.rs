//! Transactions and blocks that a Solana node does not give. They stop no other payment, and are read later.

use super::fixtures::{
    Follower, UNTESTED, assert_agrees_with_node, client_with_timeout, solana_client,
};
use crate::chain::watch::error_kind;
use crate::support::rpc_proxy::{RpcFault, RpcProxy, set_error};
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC};
use coffer::chain::Node;
use coffer::domain::{ChainStepOutcome, SetAsideKind, TransactionAnswer, UnsettledTransaction};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a fault that replaces the answers about the transaction with this signature by an error.
fn refused_transaction(signature: &str, code: i64) -> RpcFault {
    let signature = signature.to_owned();
    RpcFault::from_change(move |params, answer| {
        if params[0] == signature.as_str() {
            answer["result"] = Value::Null;
            answer["error"] =
                json!({ "code": code, "message": "Transaction version (1) is not supported" });
        }
    })
}

/// Returns a fault that replaces the blocks of these slots by an error.
fn refused_blocks(code: i64, is_refused: impl Fn(u32) -> bool + Send + Sync + 'static) -> RpcFault {
    RpcFault::from_change(move |params, answer| {
        let slot = u32::try_from(params[0].as_u64().unwrap()).unwrap();
        if is_refused(slot) {
            set_error(answer, code, "Slot was skipped, or missing");
        }
    })
}

#[test]
fn unreadable_transaction_stops_no_other_payment_and_is_read_later() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    for restarts in [false, true] {
        let liar = RpcProxy::start(&node.url);
        let ours = node.pool_addresses(u32::from(restarts) * 3, 3);
        let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
        follower.poll();
        // A stranger names a watched address in a transaction that the node does not give.
        let unread = node.pay(USDC, &ours[0], 20);
        liar.inject("getTransaction", refused_transaction(&unread, -32015));
        let read = node.pay(SOL, &ours[1], 1_000_000);
        let seen = follower.poll();
        assert_eq!(seen.iter().map(|one| &one.txid).collect::<Vec<_>>(), [&read]);
        let aside = follower.node.set_aside();
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert_eq!((aside[0].kind, &aside[0].id), (SetAsideKind::Transaction, &unread));
        assert!(aside[0].reason.contains("(-32015)"), "{aside:?}");
        // The other payments become final, and later payments of the same address are seen.
        node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
        let later = node.pay(USDC, &ours[0], 21);
        let seen: Vec<String> = follower.poll().into_iter().map(|one| one.txid).collect();
        assert!(seen.contains(&later) && seen.contains(&read), "{seen:?}");
        assert!(follower.complete_height() >= aside[0].height.unwrap());
        // The slot of the transaction is far below the final slot.
        node.wait_for_slots(1_000);
        follower.poll();
        assert_eq!(follower.node.set_aside().len(), 1);
        if restarts {
            follower.node = solana_client(&node, &liar.url());
            assert!(follower.poll().is_empty());
        }
        liar.clear_faults();
        let mut steps = 0;
        while !follower.node.set_aside().is_empty() {
            follower.poll();
            steps += 1;
            assert!(steps < 70, "it is asked for again");
        }
        let found = follower.found.iter().find(|one| one.txid == unread).unwrap();
        assert_eq!(found.block.as_ref().map(|block| block.height), aside[0].height);
        assert_agrees_with_node(&node, &follower, &ours);
    }
}

#[test]
fn seen_payment_waits_while_its_final_transaction_cannot_be_read() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    follower.poll();
    let (first, other) = (node.pay(USDC, &ours[0], 20), node.pay(USDC, &ours[1], 21));
    assert_eq!(follower.poll().len(), 2);
    liar.inject("getTransaction", refused_transaction(&first, -32015));
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let step = follower.step().unwrap().unwrap();
    let ChainStepOutcome::Forward(forward) = step.outcome else {
        unreachable!("{:?}", step.outcome);
    };
    let again: Vec<&String> = forward.found.iter().map(|one| &one.txid).collect();
    assert_eq!(again, [&other]);
    // The payment is neither confirmed nor missing.
    assert!(forward.missing.is_empty(), "{:?}", forward.missing);
    assert_eq!(forward.set_aside.len(), 1);
    liar.clear_faults();
    let mut seen = follower.poll();
    seen.extend(follower.poll());
    seen.extend(follower.poll());
    assert_eq!(seen.iter().map(|one| &one.txid).collect::<Vec<_>>(), [&first]);
    assert!(follower.node.set_aside().is_empty());
}

#[test]
fn payout_waits_while_its_transaction_is_hidden_and_is_then_found() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let client = client_with_timeout(&node, &liar.url(), 500);
    let mut follower = Follower::start_at_head(client, &ours);
    let [paid, other] = [SOL, USDC].map(|asset| node.pay(asset, &ours[0], 1_000_000));
    follower.poll();
    let sent = |txid: &String| UnsettledTransaction { txid: txid.clone(), ..Default::default() };
    follower.known.sent = vec![sent(&paid), sent(&other)];
    let answers = |follower: &mut Follower| {
        let step = follower.step().unwrap().unwrap();
        let ChainStepOutcome::Forward(forward) = step.outcome else {
            unreachable!("{:?}", step.outcome);
        };
        forward.sent.into_iter().map(|one| (one.txid, one.found)).collect::<Vec<_>>()
    };
    // The node refuses one of the transactions. The other one is found.
    liar.inject("getTransaction", refused_transaction(&paid, -32015));
    let told = answers(&mut follower);
    assert!(
        matches!(&told[0], (txid, TransactionAnswer::Unanswered(_)) if *txid == paid),
        "{told:?}"
    );
    assert!(
        matches!(&told[1], (txid, TransactionAnswer::Present(_)) if *txid == other),
        "{told:?}"
    );
    liar.inject("getTransaction", RpcFault::Hang);
    let told = answers(&mut follower);
    assert!(
        told.iter().all(|(_, found)| matches!(found, TransactionAnswer::Unanswered(_))),
        "{told:?}"
    );
    liar.clear_faults();
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    for (_, found) in answers(&mut follower) {
        let TransactionAnswer::Present(found) = found else {
            unreachable!("{found:?}");
        };
        assert!(found.is_done && found.is_final && found.received.len() == 1, "{found:?}");
    }
}

#[test]
fn highest_transaction_version_that_the_node_takes_is_sent() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    for (at, (method, refused_above, expected)) in (0..).zip([
        ("getTransaction", 255, 1),
        ("getTransaction", 0, 0),
        ("getBlock", 255, 255),
        ("getBlock", 0, 0),
    ]) {
        let liar = RpcProxy::start(&node.url);
        let sent = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&sent);
        let fault = RpcFault::from_change(move |params, answer| {
            let version = params[1]["maxSupportedTransactionVersion"].as_u64().unwrap();
            own.store(u32::try_from(version).unwrap(), Ordering::SeqCst);
            if version > refused_above {
                set_error(answer, -32602, "Invalid params");
            }
        });
        liar.inject(method, fault);
        let ours = node.pool_addresses(at, 1);
        let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
        node.pay(USDC, &ours[0], 5);
        assert_eq!(follower.poll().len(), 1, "{method}");
        assert_eq!(sent.load(Ordering::SeqCst), expected, "{method}");
        let before = liar.call_count(method);
        node.pay(USDC, &ours[0], 6);
        assert_eq!(follower.poll().len(), 1, "{method}");
        // The version is remembered, so each further transaction is requested once.
        if method == "getTransaction" {
            assert_eq!(liar.call_count(method) - before, 1);
        }
    }
}

#[test]
fn head_is_a_few_slots_back_if_the_node_gives_its_newest_blocks_late() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    for (at, code) in (0..).zip([-32004, -32014, -32007]) {
        let liar = RpcProxy::start(&node.url);
        let ours = node.pool_addresses(at, 1);
        let highest = Arc::new(AtomicU32::new(u32::MAX));
        let own = Arc::clone(&highest);
        let is_late = move |slot| slot > own.load(Ordering::SeqCst);
        liar.inject("getBlock", refused_blocks(code, is_late));
        let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
        node.pay(USDC, &ours[0], 5);
        let paid = node.newest_slot();
        for distance in [1, 3, 30] {
            node.wait_for_slots(distance);
            highest.store(node.newest_slot() - distance, Ordering::SeqCst);
            follower.poll();
        }
        assert!(follower.known.cursor.as_ref().unwrap().block.height >= paid);
        assert_eq!(follower.observed_payments().len(), 1, "{code}");
        // The head does not go back below the cursor.
        let cursor = follower.known.cursor.clone();
        highest.store(paid, Ordering::SeqCst);
        match follower.step() {
            Ok(None) => {}
            Ok(Some(step)) => unreachable!("{step:?}"),
            Err(error) => assert_eq!(error_kind(&error), "behind"),
        }
        assert_eq!(follower.known.cursor, cursor);
    }
}

#[test]
fn final_blocks_are_never_given_up_on_one_node_s_word() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 1);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    node.pay(USDC, &ours[0], 5);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    let (complete, cursor) = (follower.complete_height(), node.newest_slot());
    node.wait_for_slots(400);
    for (code, is_named) in [(-32007, true), (-32009, true), (-32004, false), (-32014, false)] {
        liar.inject("getBlock", refused_blocks(code, move |slot| slot <= cursor));
        for _ in 0..4 {
            // A missing block of the cursor alone is a node that has lost it, which is handled elsewhere.
            match follower.step() {
                Ok(None) => assert!(!is_named),
                Ok(Some(step)) => unreachable!("{code}: {step:?}"),
                Err(error) => {
                    let told = format!("it no longer has block {complete}, which was final");
                    assert_eq!(error_kind(&error), "lied", "{code}: {error}");
                    assert!(error.to_string().contains(&told), "{code}: {error}");
                }
            }
        }
        liar.clear_faults();
    }
    let other = RpcFault::from_change(move |params, answer| {
        if params[0].as_u64().unwrap() <= u64::from(cursor) {
            answer["result"]["blockhash"] = "7".repeat(43).into();
        }
    });
    liar.inject("getBlock", other);
    let error = follower.step().unwrap_err().to_string();
    let told = format!("it has another block at {complete}, which was final");
    assert!(error.contains(&told), "{error}");
    liar.clear_faults();
    node.pay(USDC, &ours[0], 6);
    follower.poll();
    assert_agrees_with_node(&node, &follower, &ours);
}

#[test]
fn missing_blocks_below_the_head_and_at_the_final_slot_hide_nothing() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    for code in [-32004, -32007, -32009, -32014] {
        follower.poll();
        node.pay(USDC, &ours[0], 5);
        let paid = node.newest_slot();
        node.wait_for_slots(3);
        node.pay(USDC, &ours[1], 6);
        node.wait_for_slots(SLOTS_UNTIL_FINAL + 4);
        let last = node.newest_slot() - SLOTS_UNTIL_FINAL;
        // The block of the first payment is missing, and so are the newest final blocks.
        let is_missing = move |slot| slot == paid || (last - 2..=last + 1).contains(&slot);
        liar.inject("getBlock", refused_blocks(code, is_missing));
        let before = follower.found.len();
        for _ in 0..3 {
            let error = follower.step().err();
            assert!(error.is_none_or(|error| error_kind(&error) == "behind"), "{code}");
            node.wait_for_slots(2);
        }
        assert!(follower.found[before..].iter().any(|one| one.amount.0 == 6), "{code}");
        assert!(follower.found[before..].iter().all(|one| one.amount.0 == 6), "{code}");
        liar.clear_faults();
        let mut steps = 0;
        while !follower.node.set_aside().is_empty() {
            follower.poll();
            steps += 1;
            assert!(steps < 70, "{code}");
        }
    }
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    assert_agrees_with_node(&node, &follower, &ours);
}

#[test]
fn payments_are_seen_while_the_final_slot_is_refused() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    follower.poll();
    let refused = RpcFault::from_change(|params, answer| {
        if params[0]["commitment"] == "finalized" {
            set_error(answer, -32603, "Internal error");
        }
    });
    liar.inject("getSlot", refused);
    let complete = follower.complete_height();
    let paid = node.pay(USDC, &ours[0], 20);
    let seen = follower.poll();
    assert_eq!(seen.iter().map(|one| &one.txid).collect::<Vec<_>>(), [&paid]);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    assert_eq!(follower.complete_height(), complete);
    let problem = follower.node.final_problem().unwrap().to_string();
    assert!(problem.contains("(-32603)") && problem.contains(&liar.url()), "{problem}");
    liar.clear_faults();
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    assert!(follower.complete_height() > complete);
    assert!(follower.node.final_problem().is_none());
    assert_agrees_with_node(&node, &follower, &ours);
}
