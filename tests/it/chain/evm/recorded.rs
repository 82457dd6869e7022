//! Payments read from the responses of a real node in `recorded.json`, so that parsing is tested without a node.
//!
//! `COFFER_BLESS=1 cargo test --test it -- recorded` records the responses again from anvil.

use super::fixtures::{
    CHAINS, ONE, OTHER, TWO, WatchedAccounts, collect_payments, error_response, evm_client,
    payment_summary, start_changing_proxy,
};
use crate::support::anvil::{ADDRESS, Node as Anvil, address_word};
use crate::support::receiver::{Receiver, Reply};
use coffer::chain::evm::Evm;
use coffer::chain::tokens::Tokens;
use coffer::chain::{Node, NodeError};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Addresses of the first two contracts that the account created: the token, and the contract that sends payments.
const TOKEN: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const SENDER: &str = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
/// First block with transactions, and the last block that is read.
pub const FIRST: u32 = 3;
pub const LAST: u32 = 5;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/chain/evm/recorded.json");

pub fn shop_accounts() -> WatchedAccounts {
    WatchedAccounts::from_addresses(&[ONE, TWO])
}

/// Returns the expected payments: asset, index of the transaction on the chain, position, address, amount and sender.
pub fn expected_payments() -> [(&'static str, usize, u32, &'static str, u128, &'static str); 5] {
    [
        ("ETH", 0, 0, ONE, 7, ADDRESS),
        ("USDC-ERC20", 1, 2, ONE, 20, ADDRESS),
        ("USDC-ERC20", 1, 3, TWO, 300, ADDRESS),
        ("ETH", 2, 1_000_000, ONE, 5, SENDER),
        ("ETH", 2, 1_000_001, TWO, 5, SENDER),
    ]
}

/// Starts a node that returns the recorded responses. The closure `change` modifies each response.
#[track_caller]
pub fn start_recorded_node(
    change: impl Fn(&str, &Value, Value) -> Value + Send + Sync + 'static,
) -> (Receiver, Evm) {
    let recorded: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    let receiver = Receiver::start_with_script(move |_, message| {
        let one = |call: &Value| {
            let (method, params) = (call["method"].as_str().unwrap(), &call["params"]);
            let known = recorded.iter();
            let known =
                known.filter(|known| known["method"] == method && known["params"] == *params);
            let result = known.map(|known| known["result"].clone()).next();
            let answer = match (result, method) {
                (Some(result), _) => json!({ "jsonrpc": "2.0", "result": result }),
                // Real nodes respond to an unknown block with this error.
                (None, "eth_getLogs") => error_response(-32000, "unknown block"),
                (None, _) => json!({ "jsonrpc": "2.0", "result": null }),
            };
            let mut changed = change(method, params, answer);
            changed["id"] = call["id"].clone();
            changed
        };
        let asked = message.json();
        let said = match asked.as_array() {
            Some(calls) => calls.iter().map(one).collect(),
            None => one(&asked),
        };
        Reply::Text(200, said.to_string())
    });
    let tokens = Tokens::from([(CHAINS[0].2, TOKEN.to_owned())]);
    let node = evm_client(CHAINS[0].0, &receiver.url(), tokens);
    (receiver, node)
}

/// Starts a node with changed results of one method, and returns it with a client.
#[track_caller]
pub fn start_lying_node(lies_in: &'static str, lie: fn(&mut Value)) -> (Receiver, Evm) {
    start_recorded_node(move |method, _, mut answer| {
        if method == lies_in {
            lie(&mut answer["result"]);
        }
        answer
    })
}

/// Starts a node with changed responses. Returns the node, and the network id that a client reads from it.
#[track_caller]
pub fn start_changed_node_and_read_network(
    change: impl Fn(&str, &Value, Value) -> Value + Send + Sync + 'static,
) -> (Receiver, Result<String, NodeError>) {
    let (receiver, mut node) = start_recorded_node(change);
    let network = node.network();
    (receiver, network)
}

/// Sends the test transactions on a real node and records the node's responses.
#[track_caller]
fn record_responses() {
    let anvil = Anvil::start(CHAINS[0].1, "recording of an EVM chain").unwrap();
    assert_eq!(anvil.deploy_token(), TOKEN.to_lowercase());
    assert_eq!(anvil.deploy_forwarder(), SENDER.to_lowercase());
    let number = |number: u128| format!("{number:064x}");
    let head = [number(64), number(192), number(3)];
    let to = [OTHER, ONE, TWO].map(address_word);
    let values = [1, 20, 300].map(number);
    let words = [head.as_slice(), &to, &[number(3)], &values].concat();
    anvil.mine_in_one_block(|| {
        anvil.pay(ONE, 7);
        anvil.call_contract(TOKEN, "batch(address[],uint256[])", &words, 0);
    });
    anvil.call_contract(
        SENDER,
        "split(address,address)",
        &[address_word(ONE), address_word(TWO)],
        10,
    );
    anvil.mine(1);
    let kept: Arc<Mutex<Vec<Value>>> = Arc::default();
    let keeping = Arc::clone(&kept);
    let proxy = start_changing_proxy(&anvil, move |method, params, answer| {
        let call = json!({ "method": method, "params": params, "result": answer["result"] });
        let mut kept = keeping.lock().unwrap();
        if !kept.contains(&call) {
            kept.push(call);
        }
        answer
    });
    let tokens = Tokens::from([(CHAINS[0].2, TOKEN.to_owned())]);
    let mut node = evm_client(CHAINS[0].0, &proxy.url(), tokens);
    node.network().unwrap();
    node.head().unwrap();
    let blocks = node.blocks(FIRST, LAST, &shop_accounts()).unwrap();
    for came in collect_payments(blocks) {
        node.block_of_transaction(&came.txid).unwrap();
    }
    let mut text = serde_json::to_string_pretty(&*kept.lock().unwrap()).unwrap();
    text.push('\n');
    std::fs::write(FILE, text).unwrap();
}

#[test]
fn recorded_transactions_are_read() {
    if std::env::var_os("COFFER_BLESS").is_some() {
        record_responses();
    }
    let (_receiver, mut node) = start_recorded_node(|_, _, answer| answer);
    assert_eq!(node.network(), Ok(CHAINS[0].1.to_string()));
    let head = node.head().unwrap();
    assert_eq!((head.block.height, head.finalized), (LAST, Some(0)));
    let blocks = node.blocks(FIRST, LAST, &shop_accounts()).unwrap();
    let heights: Vec<_> = blocks.iter().map(|read| read.block.height).collect();
    assert_eq!(heights, [3, 4, 5]);
    let came = collect_payments(blocks.clone());
    let mut txids: Vec<&str> = came.iter().map(|came| came.txid.as_str()).collect();
    txids.dedup();
    let seen: Vec<_> = came.iter().map(payment_summary).collect();
    let expected = expected_payments();
    let expected = expected.map(|(asset, at, position, to, amount, from)| {
        (asset, txids[at], position, to, amount, from)
    });
    assert_eq!(seen, expected);
    for (txid, read) in [(txids[0], 0), (txids[1], 0), (txids[2], 1)] {
        assert_eq!(node.block_of_transaction(txid), Ok(Some(blocks[read].block.clone())));
        // Upper and lower case make no difference in transaction ids.
        let large = format!("0x{}", txid[2..].to_uppercase());
        assert_eq!(node.block_of_transaction(&large), Ok(Some(blocks[read].block.clone())));
    }
}
