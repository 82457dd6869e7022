//! Steps of payouts and refunds: every path to each final status with its ledger entries, and every invalid step.

use crate::support::{LIVE, Shop};
use serde_json::{Value, json};

const ACTIONS: [&str; 6] = ["approve", "process", "pay", "fail", "reject", "cancel"];

/// Every path from the request to a final status: the actions, and the final status.
const STATUS_PATHS: [(&[&str], &str); 6] = [
    (&["reject"], "rejected"),
    (&["cancel"], "cancelled"),
    (&["approve", "cancel"], "cancelled"),
    (&["approve", "fail"], "failed"),
    (&["approve", "process", "fail"], "failed"),
    (&["approve", "process", "pay"], "paid"),
];

/// Requests a payout or refund of 20.00 EUR from a live balance of 100.00 EUR.
#[track_caller]
fn request_transfer(shop: &Shop, kind: &str) -> String {
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    match kind {
        "payouts" => shop.create_payout("20.00"),
        _ => shop.create_refund(&invoice, Some("20.00")),
    }
}

#[test]
fn every_path_of_a_transfer_balances_the_ledger() {
    for kind in ["payouts", "refunds"] {
        let entry = kind.trim_end_matches('s');
        for (way, end) in STATUS_PATHS {
            let shop = Shop::open();
            let id = request_transfer(&shop, kind);
            let purse = |available: &str, reserved: &str, out: &str| {
                let (payouts, refunds) =
                    if kind == "payouts" { (out, "0.00") } else { ("0.00", out) };
                assert_eq!(
                    shop.balance_fields(LIVE, "EUR"),
                    [available, reserved, payouts, refunds],
                    "{kind} {way:?}"
                );
            };
            for (at, action) in way.iter().enumerate() {
                purse("80.00", "20.00", "-20.00");
                shop.advance("1s");
                let after = shop.apply_actions(kind, &id, &[action]);
                let is_last = at + 1 == way.len();
                assert_eq!(after["finalizedAt"].is_string(), is_last);
                assert_eq!(after["approvedAt"].is_string(), way[0] == "approve");
                assert_eq!(after["amountCrypto"].is_string(), way[0] == "approve");
                assert_eq!(after["txid"].is_string(), end == "paid" && is_last);
            }
            let last = shop.get(&format!("/v1/{kind}/{id}"), Some(LIVE)).expect(200).json();
            assert_eq!(last["status"], end);
            assert_eq!(last["finalizedAt"], shop.now());
            let taken = format!("{entry} -20.00");
            if end == "paid" {
                purse("80.00", "0.00", "-20.00");
                assert_eq!(shop.transfer_ledger(&id, LIVE), taken);
            } else {
                purse("100.00", "0.00", "0.00");
                let back = format!("{taken}, {entry}_reversal 20.00");
                assert_eq!(shop.transfer_ledger(&id, LIVE), back);
            }
        }
    }
}

#[test]
fn unknown_action_changes_nothing() {
    for kind in ["payouts", "refunds"] {
        let ways = STATUS_PATHS.iter().map(|(way, _)| *way);
        let ways = ways.chain([&[][..], &["approve"], &["approve", "process"]]);
        for way in ways {
            let shop = Shop::open();
            let id = request_transfer(&shop, kind);
            shop.apply_actions(kind, &id, way);
            let read = || {
                let of = shop.get(&format!("/v1/{kind}/{id}"), Some(LIVE)).expect(200);
                (of.json(), shop.transfer_ledger(&id, LIVE), shop.balance_fields(LIVE, "EUR"))
            };
            let before = read();
            let steps: &[&str] = match before.0["status"].as_str().unwrap() {
                "requested" => &["approve", "reject", "cancel"],
                "approved" => &["process", "fail", "cancel"],
                "processing" => &["pay", "fail"],
                _ => &[],
            };
            for action in ACTIONS.iter().filter(|action| !steps.contains(action)) {
                let path = format!("/sandbox/{kind}/{id}");
                let refused = shop.post(&path, None, json!({ "action": action }));
                refused.assert_error(409, "invalid_transition", Some("action"));
                assert_eq!(read(), before, "{way:?} {action}");
            }
        }
    }
}

#[test]
fn reset_deletes_payouts_and_refunds() {
    let shop = Shop::open();
    shop.apply_actions("payouts", &request_transfer(&shop, "payouts"), &["approve", "fail"]);
    request_transfer(&shop, "refunds");
    let counts = |state: Value| ["payouts", "refunds"].map(|kind| state["counts"][kind].clone());
    let state = shop.get("/sandbox", None).expect(200).json();
    assert_eq!(counts(state), [1, 1]);
    let state = shop.post("/sandbox/reset", None, json!({})).expect(200);
    assert_eq!(counts(state.json()), [0, 0]);
    assert_eq!(shop.balance_fields(LIVE, "EUR"), ["0.00"; 4]);
}

#[test]
fn approval_sets_rate_fee_and_coin_amount() {
    let shop = Shop::open();
    let id = request_transfer(&shop, "payouts");
    let approved = shop.apply_actions("payouts", &id, &["approve"]);
    // Amount in coins: 20.00 at a rate of 150, minus a fee of 0.000005, rounded down to eight places.
    let terms = ["rate", "networkFeeCrypto", "amountCrypto"].map(|field| approved[field].clone());
    assert_eq!(terms, [json!("150"), json!("0.000005"), json!("0.13332833")]);
    assert_eq!(approved["approvedAt"], shop.now());
    let dollars = shop.fund_balance(LIVE, "64.80", "USD");
    let refund = shop.create_refund(&dollars, None);
    let approved = shop.apply_actions("refunds", &refund, &["approve"]);
    let terms = ["rate", "networkFeeCrypto", "amountCrypto"].map(|field| approved[field].clone());
    assert_eq!(terms, [json!("86.4"), json!("0.0001"), json!("0.7499")]);
}

#[test]
fn approval_rejects_a_fee_that_leaves_nothing() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let to = "0x52908400098527886E0F7030069857D2E4169EE7";
    // The refund of 0.92 EUR is one USDC. The network fee is also one USDC, so nothing would be sent.
    let body =
        json!({ "invoice": invoice, "amount": "0.92", "asset": "USDC-ERC20", "toAddress": to });
    let refund = shop.post("/sandbox/refunds", None, body).expect(201).json();
    let path = format!("/sandbox/refunds/{}", refund["id"].as_str().unwrap());
    let refused = shop.post(&path, None, json!({ "action": "approve" }));
    refused.assert_error(400, "invalid_request", Some("networkFee"));
    let read = path.replace("/sandbox/", "/v1/");
    assert_eq!(shop.get(&read, Some(LIVE)).expect(200).json(), refund);
    shop.apply_actions("refunds", refund["id"].as_str().unwrap(), &["reject"]);
}

#[test]
fn action_stores_its_txid_and_reason() {
    let shop = Shop::open();
    let id = request_transfer(&shop, "payouts");
    let path = format!("/sandbox/payouts/{id}");
    shop.apply_actions("payouts", &id, &["approve", "process"]);
    let pay = json!({ "action": "pay", "txid": "5wHu1qwD7q3j6dRk" });
    let paid = shop.post(&path, None, pay).expect(200).json();
    assert_eq!((&paid["txid"], &paid["failureReason"]), (&json!("5wHu1qwD7q3j6dRk"), &Value::Null));
    for (way, action) in [(&[][..], "reject"), (&[], "cancel"), (&["approve", "process"], "fail")] {
        let id = shop.create_payout("20.00");
        shop.apply_actions("payouts", &id, way);
        let body = json!({ "action": action, "reason": "The wallet is empty" });
        let ended = shop.post(&format!("/sandbox/payouts/{id}"), None, body).expect(200).json();
        assert_eq!(ended["failureReason"], "The wallet is empty");
    }
}

#[test]
fn invalid_action_names_the_field() {
    let shop = Shop::open();
    let id = request_transfer(&shop, "payouts");
    let path = format!("/sandbox/payouts/{id}");
    for (body, param) in [
        (json!({}), "action"),
        (json!({ "action": "send" }), "action"),
        (json!({ "action": 1 }), "action"),
        (json!({ "action": "approve", "txid": "x" }), "txid"),
        (json!({ "action": "approve", "reason": "x" }), "reason"),
        (json!({ "action": "process", "reason": "x" }), "reason"),
        (json!({ "action": "pay", "state": "seen" }), "state"),
        (json!({ "action": "detach" }), "action"),
        (json!({ "action": "pay", "txid": "" }), "txid"),
        (json!({ "action": "reject", "reason": "x".repeat(501) }), "reason"),
        (json!({ "action": "approve", "rate": "1" }), "rate"),
    ] {
        shop.post(&path, None, body).assert_error(400, "invalid_request", Some(param));
    }
    shop.apply_actions("payouts", &id, &["approve", "process"]);
    for txid in ["a b", "ä"] {
        let body = json!({ "action": "pay", "txid": txid });
        shop.post(&path, None, body).assert_error(400, "invalid_request", Some("txid"));
    }
    for nobodys in ["/sandbox/payouts/x", &path.replace("payouts", "refunds")] {
        let answer = shop.post(nobodys, None, json!({ "action": "approve" }));
        answer.assert_error(404, "not_found", None);
    }
}
