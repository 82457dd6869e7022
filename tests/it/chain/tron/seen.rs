//! Payments that a Tron node reports, and their positions.

use super::fixtures::{
    ONE, OTHER, TWO, WatchedTronAccounts, all_short, client, ours, read, received,
};
use crate::support::tron::{
    Act, Fault, Node as Standin, PAYER, SENDER, Step, TOKEN, UNLISTED, address,
};
use coffer::chain::{Lookup, Node};
use coffer::domain::observation::InputSource;
use serde_json::json;

/// Number of blocks after which a block is final.
const FINAL: u32 = 20;

/// Sends all kinds of transactions, which enter the next block.
#[track_caller]
fn send_all_kinds(node: &Standin) -> Vec<String> {
    let step = |to, amount| Step::sends(SENDER, to, amount);
    let with = |to, note, is_rejected, token| Step {
        note,
        is_rejected,
        token,
        ..Step::sends(SENDER, to, 9)
    };
    let steps = vec![
        step(OTHER, 1),
        step(ONE, 0),
        with(ONE, "freezeBalanceV2ForEnergy", false, None),
        with(ONE, "call", true, None),
        with(ONE, "call", false, Some("1000001")),
        with(TWO, "suicide", false, None),
        step(ONE, 30),
    ];
    let frozen = json!({ "balance": 5, "receiver_address": format!("41{}", "a1".repeat(20)) });
    let trc10 = json!({ "amount": 5, "asset_name": "31303030303031", "to_address": format!("41{}", "a1".repeat(20)) });
    vec![
        node.pay(&address(ONE), 7),
        node.pay(&address(OTHER), 8),
        node.send(Act::Transfer {
            from: TWO,
            to: ONE,
            amount: 70,
        }),
        node.send_failing(Act::Transfer {
            from: PAYER,
            to: ONE,
            amount: 71,
        }),
        node.pay_token(&address(ONE), 11),
        node.send(Act::batch(
            TOKEN,
            PAYER,
            &[(OTHER, 1), (ONE, 2), (TWO, 3), (ONE, 0)],
        )),
        node.send(Act::token(UNLISTED, PAYER, ONE, 12)),
        node.send_failing(Act::token(TOKEN, PAYER, ONE, 13)),
        node.send(Act::steps(SENDER, PAYER, steps.clone())),
        node.send_failing(Act::steps(SENDER, PAYER, steps)),
        node.send(Act::Other {
            kind: "DelegateResourceContract",
            owner: PAYER,
            fields: frozen,
        }),
        node.send(Act::Other {
            kind: "TransferAssetContract",
            owner: PAYER,
            fields: trc10,
        }),
    ]
}

#[test]
fn each_kind_of_payment_is_seen_once() {
    let node = Standin::start();
    let sent = send_all_kinds(&node);
    node.mine(1);
    let height = node.height();
    let (usdt, trx) = ("USDT-TRC20", "TRX");
    let id = |at: usize| sent[at].clone();
    // At the head, the server reads only transfers that a transaction names itself.
    let at_head = vec![
        (trx, id(0), 0, ONE, 7, PAYER),
        (trx, id(2), 0, ONE, 70, TWO),
        (usdt, id(4), 1, ONE, 11, PAYER),
        (usdt, id(5), 2, ONE, 2, PAYER),
        (usdt, id(5), 3, TWO, 3, PAYER),
        (trx, id(8), 1_000_001, TWO, 9, SENDER),
        (trx, id(8), 1_000_002, ONE, 30, SENDER),
    ];
    assert_eq!(all_short(&read(&node, height, height)), at_head);
    node.mine(FINAL);
    assert_eq!(all_short(&read(&node, height - 3, height + 3)), at_head);
    // If the node keeps no internal transactions, the other payments are the same.
    node.chain().keeps_internal = false;
    let without = read(&node, height, height);
    assert_eq!(all_short(&without), at_head[..5]);
}

#[test]
fn head_reads_receipts_only_of_blocks_with_token_payments() {
    let node = Standin::start();
    let path = "/wallet/gettransactioninfobyblocknum";
    let solid = "/walletsolidity/gettransactioninfobyblocknum";
    node.send(Act::batch(TOKEN, PAYER, &[(ONE, 2)]));
    node.mine(1);
    let height = node.height();
    assert_eq!(read(&node, height, height).len(), 0);
    assert_eq!(
        (node.request_count(path), node.request_count(solid)),
        (0, 0)
    );
    // Both payments are found when they are final. Blocks without contract calls need no receipts.
    node.pay(&address(ONE), 7);
    node.mine(FINAL);
    assert_eq!(read(&node, height, height + 1).len(), 2);
    assert_eq!(
        (node.request_count(path), node.request_count(solid)),
        (0, 1)
    );
    // Without watched accounts, no receipts are requested.
    let mut client = client(&node.url());
    client.head().unwrap();
    let blocks = client
        .blocks(height, height + 1, &WatchedTronAccounts(Vec::new()))
        .unwrap();
    assert_eq!(received(blocks).len(), 0);
    assert_eq!(node.request_count(solid), 1);
}

#[test]
fn client_reports_head_range_and_final_block() {
    let node = Standin::start();
    let mut client = client(&node.url());
    assert_eq!(client.network().unwrap(), "nile");
    let head = client.head().unwrap();
    let tip = node.chain().blocks().last().unwrap().clone();
    assert_eq!((head.block.height, &head.block.hash), (30, &tip.id));
    assert_eq!((head.time.0, head.finalized), (tip.time_ms, Some(11)));
    assert_eq!(client.hash_at(30).unwrap(), Some(tip.id));
    assert_eq!(client.hash_at(31).unwrap(), None);
    assert_eq!(client.time_at(31).unwrap(), None);
    assert_eq!(
        client.time_at(30).unwrap().map(|time| time.0),
        Some(tip.time_ms)
    );
    // Each case is a number of mined blocks and the resulting final height. Several blocks may become final at once.
    for (blocks, finalized) in [(3, 11), (1, 15), (3, 15), (4, 22)] {
        node.mine(blocks);
        assert_eq!(client.head().unwrap().finalized, Some(finalized));
    }
    let blocks = client.blocks(1, 41, &ours()).unwrap();
    let heights: Vec<u32> = blocks.iter().map(|read| read.block.height).collect();
    assert_eq!(heights, (1..=25).collect::<Vec<_>>());
    let chain = node.chain();
    for (read, block) in blocks.iter().zip(&chain.blocks()[1..]) {
        assert_eq!((&read.block.hash, &read.parent), (&block.id, &block.parent));
    }
}

#[test]
fn transaction_lookup_returns_its_transfers() {
    let node = Standin::start();
    let sent = send_all_kinds(&node);
    let mut client = client(&node.url());
    let ours = ours();
    let absent = client.transaction(&sent[0], &[], &ours).unwrap();
    assert_eq!(absent, Lookup::Absent);
    for wrong in ["", "0x12", &"g".repeat(64)] {
        assert_eq!(
            client.transaction(wrong, &[], &ours).unwrap(),
            Lookup::Absent
        );
    }
    node.mine(2);
    let height = node.height() - 1;
    let moved = [1, 0, 1, 0, 1, 2, 0, 0, 2, 0, 0, 0];
    for (at, (txid, moved)) in sent.iter().zip(moved).enumerate() {
        let Lookup::Found(found) = client.transaction(txid, &[], &ours).unwrap() else {
            unreachable!("{at} is not found");
        };
        assert_eq!(
            found.block.as_ref().map(|(block, _)| block.height),
            Some(height),
            "{at}"
        );
        assert_eq!(found.is_done, ![3, 7, 9].contains(&at), "{at}");
        assert_eq!(found.received.len(), moved, "{at}");
        assert_eq!(found.nonce, None);
        let sender = if at == 2 { TWO } else { PAYER };
        let known = at < 10;
        let expected: Vec<_> = known
            .then(|| InputSource::Address(address(sender)))
            .into_iter()
            .collect();
        assert_eq!(found.spends, expected, "{at}");
        let carried = client.carried_out(txid).unwrap().unwrap();
        assert_eq!(
            (carried.block.height, carried.is_done),
            (height, found.is_done),
            "{at}"
        );
    }
    // The transaction of a reorganised block is not found.
    node.chain().give_up(2, &[&sent[0]]);
    node.mine(3);
    assert_eq!(
        client.transaction(&sent[0], &[], &ours).unwrap(),
        Lookup::Absent
    );
    assert_eq!(client.block_of(&sent[0]).unwrap(), None);
    assert!(client.block_of(&sent[1]).unwrap().is_some());
}

#[test]
fn contract_call_is_untraced_if_the_node_keeps_no_internal_transactions() {
    let node = Standin::start();
    node.chain().keeps_internal = false;
    let to = [address(ONE)];
    let steps = vec![Step::sends(SENDER, ONE, 5)];
    let by_contract = node.send(Act::steps(SENDER, PAYER, steps));
    let direct = node.pay(&address(TWO), 5);
    node.mine(1);
    let mut client = client(&node.url());
    let mut is_traced = |txid: &str, to: &[String]| {
        let found = client.transaction(txid, to, &ours()).unwrap();
        let Lookup::Found(found) = found else {
            unreachable!("{txid}")
        };
        found.is_traced
    };
    assert!(!is_traced(&by_contract, &to));
    assert!(is_traced(&by_contract, &[]));
    assert!(is_traced(&direct, &to));
    assert_eq!(client.has_traces(), Some(false));
    node.chain().keeps_internal = true;
    let found = client.transaction(&by_contract, &to, &ours()).unwrap();
    let Lookup::Found(found) = found else {
        unreachable!("{by_contract}")
    };
    assert!(found.is_traced);
    assert_eq!((found.received.len(), client.has_traces()), (1, Some(true)));
}

#[test]
fn invalid_address_does_not_stop_the_chain() {
    let node = Standin::start();
    let steps = vec![Step::sends(SENDER, OTHER, 5), Step::sends(SENDER, ONE, 6)];
    let sent = node.send(Act::steps(SENDER, PAYER, steps));
    let token = node.pay_token(&address(ONE), 7);
    node.mine(1);
    let height = node.height();
    node.mine(FINAL);
    let odd = json!("41abcdef");
    let strange = odd.clone();
    node.inject(
        "/walletsolidity/gettransactioninfobyblocknum",
        Fault::change(move |_, answer| {
            answer[0]["internal_transactions"][0]["transferTo_address"] = odd.clone();
            answer[1]["log"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({ "address": odd, "data": "12" }));
        }),
    );
    node.inject(
        "/walletsolidity/getblockbylimitnext",
        Fault::change(move |_, answer| {
            let call = &mut answer["block"][0]["transactions"][0]["raw_data"]["contract"][0];
            call["parameter"]["value"]["contract_address"] = strange.clone();
        }),
    );
    let expected = vec![
        ("TRX", sent, 1_000_001, ONE, 6, SENDER),
        ("USDT-TRC20", token, 2, ONE, 7, PAYER),
    ];
    assert_eq!(all_short(&read(&node, height, height)), expected);
}
