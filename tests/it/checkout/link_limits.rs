//! Limits of payment links: the expiry, the number of paid uses, and the URL after payment.

use crate::support::links::LinkClient;
use crate::support::object_ids;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};
use std::thread;

const EXPIRED: &str = "This link has expired";
const USED_UP: &str = "This link is used up";

/// Creates a link for a coffee with further fields.
#[track_caller]
fn create_link(interface: &LinkClient<'_>, more: Value) -> Value {
    let mut body = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    interface.create_test_link(body)
}

/// Asserts that the page of the link shows this heading and creates no invoice.
#[track_caller]
fn assert_closed(interface: &LinkClient<'_>, link: &Value, heading: &str) {
    let heading = format!("<h1>{heading}</h1>");
    let page = interface.shop.get_page(&format!("/l/{}", link["id"].as_str().unwrap()));
    page.assert_contains_texts(200, &[&heading, "A coffee"]).assert_lacks_texts(&["<form"]);
    let answer = interface.submit(link).expect(409);
    assert!(answer.text.contains(&heading) && !answer.text.contains("<form"), "{}", answer.text);
}

#[track_caller]
fn pay(shop: &Shop, invoice: &str) {
    let path = format!("/v1/invoices/{invoice}/simulate");
    shop.post(&path, Some(TEST), json!({ "asset": "LTC" })).expect(200);
}

/// Returns the paid and the unconfirmed uses of the link, and its state.
#[track_caller]
fn uses(interface: &LinkClient<'_>, link: &Value) -> (i64, i64, String) {
    let read = interface.read(link);
    let count = |name: &str| read[name].as_i64().unwrap();
    (count("paidUses"), count("unconfirmedUses"), read["state"].as_str().unwrap().to_owned())
}

#[test]
fn expired_link_creates_no_invoice() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    shop.post("/sandbox/clock", None, json!({ "set": "2099-01-01T00:00:00.000Z" })).expect(200);
    let interface = LinkClient { cookie: shop.sign_in_operator(), ..interface };
    let link = create_link(&interface, json!({ "expiresAt": "2099-01-01T01:00:00+00:30" }));
    assert_eq!(link["expiresAt"], "2099-01-01T00:30:00.000Z");
    let page = shop.get_page(&format!("/l/{}", link["id"].as_str().unwrap()));
    page.assert_contains_texts(
        200,
        &["datetime=\"2099-01-01T00:30:00.000Z\" dir=\"ltr\"", "<form"],
    );
    let invoice = interface.create_invoice(&link);
    shop.advance("29m59s");
    let last = interface.create_invoice(&link);
    shop.advance("1s");
    assert_closed(&interface, &link, EXPIRED);
    assert_eq!(uses(&interface, &link), (0, 0, "expired".to_owned()));
    // An open invoice keeps its own deadline.
    assert_eq!(shop.get_invoice(&invoice)["status"], "expired");
    pay(&shop, &last);
    assert_eq!(shop.get_invoice(&last)["status"], "confirmed");
    let page = shop.get_page(&format!("/l/{}?lang=de", link["id"].as_str().unwrap()));
    page.assert_contains_texts(200, &["<h1>Dieser Link ist abgelaufen</h1>"]);
    interface.update(&link, json!({ "expiresAt": null })).expect(200);
    interface.create_invoice(&link);
    shop.assert_audit_clean();
}

#[test]
fn limits_outside_their_range_are_refused() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface, json!({}));
    let now = shop.now();
    for (field, value) in [
        ("expiresAt", json!(now)),
        ("expiresAt", json!("2020-01-01T00:00:00Z")),
        ("expiresAt", json!("tomorrow")),
        ("expiresAt", json!("2099-02-30T00:00:00Z")),
        ("expiresAt", json!("10000-01-01T00:00:00Z")),
        ("expiresAt", json!(1)),
        ("paidUsesMax", json!(0)),
        ("paidUsesMax", json!(-1)),
        ("paidUsesMax", json!(1.5)),
        ("paidUsesMax", json!(100_001)),
        ("paidUsesMax", json!("1")),
        ("redirectUrl", json!("javascript:alert(1)")),
        ("redirectUrl", json!("data:text/html,x")),
        ("redirectUrl", json!("/thanks")),
        ("redirectUrl", json!("http://")),
        ("redirectUrl", json!("https://a b")),
        ("redirectUrl", json!("")),
        ("pictureUrl", json!("https://shop.example/a.png")),
        ("paidUses", json!(1)),
        ("state", json!("open")),
    ] {
        let mut body = json!({ "name": "Tea", "currency": "EUR" });
        body[field] = value.clone();
        let refused = interface.create("live", &body);
        refused.assert_error(400, "invalid_request", Some(field));
        let refused = interface.update(&link, json!({ field: value }));
        refused.assert_error(400, "invalid_request", Some(field));
    }
    assert_eq!(interface.read(&link), link);
    // The file refuses what the operations refuse.
    let file = rusqlite::Connection::open(shop.file()).unwrap();
    for wrong in [
        "paid_uses_max = 0",
        "paid_uses_max = 100001",
        "expires_at = created_at",
        "redirect_url = ''",
    ] {
        let changed = file.execute(&format!("update payment_links set {wrong}"), []);
        assert!(changed.unwrap_err().to_string().contains("CHECK"), "{wrong}");
    }
}

#[test]
fn used_link_creates_no_invoice() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface, json!({ "paidUsesMax": 2 }));
    pay(&shop, &interface.create_invoice(&link));
    assert_eq!(uses(&interface, &link), (1, 0, "open".to_owned()));
    // Invoices that are open, underpaid or expired are no uses.
    let under = interface.create_invoice(&link);
    let path = format!("/v1/invoices/{under}/simulate");
    shop.post(&path, Some(TEST), json!({ "asset": "LTC", "case": "under" })).expect(200);
    interface.create_invoice(&link);
    pay(&shop, &interface.create_invoice(&link));
    assert_closed(&interface, &link, USED_UP);
    assert_eq!(uses(&interface, &link), (2, 0, "used_up".to_owned()));
    // A higher limit opens the link again, and a lower one than the uses so far closes it.
    interface.update(&link, json!({ "paidUsesMax": 3 })).expect(200);
    interface.create_invoice(&link);
    let lowered = interface.update(&link, json!({ "paidUsesMax": 1 })).expect(200).json();
    assert_eq!((&lowered["paidUses"], &lowered["state"]), (&json!(2), &json!("used_up")));
    assert_closed(&interface, &link, USED_UP);
    interface.update(&link, json!({ "paidUsesMax": null })).expect(200);
    interface.create_invoice(&link);
}

#[test]
fn unconfirmed_payment_is_a_use_until_it_is_dropped() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface, json!({ "paidUsesMax": 1 }));
    let invoice = interface.create_invoice(&link);
    let payment = shop.pay(json!({ "invoice": invoice, "asset": "LTC" }));
    assert_eq!(uses(&interface, &link), (0, 1, "used_up".to_owned()));
    assert_closed(&interface, &link, USED_UP);
    for (state, expected) in [
        ("confirmed", (1, 0, "used_up")),
        ("orphaned", (0, 1, "used_up")),
        ("confirmed", (1, 0, "used_up")),
        ("orphaned", (0, 1, "used_up")),
        ("dropped", (0, 0, "open")),
    ] {
        shop.set_payment_state(&payment, state);
        let (paid, unconfirmed, name) = expected;
        assert_eq!(uses(&interface, &link), (paid, unconfirmed, name.to_owned()), "{state}");
    }
    interface.create_invoice(&link);
    shop.assert_audit_clean();
}

#[test]
fn payments_beyond_the_limit_are_accepted_and_listed_first() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface, json!({ "paidUsesMax": 1 }));
    let ids: Vec<String> = (0..3).map(|_| interface.create_invoice(&link)).collect();
    for id in &ids {
        pay(&shop, id);
        shop.advance("1s");
    }
    for id in &ids {
        assert_eq!(shop.get_invoice(id)["paid"], true);
    }
    assert_eq!(uses(&interface, &link), (3, 0, "used_up".to_owned()));
    let (account, id) = (&interface.account, link["id"].as_str().unwrap());
    let path = format!("/dashboard/api/accounts/{account}/payment-links/{id}/paid-invoices");
    let get = |mode: &str| {
        let path = format!("{path}?mode={mode}");
        shop.session_request(&interface.cookie, "GET", &path, &Value::Null)
    };
    let listed = object_ids(&get("test").expect(200).json());
    assert_eq!(listed, [&ids[2][..], &ids[1], &ids[0]]);
    get("live").assert_error(404, "not_found", None);
    shop.assert_audit_clean();
}

#[test]
fn payments_at_the_same_time_are_all_counted() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = create_link(&interface, json!({ "paidUsesMax": 5 }));
    let ids: Vec<String> = (0..16).map(|_| interface.create_invoice(&link)).collect();
    // While the payments are confirmed at the same time, others try to create invoices.
    thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| pay(&shop, id));
            scope.spawn(|| assert!([303, 409].contains(&interface.submit(&link).status)));
        }
    });
    assert_eq!(uses(&interface, &link), (16, 0, "used_up".to_owned()));
    assert_closed(&interface, &link, USED_UP);
    shop.assert_audit_clean();
}

#[test]
fn redirect_url_of_the_link_comes_before_that_of_the_account() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    shop.execute_sql("update accounts set success_url = 'https://shop.example/thanks'");
    let link =
        create_link(&interface, json!({ "redirectUrl": "http://shop.example/coffee?a=b&c" }));
    let plain = create_link(&interface, json!({}));
    for (link, url) in
        [(&link, "http://shop.example/coffee?a=b&c"), (&plain, "https://shop.example/thanks")]
    {
        let id = interface.create_invoice(link);
        let path = format!("/dashboard/api/accounts/{}/invoices/{id}?mode=test", interface.account);
        let detail = shop.session_request(&interface.cookie, "GET", &path, &Value::Null);
        assert_eq!(detail.expect(200).json()["redirectUrl"], url);
    }
    let app = interface.update(&link, json!({ "redirectUrl": "myshop://paid" })).expect(200);
    assert_eq!(app.json()["redirectUrl"], "myshop://paid");
}
