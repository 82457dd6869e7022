//! Checkout pages for late payments, for underpayments, and for a chain that is behind.

use super::pages::{checkout_path_and_token, get_checkout_page, select_coin};
use crate::support::{LIVE, Shop};
use serde_json::{Value, json};

#[test]
fn late_payer_is_not_asked_to_pay_again() {
    let shop = Shop::open();
    let [expired, cancelled, failed] =
        [(); 3].map(|()| shop.create_invoice("20.00", json!({ "asset": "LTC" })));
    let vanished = shop.pay(json!({ "invoice": failed["id"] }));
    shop.set_payment_state(&vanished, "dropped");
    shop.cancel_invoice(cancelled["id"].as_str().unwrap()).expect(200);
    shop.advance("20m");
    for (invoice, heading, unpaid) in [
        (&expired, "The time to pay is over", "Nothing was paid"),
        (&cancelled, "Cancelled", "The shop has cancelled"),
        (&failed, "The payment did not go through", "has vanished"),
    ] {
        let heading = format!(">{heading}</h1>");
        let told = "Do not pay again";
        get_checkout_page(&shop, invoice)
            .assert_contains_texts(200, &[&heading, unpaid, "data-events=", "data-poll-seconds"])
            .assert_lacks_texts(&[told, "http-equiv"]);
        let late = shop.pay(json!({ "invoice": invoice["id"] }));
        let seen = [&*heading, told, "0.25 LTC", "http-equiv=\"refresh\""];
        get_checkout_page(&shop, invoice)
            .assert_contains_texts(200, &seen)
            .assert_lacks_texts(&[unpaid]);
        shop.set_payment_state(&late, "dropped");
        get_checkout_page(&shop, invoice).assert_lacks_texts(&[told, "http-equiv"]);
    }
}

#[test]
fn expired_page_requests_no_payment_while_the_chain_is_behind() {
    let shop = Shop::open();
    let body = json!({
        "amount": "20.00", "currency": "EUR", "asset": "LTC", "cancelUrl": "https://shop.example/cart",
    });
    let invoice = shop.post("/v1/invoices", Some(LIVE), body).expect(201);
    let invoice = invoice.json();
    let lags = |lags: bool| {
        let body = json!({ "lagging": lags }).to_string();
        let path = "/sandbox/chains/litecoin";
        shop.send("PATCH", path, &[], &body).expect(200);
    };
    lags(true);
    shop.advance("20m");
    let held = [
        "data-state=\"awaiting_payment\"",
        ">The time to pay is over</h1>",
        "the network is still being read",
        "Back to the shop",
        "http-equiv=\"refresh\" content=\"10\"",
    ];
    let address = invoice["depositAddress"].as_str().unwrap();
    let asked = [address, "0.25 LTC", "/select\"", "<svg class=\"qr\"", "left\""];
    get_checkout_page(&shop, &invoice).assert_contains_texts(200, &held).assert_lacks_texts(&asked);
    let (path, token) = checkout_path_and_token(&invoice);
    let late = select_coin(&shop, &path, &format!("token={token}&asset=BTC"));
    assert_eq!(late.status, 303, "the page says that it is over: {}", late.text);
    get_checkout_page(&shop, &invoice).assert_contains_texts(200, &held).assert_lacks_texts(&asked);
    lags(false);
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &["data-state=\"expired\"", "Nothing was paid in time"]);
}

#[test]
fn underpaid_page_shows_the_missing_amount_and_address() {
    let shop = Shop::open();
    let [invoice, tolerated] =
        [(); 2].map(|()| shop.create_invoice("20.00", json!({ "asset": "LTC" })));
    let pay = |of: &Value, amount: &str| shop.pay(json!({ "invoice": of["id"], "amount": amount }));
    let address = invoice["depositAddress"].as_str().unwrap();
    let missing = [
        "data-state=\"detected\"",
        ">Send 0.2 LTC more</h1>",
        "0.05 LTC was seen so far, less than was due. Send the rest to the same address.",
        address,
        "left\"",
        "http-equiv=\"refresh\" content=\"10\"",
    ];
    let part = pay(&invoice, "0.05");
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &missing)
        .assert_lacks_texts(&["/select\""]);
    let seen = [">Payment received, confirming</h1>"];
    let rest = pay(&invoice, "0.2");
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &seen)
        .assert_lacks_texts(&[address, "more</h1>"]);
    shop.set_payment_state(&rest, "dropped");
    get_checkout_page(&shop, &invoice).assert_contains_texts(200, &missing);
    shop.set_payment_state(&part, "confirmed");
    let arrived = [">Send 0.2 LTC more</h1>", "0.05 LTC has arrived"];
    get_checkout_page(&shop, &invoice).assert_contains_texts(200, &arrived);
    // 0.24875 LTC is 99.5 % of the 0.25 LTC due. The account accepts payments that are at most 0.5 % too low.
    pay(&tolerated, "0.24875");
    get_checkout_page(&shop, &tolerated)
        .assert_contains_texts(200, &seen)
        .assert_lacks_texts(&["more</h1>"]);
    // The invoice is for 0.25 LTC. After payments of 0.05 and 0.1 LTC, the page requests the missing 0.1 LTC only
    // until the deadline.
    pay(&invoice, "0.1");
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &[">Send 0.1 LTC more</h1>", "0.15 LTC was seen"]);
    shop.advance("20m");
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &seen)
        .assert_lacks_texts(&[address, "more</h1>"]);
}
