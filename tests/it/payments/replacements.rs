//! Replaced transactions, different notations of one transaction id, and coinbase outputs.

use super::operator::FOREIGN;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

const PATH: &str = "/sandbox/payments";

/// Creates a shop with an invoice over 120.00 EUR that one bitcoin transaction pays in two outputs. Returns the ids
/// of invoice and payments.
fn create_two_output_payment() -> (Shop, String, [String; 2]) {
    let shop = Shop::open();
    let invoice = shop.create_invoice("120.00", json!({ "asset": "BTC" }));
    let half = json!({ "invoice": invoice["id"], "amount": "0.001" });
    let body = json!({ "txid": "one", "outputs": [half, half] });
    let put = shop.post(PATH, None, body).expect(201).json();
    let ids = [0, 1].map(|at| put["data"][at]["id"].as_str().unwrap().to_owned());
    (shop, invoice["id"].as_str().unwrap().to_owned(), ids)
}

fn post_replacement(shop: &Shop, payment: &str, more: Value) -> Response {
    let mut body = json!({ "state": "replaced" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    shop.post(&format!("{PATH}/{payment}"), None, body)
}

#[track_caller]
fn post_and_get_id(shop: &Shop, payment: &str, more: Value) -> String {
    post_replacement(shop, payment, more).expect(200).id()
}

#[test]
fn replacement_may_have_fewer_outputs() {
    let (shop, invoice, [first, second]) = create_two_output_payment();
    let new = post_and_get_id(&shop, &first, json!({ "txid": "two" }));
    shop.set_payment_state(&second, "dropped");
    shop.assert_audit_clean();
    shop.set_payment_state(&new, "confirmed");
    shop.assert_invoice(
        &invoice,
        "underpaid",
        "created detected underpaid",
        "sale 60.00, fee -0.60",
        ["59.40", "0.00"],
    );
    // A reorg confirms the first transaction again, with both outputs.
    shop.set_payment_state(&new, "orphaned");
    let back = post_and_get_id(&shop, &new, json!({ "txid": "one" }));
    assert_eq!(back, first, "the first transaction returns");
    shop.set_payment_state(&second, "seen");
    for payment in [&first, &second] {
        shop.set_payment_state(payment, "confirmed");
        shop.assert_audit_clean();
    }
    assert_eq!(shop.get_invoice(&invoice)["status"], "confirmed");
    let states = "select group_concat(concat(txid, ' ', state), ', ') from (select * from observations order by seq)";
    assert_eq!(shop.query_text(states), "one confirmed, one confirmed, two dropped");
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(balances["data"][0]["available"], "118.80");
}

#[test]
fn returning_transaction_sends_no_further_event() {
    let (shop, invoice, [first, second]) = create_two_output_payment();
    shop.set_payment_state(&second, "dropped");
    let new = post_and_get_id(&shop, &first, json!({ "txid": "two" }));
    shop.advance("1h");
    let back = post_and_get_id(&shop, &new, json!({ "txid": "one" }));
    assert_eq!(back, first);
    // The payment still counts as in time. No event was sent when the payment was replaced and returned.
    shop.assert_invoice(&invoice, "detected", "created detected", "", ["0.00", "59.40"]);
    for (payment, more, param) in [
        (&first, json!({ "txid": "one" }), "txid"),
        (&first, json!({ "txid": "two", "amount": "0.002" }), "txid"),
        (&first, json!({ "amount": "0" }), "amount"),
        (&first, json!({ "txid": " " }), "txid"),
    ] {
        post_replacement(&shop, payment, more).assert_error(400, "invalid_request", Some(param));
    }
    for gone in [&new, &second] {
        post_replacement(&shop, gone, json!({})).assert_error(
            409,
            "invalid_transition",
            Some("state"),
        );
    }
    shop.set_payment_state(&first, "confirmed");
    let path = format!("{PATH}/{first}");
    shop.post(&path, None, json!({ "state": "confirmed" })).assert_error(
        409,
        "invalid_transition",
        Some("state"),
    );
    post_replacement(&shop, &first, json!({})).assert_error(
        409,
        "invalid_transition",
        Some("state"),
    );
    shop.assert_audit_clean();
}

#[test]
fn txid_is_normalized() {
    let shop = Shop::open();
    let pays = |asset: &str| {
        let invoice = shop.create_invoice("100.00", json!({ "asset": asset }));
        let id = invoice["id"].clone();
        move |txid: &str| json!({ "invoice": id, "txid": txid })
    };
    let (small, large) = ("ab".repeat(32), "AB".repeat(32));
    for (asset, kept) in
        [("BTC", small.clone()), ("TRX", small.clone()), ("ETH", format!("0x{small}"))]
    {
        let body = pays(asset);
        let first = shop.post(PATH, None, body(&large)).expect(201).json();
        assert_eq!(first["txid"], json!(kept), "{asset}");
        for text in [&small, &format!("0x{large}"), &format!("0X{small}")] {
            let again = shop.post(PATH, None, body(text)).expect(200).json();
            assert_eq!(again, first, "{asset}");
        }
    }
    // Ids of Solana transactions are base58, which is case-sensitive.
    let body = pays("SOL");
    shop.post(PATH, None, body(&large)).expect(201);
    shop.post(PATH, None, body(&small)).expect(201);
    // Ids are separate for each chain and mode.
    let live = json!({ "amount": "100.00", "currency": "EUR", "asset": "BTC" });
    let live = shop.post("/v1/invoices", Some(LIVE), live).expect(201).json();
    let body = json!({ "invoice": live["id"], "txid": small });
    shop.post(PATH, None, body).expect(201);
    shop.post(PATH, None, pays("LTC")(&small)).expect(201);
    let count = "select cast(count(*) as text) from observations";
    assert_eq!(shop.query_text(count), "7");
    shop.assert_audit_clean();
}

#[test]
fn coinbase_output_stays_unmatched() {
    let shop = Shop::open();
    shop.create_addresses(TEST, "ada").expect(201);
    let invoice = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let customer = shop.customer_address(TEST, "ada", "utxo");
    let outputs = json!([
        { "invoice": invoice["id"] },
        { "address": customer, "amount": "0.001" },
        { "address": FOREIGN, "asset": "BTC", "amount": "0.001" },
    ]);
    let body = json!({ "outputs": outputs, "coinbase": true });
    let made = shop.post(PATH, None, body).expect(201).json();
    for payment in made["data"].as_array().unwrap() {
        assert_eq!(payment["state"], "unmatched");
        shop.set_payment_state(payment["id"].as_str().unwrap(), "confirmed");
    }
    let reasons = "select group_concat(concat(reason, ' ', account is not null, ' ', invoice is not null), ', ') from
      (select * from unmatched_payments order by seq)";
    assert_eq!(shop.query_text(reasons), "coinbase 1 1, coinbase 1 0, unknown_address 0 0");
    shop.assert_invoice(
        invoice["id"].as_str().unwrap(),
        "awaiting_payment",
        "created",
        "",
        ["0.00", "0.00"],
    );
    shop.assert_audit_clean();
    let first = &made["data"][0]["id"];
    let on_tron = shop.create_invoice("60.00", json!({ "asset": "TRX" }));
    for (body, param) in [
        (json!({ "outputs": outputs, "coinbase": true, "spends": [first] }), "coinbase"),
        (json!({ "outputs": outputs, "coinbase": 1 }), "coinbase"),
        (json!({ "outputs": [{ "invoice": on_tron["id"] }], "coinbase": true }), "coinbase"),
        (json!({ "invoice": invoice["id"], "coinbase": true }), "coinbase"),
    ] {
        shop.post(PATH, None, body).assert_error(400, "invalid_request", Some(param));
    }
    // An operator may assign the coinbase output.
    let cookie = shop.sign_in_operator();
    let path = format!("/dashboard/api/unmatched-payments/{}/assign", first.as_str().unwrap());
    shop.session_request(&cookie, "POST", &path, &json!({ "invoice": invoice["id"] })).expect(200);
    assert_eq!(shop.get_invoice(invoice["id"].as_str().unwrap())["status"], "confirmed");
    shop.assert_audit_clean();
}
