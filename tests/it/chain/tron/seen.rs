//! Payments that a Tron node reports, and their positions.

use super::fixtures::{
    ONE, OTHER, TWO, WatchedAccounts, collect_payments, payment_summaries, read_payments,
    shop_accounts, tron_client,
};
use crate::support::tron::{
    Action, ContractStep, Fault, Node as Standin, PAYER, SENDER, TOKEN, UNLISTED, encode_address,
};
use coffer::chain::{LookupResult, Node};
use coffer::domain::InputSource;
use serde_json::json;

/// Number of blocks after which a block is final.
const FINAL: u32 = 20;

/// Sends a transaction of each kind, for the next block, and returns the transaction ids.
#[track_caller]
fn send_all_transaction_kinds(node: &Standin) -> Vec<String> {
    let step = |to, amount| ContractStep::trx_payment(SENDER, to, amount);
    let with = |to, note, is_rejected, token| ContractStep {
        note,
        is_rejected,
        token,
        ..ContractStep::trx_payment(SENDER, to, 9)
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
        node.pay(&encode_address(ONE), 7),
        node.pay(&encode_address(OTHER), 8),
        node.send(Action::Transfer { from: TWO, to: ONE, amount: 70 }),
        node.send_failing(Action::Transfer { from: PAYER, to: ONE, amount: 71 }),
        node.pay_token(&encode_address(ONE), 11),
        node.send(Action::token_payments(
            TOKEN,
            PAYER,
            &[(OTHER, 1), (ONE, 2), (TWO, 3), (ONE, 0)],
        )),
        node.send(Action::token_transfer(UNLISTED, PAYER, ONE, 12)),
        node.send_failing(Action::token_transfer(TOKEN, PAYER, ONE, 13)),
        node.send(Action::contract_call(SENDER, PAYER, steps.clone())),
        node.send_failing(Action::contract_call(SENDER, PAYER, steps)),
        node.send(Action::Other { kind: "DelegateResourceContract", owner: PAYER, fields: frozen }),
        node.send(Action::Other { kind: "TransferAssetContract", owner: PAYER, fields: trc10 }),
    ]
}

#[test]
fn each_kind_of_payment_is_seen_once() {
    let node = Standin::start();
    let sent = send_all_transaction_kinds(&node);
    node.mine(1);
    let height = node.height();
    let (usdt, trx) = ("USDT-TRC20", "TRX");
    let id = |at: usize| sent[at].clone();
    // The expected payments exclude zero amounts, failed transfers, unlisted tokens and other kinds of transactions.
    let at_head = vec![
        (trx, id(0), 0, ONE, 7, PAYER),
        (trx, id(2), 0, ONE, 70, TWO),
        (usdt, id(4), 1, ONE, 11, PAYER),
        (usdt, id(5), 2, ONE, 2, PAYER),
        (usdt, id(5), 3, TWO, 3, PAYER),
        (trx, id(8), 1_000_001, TWO, 9, SENDER),
        (trx, id(8), 1_000_002, ONE, 30, SENDER),
    ];
    assert_eq!(payment_summaries(&read_payments(&node, height, height)), at_head);
    node.mine(FINAL);
    assert_eq!(payment_summaries(&read_payments(&node, height - 3, height + 3)), at_head);
    // If the node stores no internal transactions, only the payments by contracts are missing.
    node.chain().keeps_internal = false;
    let without = read_payments(&node, height, height);
    assert_eq!(payment_summaries(&without), at_head[..5]);
}

#[test]
fn head_reads_receipts_only_of_blocks_with_token_payments() {
    let node = Standin::start();
    let path = "/wallet/gettransactioninfobyblocknum";
    let solid = "/walletsolidity/gettransactioninfobyblocknum";
    node.send(Action::token_payments(TOKEN, PAYER, &[(ONE, 2)]));
    node.mine(1);
    let height = node.height();
    assert_eq!(read_payments(&node, height, height).len(), 0);
    assert_eq!((node.request_count(path), node.request_count(solid)), (0, 0));
    // The final blocks contain both payments. The client requests receipts only for the block with a contract call.
    node.pay(&encode_address(ONE), 7);
    node.mine(FINAL);
    assert_eq!(read_payments(&node, height, height + 1).len(), 2);
    assert_eq!((node.request_count(path), node.request_count(solid)), (0, 1));
    // Without watched accounts, no receipts are requested.
    let mut client = tron_client(&node.url());
    client.head().unwrap();
    let blocks = client.blocks(height, height + 1, &WatchedAccounts(Vec::new())).unwrap();
    assert_eq!(collect_payments(blocks).len(), 0);
    assert_eq!(node.request_count(solid), 1);
}

#[test]
fn client_reports_head_range_and_final_block() {
    let node = Standin::start();
    let mut client = tron_client(&node.url());
    assert_eq!(client.network().unwrap(), "nile");
    let head = client.head().unwrap();
    let tip = node.chain().blocks().last().unwrap().clone();
    assert_eq!((head.block.height, &head.block.hash), (30, &tip.id));
    assert_eq!((head.time.0, head.finalized), (tip.time_ms, Some(11)));
    assert_eq!(client.block_hash_at(30).unwrap(), Some(tip.id));
    assert_eq!(client.block_hash_at(31).unwrap(), None);
    assert_eq!(client.block_time_at(31).unwrap(), None);
    assert_eq!(client.block_time_at(30).unwrap().map(|time| time.0), Some(tip.time_ms));
    // Each case is a number of mined blocks and the resulting final height. Several blocks may become final at once.
    for (blocks, finalized) in [(3, 11), (1, 15), (3, 15), (4, 22)] {
        node.mine(blocks);
        assert_eq!(client.head().unwrap().finalized, Some(finalized));
    }
    let blocks = client.blocks(1, 41, &shop_accounts()).unwrap();
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
    let sent = send_all_transaction_kinds(&node);
    let mut client = tron_client(&node.url());
    let ours = shop_accounts();
    let absent = client.look_up_transaction(&sent[0], &[], &ours).unwrap();
    assert_eq!(absent, LookupResult::Absent);
    for wrong in ["", "0x12", &"g".repeat(64)] {
        assert_eq!(client.look_up_transaction(wrong, &[], &ours).unwrap(), LookupResult::Absent);
    }
    node.mine(2);
    let height = node.height() - 1;
    let moved = [1, 0, 1, 0, 1, 2, 0, 0, 2, 0, 0, 0];
    for (at, (txid, moved)) in sent.iter().zip(moved).enumerate() {
        let LookupResult::Found(found) = client.look_up_transaction(txid, &[], &ours).unwrap()
        else {
            unreachable!("{at} is not found");
        };
        assert_eq!(found.block.as_ref().map(|(block, _)| block.height), Some(height), "{at}");
        assert_eq!(found.is_done, ![3, 7, 9].contains(&at), "{at}");
        assert_eq!(found.received.len(), moved, "{at}");
        assert_eq!(found.nonce, None);
        let sender = if at == 2 { TWO } else { PAYER };
        let known = at < 10;
        let expected: Vec<_> =
            known.then(|| InputSource::Address(encode_address(sender))).into_iter().collect();
        assert_eq!(found.spends, expected, "{at}");
        let carried = client.transaction_outcome(txid).unwrap().unwrap();
        assert_eq!((carried.block.height, carried.is_done), (height, found.is_done), "{at}");
    }
    // The transaction of a reorganised block is not found.
    node.chain().reorg(2, &[&sent[0]]);
    node.mine(3);
    assert_eq!(client.look_up_transaction(&sent[0], &[], &ours).unwrap(), LookupResult::Absent);
    assert_eq!(client.block_of_transaction(&sent[0]).unwrap(), None);
    assert!(client.block_of_transaction(&sent[1]).unwrap().is_some());
}

#[test]
fn contract_call_is_untraced_if_the_node_keeps_no_internal_transactions() {
    let node = Standin::start();
    node.chain().keeps_internal = false;
    let to = [encode_address(ONE)];
    let steps = vec![ContractStep::trx_payment(SENDER, ONE, 5)];
    let by_contract = node.send(Action::contract_call(SENDER, PAYER, steps));
    let direct = node.pay(&encode_address(TWO), 5);
    node.mine(1);
    let mut client = tron_client(&node.url());
    let mut is_traced = |txid: &str, to: &[String]| {
        let found = client.look_up_transaction(txid, to, &shop_accounts()).unwrap();
        let LookupResult::Found(found) = found else { unreachable!("{txid}") };
        found.is_traced
    };
    assert!(!is_traced(&by_contract, &to));
    assert!(is_traced(&by_contract, &[]));
    assert!(is_traced(&direct, &to));
    assert_eq!(client.has_traces(), Some(false));
    node.chain().keeps_internal = true;
    let found = client.look_up_transaction(&by_contract, &to, &shop_accounts()).unwrap();
    let LookupResult::Found(found) = found else { unreachable!("{by_contract}") };
    assert!(found.is_traced);
    assert_eq!((found.received.len(), client.has_traces()), (1, Some(true)));
}

#[test]
fn invalid_address_does_not_stop_the_chain() {
    let node = Standin::start();
    let steps = vec![
        ContractStep::trx_payment(SENDER, OTHER, 5),
        ContractStep::trx_payment(SENDER, ONE, 6),
    ];
    let sent = node.send(Action::contract_call(SENDER, PAYER, steps));
    let token = node.pay_token(&encode_address(ONE), 7);
    node.mine(1);
    let height = node.height();
    node.mine(FINAL);
    let odd = json!("41abcdef");
    let strange = odd.clone();
    node.inject(
        "/walletsolidity/gettransactioninfobyblocknum",
        Fault::from_change(move |_, answer| {
            answer[0]["internal_transactions"][0]["transferTo_address"] = odd.clone();
            answer[1]["log"]
                .as_array_mut()
                .unwrap()
                .insert(0, json!({ "address": odd, "data": "12" }));
        }),
    );
    node.inject(
        "/walletsolidity/getblockbylimitnext",
        Fault::from_change(move |_, answer| {
            let call = &mut answer["block"][0]["transactions"][0]["raw_data"]["contract"][0];
            call["parameter"]["value"]["contract_address"] = strange.clone();
        }),
    );
    let expected =
        vec![("TRX", sent, 1_000_001, ONE, 6, SENDER), ("USDT-TRC20", token, 2, ONE, 7, PAYER)];
    assert_eq!(payment_summaries(&read_payments(&node, height, height)), expected);
}
