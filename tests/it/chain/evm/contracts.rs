//! The server detects payments that contracts send, if the node returns traces. Each payment in a transaction
//! has its own position.

use super::fixtures::{
    EvmScene, ONE, TWO, collect_payments, error_response, payment_summary, start_changing_proxy,
};
use crate::chain::watch::error_kind;
use crate::support::anvil::address_word;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{agent, send};
use coffer::chain::Node;
use coffer::domain::address::account_address;
use coffer::domain::asset::Chain;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Functions of the test contract that send coins, with the address arguments of each function.
const SEND_FUNCTIONS: [(&str, &[&str]); 5] = [
    ("split(address,address)", &[ONE, TWO]),
    ("past(address,address)", &[TWO, ONE]),
    ("bequeath(address)", &[ONE]),
    ("delegate(address)", &[ONE]),
    ("fail(address)", &[ONE]),
];

/// Calls each function of the contract with 10 wei and pays 10 wei directly. Returns the transaction ids.
#[track_caller]
fn send_by_each_contract_function(scene: &EvmScene, sender: &str) -> Vec<String> {
    let sent = SEND_FUNCTIONS.map(|(function, to)| {
        let words: Vec<_> = to.iter().map(|to| address_word(to)).collect();
        scene.anvil.call_contract(sender, function, &words, 10)
    });
    let mut sent = sent.to_vec();
    sent.push(scene.anvil.pay(ONE, 10));
    sent.iter().map(|txid| txid.as_str().unwrap().to_owned()).collect()
}

#[test]
fn contract_transfer_counts_if_every_parent_call_succeeded() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let sender = scene.anvil.deploy_forwarder();
    let before = scene.anvil.height();
    let sent = send_by_each_contract_function(&scene, &sender);
    let came = scene.payments_from(before + 1);
    let came: Vec<_> = came.iter().map(payment_summary).collect();
    let canonical =
        account_address(Chain::Ethereum, &super::fixtures::decode_account(&sender)).unwrap();
    let sender = canonical.as_str();
    // The third call created a new contract, and the new contract sent the coins.
    let purse = came.iter().find(|came| came.1 == sent[2]).unwrap().5;
    assert_ne!(purse, sender);
    let at = |ordinal: u32| 1_000_000 + ordinal;
    let expected = [
        ("ETH", sent[0].as_str(), at(0), ONE, 5, sender),
        ("ETH", &sent[0], at(1), TWO, 5, sender),
        // The contract made two transfers. The first was reverted and gets no position.
        ("ETH", &sent[1], at(0), ONE, 10, sender),
        // The position before this one belongs to the transfer that funded the new contract.
        ("ETH", &sent[2], at(1), ONE, 10, purse),
        // A transfer within a delegate call is counted once.
        ("ETH", &sent[3], at(0), ONE, 10, sender),
        ("ETH", &sent[5], 0, ONE, 10, came.last().unwrap().5),
    ];
    assert_eq!(came, expected);
    // The sums equal the balances that the node reports.
    assert_eq!(scene.anvil.balance(ONE), 45);
    assert_eq!(scene.anvil.balance(TWO), 5);
}

#[test]
fn node_without_traces_still_detects_other_payments() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let sender = scene.anvil.deploy_forwarder();
    let before = scene.anvil.height();
    let sent = send_by_each_contract_function(&scene, &sender);
    for (code, message) in [
        (-32601, "Method not found"),
        (-32000, "the method trace_block does not exist/is not available"),
        (-32004, "Unsupported"),
        (-32600, "trace_block is not available on the Free tier - upgrade to Pay As You Go"),
    ] {
        let proxy = start_changing_proxy(&scene.anvil, move |method, _, answer| match method {
            "trace_block" => error_response(code, message),
            _ => answer,
        });
        let mut node = scene.client_at(&proxy.url());
        assert_eq!(node.has_traces(), None);
        node.network().unwrap();
        assert_eq!(node.has_traces(), Some(false), "{message}");
        // Without a network check, the client recognises a node without traces only by these two error codes.
        let mut unasked = scene.client_at(&proxy.url());
        let nodes = match code {
            -32601 | -32004 => vec![&mut node, &mut unasked],
            _ => vec![&mut node],
        };
        for node in nodes {
            let blocks = node.blocks(before + 1, scene.anvil.height(), &scene.ours);
            let came = collect_payments(blocks.unwrap());
            let came: Vec<_> = came.iter().map(payment_summary).collect();
            assert_eq!(came.len(), 1, "{came:?}");
            assert_eq!((came[0].1, came[0].2), (sent[5].as_str(), 0));
            assert_eq!(node.has_traces(), Some(false));
        }
    }
}

#[test]
fn failed_trace_request_is_retried_and_does_not_stop_the_chain() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    let before = scene.anvil.height();
    scene.anvil.pay(ONE, 10);
    scene.anvil.mine(257);
    for (refused, kind_of) in [
        (error_response(-32000, "missing trie node"), "unreachable"),
        (error_response(-32000, "header not found"), "behind"),
        (error_response(-32000, "method handler crashed"), "unreachable"),
        (error_response(-32005, "limit exceeded"), "limited"),
        (json!({ "jsonrpc": "2.0", "result": null }), "behind"),
    ] {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let proxy =
            start_changing_proxy(&scene.anvil, move |method, params, answer| match method {
                "trace_block" if params[0] != "latest" => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    refused.clone()
                }
                _ => answer,
            });
        let mut node = scene.client_at(&proxy.url());
        let mut read = |height| {
            // Each step of the server begins with a check of the network.
            node.network().unwrap();
            let blocks = node.blocks(height, height, &scene.ours);
            let came = blocks.map(|blocks| collect_payments(blocks).len());
            let came = came.map_err(|error| error_kind(&error));
            (came, node.has_traces(), asked.load(Ordering::SeqCst))
        };
        let first = before + 1;
        assert_eq!(read(first), (Err(kind_of), Some(true), 1));
        assert_eq!(read(first), (Err(kind_of), Some(true), 2));
        assert_eq!(read(first), (Ok(1), Some(false), 3));
        assert_eq!(read(first), (Ok(1), Some(true), 3));
        assert_eq!(read(first + 255), (Ok(0), Some(true), 3));
        assert_eq!(read(first + 256), (Err(kind_of), Some(true), 4));
    }
}

#[test]
fn credentials_without_trace_access_still_read_blocks() {
    let Some(scene) = EvmScene::open(0) else {
        return;
    };
    scene.anvil.pay(ONE, 10);
    let height = scene.anvil.height();
    let url = scene.anvil.url.clone();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let proxy = Receiver::start_with_script(move |_, message| {
        if message.body.contains("trace_block") {
            counted.fetch_add(1, Ordering::SeqCst);
            return Reply::Status(403);
        }
        let headers = [("content-type", "application/json")];
        Reply::Text(200, send(&agent(), "POST", &url, &headers, &message.body).text)
    });
    let mut node = scene.client_at(&proxy.url());
    node.network().unwrap();
    for _ in 0..3 {
        let blocks = node.blocks(height, height, &scene.ours).unwrap();
        assert_eq!(collect_payments(blocks).len(), 1);
        assert_eq!(node.has_traces(), Some(false));
        assert!(node.head().is_ok());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
