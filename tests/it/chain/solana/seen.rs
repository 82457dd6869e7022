//! Payments that a Solana node reports.

use super::fixtures::{
    Follower, UNTESTED, assert_agrees_with_node, current_time, polled_address, solana_client,
};
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::surfpool::{
    SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT, address_without_key, payment_steps,
};
use coffer::chain::{LookupResult, Node, NodeError};
use coffer::domain::{InputSource, Observation};
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn coin_and_tokens_are_seen_at_the_head_and_when_final() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let ours = node.pool_addresses(0, 3);
    let mut follower = Follower::start_at_head(solana_client(&node, &node.url), &ours);
    assert_eq!(follower.known.network.as_deref(), Some("localnet"));
    assert!(follower.poll().is_empty());
    let paid = [
        node.pay(SOL, &ours[0], 1_000_000),
        node.pay(USDC, &ours[1], 20_000_000),
        node.pay(USDT, &ours[2], 7),
    ];
    let seen = follower.poll();
    let txids: Vec<&str> = seen.iter().map(|one| one.txid.as_str()).collect();
    assert_eq!(txids, paid);
    for (one, (address, units)) in seen.iter().zip(ours.iter().zip([1_000_000, 20_000_000, 7])) {
        assert_eq!((&one.address, one.amount.0), (address, units));
        assert_eq!(one.spends, [InputSource::Address(node.payer.clone())]);
        assert!(one.seen_at.since_ms(current_time()).abs() < 60_000, "{one:?}");
        assert!(one.block.is_some());
    }
    assert!(follower.complete_height() < seen[0].block.as_ref().unwrap().height);
    assert!(follower.poll().is_empty());
    node.wait_for_slots(SLOTS_UNTIL_FINAL);
    // The second poll returns the same payments as the first poll.
    let again = follower.poll();
    let places = |of: &[Observation]| {
        let place =
            |one: &Observation| (one.key(), one.address.clone(), one.amount, one.block.clone());
        of.iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(places(&again), places(&seen));
    assert!(follower.complete_height() >= seen[2].block.as_ref().unwrap().height);
    assert!(follower.poll().is_empty());
    assert_agrees_with_node(&node, &follower, &ours);
}

#[test]
fn balance_increase_counts_only_if_another_account_pays() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let ours = node.pool_addresses(0, 4);
    let mut follower = Follower::start_at_head(solana_client(&node, &node.url), &ours);
    follower.poll();
    // One transaction contains several payments, two of them to one account, and pays the rent of new accounts.
    let several = node.send(
        None,
        &json!([
            ["sol", ours[0], 2_000_000],
            ["make", USDC, ours[0]],
            ["token", USDC, ours[0], 5],
            ["token", USDC, ours[0], 6],
            ["make", USDT, ours[1]],
            ["token", USDT, ours[1], 8],
            ["sol", ours[1], 1_000_000],
            ["sol", ours[0], 500],
        ]),
    );
    let seen = follower.poll();
    let told: Vec<_> =
        seen.iter().map(|one| (one.address.as_str(), one.asset.id, one.amount.0)).collect();
    let expected = BTreeSet::from([
        (ours[0].as_str(), SOL, 2_000_500),
        (ours[0].as_str(), USDC, 11),
        (ours[1].as_str(), USDT, 8),
        (ours[1].as_str(), SOL, 1_000_000),
    ]);
    assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), expected);
    assert_eq!(told.len(), expected.len());
    assert!(seen.iter().all(|one| one.txid == several));
    // A program, not a user, sends these lamports.
    node.send(None, &json!([["by program", ours[2], 3_000_000]]));
    let seen = follower.poll();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].asset.id, seen[0].amount.0), (SOL, 3_000_000));
    // The server must ignore payments in an unknown mint, payments of the Token-2022 program, and failed
    // transactions.
    node.send(None, &payment_steps("other", &ours[0], 20));
    node.send(None, &payment_steps("token2022", &ours[0], 20));
    node.send(None, &json!([["sol", ours[0], 9], ["fail"]]));
    assert!(follower.poll().is_empty());
    // The owner sends all tokens, then closes the token account. The rent of the token account returns to the owner.
    node.pay(SOL, &ours[0], 10_000_000);
    follower.poll();
    let swept = [
        node.send(Some(0), &json!([["token", USDC, node.payer, 11]])),
        node.send(Some(0), &json!([["close", USDC, ours[0]]])),
    ];
    assert!(follower.poll().is_empty());
    // The observation of a transfer between two addresses of the shop contains the sender.
    let moved = node.send(Some(0), &json!([["sol", ours[3], 1_000_000]]));
    let seen = follower.poll();
    assert_eq!(seen[0].txid, moved);
    assert_eq!(seen[0].spends, [InputSource::Address(ours[0].clone())]);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    follower.poll();
    assert_agrees_with_node(&node, &follower, &ours);
    for signature in swept {
        let found = follower.node.look_up_transaction(&signature, &[], &follower.ours);
        let LookupResult::Found(found) = found.unwrap() else {
            unreachable!("{signature}");
        };
        assert!(found.is_done && found.received.is_empty(), "{found:?}");
    }
}

#[test]
fn payment_spent_before_the_next_poll_is_seen() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let ours = node.pool_addresses(0, 2);
    let mut follower = Follower::start_at_head(solana_client(&node, &node.url), &ours[..1]);
    follower.poll();
    let sweep = |at: u32| {
        node.pay(USDC, &ours[usize::try_from(at).unwrap()], 20);
        node.send(None, &json!([["sol", ours[usize::try_from(at).unwrap()], 10_000_000]]));
        node.send(
            Some(at),
            &json!([
                ["token", USDC, node.payer, 20],
                ["close", USDC, node.payer],
                ["sol", node.payer, 9_995_000]
            ]),
        );
    };
    // The balances did not change, but a new client requests each account's history and finds the payments.
    sweep(0);
    let known = follower.known.clone();
    follower.node = solana_client(&node, &node.url);
    assert_eq!(follower.poll().len(), 2);
    // A client that has read an account's history requests it again only once a day.
    sweep(1);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    assert_eq!(follower.poll().len(), 2, "the final payments again");
    follower.ours.0.push(polled_address(&ours[1], true));
    assert_eq!(follower.poll().len(), 2);
    assert_agrees_with_node(&node, &follower, &ours);
    // A new client can also read slots that an earlier client read long ago.
    let mut other = solana_client(&node, &node.url);
    let at = known.cursor.unwrap().block;
    assert_eq!(other.block_hash_at(at.height).unwrap(), Some(at.hash));
    assert_eq!(
        other
            .block_time_at(at.height)
            .unwrap()
            .map(|time| time.since_ms(current_time()).abs() < 60_000),
        Some(true)
    );
    assert_eq!(other.block_hash_at(node.newest_slot() + 100).unwrap(), None);
}

#[test]
fn account_history_is_read_again_after_some_hours() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let ours = node.pool_addresses(0, 1);
    let mut follower = Follower::start_at_head(solana_client(&node, &liar.url()), &ours);
    // The first poll reads the head and the final slots.
    node.wait_for_slots(1_000);
    follower.poll();
    // The payment is received and spent between two polls.
    node.pay(SOL, &ours[0], 5_000_000);
    let sent = json!([["sol", node.payer, 4_995_000]]);
    node.send(Some(0), &sent);
    node.wait_for_slots(1_000);
    follower.poll();
    assert_eq!(follower.observed_payments().len(), 0);
    let hours = |seconds: i64| {
        RpcFault::from_change(move |_, answer| {
            let time = answer["result"].as_i64().unwrap();
            answer["result"] = (time + seconds).into();
        })
    };
    liar.inject("getBlockTime", hours(7 * 3_600));
    node.wait_for_slots(2);
    follower.poll();
    assert_eq!(follower.observed_payments().len(), 1);
    assert_agrees_with_node(&node, &follower, &ours);
}

#[test]
fn addresses_over_the_step_limit_are_all_read() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let mut ours: Vec<String> = (0..399).map(address_without_key).collect();
    ours.extend(node.pool_addresses(0, 1));
    let mut follower = Follower::start_at_head(solana_client(&node, &node.url), &ours);
    let last = node.pay(USDC, &ours[399], 5);
    node.pay(USDC, &ours[0], 6);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let begun = follower.complete_height();
    let mut steps = 0;
    while follower.complete_height() == begun {
        steps += 1;
        assert!(steps < 10, "{:?}", follower.found);
        match follower.step() {
            Ok(_) | Err(NodeError::Behind) => {}
            Err(error) => unreachable!("{error}"),
        }
    }
    assert!(steps > 2, "more than one step is needed");
    assert!(follower.found.iter().any(|one| one.txid == last));
    assert_eq!(follower.observed_payments().len(), 2);
    follower.poll();
}

#[test]
fn transaction_is_found_by_its_signature() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let ours = node.pool_addresses(0, 1);
    let account = node.token_account(USDC, &ours[0]);
    let paid = node.pay(USDC, &ours[0], 20);
    let failed = node.send(None, &json!([["sol", ours[0], 9], ["fail"]]));
    node.wait_for_slots(2);
    // The client finds the transaction by the owner's address and by the owner's token account.
    for address in [&ours[0], &account] {
        let mut follower =
            Follower::start_at_head(solana_client(&node, &node.url), std::slice::from_ref(address));
        let mut found =
            |txid: &str| follower.node.look_up_transaction(txid, &[], &follower.ours).unwrap();
        let LookupResult::Found(told) = found(&paid) else {
            unreachable!("{paid}");
        };
        assert!(told.is_done && told.is_traced && told.block.is_some());
        let [one] = told.received.as_slice() else {
            unreachable!("{told:?}");
        };
        assert_eq!((&one.address, one.asset.id, one.amount.0), (address, USDC, 20));
        let LookupResult::Found(told) = found(&failed) else {
            unreachable!("{paid}");
        };
        assert!(!told.is_done && told.received.is_empty());
        for unknown in [paid.replace(&paid[..3], "444"), "1".repeat(64), String::new()] {
            assert_eq!(found(&unknown), LookupResult::Absent, "{unknown}");
        }
        assert!(follower.node.block_of_transaction(&paid).unwrap().is_some());
    }
}
