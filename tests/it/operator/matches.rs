//! Searches for objects other than invoices by their exact text.

use crate::support::TEST;
use crate::support::operator_interface::OperatorInterface;
use serde_json::{Value, json};

/// Returns kind and id of each match, as the operator.
#[track_caller]
fn matches_of(interface: &OperatorInterface, text: &str) -> Vec<(String, String)> {
    let found = interface.get(&format!("matches?text={text}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let data = found["data"].as_array().unwrap().iter();
    data.map(|one| (text(&one["kind"]), text(&one["id"]))).collect()
}

#[test]
fn text_names_objects_of_each_kind() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    shop.update_account(json!({ "customersEnabled": true }));
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let id = invoice["id"].as_str().unwrap();
    let payment = shop.pay(json!({ "invoice": id, "txid": "t1" }));
    shop.set_payment_state(&payment, "confirmed");
    let refund = shop.create_refund(id, Some("5.00"));
    let kind = |kind: &str, id: &str| (kind.to_owned(), id.to_owned());
    assert_eq!(matches_of(&interface, &refund), [kind("refund", &refund)]);
    let to = interface.get(&format!("refunds/{refund}"))["toAddress"].as_str().unwrap().to_owned();
    assert_eq!(matches_of(&interface, &to), [kind("refund", &refund)]);
    let addresses = shop.create_addresses(TEST, "ada").expect(201).json();
    let body = json!({ "asset": "BTC", "amount": "0.001" });
    shop.post("/v1/customers/ada/simulate", Some(TEST), body).expect(201);
    assert_eq!(matches_of(&interface, "ada"), [kind("customer", "ada")]);
    let address = addresses["addresses"][0]["address"].as_str().unwrap();
    assert_eq!(matches_of(&interface, address), [kind("customer", "ada")]);
    let deposit = interface.get("deposits")["data"][0].clone();
    let deposit_id = deposit["id"].as_str().unwrap();
    for text in [deposit_id, deposit["txid"].as_str().unwrap()] {
        let found = interface.get(&format!("matches?text={text}"));
        let expected = json!([{ "kind": "deposit", "id": deposit_id, "status": "confirmed", "customer": "ada" }]);
        assert_eq!(found["data"], expected);
    }
    for text in ["ad", "ADA", "%25", "a_a", "%00", "t1"] {
        assert_eq!(matches_of(&interface, text), [], "{text}");
    }
    assert_eq!(interface.get("matches")["data"], json!([]), "without a text");
    let live = interface.path("matches?text=ada").replace("mode=test", "mode=live");
    let live = interface.send_as_operator("GET", &live, &Value::Null).expect(200);
    assert_eq!(live.json()["data"], json!([]));
    interface.assert_access("listMatches", "GET", "matches?text=ada", false);
}

#[test]
fn only_operators_find_unmatched_payments() {
    let interface = OperatorInterface::open();
    let address = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
    let payment = json!({ "address": address, "asset": "BTC", "amount": "0.25", "txid": "lost" });
    interface.shop.post("/sandbox/payments", None, payment).expect(201);
    for text in [address, "lost"] {
        let found = matches_of(&interface, text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].0, "unmatched_payment");
        let path = format!("matches?text={text}");
        let answer = interface.request_as_merchant("GET", &path, &Value::Null).expect(200);
        assert_eq!(answer.json()["data"], json!([]));
    }
}
