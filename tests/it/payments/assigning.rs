//! Assignment of unmatched payments to invoices and customers by an operator.

use super::operator::{FOREIGN, OperatorSession, invoice_id};
use crate::file::audit::findings;
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

#[test]
fn assigned_confirmed_payment_is_booked() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let invoice = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let lost = operator.pay_foreign_address("0.001");
    let txid = shop.query_text("select txid from observations");
    shop.set_payment_state(&lost, "confirmed");
    shop.advance("1h");
    shop.assert_invoice(invoice_id(&invoice), "expired", "created expired", "", ["0.00", "0.00"]);
    // The payment was seen before the deadline of the invoice, so it counts as in time.
    let payment = operator.assign_and_get_id(&lost, &json!({ "invoice": invoice["id"] }));
    shop.assert_invoice(
        invoice_id(&invoice),
        "confirmed",
        "created expired confirmed",
        "sale 60.00, fee -0.60",
        ["59.40", "0.00"],
    );
    operator.shop.assert_audit_clean();
    assert_eq!(operator.unmatched_count(), "0");
    let noted = shop.audit_entries("unmatched_payment.assign");
    let detail = json!({
        "unmatchedPayment": lost, "reason": "unknown_address", "chain": "bitcoin", "txid": txid,
        "position": 0, "to": { "invoice": invoice["id"] },
    });
    let by = "operator@sandbox.test".to_owned();
    assert_eq!(noted, [(by, Some(payment.clone()), detail)]);
    // After the assignment, the chain changes the state of the payment as usual. A repeated observation returns the
    // same payment.
    shop.set_payment_state(&payment, "orphaned");
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "detected");
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "confirmed");
    let again = json!({ "address": FOREIGN, "asset": "BTC", "amount": "0.001", "txid": txid });
    let again = shop.post("/sandbox/payments", None, again).expect(200);
    assert_eq!(again.json()["id"], json!(payment));
    operator.assign_unmatched(&lost, &json!({ "invoice": invoice["id"] })).assert_error(
        409,
        "invalid_transition",
        None,
    );
    operator.shop.assert_audit_clean();
}

#[test]
fn assigned_seen_payment_is_booked_when_confirmed() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    // The payment is at the deposit address of the invoice, but the invoice has no quote in the coin of the payment.
    let invoice = shop.create_invoice("92.00", json!({ "asset": "ETH" }));
    let body =
        json!({ "address": invoice["depositAddress"], "asset": "USDC-BASE", "amount": "100" });
    let strange = shop.pay(body);
    let payment = operator.assign_and_get_id(&strange, &json!({ "invoice": invoice["id"] }));
    let shown = shop.get_invoice(invoice_id(&invoice));
    assert_eq!(
        [&shown["status"], &shown["asset"], &shown["amountReceived"]],
        [&json!("detected"), &json!("USDC-BASE"), &json!("100")]
    );
    operator.shop.assert_audit_clean();
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "confirmed");
    // No coin is selected for this invoice.
    let open = shop.create_invoice("60.00", json!({}));
    let lost = operator.pay_foreign_address("0.001");
    let payment = operator.assign_and_get_id(&lost, &json!({ "invoice": open["id"] }));
    let shown = shop.get_invoice(invoice_id(&open));
    assert_eq!(
        [&shown["status"], &shown["asset"], &shown["amountExpected"]],
        [&json!("detected"), &json!("BTC"), &json!("0.001")]
    );
    // After the payment is dropped, the invoice no longer shows the foreign address.
    shop.set_payment_state(&payment, "dropped");
    let shown = shop.get_invoice(invoice_id(&open));
    assert_eq!(
        [&shown["status"], &shown["asset"], &shown["depositAddress"]],
        [&json!("created"), &Value::Null, &Value::Null]
    );
    shop.set_payment_state(&payment, "seen");
    assert_eq!(shop.get_invoice(invoice_id(&open))["depositAddress"], FOREIGN);
    operator.shop.assert_audit_clean();
    // A payment after the deadline counts as late, and is converted at the current rate.
    shop.advance("1h");
    let late = operator.pay_foreign_address("0.001");
    shop.set_payment_state(&late, "confirmed");
    let expired = shop.create_invoice("60.00", json!({ "asset": "LTC" }));
    shop.advance("1h");
    let also = operator.pay_foreign_address("0.001");
    operator.assign_and_get_id(&also, &json!({ "invoice": expired["id"] }));
    assert_eq!(shop.get_invoice(invoice_id(&expired))["status"], "expired");
    shop.set_payment_state(&shop.query_text("select max(id) from payments"), "confirmed");
    assert_eq!(shop.get_invoice(invoice_id(&expired))["status"], "paid_late");
    operator.shop.assert_audit_clean();
}

#[test]
fn unmatched_payment_is_assigned_to_a_customer() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    shop.create_addresses(TEST, "ada").expect(201);
    let account = shop.get("/v1/merchant", Some(TEST)).expect(200).json()["id"].clone();
    let ada = json!({ "account": account, "customer": "ada" });
    for (amount, confirmed) in [("0.001", true), ("0.002", false)] {
        let lost = operator.pay_foreign_address(amount);
        if confirmed {
            shop.set_payment_state(&lost, "confirmed");
        }
        let deposit = operator.assign_and_get_id(&lost, &ada);
        if !confirmed {
            shop.set_payment_state(&deposit, "confirmed");
        }
        let path = format!("/v1/deposits/{deposit}");
        let deposit = shop.get(&path, Some(TEST)).expect(200).json();
        assert_eq!(
            [&deposit["status"], &deposit["customer"], &deposit["address"]],
            [&json!("confirmed"), &json!("ada"), &json!(FOREIGN)]
        );
        operator.shop.assert_audit_clean();
    }
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(balances["data"][0]["available"], "178.20");
    let noted = shop.audit_entries("unmatched_payment.assign");
    assert_eq!(noted[1].2["to"], json!({ "customer": "ada" }));
    // Litecoin has no customer addresses, so a payment in litecoin cannot be assigned to a customer.
    let body = json!({ "address": "tltc1q33fggyev8st5a7yfdgkwqfsww53vmrm9kljdp9", "asset": "LTC", "amount": "1" });
    let on_litecoin = shop.pay(body);
    operator.assign_unmatched(&on_litecoin, &ada).assert_error(
        400,
        "invalid_request",
        Some("customer"),
    );
    operator.shop.assert_audit_clean();
}

#[test]
fn invalid_assignment_changes_nothing() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let assign = |id: &str, body: &Value| operator.assign_unmatched(id, body);
    shop.create_addresses(LIVE, "live").expect(201);
    let account = shop.get("/v1/merchant", Some(TEST)).expect(200).json()["id"].clone();
    let invoice = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let mine = json!({ "invoice": invoice["id"] });
    let body = json!({ "amount": "60.00", "currency": "EUR", "asset": "BTC" });
    let live = shop.post("/v1/invoices", Some(LIVE), body).expect(201).json();
    let lost = operator.pay_foreign_address("0.001");
    let unknown = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
    for body in [
        json!({ "invoice": live["id"] }),
        json!({ "invoice": unknown }),
        json!({ "invoice": "x" }),
        json!({ "account": unknown, "customer": "live" }),
        json!({ "account": account, "customer": "nobody" }),
        json!({ "account": account, "customer": "live" }),
    ] {
        assign(&lost, &body).assert_error(404, "not_found", None);
    }
    for (body, param) in [
        (json!({}), "invoice"),
        (json!({ "invoice": invoice["id"], "account": account, "customer": "live" }), "invoice"),
        (json!({ "account": account }), "customer"),
        (json!({ "customer": "live" }), "account"),
        (json!({ "invoice": 1 }), "invoice"),
        (json!({ "invoice": invoice["id"], "more": 1 }), "more"),
    ] {
        assign(&lost, &body).assert_error(400, "invalid_request", Some(param));
    }
    for amount in ["0.00000001", "20999999"] {
        let lost = operator.pay_foreign_address(amount);
        assign(&lost, &mine).assert_error(400, "invalid_request", Some("invoice"));
    }
    for unknown in ["x", unknown] {
        assign(unknown, &mine).assert_error(404, "not_found", None);
    }
    let gone = operator.pay_foreign_address("0.001");
    shop.set_payment_state(&gone, "dropped");
    assign(&gone, &mine).assert_error(409, "invalid_transition", None);
    let sent_back = operator.pay_foreign_address("0.001");
    let looked = format!("/dashboard/api/unmatched-payments/{sent_back}");
    let note = json!({ "note": "sent back by hand" });
    shop.session_request(&operator.cookie, "POST", &looked, &note).expect(200);
    assign(&sent_back, &mine).assert_error(409, "invalid_transition", None);
    let path = format!("/dashboard/api/unmatched-payments/{lost}/assign");
    let merchant = shop.merchant_cookie();
    shop.session_request(&merchant, "POST", &path, &mine).assert_error(403, "forbidden", None);
    shop.send("POST", &path, &[], &mine.to_string()).assert_error(401, "unauthorized", None);
    assert_eq!(operator.unmatched_count(), "5");
    assert_eq!(shop.audit_entries("unmatched_payment.assign"), []);
    assert_eq!(shop.get_invoice(invoice_id(&invoice))["status"], "awaiting_payment");
    operator.shop.assert_audit_clean();
}

#[test]
fn assignment_uses_no_new_address() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let addresses = || shop.query_text("select cast(count(*) as text) from addresses");
    let elsewhere = shop.create_invoice("60.00", json!({ "asset": "LTC" }));
    let open = shop.create_invoice("60.00", json!({}));
    let before = addresses();
    shop.send("POST", "/sandbox/faults", &[], r#"{ "pool": "empty" }"#).expect(200);
    let [first, second] = [&elsewhere, &open].map(|invoice| {
        operator.assign_and_get_id(
            &operator.pay_foreign_address("0.0001"),
            &json!({ "invoice": invoice["id"] }),
        )
    });
    // A second payment in the same coin uses the same quote.
    let third = operator.assign_and_get_id(
        &operator.pay_foreign_address("0.0001"),
        &json!({ "invoice": open["id"] }),
    );
    operator.shop.assert_audit_clean();
    shop.send("DELETE", "/sandbox/faults", &[], "").expect(204);
    assert_eq!(addresses(), before);
    let quotes =
        "select group_concat(asset || given) from (select asset, given from quotes order by seq)";
    assert_eq!(shop.query_text(quotes), "LTC0,BTC1,BTC1");
    // The checkout page does not ask for the missing amount at the foreign address.
    shop.set_payment_state(&second, "confirmed");
    shop.set_payment_state(&third, "dropped");
    assert_eq!(shop.get_invoice(invoice_id(&open))["status"], "underpaid");
    let page = |invoice: &Value| {
        let page = shop.get(&path_and_query(&invoice["checkoutUrl"]), None);
        page.expect(200).text
    };
    assert!(!page(&open).contains(FOREIGN), "{}", page(&open));
    // After the payment was dropped, selecting another coin does not show the foreign address either.
    shop.set_payment_state(&first, "dropped");
    let shown = shop.get_invoice(invoice_id(&elsewhere));
    assert_eq!([&shown["status"], &shown["asset"]], ["awaiting_payment", "LTC"]);
    assert!(!page(&elsewhere).contains(FOREIGN));
    let path = format!("/v1/invoices/{}/select", invoice_id(&elsewhere));
    let picked = shop.post(&path, Some(TEST), json!({ "asset": "BTC" })).expect(200).json();
    assert_ne!(picked["depositAddress"], FOREIGN);
    operator.shop.assert_audit_clean();
    shop.set_payment_state(&first, "seen");
    operator.shop.assert_audit_clean();
    // A payment in the selected coin counts towards the invoice. The sandbox sends the payment to the invoice's
    // address.
    let paid = shop.pay(json!({ "invoice": elsewhere["id"], "asset": "BTC" }));
    shop.set_payment_state(&paid, "confirmed");
    shop.set_payment_state(&first, "confirmed");
    assert_eq!(shop.get_invoice(invoice_id(&elsewhere))["status"], "confirmed");
    let other = shop.create_invoice("60.00", json!({}));
    let gone = operator.assign_and_get_id(
        &operator.pay_foreign_address("0.001"),
        &json!({ "invoice": other["id"] }),
    );
    shop.set_payment_state(&gone, "dropped");
    let path = format!("/v1/invoices/{}/simulate", invoice_id(&other));
    let simulated = shop.post(&path, Some(TEST), json!({ "asset": "BTC" })).expect(200);
    assert_eq!(simulated.json()["status"], "confirmed");
    operator.shop.assert_audit_clean();
}

/// Returns the path and query of a checkout URL.
fn path_and_query(url: &Value) -> String {
    let url = url.as_str().unwrap();
    let at = url.find("/checkout/").unwrap();
    url[at..].to_owned()
}

#[test]
fn concurrent_assignments_assign_once() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let lost = operator.pay_foreign_address("0.001");
    shop.set_payment_state(&lost, "confirmed");
    let invoices: Vec<_> =
        (0..4).map(|_| shop.create_invoice("60.00", json!({ "asset": "BTC" }))).collect();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tasks: Vec<_> = invoices
            .iter()
            .map(|invoice| {
                let operator = &operator;
                let body = json!({ "invoice": invoice["id"] });
                let lost = &lost;
                scope.spawn(move || operator.assign_unmatched(lost, &body).status)
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 3);
    let paid = invoices
        .iter()
        .filter(|invoice| shop.get_invoice(invoice_id(invoice))["status"] == "confirmed");
    assert_eq!(paid.count(), 1);
    operator.shop.assert_audit_clean();
}

#[test]
fn audit_finds_unassigned_payment_to_a_foreign_address() {
    let operator = OperatorSession::open();
    let shop = &operator.shop;
    let invoice = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let lost = operator.pay_foreign_address("0.001");
    operator.assign_and_get_id(&lost, &json!({ "invoice": invoice["id"] }));
    operator.shop.assert_audit_clean();
    shop.execute_sql("delete from audit_log where action = 'unmatched_payment.assign'");
    let found = findings(shop.file());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("given to it by a person"), "{found:?}");
    // The audit accepts a foreign address in a quote only if the quote records that the address is foreign.
    let open = shop.create_invoice("60.00", json!({}));
    operator.assign_and_get_id(
        &operator.pay_foreign_address("0.001"),
        &json!({ "invoice": open["id"] }),
    );
    assert_eq!(findings(shop.file()), found);
    shop.execute_sql("update quotes set given = 0");
    let both = findings(shop.file());
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.iter().any(|one| one.contains("at an address of that invoice")), "{both:?}");
}
