//! Inconsistent responses of a node. The client rejects each response as a whole, without a panic.

use super::fixtures::ONE;
use super::recorded::{self, FIRST, LAST};
use crate::chain::watch::error_kind;
use coffer::chain::{BlockRead, Head, Node, NodeError};
use serde_json::{Value, json};

/// A function that changes the result of one method.
type ResultChange = fn(&mut Value);

const OTHER_HASH: &str = "0xabababababababababababababababababababababababababababababababab";

#[track_caller]
fn read_blocks_with_lie(
    method: &'static str,
    lie: ResultChange,
) -> Result<Vec<BlockRead>, NodeError> {
    let (_receiver, mut node) = recorded::start_lying_node(method, lie);
    node.blocks(FIRST, LAST, &recorded::shop_accounts())
}

#[track_caller]
fn read_head_with_lie(lie: ResultChange) -> Result<Head, NodeError> {
    recorded::start_lying_node("eth_getBlockByNumber", lie).1.head()
}

/// Returns the first log of a list, if any.
fn first_log(result: &mut Value) -> Option<&mut Value> {
    result.as_array_mut().and_then(|list| list.first_mut())
}

#[track_caller]
fn assert_rejected(method: &'static str, cases: &[(ResultChange, &str)]) {
    for (at, (lie, expected)) in cases.iter().enumerate() {
        let said = read_blocks_with_lie(method, *lie).map_err(|error| error_kind(&error));
        assert_eq!(said, Err(*expected), "{method} {at}");
    }
}

#[test]
fn inconsistent_logs_are_rejected() {
    let cases: [(ResultChange, &str); 8] = [
        (|logs| set_field(first_log(logs), "removed", json!(true)), "behind"),
        (|logs| set_field(first_log(logs), "blockHash", OTHER_HASH.into()), "behind"),
        (|logs| set_field(first_log(logs), "blockNumber", "0x99".into()), "lied"),
        (|logs| set_field(first_log(logs), "blockNumber", "0xfffffffff".into()), "lied"),
        (|logs| set_field(first_log(logs), "transactionHash", OTHER_HASH.into()), "behind"),
        (|logs| set_field(first_log(logs), "data", format!("0x{:064x}", 1).into()), "lied"),
        (|logs| set_field(first_log(logs), "logIndex", "0x77".into()), "lied"),
        (|logs| *logs = json!({}), "lied"),
    ];
    assert_rejected("eth_getLogs", &cases);
}

#[test]
fn inconsistent_receipts_are_rejected() {
    let cases: [(ResultChange, &str); 13] = [
        (|receipt| *receipt = Value::Null, "behind"),
        (|receipt| set_field(Some(receipt), "blockHash", OTHER_HASH.into()), "behind"),
        (|receipt| set_field(Some(receipt), "blockNumber", "0x1".into()), "lied"),
        (|receipt| set_field(Some(receipt), "transactionHash", OTHER_HASH.into()), "lied"),
        (|receipt| set_field(Some(receipt), "transactionIndex", "0x1ffffffff".into()), "lied"),
        (|receipt| set_field(Some(receipt), "status", "0x2".into()), "lied"),
        (|receipt| set_field(Some(receipt), "status", Value::Null), "lied"),
        // A failed transaction cannot have logs.
        (|receipt| set_field(Some(receipt), "status", "0x0".into()), "lied"),
        (|receipt| receipt["logs"].as_array_mut().unwrap().reverse(), "lied"),
        (|receipt| receipt["logs"].as_array_mut().unwrap().truncate(1), "lied"),
        (
            |receipt| set_field(first_log(&mut receipt["logs"]), "blockHash", OTHER_HASH.into()),
            "lied",
        ),
        (|receipt| set_field(first_log(&mut receipt["logs"]), "removed", json!(true)), "lied"),
        (|receipt| set_field(first_log(&mut receipt["logs"]), "topics", json!(["0x1"])), "lied"),
    ];
    assert_rejected("eth_getTransactionReceipt", &cases);
}

#[test]
fn inconsistent_blocks_are_rejected() {
    let cases: [(ResultChange, &str); 10] = [
        (|block| *block = Value::Null, "behind"),
        (|block| set_field(Some(block), "number", "0x1".into()), "lied"),
        (|block| set_field(Some(block), "number", format!("0x1{}", "0".repeat(64)).into()), "lied"),
        (|block| set_field(Some(block), "hash", "0xab".into()), "lied"),
        (|block| set_field(Some(block), "hash", OTHER_HASH.into()), "behind"),
        (|block| set_field(Some(block), "parentHash", OTHER_HASH.into()), "behind"),
        (|block| set_field(Some(block), "timestamp", "0xffffffffffffffff".into()), "lied"),
        (|block| set_field(Some(block), "timestamp", Value::Null), "lied"),
        (|block| set_field(Some(block), "transactions", Value::Null), "lied"),
        (|block| set_field(first_log(&mut block["transactions"]), "value", "-0x1".into()), "lied"),
    ];
    assert_rejected("eth_getBlockByNumber", &cases);
    // An amount above the maximum is skipped, and the other payments are detected.
    let lie: ResultChange = |block| {
        let value = format!("0x{}", "f".repeat(64)).into();
        set_field(first_log(&mut block["transactions"]), "value", value);
    };
    let truth = recorded::expected_payments().len();
    let came = super::fixtures::collect_payments(
        read_blocks_with_lie("eth_getBlockByNumber", lie).unwrap(),
    );
    assert_eq!(came.len(), truth - 1);
}

#[test]
fn inconsistent_traces_are_rejected() {
    let cases: [(ResultChange, &str); 6] = [
        (|traces| *traces = Value::Null, "behind"),
        (
            |traces| {
                if traces[0].is_object() {
                    *traces = json!([]);
                }
            },
            "behind",
        ),
        (|traces| set_field(first_log(traces), "blockHash", OTHER_HASH.into()), "behind"),
        (|traces| traces.as_array_mut().unwrap().reverse(), "lied"),
        (|traces| set_field(first_log(traces), "traceAddress", json!([0])), "lied"),
        (|traces| set_field(first_log(traces), "transactionHash", OTHER_HASH.into()), "lied"),
    ];
    assert_rejected("trace_block", &cases);
    // If a call fails, the calls within it are reverted too.
    let failed: ResultChange = |traces| set_field(first_log(traces), "error", "Reverted".into());
    let came =
        super::fixtures::collect_payments(read_blocks_with_lie("trace_block", failed).unwrap());
    assert!(came.iter().all(|came| came.position < 1_000_000), "{came:?}");
}

#[test]
fn impossible_head_is_rejected() {
    let cases: [(ResultChange, &str); 5] = [
        (|block| *block = Value::Null, "behind"),
        (|block| set_field(Some(block), "number", "0x100000000".into()), "lied"),
        (|block| set_field(Some(block), "number", json!(7)), "lied"),
        (|block| set_field(Some(block), "timestamp", "0x3b9aca00000000".into()), "lied"),
        (|block| set_field(Some(block), "hash", format!("{OTHER_HASH}00").into()), "lied"),
    ];
    for (at, (lie, expected)) in cases.into_iter().enumerate() {
        assert_eq!(
            read_head_with_lie(lie).map_err(|error| error_kind(&error)),
            Err(expected),
            "{at}"
        );
    }
    // The final block is never above the newest block, even if the node reports a higher final block.
    let low: ResultChange = |block| {
        if block["number"] != "0x0" {
            block["number"] = "0x2".into();
        } else {
            block["number"] = "0x9".into();
        }
    };
    let said = read_head_with_lie(low).map(|head| (head.block.height, head.finalized));
    assert_eq!(said, Ok((2, Some(2))));
}

#[test]
fn chain_id_must_be_a_number() {
    for id in [json!("0x0"), json!("1"), json!(1), Value::Null, json!(ONE)] {
        let said =
            recorded::start_changed_node_and_read_network(move |method, _, answer| match method {
                "eth_chainId" => json!({ "jsonrpc": "2.0", "result": id }),
                _ => answer,
            });
        let told = said.1.map_err(|error| error_kind(&error));
        assert!(told == Err("lied") || told.is_ok_and(|id| id.len() > 20));
    }
}

#[test]
fn permanently_inconsistent_receipt_does_not_stop_the_chain() {
    let lies: [ResultChange; 2] = [
        |receipt| {
            if receipt["logs"].as_array().is_some_and(|logs| logs.len() == 3) {
                *receipt = Value::Null;
            }
        },
        |receipt| set_field(first_log(&mut receipt["logs"]), "removed", json!(true)),
    ];
    for lie in lies {
        let (_receiver, mut node) = recorded::start_lying_node("eth_getTransactionReceipt", lie);
        let mut read = || node.blocks(FIRST, LAST, &recorded::shop_accounts());
        for _ in 1..10 {
            assert!(read().is_err());
        }
        let came = super::fixtures::collect_payments(read().unwrap());
        let ids: Vec<_> = came.iter().map(|came| came.asset.id).collect();
        assert_eq!(ids, ["ETH", "ETH", "ETH"], "all payments except tokens");
        // The tenth read skipped the inconsistent receipt. The next read requests the receipt again and fails.
        assert!(read().is_err());
    }
}

/// Sets a field if the value is an object.
fn set_field(value: Option<&mut Value>, field: &str, to: Value) {
    if let Some(value) = value.filter(|value| value.is_object()) {
        value[field] = to;
    }
}
