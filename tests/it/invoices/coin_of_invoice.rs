//! Which coin an invoice shows: that of its first payment that stands, else the one the customer picked last.

use crate::support::{Shop, TEST};
use serde_json::json;

/// An invoice for which LTC was picked and then BTC.
fn picked_twice(shop: &Shop) -> String {
    let invoice = shop.invoice("100.00", json!({ "asset": "LTC" }));
    let id = invoice["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/invoices/{id}/select");
    shop.post(&path, Some(TEST), json!({ "asset": "BTC" }))
        .expect(200);
    id
}

#[test]
fn a_payment_on_an_older_quote_is_worth_its_rate_and_speaks_for_the_invoice() {
    let shop = Shop::open();
    let id = picked_twice(&shop);
    let payment = shop.pay(json!({ "invoice": id, "asset": "LTC" }));
    let detected = shop.get_invoice(&id);
    assert_eq!(
        (
            &detected["status"],
            &detected["asset"],
            &detected["amountReceived"]
        ),
        (&json!("detected"), &json!("LTC"), &json!("1.25"))
    );
    shop.move_payment(&payment, "confirmed");
    assert_eq!(shop.get_invoice(&id)["status"], "confirmed");
    shop.move_payment(&payment, "dropped");
    assert_eq!(shop.get_invoice(&id)["asset"], "BTC");
}

/// A payment is not a pick: once all of them have vanished, the customer's own pick stands again.
#[test]
fn paying_in_the_coin_of_the_invoice_does_not_pick_it() {
    let shop = Shop::open();
    let id = picked_twice(&shop);
    let first = shop.pay(json!({ "invoice": id, "asset": "LTC", "amount": "0.5" }));
    let second = shop.pay(json!({ "invoice": id }));
    assert_eq!(shop.get_invoice(&id)["asset"], "LTC");
    for payment in [first, second] {
        shop.move_payment(&payment, "dropped");
    }
    let back = shop.get_invoice(&id);
    assert_eq!(
        (&back["status"], &back["asset"]),
        (&json!("awaiting_payment"), &json!("BTC"))
    );
}

/// What the rate is now counts for what comes late; what is in time counts at the rate that was frozen.
#[test]
fn the_rate_is_that_of_the_pick_until_the_deadline() {
    let shop = Shop::open();
    let picked = || shop.invoice("100.00", json!({ "asset": "LTC" }))["id"].clone();
    let (in_time, late) = (picked(), picked());
    // As if it had been half of what it is now when the coin was picked.
    shop.execute_sql("update quotes set rate = '40'; update invoices set rate = '40'");
    let paid = |id: &serde_json::Value, amount: &str| {
        let payment = shop.pay(json!({ "invoice": id, "amount": amount }));
        shop.move_payment(&payment, "confirmed");
        shop.get_invoice(id.as_str().unwrap())
    };
    let invoice = paid(&in_time, "2.5");
    assert_eq!(
        (&invoice["status"], &invoice["rate"]),
        (&json!("confirmed"), &json!("40"))
    );
    assert_eq!(
        shop.invoice_ledger(in_time.as_str().unwrap(), TEST),
        "sale 100.00, fee -1.00"
    );
    shop.advance("20m");
    assert_eq!(paid(&late, "1.25")["status"], "paid_late");
    assert_eq!(
        shop.invoice_ledger(late.as_str().unwrap(), TEST),
        "sale 100.00, fee -1.00"
    );
}

/// Asserts that no coin can be picked, and why; and that trying changes nothing.
#[track_caller]
fn cannot_pick(shop: &Shop, id: &str, status: &str, code: &str) {
    let before = shop.get_invoice(id);
    assert_eq!(before["status"], status);
    let path = format!("/v1/invoices/{id}/select");
    for asset in ["SOL", "LTC", "XYZ"] {
        let refused = shop.post(&path, Some(TEST), json!({ "asset": asset }));
        refused.assert_error(400, code, None);
    }
    assert_eq!(shop.get_invoice(id), before, "{status}");
}

#[test]
fn a_coin_is_picked_while_nothing_is_paid_and_there_is_time() {
    let shop = Shop::open();
    let make = || {
        let invoice = shop.invoice("100.00", json!({ "asset": "LTC" }));
        invoice["id"].as_str().unwrap().to_owned()
    };
    for (amount, status) in [
        ("1.25", "confirmed"),
        ("1.5", "overpaid"),
        ("0.5", "underpaid"),
    ] {
        let id = make();
        let payment = shop.pay(json!({ "invoice": id, "amount": amount }));
        cannot_pick(&shop, &id, "detected", "payment_in_flight");
        shop.move_payment(&payment, "confirmed");
        cannot_pick(&shop, &id, status, "payment_in_flight");
        shop.move_payment(&payment, "dropped");
        cannot_pick(&shop, &id, "failed", "invoice_closed");
    }
    let [waiting, cancelled, expired] = std::array::from_fn(|_| make());
    let payment = shop.pay(json!({ "invoice": waiting }));
    shop.move_payment(&payment, "dropped");
    let path = format!("/v1/invoices/{waiting}/select");
    let picked = shop.post(&path, Some(TEST), json!({ "asset": "SOL" }));
    assert_eq!(picked.expect(200).json()["asset"], "SOL");
    shop.cancel(&cancelled).expect(200);
    cannot_pick(&shop, &cancelled, "cancelled", "invoice_closed");
    shop.pay(json!({ "invoice": cancelled }));
    cannot_pick(&shop, &cancelled, "cancelled", "invoice_closed");
    shop.advance("20m");
    cannot_pick(&shop, &expired, "expired", "invoice_closed");
    cannot_pick(&shop, &waiting, "failed", "invoice_closed");
    let late = shop.pay(json!({ "invoice": expired }));
    shop.move_payment(&late, "confirmed");
    cannot_pick(&shop, &expired, "paid_late", "invoice_closed");
}
