//! Operations on payouts and refunds: requests, and steps by the sandbox and the operator.

use super::scene::{Caller, CreatedObjects, created_id};
use super::{RandomOperation, new_operation};
use crate::support::Response;
use serde_json::{Value, json};

pub(super) static OPERATIONS: [RandomOperation; 5] = [
    new_operation("request a refund", 60, request_refund),
    new_operation("request a refund as the operator", 20, request_refund_as_operator),
    new_operation("move a payout", 80, change_payout_status),
    new_operation("move a refund", 80, change_refund_status),
    new_operation("list what goes out", 5, list_transfers),
];

fn random_amount(caller: &mut Caller) -> Value {
    let amounts = [None, Some("0.01"), Some("5.00"), Some("19.99"), Some("100.00")];
    json!(caller.dice.pick(&amounts))
}

fn add_created_refund(caller: &mut Caller, side: usize, answer: Response) -> Option<Response> {
    if let Some(id) = created_id(&answer) {
        caller.scene.refunds.add(side, &id, &mut caller.dice);
    }
    Some(answer)
}

fn request_refund(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let body = json!({ "invoice": invoice, "amount": random_amount(caller) });
    let answer = caller.send_to_sandbox("POST", "/sandbox/refunds", &body);
    add_created_refund(caller, side, answer)
}

fn request_refund_as_operator(caller: &mut Caller) -> Option<Response> {
    let (side, invoice) = caller.scene.invoices.pick_random(&mut caller.dice)?;
    let body = json!({
        "invoice": invoice, "amount": random_amount(caller), "asset": "SOL",
        "toAddress": bs58::encode([7; 32]).into_string(), "reason": "sent back",
    });
    let answer = caller.send_about_account(side, "POST", "refunds", &body);
    add_created_refund(caller, side, answer)
}

/// Changes the status of a transfer, usually to the next status.
fn change_transfer_status(
    caller: &mut Caller,
    kind: &str,
    things: &CreatedObjects,
) -> Option<Response> {
    let (_, transfer) = things.pick_random(&mut caller.dice)?;
    let actions = [
        "approve", "approve", "process", "process", "pay", "pay", "fail", "reject", "cancel",
        "release",
    ];
    let action = caller.dice.pick(&actions);
    if caller.dice.once_in(2) {
        let path = format!("/sandbox/{kind}/{transfer}");
        return Some(caller.send_to_sandbox("POST", &path, &json!({ "action": action })));
    }
    let approves = action == "approve";
    let ends = ["fail", "reject", "cancel"].contains(&action);
    let txid = format!("sent-{}", caller.dice.roll(1_000_000_000));
    let body = json!({
        "action": action,
        "rate": approves.then_some("2.5"),
        "networkFee": approves.then_some("0.0001"),
        "txid": (action == "pay").then_some(txid),
        "reason": ends.then_some("not wanted"),
    });
    let path = format!("/dashboard/api/{kind}/{transfer}");
    Some(caller.send_as_operator("POST", &path, &body))
}

fn change_payout_status(caller: &mut Caller) -> Option<Response> {
    let scene = caller.scene;
    change_transfer_status(caller, "payouts", &scene.payouts)
}

fn change_refund_status(caller: &mut Caller) -> Option<Response> {
    let scene = caller.scene;
    change_transfer_status(caller, "refunds", &scene.refunds)
}

fn list_transfers(caller: &mut Caller) -> Option<Response> {
    let side = caller.random_account_mode();
    let kind = caller.dice.pick(&["payouts", "refunds"]);
    let answer = if caller.dice.once_in(2) {
        caller.send_about_account(side, "GET", kind, &Value::Null)
    } else {
        let path = format!("/dashboard/api/{kind}?mode=live&status=processing");
        caller.send_as_operator("GET", &path, &Value::Null)
    };
    assert_eq!(answer.status, 200, "{}", answer.text);
    Some(answer)
}
