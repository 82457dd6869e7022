//! Receipts for payers, as a sandbox shows them.

use super::open_with_all_messages;
use crate::support::operator_interface::OperatorInterface;
use crate::support::stream::EventStream;
use crate::support::{Shop, TEST, polling};
use serde_json::{Value, json};

/// Returns the texts of all receipts: recipient, language, subject and body, oldest first.
fn receipts(shop: &Shop) -> Vec<[String; 4]> {
    let file = open_with_all_messages(shop.file());
    let query = "select recipient, language, subject, body from mail_messages where kind = 'receipt' order by seq";
    let mut rows = file.prepare(query).unwrap();
    let rows = rows.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]));
    rows.unwrap().map(Result::unwrap).collect()
}

fn switch_receipts(all: &OperatorInterface, enabled: bool) -> Value {
    all.request("PUT", "receipts", &json!({ "enabled": enabled })).expect(200).json()
}

/// Creates an invoice and pays it. Returns the invoice.
fn pay_invoice(all: &OperatorInterface, more: Value, case: &str) -> Value {
    let mut body = json!({ "asset": "LTC", "customerEmail": "ada@example.com" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let invoice = all.shop.create_invoice("20.00", body);
    let path = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
    all.shop.post(&path, Some(TEST), json!({ "case": case })).expect(200);
    invoice
}

#[test]
fn payer_gets_one_receipt_after_confirmed_money() {
    let all = OperatorInterface::open();
    pay_invoice(&all, json!({}), "exact");
    assert!(receipts(&all.shop).is_empty(), "receipts are off at first");
    switch_receipts(&all, true);
    pay_invoice(&all, json!({ "customerEmail": null }), "exact");
    pay_invoice(&all, json!({}), "under");
    assert!(receipts(&all.shop).is_empty());
    let body =
        json!({ "asset": "LTC", "customerEmail": "ada@example.com", "orderId": "order-1001" });
    let invoice = all.shop.create_invoice("20.00", body);
    let payment = all.shop.pay(json!({ "invoice": invoice["id"] }));
    assert!(receipts(&all.shop).is_empty(), "the money is only seen");
    all.shop.set_payment_state(&payment, "confirmed");
    all.shop.set_payment_state(&payment, "dropped");
    all.shop.set_payment_state(&payment, "confirmed");
    let [[to, language, subject, text]] = <[_; 1]>::try_from(receipts(&all.shop)).unwrap();
    assert_eq!((to.as_str(), language.as_str()), ("ada@example.com", "en"));
    assert!(subject.starts_with("Receipt from ") && subject.ends_with(": 20.00 EUR"), "{subject}");
    let url = all.shop.get_invoice(invoice["id"].as_str().unwrap())["checkoutUrl"].clone();
    assert!(text.contains(url.as_str().unwrap()) && text.contains("Order: order-1001"), "{text}");
    let view = switch_receipts(&all, false);
    assert_eq!((&view["enabled"], &view["lastDay"]), (&json!(false), &json!(1)));
    pay_invoice(&all, json!({}), "exact");
    assert_eq!(receipts(&all.shop).len(), 1);
    let noted = all.audit_entries(&all.account);
    let changes = noted.iter().filter(|(_, action)| action == "receipts.change").count();
    assert_eq!(changes, 2);
}

#[test]
fn receipt_is_in_the_language_of_the_checkout() {
    let all = OperatorInterface::open();
    switch_receipts(&all, true);
    let see_and_pay = |query: &str, headers: &[(&str, &str)]| {
        let body = json!({ "asset": "LTC", "customerEmail": "ada@example.com" });
        let invoice = all.shop.create_invoice("20.00", body);
        let id = invoice["id"].as_str().unwrap().to_owned();
        let page = invoice["checkoutUrl"]
            .as_str()
            .unwrap()
            .strip_prefix(all.shop.url())
            .unwrap()
            .to_owned();
        all.shop.send("GET", &format!("{page}{query}"), headers, "").expect(200);
        all.shop
            .post(&format!("/v1/invoices/{id}/simulate"), Some(TEST), json!({ "case": "exact" }))
            .expect(200);
        receipts(&all.shop).pop().unwrap()[1].clone()
    };
    assert_eq!(see_and_pay("", &[]), "en");
    assert_eq!(see_and_pay("", &[("accept-language", "fr")]), "fr");
    assert_eq!(see_and_pay("&lang=pl", &[("accept-language", "fr")]), "pl");
    let path = format!("/dashboard/api/accounts/{}", all.account);
    all.send(&all.operator, "PATCH", &path, &json!({ "checkoutLang": "de" })).expect(200);
    assert_eq!(see_and_pay("", &[("accept-language", "fr")]), "de");
    assert_eq!(see_and_pay("&lang=ja", &[]), "ja");
}

#[test]
fn hostile_texts_stay_plain() {
    let all = OperatorInterface::open();
    switch_receipts(&all, true);
    let hostile = "Won!\r\nBcc: eve@evil.example\r\n\r\nSee https://evil.example/ \u{202e}now";
    pay_invoice(&all, json!({ "description": hostile, "orderId": hostile }), "exact");
    pay_invoice(&all, json!({ "description": "é".repeat(500) }), "exact");
    let [first, second] = <[_; 2]>::try_from(receipts(&all.shop)).unwrap();
    let [_, _, subject, text] = first;
    assert!(!subject.contains(['\r', '\n']) && !text.contains(['\r', '\u{202e}']), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("Bcc")), "{text}");
    assert_eq!(text.matches("://").count(), 1, "{text}");
    assert!(!text.contains("evil.example"), "{text}");
    let about = second[3].lines().find_map(|line| line.strip_prefix("Description: ")).unwrap();
    assert_eq!(about.chars().count(), 200);
    for wrong in [
        "ada@example.com\r\nBcc: eve@evil.example".to_owned(),
        "ada@example.com,eve@evil.example".to_owned(),
        format!("{}@example.com", "a".repeat(300)),
    ] {
        let body = json!({ "amount": "1.00", "currency": "EUR", "customerEmail": wrong });
        all.shop.post("/v1/invoices", Some(TEST), body).assert_error(
            400,
            "invalid_request",
            Some("customerEmail"),
        );
    }
}

#[test]
fn sandbox_shows_mail_in_its_activity() {
    let all = OperatorInterface::open();
    switch_receipts(&all, true);
    let mut stream = EventStream::open(&all.shop, "/sandbox/stream", "");
    pay_invoice(&all, json!({}), "exact");
    let told = stream.next_matching(|told| told.name == "mail");
    let mail = &told.data;
    assert_eq!((&mail["kind"], &mail["about"]), (&json!("mail"), &json!("receipt")));
    assert_eq!((&mail["to"], &mail["language"]), (&json!("ada@example.com"), &json!("en")));
    assert!(mail["id"].as_str().unwrap().ends_with("@sandbox.test"), "{mail}");
    assert!(mail["text"].as_str().unwrap().starts_with("Your payment has arrived."), "{mail}");
    // The message is in the stream before its outcome is stored.
    let state = || all.shop.query_text("select state || attempts from mail_messages");
    assert!(polling::wait_until(|| state() == "sent1"), "{}", state());
}

#[test]
fn receipts_are_of_the_users_account() {
    let all = OperatorInterface::open();
    all.assert_access("getReceipts", "GET", "receipts", false);
    all.assert_access("setReceipts", "PUT", "receipts", false);
    all.request_as_merchant("PUT", "receipts", &json!({ "enabled": true })).expect(200);
    for wrong in [json!({}), json!({ "enabled": "yes" }), json!({ "enabled": true, "daily": 1 })] {
        assert_eq!(all.request("PUT", "receipts", &wrong).status, 400, "{wrong}");
    }
}
