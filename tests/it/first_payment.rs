//! The first payment, from the invoice to the shop's receiver.

use crate::support::{Shop, TEST};
use serde_json::json;

#[test]
fn an_invoice_is_paid_booked_and_told() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.switch(json!({ "endpoints": [{ "url": inbox }] }));
    let invoice = shop.invoice("20.00", json!({ "orderId": "order-1" }));
    let id = invoice["id"].as_str().unwrap();
    let path = format!("/v1/invoices/{id}");

    let quoted = shop
        .post(
            &format!("{path}/select"),
            Some(TEST),
            json!({ "asset": "LTC" }),
        )
        .expect(200)
        .json();
    assert_eq!(
        (&quoted["status"], &quoted["amountExpected"]),
        (&json!("awaiting_payment"), &json!("0.25"))
    );

    let paid = shop
        .send(
            "POST",
            &format!("{path}/simulate"),
            &[("X-API-Key", TEST)],
            "",
        )
        .expect(200)
        .json();
    assert_eq!(
        (&paid["status"], &paid["paid"]),
        (&json!("confirmed"), &json!(true))
    );
    assert_eq!(
        shop.read(id),
        paid,
        "the GET answers what the POST answered"
    );

    let ledger = shop.get("/v1/ledger", Some(TEST)).expect(200).json();
    let booked: Vec<_> = ledger["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["kind"], &entry["amount"]))
        .collect();
    assert_eq!(
        booked,
        [
            (&json!("fee"), &json!("-0.20")),
            (&json!("sale"), &json!("20.00"))
        ]
    );
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(balances["data"][0]["available"], "19.80");

    assert_eq!(
        shop.event_types(id, TEST),
        ["invoice.created", "invoice.detected", "invoice.confirmed"]
    );
    shop.advance("0s");
    let received = shop.get("/sandbox/inbox/shop", None).expect(200).json();
    let told: Vec<_> = received["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["body"].as_str().unwrap())
        .collect();
    assert_eq!(told.len(), 3);
    assert!(
        told.iter()
            .any(|body| body.contains("\"type\":\"invoice.confirmed\""))
    );
}
