//! Number of calls to read a range of blocks, and smaller ranges after the node rejects a range.

use super::fixtures::{
    EvmScene, ONE, TWO, WatchedAccounts, collect_payments, decode_account, error_response,
    start_changing_proxy,
};
use crate::chain::watch::error_kind;
use coffer::chain::cost::RequestCost;
use coffer::chain::{Node, WatchTargets};
use coffer::domain::chain::Chain;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Accounts that the client always filters by address, whatever their number.
struct FilteredAccounts(Vec<[u8; 20]>);

impl WatchTargets for FilteredAccounts {
    fn has_script(&self, _: &[u8]) -> bool {
        false
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.0.contains(account)
    }

    fn has_output(&self, _: &str, _: u32) -> bool {
        false
    }

    fn queried_accounts(&self, _: usize) -> Option<Vec<[u8; 20]>> {
        Some(self.0.clone())
    }
}

#[test]
fn range_costs_four_calls_unless_it_has_payments() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let (anvil, mut node) = (&scene.anvil, scene.client());
    let before = anvil.height();
    anvil.mine(20);
    anvil.pay_token(&scene.token, ONE, 1);
    anvil.mine(20);
    node.network().unwrap();
    let mut cost = |from, to| {
        let calls = node.rpc().call_count();
        let blocks = node.blocks(from, to, &scene.ours).unwrap();
        let heights: Vec<_> = blocks.iter().map(|read| read.block.height).collect();
        (heights, node.rpc().call_count() - calls)
    };
    let (first, paid, last) = (before + 1, before + 21, before + 41);
    assert_eq!(cost(first, last), (vec![first, paid, last], 4 + 2));
    assert_eq!(cost(first, paid - 1), (vec![first, paid - 1], 4));
    assert_eq!(cost(paid, last), (vec![paid, last], 4 + 1));
    assert_eq!(cost(last, last), (vec![last], 2));
    // Zero transfers, a common kind of spam, cost no additional calls.
    anvil.pay_token(&scene.token, ONE, 0);
    assert_eq!(cost(last, last + 1), (vec![last, last + 1], 4));
    let calls = node.rpc().call_count();
    node.head().unwrap();
    assert_eq!(node.rpc().call_count() - calls, 2);
    // These are the calls of one poll, as `coffer doctor` counts them.
    let calls = node.rpc().call_count();
    node.network().unwrap();
    node.head().unwrap();
    node.block_hash_at(first).unwrap();
    node.blocks(first, paid - 1, &scene.ours).unwrap();
    let cost = RequestCost::for_chain(Chain::Base);
    assert_eq!(node.rpc().call_count() - calls, cost.a_poll);
    // Calls for final blocks: 2 for blocks, 6 for logs, and 1 for the hash of the last block. The other 4 calls read
    // the chain id (1), the head (2) and the last block that was read (1).
    assert_eq!(2 + 3 * 2 + 1 + 4, cost.a_final);
    let calls = node.rpc().call_count();
    // Without watched addresses, only the first and the last block are read.
    let nobody = WatchedAccounts(Vec::new());
    assert_eq!(node.blocks(first, last, &nobody).unwrap().len(), 2);
    assert_eq!(node.rpc().call_count() - calls, 2);
}

#[test]
fn range_is_halved_until_the_node_accepts_it() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let anvil = &scene.anvil;
    let before = anvil.height();
    for units in 1..=40 {
        anvil.pay_token(&scene.token, ONE, units);
    }
    for (code, message) in [
        (-32005, "limit exceeded"),
        (-32602, "query exceeds max block range 10"),
        (-32701, "Please specify less"),
    ] {
        let proxy = start_changing_proxy(anvil, move |method, params, answer| {
            let height = |name: &str| {
                let text = params[0][name].as_str()?.trim_start_matches("0x");
                u32::from_str_radix(text, 16).ok()
            };
            match (method, height("fromBlock"), height("toBlock")) {
                ("eth_getLogs", Some(from), Some(to)) if to - from >= 10 => {
                    error_response(code, message)
                }
                _ => answer,
            }
        });
        let mut node = scene.client_at(&proxy.url());
        node.network().unwrap();
        let (mut from, mut came, mut steps) = (before + 1, Vec::new(), 0);
        while from <= anvil.height() {
            let blocks = node.blocks(from, anvil.height(), &scene.ours).unwrap();
            from = blocks.last().unwrap().block.height + 1;
            came.extend(collect_payments(blocks));
            steps += 1;
        }
        let amounts: Vec<_> = came.iter().map(|came| came.amount.0).collect();
        assert_eq!(amounts, (1..=40).collect::<Vec<_>>(), "{message}");
        assert_eq!(steps, 4, "a range of ten blocks: {message}");
    }
}

#[test]
fn logs_are_filtered_by_contract_if_the_node_rejects_address_filters() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    scene.anvil.pay_token(&scene.token, ONE, 5);
    let proxy = start_changing_proxy(&scene.anvil, |method, params, answer| {
        let names = &params[0]["topics"][2];
        match method {
            "eth_getLogs" if !names.is_null() => error_response(-32000, "too many topics"),
            _ => answer,
        }
    });
    let mut node = scene.client_at(&proxy.url());
    let height = scene.anvil.height();
    let blocks = node.blocks(height, height, &scene.ours).unwrap();
    assert_eq!(collect_payments(blocks).len(), 1);
}

#[test]
fn addresses_beyond_the_filter_limit_are_split_over_calls() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let from = scene.anvil.height() + 1;
    scene.anvil.pay_token(&scene.token, ONE, 5);
    scene.anvil.pay_token(&scene.token, TWO, 7);
    let mut named: Vec<[u8; 20]> = (1..=1200_u16)
        .map(|number| {
            let mut account = [0; 20];
            account[..2].copy_from_slice(&number.to_be_bytes());
            account
        })
        .collect();
    (named[3], named[1100]) = (decode_account(ONE), decode_account(TWO));
    let mut node = scene.client();
    node.network().unwrap();
    let calls = node.rpc().call_count();
    let blocks = node.blocks(from, from + 1, &FilteredAccounts(named)).unwrap();
    let amounts: Vec<_> = collect_payments(blocks).iter().map(|came| came.amount.0).collect();
    assert_eq!(amounts, [5, 7]);
    // Calls for 1200 addresses, at most 500 in each filter: 2 for blocks, 2 for logs with each of 3 filters, and 2
    // for receipts.
    assert_eq!(node.rpc().call_count() - calls, 2 + 3 * 2 + 2);
}

#[test]
fn single_block_over_the_limit_is_an_error() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let proxy = start_changing_proxy(&scene.anvil, |method, _, answer| match method {
        "eth_getLogs" => error_response(-32005, "limit exceeded"),
        _ => answer,
    });
    let refused = scene.client_at(&proxy.url()).blocks(0, 1, &scene.ours);
    assert_eq!(refused.map_err(|error| error_kind(&error)), Err("limited"));
}

#[test]
fn failure_makes_the_client_check_the_network_again() {
    let Some(scene) = EvmScene::open(1) else {
        return;
    };
    let is_other = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_other);
    let proxy = start_changing_proxy(&scene.anvil, move |method, _, answer| {
        match (method, told.load(Ordering::SeqCst)) {
            ("eth_chainId", true) => json!({ "jsonrpc": "2.0", "result": "0x7" }),
            ("eth_getBlockByNumber", true) => error_response(-32000, "restarting"),
            _ => answer,
        }
    });
    let mut node = scene.client_at(&proxy.url());
    assert_eq!(node.network(), Ok("84532".to_owned()));
    assert!(node.head().is_ok());
    is_other.store(true, Ordering::SeqCst);
    assert_eq!(node.head().map_err(|error| error_kind(&error)), Err("unreachable"));
    for _ in 0..3 {
        let refused = node.head().map_err(|error| error_kind(&error));
        assert_eq!(refused, Err("wrong"));
        let refused = node.blocks(1, 1, &scene.ours).map_err(|error| error_kind(&error));
        assert_eq!(refused, Err("wrong"));
    }
    is_other.store(false, Ordering::SeqCst);
    assert!(node.head().is_ok());
}
