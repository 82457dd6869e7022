//! The first payment of an invoice, from the creation of the invoice to the webhook of the shop.

use crate::support::{Shop, TEST};
use serde_json::{Value, json};

/// Returns the values of a field in a list.
fn field_values(list: &Value, field: &str) -> Vec<Value> {
    let items = list["data"].as_array().unwrap().iter();
    items.map(|item| item[field].clone()).collect()
}

#[test]
fn invoice_payment_is_booked_and_notified() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox }] }));
    let invoice = shop.create_invoice("20.00", json!({ "orderId": "order-1" }));
    let id = invoice["id"].as_str().unwrap();
    let path = format!("/v1/invoices/{id}");

    let select = shop.post(&format!("{path}/select"), Some(TEST), json!({ "asset": "LTC" }));
    let quoted = select.expect(200).json();
    assert_eq!(quoted["status"], "awaiting_payment");
    assert_eq!(quoted["amountExpected"], "0.25");

    let simulate = shop.send("POST", &format!("{path}/simulate"), &[("X-API-Key", TEST)], "");
    let paid = simulate.expect(200).json();
    assert_eq!((&paid["status"], &paid["paid"]), (&json!("confirmed"), &json!(true)));
    assert_eq!(shop.get_invoice(id), paid, "GET and POST return the same");

    let ledger = shop.get("/v1/ledger", Some(TEST)).expect(200).json();
    assert_eq!(field_values(&ledger, "kind"), ["fee", "sale"]);
    assert_eq!(field_values(&ledger, "amount"), ["-0.20", "20.00"]);
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(field_values(&balances, "available"), ["19.80", "0.00"]);

    let told = ["invoice.created", "invoice.detected", "invoice.confirmed"];
    assert_eq!(shop.event_types(id, TEST), told);
    shop.advance("0s");
    let received = shop.get("/sandbox/inbox/shop", None).expect(200).json();
    let bodies = field_values(&received, "body");
    assert_eq!(bodies.len(), told.len());
    for kind in told {
        let kind = format!("\"type\":\"{kind}\"");
        assert!(bodies.iter().any(|body| body.as_str().unwrap().contains(&kind)), "{kind}");
    }
}
