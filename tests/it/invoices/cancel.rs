//! Cancellation of an invoice with a key: `POST /v1/invoices/{id}/cancel`.

use crate::customers::addresses::create_second_account;
use crate::invoices::idempotency::concurrent_responses;
use crate::support::object_id;
use crate::support::operator_interface::OperatorInterface;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

/// A key of the older form, which the sandbox accepts.
const LEGACY: &str = "sandbox.sandbox";

/// Starts a sandbox with an invoice of 100.00 EUR that waits for 1.25 LTC.
#[track_caller]
fn shop_with_quoted_invoice() -> (Shop, String) {
    let shop = Shop::open();
    let id = object_id(&shop.create_invoice("100.00", json!({ "asset": "LTC" })));
    (shop, id)
}

/// Cancels an invoice with these headers and no body.
#[track_caller]
fn cancel(shop: &Shop, id: &str, headers: &[(&str, &str)]) -> Response {
    shop.send("POST", &format!("/v1/invoices/{id}/cancel"), headers, "")
}

#[track_caller]
fn assert_not_cancellable(shop: &Shop, id: &str) {
    let before = shop.get_invoice(id);
    let refused = cancel(shop, id, &[("X-API-Key", TEST)]);
    refused.assert_error(409, "invoice_not_cancellable", None);
    assert_eq!(shop.get_invoice(id), before);
    assert!(!shop.event_types(id, TEST).contains(&"invoice.cancelled".to_owned()));
}

#[test]
fn open_invoice_is_cancelled_once_by_its_key() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let id = object_id(&shop.create_invoice("10.00", json!({})));
    let cancelled = cancel(shop, &id, &[("X-API-Key", TEST)]).expect(200).json();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled, shop.get_invoice(&id));
    let again = cancel(shop, &id, &[("X-API-Key", TEST)]);
    again.assert_error(409, "invoice_not_cancellable", None);
    assert_eq!(shop.event_types(&id, TEST), ["invoice.created", "invoice.cancelled"]);
    let key = shop
        .query_text("select id from keys where account = 1 and class = 'secret' and mode = 'test'");
    assert_eq!(interface.audit_entries(&id), [(format!("key {key}"), "invoice.cancel".to_owned())]);
}

#[test]
fn late_payment_of_a_cancelled_invoice_is_booked() {
    let (shop, id) = shop_with_quoted_invoice();
    cancel(&shop, &id, &[("X-API-Key", TEST)]).expect(200);
    shop.assert_invoice(&id, "cancelled", "created cancelled", "", ["0.00", "0.00"]);
    let payment = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&payment, "confirmed");
    let told = "created cancelled paid_late";
    shop.assert_invoice(&id, "paid_late", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
    cancel(&shop, &id, &[("X-API-Key", TEST)]).assert_error(409, "invoice_not_cancellable", None);
}

#[test]
fn paid_and_closed_invoices_are_not_cancelled() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    assert_eq!(shop.get_invoice(&id)["status"], "detected");
    assert_not_cancellable(&shop, &id);
    shop.set_payment_state(&payment, "confirmed");
    assert_not_cancellable(&shop, &id);
    let (shop, id) = shop_with_quoted_invoice();
    shop.advance("20m");
    assert_eq!(shop.get_invoice(&id)["status"], "expired");
    assert_not_cancellable(&shop, &id);
}

#[test]
fn only_a_secret_key_of_the_same_account_and_mode_cancels() {
    let (shop, id) = shop_with_quoted_invoice();
    let foreign = create_second_account(shop.file(), "test");
    for key in [LIVE, LEGACY, &foreign] {
        cancel(&shop, &id, &[("X-API-Key", key)]).assert_error(404, "not_found", None);
    }
    cancel(&shop, &id, &[("X-API-Key", "pk_test_sandbox")]).assert_error(
        403,
        "wrong_key_type",
        None,
    );
    let session = shop.sign_in_operator();
    for headers in [&[][..], &[("X-API-Key", "sk_test_unknown")], &[("Cookie", session.as_str())]] {
        cancel(&shop, &id, headers).assert_error(401, "unauthorized", None);
    }
    for unknown in ["01900000-0000-7000-8000-000000000000", "no-id", "%00", "%3Cb%3E"] {
        let refused = cancel(&shop, unknown, &[("X-API-Key", TEST)]);
        refused.assert_error(404, "not_found", None);
    }
    assert_eq!(shop.get_invoice(&id)["status"], "awaiting_payment");
    let live = json!({ "amount": "10.00", "currency": "EUR" });
    let live = object_id(&shop.post("/v1/invoices", Some(LEGACY), live).expect(201).json());
    cancel(&shop, &live, &[("X-API-Key", TEST)]).assert_error(404, "not_found", None);
    let cancelled = cancel(&shop, &live, &[("X-API-Key", LEGACY)]).expect(200).json();
    assert_eq!((&cancelled["status"], &cancelled["livemode"]), (&json!("cancelled"), &json!(true)));
}

#[test]
fn retry_with_the_same_key_answers_the_stored_response() {
    let (shop, id) = shop_with_quoted_invoice();
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "one")];
    let answers = concurrent_responses(|| cancel(&shop, &id, &headers));
    for answer in &answers {
        assert_eq!((answer.status, &answer.text), (200, &answers[0].text));
    }
    assert_eq!(shop.event_types(&id, TEST), ["invoice.created", "invoice.cancelled"]);
    let other = [("X-API-Key", TEST), ("Idempotency-Key", "two")];
    cancel(&shop, &id, &other).assert_error(409, "invoice_not_cancellable", None);
    // The key belongs to the invoice that it cancelled.
    let second = object_id(&shop.create_invoice("20.00", json!({})));
    cancel(&shop, &second, &headers).assert_error(
        409,
        "idempotency_conflict",
        Some("Idempotency-Key"),
    );
    assert_eq!(shop.get_invoice(&second)["status"], "created");
    let upper = id.to_uppercase();
    assert_eq!(cancel(&shop, &upper, &headers).expect(200).text, answers[0].text);
}

#[test]
fn refused_cancellation_is_not_stored_under_its_key() {
    let (shop, id) = shop_with_quoted_invoice();
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "one")];
    let payment = shop.pay(json!({ "invoice": id }));
    cancel(&shop, &id, &headers).assert_error(409, "invoice_not_cancellable", None);
    shop.set_payment_state(&payment, "dropped");
    assert_eq!(cancel(&shop, &id, &headers).expect(200).json()["status"], "cancelled");
}

#[test]
fn lost_answer_of_a_cancellation_is_found_by_its_key() {
    let (shop, id) = shop_with_quoted_invoice();
    let route = "POST /v1/invoices/{id}/cancel";
    let fault = |fault: Value| shop.post("/sandbox/faults", None, fault).expect(200);
    fault(json!({ "route": route, "status": 503, "times": 1 }));
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "one")];
    assert_eq!(cancel(&shop, &id, &headers).status, 503);
    assert_eq!(shop.get_invoice(&id)["status"], "awaiting_payment");
    fault(json!({ "route": route, "dropAnswer": true, "times": 1 }));
    let url = format!("{}/v1/invoices/{id}/cancel", shop.url());
    let lost = crate::support::agent().post(&url).header(headers[0].0, headers[0].1);
    assert!(lost.header(headers[1].0, headers[1].1).send_empty().is_err());
    assert_eq!(shop.get_invoice(&id)["status"], "cancelled");
    assert_eq!(cancel(&shop, &id, &headers).expect(200).json(), shop.get_invoice(&id));
}

#[test]
fn cancellation_sends_its_webhook() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let invoice = shop.create_invoice("10.00", json!({ "webhookUrl": receiver.url() }));
    let cancelled = cancel(&shop, &object_id(&invoice), &[("X-API-Key", TEST)]).expect(200);
    let mut sent = receiver.wait_for_requests(2).into_iter().map(|request| request.json());
    let event = sent.find(|event| event["type"] == "invoice.cancelled").unwrap();
    assert_eq!(event["data"]["object"], cancelled.json());
}
