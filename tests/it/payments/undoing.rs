//! Undoing the outcomes of unmatched payments.

use super::operator::{FOREIGN, OperatorSession, invoice_id};
use crate::support::TEST;
use serde_json::{Value, json};

/// Returns `true` if the unmatched payment has no outcome.
fn has_no_outcome(shown: &Value) -> bool {
    let fields = ["outcome", "resolvedAt", "note", "returnTxid", "payment", "deposit"];
    fields.iter().all(|field| shown[field].is_null()) && shown["canBeUndone"] == false
}

#[test]
fn invoice_assignment_can_be_undone_until_confirmed() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let invoice = shop.create_invoice("60.00", json!({ "asset": "LTC" }));
    let before = shop.get_invoice(invoice_id(&invoice));
    let lost = operator.pay_foreign_address("0.001");
    let payment = operator.assign_and_get_id(&lost, &json!({ "invoice": invoice["id"] }));
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "detected");
    let shown = operator.read_unmatched(&lost);
    assert_eq!(
        [&shown["outcome"], &shown["payment"], &shown["canBeUndone"]],
        [&json!("assigned"), &json!(payment), &json!(true)]
    );
    assert_eq!(shown["candidate"], Value::Null);
    operator.shop.assert_audit_clean();
    assert!(has_no_outcome(&operator.undo_outcome(&lost).expect(200).json()));
    operator.shop.assert_audit_clean();
    // The invoice, its quotes and its timeline are as they were before the assignment.
    assert_eq!(shop.get_invoice(invoice_id(&invoice)), before);
    let left = "select (select group_concat(asset) from quotes) || (select count(*) from payments) \
        || (select count(*) from invoice_steps where payment is not null)";
    assert_eq!(shop.query_text(left), "LTC00");
    assert_eq!(operator.unmatched_count(), "1");
    operator.undo_outcome(&lost).assert_error(409, "invalid_transition", None);
    // The assignment of a confirmed payment cannot be undone, because later ledger entries depend on it.
    let other = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let payment = operator.assign_and_get_id(&lost, &json!({ "invoice": other["id"] }));
    operator.assign_unmatched(&lost, &json!({ "invoice": invoice["id"] })).assert_error(
        409,
        "invalid_transition",
        None,
    );
    operator.resolve_unmatched(&lost, &json!({ "note": "x" })).assert_error(
        409,
        "invalid_transition",
        None,
    );
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(operator.read_unmatched(&lost)["canBeUndone"], false);
    let refused = operator.undo_outcome(&lost);
    refused.assert_error(409, "invalid_transition", None);
    assert!(refused.text.contains("has been confirmed"), "{}", refused.text);
    // After a reorg, the assignment still cannot be undone: the ledger keeps the entries and their reversal.
    shop.set_payment_state(&payment, "orphaned");
    operator.undo_outcome(&lost).assert_error(409, "invalid_transition", None);
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(shop.get_invoice(invoice_id(&other))["status"], "confirmed");
    operator.shop.assert_audit_clean();
    let noted = shop.audit_entries("unmatched_payment.undo");
    assert_eq!(noted.len(), 1);
    assert_eq!(
        (&noted[0].1, &noted[0].2["outcome"], &noted[0].2["from"]["invoice"]),
        (&Some(lost), &json!("assigned"), &invoice["id"])
    );
}

#[test]
fn quote_is_removed_with_its_last_assigned_payment() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let invoice = shop.create_invoice("60.00", json!({ "asset": "ETH" }));
    let quotes =
        "select group_concat(asset || given || by_person) from (select * from quotes order by seq)";
    let body =
        json!({ "address": invoice["depositAddress"], "asset": "USDC-BASE", "amount": "10" });
    let strays = [shop.pay(body.clone()), shop.pay(body.clone())];
    let mine = json!({ "invoice": invoice["id"] });
    // The first assignment creates a quote. The second assignment and a repeated assignment use the same quote.
    let first = strays.each_ref().map(|stray| operator.assign_and_get_id(stray, &mine));
    assert_eq!(shop.query_text(quotes), "ETH00,USDC-BASE01");
    operator.undo_outcome(&strays[0]).expect(200);
    assert_eq!(shop.query_text(quotes), "ETH00,USDC-BASE01");
    operator.shop.assert_audit_clean();
    // After an undo, the same assignment can be made again.
    operator.assign_and_get_id(&strays[0], &mine);
    for stray in &strays {
        operator.undo_outcome(stray).expect(200);
    }
    assert_eq!(shop.query_text(quotes), "ETH00");
    operator.shop.assert_audit_clean();
    assert_ne!(first[0], first[1]);
    // The quote in a coin that the customer has selected stays after an undo.
    operator.assign_and_get_id(&strays[0], &mine);
    shop.set_payment_state(&shop.query_text("select max(id) from payments"), "dropped");
    let path = format!("/v1/invoices/{}/select", invoice_id(&invoice));
    let picked = shop.post(&path, Some(TEST), json!({ "asset": "USDC-BASE" }));
    picked.expect(200);
    operator.undo_outcome(&strays[0]).expect(200);
    assert_eq!(shop.query_text(quotes), "ETH00,USDC-BASE00");
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["asset"], "USDC-BASE");
    operator.shop.assert_audit_clean();
    let paid = shop.pay(body);
    assert_eq!(shop.set_payment_state(&paid, "confirmed")["state"], "confirmed");
    operator.shop.assert_audit_clean();
}

#[test]
fn overdue_invoice_expires_when_its_assignment_is_undone() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    for amount in ["0.001", "0.0005"] {
        let invoice = shop.create_invoice("60.00", json!({}));
        let lost = operator.pay_foreign_address(amount);
        operator.assign_and_get_id(&lost, &json!({ "invoice": invoice["id"] }));
        shop.advance("2h");
        operator.undo_outcome(&lost).expect(200);
        assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "expired");
        assert_eq!(shop.get_invoice(invoice_id(&invoice))["asset"], Value::Null);
        operator.shop.assert_audit_clean();
    }
    // The assignment of a dropped payment can also be undone. The payment is then unmatched again.
    let invoice = shop.create_invoice("60.00", json!({}));
    let lost = operator.pay_foreign_address("0.001");
    let payment = operator.assign_and_get_id(&lost, &json!({ "invoice": invoice["id"] }));
    shop.set_payment_state(&payment, "dropped");
    operator.undo_outcome(&lost).expect(200);
    shop.set_payment_state(&lost, "seen");
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "created");
    operator.shop.assert_audit_clean();
}

#[test]
fn customer_assignment_can_be_undone_until_confirmed() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    shop.create_addresses(TEST, "ada").expect(201);
    let account = shop.get("/v1/merchant", Some(TEST)).expect(200).json()["id"].clone();
    let ada = json!({ "account": account, "customer": "ada" });
    let lost = operator.pay_foreign_address("0.001");
    let deposit = operator.assign_and_get_id(&lost, &ada);
    assert_eq!(operator.read_unmatched(&lost)["deposit"], json!(deposit));
    assert!(has_no_outcome(&operator.undo_outcome(&lost).expect(200).json()));
    let path = format!("/v1/deposits/{deposit}");
    shop.get(&path, Some(TEST)).assert_error(404, "not_found", None);
    operator.shop.assert_audit_clean();
    let deposit = operator.assign_and_get_id(&lost, &ada);
    shop.set_payment_state(&deposit, "confirmed");
    operator.undo_outcome(&lost).assert_error(409, "invalid_transition", None);
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(balances["data"][0]["available"], "59.40");
    operator.shop.assert_audit_clean();
}

#[test]
fn returned_and_dismissed_payments_can_be_undone() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let lost = operator.pay_foreign_address("0.001");
    shop.set_payment_state(&lost, "confirmed");
    let txid = "AB".repeat(32);
    let back =
        operator.resolve_unmatched(&lost, &json!({ "returnTxid": txid, "note": "to the sender" }));
    let back = back.expect(200).json();
    assert_eq!(
        [&back["outcome"], &back["returnTxid"], &back["note"], &back["canBeUndone"]],
        [&json!("returned"), &json!(txid.to_lowercase()), &json!("to the sender"), &json!(true)]
    );
    let mine = json!({ "invoice": shop.create_invoice("60.00", json!({}))["id"] });
    operator.assign_unmatched(&lost, &mine).assert_error(409, "invalid_transition", None);
    operator.resolve_unmatched(&lost, &json!({ "note": "x" })).assert_error(
        409,
        "invalid_transition",
        None,
    );
    assert!(has_no_outcome(&operator.undo_outcome(&lost).expect(200).json()));
    let dismissed =
        operator.resolve_unmatched(&lost, &json!({ "note": "a test of ours" })).expect(200).json();
    assert_eq!(dismissed["outcome"], "dismissed");
    operator.resolve_unmatched(&lost, &json!({ "returnTxid": "t" })).assert_error(
        409,
        "invalid_transition",
        None,
    );
    operator.undo_outcome(&lost).expect(200);
    for (body, param) in [
        (json!({}), "note"),
        (json!({ "returnTxid": "" }), "returnTxid"),
        (json!({ "returnTxid": "a b" }), "returnTxid"),
        (json!({ "returnTxid": 1, "note": "x" }), "returnTxid"),
        (json!({ "returnTxid": "x".repeat(129) }), "returnTxid"),
    ] {
        operator.resolve_unmatched(&lost, &body).assert_error(400, "invalid_request", Some(param));
    }
    for unknown in ["x", "01a1fd71-e3f0-740f-bd59-25d40e11c67b"] {
        operator.undo_outcome(unknown).assert_error(404, "not_found", None);
    }
    let path = format!("/dashboard/api/unmatched-payments/{lost}/undo");
    let merchant = shop.merchant_cookie();
    shop.session_request(&merchant, "POST", &path, &Value::Null).assert_error(
        403,
        "forbidden",
        None,
    );
    shop.send("POST", &path, &[], "").assert_error(401, "unauthorized", None);
    operator.shop.assert_audit_clean();
    assert_eq!(shop.audit_entries("unmatched_payment.undo").len(), 2);
}

#[test]
fn unmatched_payment_shows_value_and_address_owner() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    shop.create_addresses(TEST, "ada").expect(201);
    let account = shop.get("/v1/merchant", Some(TEST)).expect(200).json()["id"].clone();
    let invoice = shop.create_invoice("92.00", json!({ "asset": "USDC-BASE" }));
    let address = &invoice["depositAddress"];
    // The invoice has the same address on all EVM chains, so the invoice is proposed for a payment on another chain.
    let body = json!({ "address": address, "asset": "USDC-POLYGON", "amount": "100" });
    let wrong_chain = shop.pay(body);
    let shown = operator.read_unmatched(&wrong_chain);
    assert_eq!(
        [&shown["worthEur"], &shown["worthUsd"], &shown["state"], &shown["explorerUrl"]],
        [&json!("92.00"), &json!("99.36"), &json!("seen"), &Value::Null]
    );
    assert_eq!(shown["candidate"], json!({ "invoice": invoice["id"] }));
    shop.set_payment_state(&wrong_chain, "confirmed");
    operator.assign_and_get_id(&wrong_chain, &shown["candidate"]);
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "confirmed");
    assert_eq!(operator.read_unmatched(&wrong_chain)["candidate"], Value::Null);
    // No invoice is proposed for a payment to a foreign address, or for dust, which cannot be assigned.
    let lost = operator.pay_foreign_address("0.001");
    assert_eq!(operator.read_unmatched(&lost)["candidate"], Value::Null);
    let bitcoin = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let dust =
        json!({ "address": bitcoin["depositAddress"], "asset": "BTC", "amount": "0.00000001" });
    assert_eq!(operator.read_unmatched(&shop.pay(dust))["candidate"], Value::Null);
    let customer = shop.customer_address(TEST, "ada", "utxo");
    let outputs = json!([{ "address": customer, "asset": "BTC", "amount": "0.001" }]);
    let body = json!({ "outputs": outputs, "coinbase": true });
    let made = shop.post("/sandbox/payments", None, body).expect(201).json();
    let newly_made = made["data"][0]["id"].as_str().unwrap().to_owned();
    let shown = operator.read_unmatched(&newly_made);
    assert_eq!(shown["candidate"], json!({ "account": account, "customer": "ada" }));
    operator.assign_and_get_id(&newly_made, &shown["candidate"]);
    assert_eq!(FOREIGN, operator.read_unmatched(&lost)["address"]);
    operator.shop.assert_audit_clean();
}
