//! Tests traces in the form that Erigon, Nethermind and Reth return.

use super::super::answers::Trace;
use super::super::hex::{Account, Number};
use super::{Word, internal_transfers};
use crate::chain::NodeError;
use serde_json::{Value, json};

const BLOCK: &str = "0x4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd";

fn account_text(last: u8) -> String {
    format!("0x{last:040x}")
}

fn transaction_id(last: u8) -> String {
    format!("0x{last:064x}")
}

fn trace_step(transaction_number: u8, place: &[u32], kind: &str, action: Value) -> Value {
    json!({
        "action": action,
        "blockHash": BLOCK,
        "blockNumber": 13_000_000,
        "result": { "gasUsed": "0x0", "output": "0x", "address": account_text(9) },
        "subtraces": 0,
        "traceAddress": place,
        "transactionHash": transaction_id(transaction_number),
        "transactionPosition": 0,
        "type": kind,
    })
}

fn call_step(place: &[u32], kind: &str, from: u8, to: u8, value: &str) -> Value {
    let action = json!({ "callType": kind, "from": account_text(from), "gas": "0x5208",
        "input": "0x", "to": account_text(to), "value": value });
    trace_step(1, place, "call", action)
}

fn step_with_error(mut step: Value) -> Value {
    step["error"] = "Reverted".into();
    step["result"] = Value::Null;
    step
}

/// Returns each transfer: ordinal, last byte of the sender, last byte of the recipient, and amount.
fn read_transfers(steps: &Value) -> Result<Vec<(u32, u8, u8, Number)>, NodeError> {
    let steps: Vec<Trace> = serde_json::from_value(steps.clone())
        .map_err(|error| NodeError::Lied(error.to_string()))?;
    let block = Word::parse(BLOCK).ok_or(NodeError::Behind)?;
    let last = |account: Account| account.0[19];
    let all = internal_transfers(&steps, block)?.into_iter();
    Ok(all
        .map(|one| {
            (one.ordinal, last(one.transfer.from), last(one.transfer.to), one.transfer.amount)
        })
        .collect())
}

#[test]
fn only_executed_value_transfers_are_counted() {
    let ends = |place: &[u32], from: u8, to: u8, balance: &str| {
        let action = json!({ "address": account_text(from), "refundAddress": account_text(to), "balance": balance });
        trace_step(1, place, "suicide", action)
    };
    let makes = json!({ "from": account_text(2), "gas": "0x0", "init": "0x", "value": "0x6" });
    let reward = json!({
        "action": { "author": account_text(1), "rewardType": "block", "value": "0x1bc16d674ec80000" },
        "blockHash": BLOCK, "blockNumber": 13_000_000, "result": null, "subtraces": 0,
        "traceAddress": [], "transactionHash": null, "transactionPosition": null, "type": "reward",
    });
    let steps = json!([
        call_step(&[], "call", 1, 2, "0x64"),
        call_step(&[0], "call", 2, 3, "0x1"),
        call_step(&[1], "delegatecall", 2, 4, "0x64"),
        call_step(&[1, 0], "call", 2, 5, "0x2"),
        call_step(&[2], "staticcall", 2, 5, "0x0"),
        call_step(&[3], "callcode", 2, 5, "0x3"),
        step_with_error(call_step(&[4], "call", 2, 6, "0x4")),
        call_step(&[4, 0], "call", 6, 7, "0x4"),
        call_step(&[4, 0, 0], "call", 7, 8, "0x4"),
        call_step(&[5], "call", 2, 3, "0x0"),
        trace_step(1, &[6], "create", makes.clone()),
        step_with_error(trace_step(1, &[7], "create", makes.clone())),
        ends(&[8], 9, 3, "0x7"),
        ends(&[9], 9, 9, "0x8"),
        ends(&[10], 9, 3, "0x0"),
        call_step(&[11], "call", 2, 3, &format!("0x{}", "f".repeat(64))),
        trace_step(2, &[], "create", makes),
        reward,
    ]);
    let small = Number::Small;
    let expected = vec![
        (0, 2, 3, small(1)),
        (1, 2, 5, small(2)),
        (2, 2, 9, small(6)),
        (3, 9, 3, small(7)),
        (4, 2, 3, Number::Large),
    ];
    assert_eq!(read_transfers(&steps), Ok(expected));
}

#[test]
fn failed_transaction_has_no_transfers() {
    let steps = json!([
        step_with_error(call_step(&[], "call", 1, 2, "0x64")),
        call_step(&[0], "call", 2, 3, "0x1"),
        call_step(&[0, 0], "call", 3, 4, "0x1"),
    ]);
    assert_eq!(read_transfers(&steps), Ok(Vec::new()));
}

#[test]
fn unordered_frames_are_rejected() {
    let (root, one, two) = (
        call_step(&[], "call", 1, 2, "0x1"),
        call_step(&[0], "call", 2, 3, "0x1"),
        call_step(&[1], "call", 2, 3, "0x2"),
    );
    for steps in
        [json!([one, root]), json!([root, two, one]), json!([root, one, one]), json!([one])]
    {
        let said = read_transfers(&steps);
        assert!(matches!(said, Err(NodeError::Lied(_))), "{said:?}");
    }
    let mut other = root;
    other["blockHash"] = transaction_id(7).into();
    assert_eq!(read_transfers(&json!([other])), Err(NodeError::Behind));
}
