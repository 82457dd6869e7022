//! Amounts above the limits are rejected before anything is stored. Amounts that another program stored remain
//! readable.

use crate::support::audit_log::record_direct_writes;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{Response, Shop, TEST};
use serde_json::{Value, json};

/// Amount of ETH, at 3000 EUR, worth 90 000 000 000 000 000.00 EUR. This value in cents just fits into 64 bits.
const HUGE_AMOUNT: &str = "30000000000000";
/// Amount of DOGE, at 0.20 EUR, worth 9 999 999 999.99 EUR: the maximum value of one payment.
const MOST: &str = "49999999999.95";
/// Amount of DOGE worth 0.01 EUR more than [`MOST`].
const ONE_CENT_MORE: &str = "50000000000";

#[track_caller]
fn eur_balance(shop: &Shop) -> Value {
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    balances["data"][0].clone()
}

#[test]
fn too_large_payment_is_rejected_and_reads_succeed() {
    let shop = Shop::open();
    let id = |invoice: Value| invoice["id"].as_str().unwrap().to_owned();
    let doge = id(shop.create_invoice("100.00", json!({ "asset": "DOGE" })));
    let eth = id(shop.create_invoice("100.00", json!({ "asset": "ETH" })));
    let before = (eur_balance(&shop), shop.get_invoice(&doge), shop.get_invoice(&eth));
    let refused = |path: &str, body: Value| {
        shop.post(path, Some(TEST), body).assert_error(400, "invalid_request", Some("amount"));
    };
    for _ in 0..2 {
        refused("/sandbox/payments", json!({ "invoice": eth, "amount": HUGE_AMOUNT }));
    }
    for amount in [ONE_CENT_MORE, "461168601842738791", "3402823669209384634633746074317"] {
        refused("/sandbox/payments", json!({ "invoice": doge, "amount": amount }));
    }
    assert_eq!((eur_balance(&shop), shop.get_invoice(&doge), shop.get_invoice(&eth)), before);
    // The limit also applies to a replacement payment.
    let seen = shop.pay(json!({ "invoice": doge, "amount": MOST }));
    let replaced = json!({ "state": "replaced", "amount": ONE_CENT_MORE });
    refused(&format!("/sandbox/payments/{seen}"), replaced);
    assert_eq!(shop.get_invoice(&doge)["status"], "detected");
    shop.set_payment_state(&seen, "confirmed");
    assert_eq!(shop.get_invoice(&doge)["status"], "overpaid");
    assert_eq!(eur_balance(&shop)["sales"], "9999999999.99");
}

#[test]
fn too_large_output_is_unmatched_and_others_are_accepted() {
    let shop = Shop::open();
    let id = |invoice: Value| invoice["id"].as_str().unwrap().to_owned();
    let [first, second] = ["100.00", "50.00"]
        .map(|amount| id(shop.create_invoice(amount, json!({ "asset": "DOGE" }))));
    let outputs = json!([
        { "invoice": first, "amount": ONE_CENT_MORE },
        { "invoice": second },
    ]);
    let put = shop.post("/sandbox/payments", None, json!({ "outputs": outputs }));
    let put = put.expect(201).json();
    let states = [&put["data"][0]["state"], &put["data"][1]["state"]];
    assert_eq!(states, ["unmatched", "seen"]);
    assert_eq!(shop.get_invoice(&first)["status"], "awaiting_payment");
    assert_eq!(shop.get_invoice(&second)["status"], "detected");
    let reasons = shop.query_text("select group_concat(reason) from unmatched_payments");
    assert_eq!(reasons, "too_large");
    shop.assert_audit_clean();
}

#[test]
fn too_large_deposit_is_rejected() {
    let shop = Shop::open();
    let path = "/v1/customers/ada/addresses";
    let made = shop.send("POST", path, &[("X-API-Key", TEST)], "").expect(201);
    let families = made.json()["addresses"].as_array().unwrap().clone();
    let evm = families.iter().find(|one| one["family"] == "evm").unwrap();
    let at = json!({ "address": evm["address"], "asset": "ETH", "amount": HUGE_AMOUNT });
    let simulated = json!({ "asset": "ETH", "amount": HUGE_AMOUNT });
    for _ in 0..2 {
        shop.post("/sandbox/payments", None, at.clone()).assert_error(
            400,
            "invalid_request",
            Some("amount"),
        );
        shop.post("/v1/customers/ada/simulate", Some(TEST), simulated.clone()).assert_error(
            400,
            "invalid_request",
            Some("amount"),
        );
    }
    let deposits = shop.get("/v1/deposits", Some(TEST)).expect(200).json();
    assert_eq!(deposits["data"], json!([]));
    assert_eq!(eur_balance(&shop)["sales"], "0.00");
}

#[test]
fn settings_and_prices_are_limited() {
    let shop = Shop::open();
    for field in ["maxInvoiceAmount", "payoutMinimum", "payoutDailyLimit"] {
        let body = json!({ field: "10000000000.00" }).to_string();
        shop.send("PATCH", "/sandbox/account", &[], &body).assert_error(
            400,
            "invalid_request",
            Some(field),
        );
    }
    shop.update_account(json!({ "maxInvoiceAmount": "9999999999.99" }));
    let body = json!({ "amount": "10000000000.00", "currency": "EUR" });
    shop.post("/v1/invoices", Some(TEST), body).assert_error(
        400,
        "amount_too_large",
        Some("amount"),
    );
    let id = shop.create_invoice("9999999999.99", json!({}))["id"].clone();
    let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
    shop.post(&path, Some(TEST), json!({ "case": "over", "asset": "DOGE" })).assert_error(
        400,
        "invalid_request",
        Some("amount"),
    );
    let paid = shop.post(&path, Some(TEST), json!({ "asset": "DOGE" }));
    assert_eq!(paid.expect(200).json()["status"], "confirmed");
}

/// Changes two payments as another program may. Each amount fits into 64 bits, but their sum does not.
#[track_caller]
fn insert_oversized_payments(interface: &OperatorInterface) -> (String, [String; 2]) {
    let shop = &interface.shop;
    let invoice = shop.create_invoice("100.00", json!({ "asset": "ETH" }));
    let id = invoice["id"].as_str().unwrap().to_owned();
    let paid = ["1", "2"].map(|txid| shop.pay(json!({ "invoice": id, "txid": txid })));
    shop.execute_sql(
        "update observations set amount = '30000000000000000000000000000000';
         update payments set value = 9000000000000000000;
         update invoices set amount_received = '60000000000000000000000000000000'",
    );
    (id, paid)
}

/// Asserts that every read of the account succeeds.
#[track_caller]
fn assert_all_reads_succeed(interface: &OperatorInterface, id: &str) {
    let paths =
        ["balances", "merchant", "ledger", "invoices", "events", "payouts", "refunds", "deposits"];
    for path in paths {
        interface.shop.get(&format!("/v1/{path}"), Some(TEST)).expect(200);
    }
    interface.shop.get(&format!("/v1/invoices/{id}"), Some(TEST)).expect(200);
    for path in ["/sandbox", "/sandbox/webhooks", "/metrics"] {
        interface.shop.get(path, None).expect(200);
    }
    for file in ["invoices", "payments", "ledger", "payouts", "refunds", "deposits"] {
        interface.request("GET", &format!("exports/{file}.csv"), &Value::Null).expect(200);
    }
    let detail = format!("invoices/{id}");
    let timeline = format!("invoices/{id}/timeline");
    for rest in [
        "summary",
        "balances",
        "ledger",
        "events",
        "invoices",
        &detail,
        &timeline,
        "deliveries",
        "payouts",
        "refunds",
    ] {
        interface.get(rest);
    }
    let summary = "/dashboard/api/summary?mode=test";
    interface.send_as_operator("GET", summary, &Value::Null).expect(200);
}

#[test]
fn stored_oversized_payments_can_be_read_and_resolved() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    record_direct_writes(interface.shop.file());
    let (id, [first, second]) = insert_oversized_payments(&interface);
    assert_eq!(eur_balance(shop)["pending"], "178200000000000000.00");
    let sums = interface.get(&format!("invoices/{id}"))["sums"].clone();
    assert_eq!(sums["unconfirmedOnTime"], "180000000000000000.00");
    assert_all_reads_succeed(&interface, &id);
    shop.set_payment_state(&first, "confirmed");
    assert_eq!(eur_balance(shop)["sales"], "90000000000000000.00");
    assert_all_reads_succeed(&interface, &id);
    // The second payment would exceed the balance limit, so it is not booked, and the invoice and the balance do not
    // change.
    let before = (shop.get_invoice(&id), eur_balance(shop));
    let confirm = |payment: &str| -> Response {
        let path = format!("/sandbox/payments/{payment}");
        shop.post(&path, None, json!({ "state": "confirmed" }))
    };
    let unbooked =
        || shop.query_text("select cast(count(unbookable_at) as text) from observations");
    assert_eq!(unbooked(), "0");
    for _ in 0..2 {
        confirm(&second).assert_error(400, "invalid_request", Some("amount"));
        assert_eq!((shop.get_invoice(&id), eur_balance(shop)), before);
        assert_eq!(unbooked(), "1");
    }
    // The query of `coffer doctor` reports the payment.
    let told = shop.query_text(include_str!("../../../sql/doctor/unbookable.sql"));
    assert!(told.starts_with("1 payments of account "), "{told}");
    shop.assert_audit_clean();
    shop.set_payment_state(&second, "dropped");
    assert_eq!(unbooked(), "0");
    shop.set_payment_state(&first, "dropped");
    assert_all_reads_succeed(&interface, &id);
    assert_eq!(
        (eur_balance(shop)["available"].clone(), eur_balance(shop)["pending"].clone()),
        (json!("0.00"), json!("0.00"))
    );
    shop.assert_audit_clean();
}
