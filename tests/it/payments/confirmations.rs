//! Confirmations of payments on simulated chains, set one after the other.
//!
//! An invoice over 100.00 EUR in litecoin needs 3 confirmations, one over 1000.00 EUR needs 6.

use super::effects::create_waiting_invoice;
use crate::support::operator_interface::OperatorInterface;
use crate::support::stream::EventStream;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

impl Shop {
    /// Sets the number of confirmations of a payment.
    fn set_confirmations(&self, payment: &str, count: Value) -> Response {
        let path = format!("/sandbox/payments/{payment}");
        self.post(&path, None, json!({ "confirmations": count }))
    }

    /// Sets the number of confirmations of a payment. Returns its state, its confirmations and the needed ones.
    #[track_caller]
    fn confirmed_by(&self, payment: &str, count: u32) -> (Value, Value, Value) {
        let answer = self.set_confirmations(payment, json!(count)).expect(200).json();
        assert_eq!(answer["id"], payment);
        let field = |name: &str| answer[name].clone();
        (field("state"), field("confirmations"), field("confirmationsNeeded"))
    }
}

fn seen(confirmations: u32, needed: u32) -> (Value, Value, Value) {
    (json!("seen"), json!(confirmations), json!(needed))
}

fn confirmed() -> (Value, Value, Value) {
    (json!("confirmed"), json!(null), json!(null))
}

#[test]
fn needed_number_of_confirmations_confirms_in_both_modes() {
    for (key, price, needed) in [(TEST, "100.00", 3), (LIVE, "100.00", 3), (TEST, "1000.00", 6)] {
        let shop = Shop::open();
        let body = json!({ "amount": price, "currency": "EUR", "asset": "LTC" });
        let invoice = shop.post("/v1/invoices", Some(key), body).expect(201).json();
        let id = invoice["id"].as_str().unwrap();
        let body = json!({ "invoice": id });
        let put = shop.post("/sandbox/payments", None, body).expect(201).json();
        assert_eq!(
            (&put["confirmations"], &put["confirmationsNeeded"]),
            (&json!(0), &json!(needed))
        );
        let payment = put["id"].as_str().unwrap();
        let status = || shop.get(&format!("/v1/invoices/{id}"), Some(key)).json()["status"].clone();
        for count in 1..needed {
            assert_eq!(shop.confirmed_by(payment, count), seen(count, needed));
            // The same number again changes nothing.
            assert_eq!(shop.confirmed_by(payment, count), seen(count, needed));
            assert_eq!(status(), "detected");
        }
        assert_eq!(shop.confirmed_by(payment, needed), confirmed());
        assert_eq!(status(), "confirmed");
        let told = ["created", "detected", "confirmed"].map(|name| format!("invoice.{name}"));
        assert_eq!(shop.event_types(id, key), told);
        shop.assert_audit_clean();
    }
}

#[test]
fn invalid_confirmations_are_refused_and_change_nothing() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    assert_eq!(shop.confirmed_by(&payment, 0), seen(0, 3));
    assert_eq!(shop.confirmed_by(&payment, 2), seen(2, 3));
    let path = format!("/sandbox/payments/{payment}");
    for wrong in
        [json!(-1), json!(1_000_000_000), json!("two"), json!(1.5), json!([1]), json!(true)]
    {
        shop.set_confirmations(&payment, wrong).assert_error(
            400,
            "invalid_request",
            Some("confirmations"),
        );
    }
    for (body, param) in [
        (json!({}), "state"),
        (json!({ "confirmations": null }), "state"),
        (json!({ "confirmations": 1, "state": "confirmed" }), "confirmations"),
        (json!({ "confirmations": 1, "amount": "1" }), "amount"),
        (json!({ "confirmations": 1, "more": 1 }), "more"),
    ] {
        shop.post(&path, None, body).assert_error(400, "invalid_request", Some(param));
    }
    let refused = |count: u32| {
        let answer = shop.set_confirmations(&payment, json!(count));
        answer.assert_error(409, "invalid_transition", Some("confirmations"));
    };
    (0..2).for_each(refused);
    assert_eq!(shop.confirmed_by(&payment, 2), seen(2, 3));
    assert_eq!(shop.confirmed_by(&payment, 100_000), confirmed());
    refused(3);
    shop.set_payment_state(&payment, "dropped");
    refused(1);
    shop.post("/sandbox/payments/none", None, json!({ "confirmations": 1 })).assert_error(
        404,
        "not_found",
        None,
    );
}

#[test]
fn orphaned_and_dropped_payments_begin_without_confirmations() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    assert_eq!(shop.confirmed_by(&payment, 2), seen(2, 3));
    let orphaned = shop.set_payment_state(&payment, "orphaned");
    assert_eq!((&orphaned["state"], &orphaned["confirmations"]), (&json!("seen"), &json!(0)));
    assert_eq!(shop.confirmed_by(&payment, 1), seen(1, 3));
    shop.set_payment_state(&payment, "dropped");
    assert_eq!(shop.set_payment_state(&payment, "seen")["confirmations"], 0);
    assert_eq!(shop.confirmed_by(&payment, 3), confirmed());
    assert_eq!(shop.set_payment_state(&payment, "orphaned")["confirmations"], 0);
    assert_eq!(shop.confirmed_by(&payment, 1), seen(1, 3));
    shop.set_payment_state(&payment, "confirmed");
    let booked = "sale 100.00, fee -1.00, adjustment -100.00, adjustment 1.00, adjustment 100.00, adjustment -1.00";
    let told = "created detected detected confirmed detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, booked, ["99.00", "0.00"]);
    shop.assert_audit_clean();
}

#[test]
fn concurrent_confirmations_book_once() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let calls =
            (0..8).map(|_| scope.spawn(|| shop.set_confirmations(&payment, json!(3)).status));
        let calls: Vec<_> = calls.collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
    let told = "created detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
}

#[test]
fn final_block_is_confirmed_by_its_state() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({ "asset": "SOL" }))["id"].clone();
    let payment = shop.pay(json!({ "invoice": id }));
    let (state, count, needed) = shop.confirmed_by(&payment, 100_000);
    assert_eq!((state, count, needed), (json!("seen"), json!(100_000), json!("final")));
    assert_eq!(shop.set_payment_state(&payment, "confirmed")["state"], "confirmed");
}

#[test]
fn deposits_and_unmatched_payments_have_confirmations() {
    let shop = Shop::open();
    shop.create_addresses(TEST, "ada").expect(201);
    let address = shop.customer_address(TEST, "ada", "utxo");
    let deposit = shop.pay(json!({ "address": address, "amount": "0.02" }));
    assert_eq!(shop.confirmed_by(&deposit, 1), seen(1, 2));
    let shown = shop.get_deposit(TEST, &deposit);
    assert_eq!((&shown["confirmations"], &shown["confirmationsNeeded"]), (&json!(1), &json!(2)));
    assert_eq!(shop.confirmed_by(&deposit, 2), confirmed());
    assert_eq!(shop.get_deposit(TEST, &deposit)["status"], "confirmed");
    let body = json!({ "outputs": [{ "address": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "asset": "LTC", "amount": "1" }] });
    let put = shop.post("/sandbox/payments", None, body).expect(201).json();
    let unmatched = put["data"][0]["id"].as_str().unwrap();
    let counted = |count: u32| (json!("unmatched"), json!(count), json!(12));
    assert_eq!(shop.confirmed_by(unmatched, 11), counted(11));
    assert_eq!(shop.confirmed_by(unmatched, 12).1, json!(null));
}

#[test]
fn confirmations_appear_on_checkout_and_for_the_operator() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let id = invoice["id"].as_str().unwrap();
    let payment = shop.pay(json!({ "invoice": id }));
    let (_, token) = invoice["checkoutUrl"].as_str().unwrap().split_once("?token=").unwrap();
    let page = || shop.get(&format!("/checkout/{id}?token={token}"), None).expect(200).text;
    assert!(page().contains("0 of 3"), "{}", page());
    let path = format!("/v1/public/checkouts/{id}/events?token={token}");
    let mut stream = EventStream::open(shop, &path, "");
    let first = stream.next().unwrap();
    shop.confirmed_by(&payment, 2);
    let second = stream.next().unwrap();
    assert_eq!((&second.data, second.data["status"].as_str()), (&first.data, Some("detected")));
    assert_ne!(second.id, first.id);
    assert!(page().contains("2 of 3"), "{}", page());
    let shown = interface.get(&format!("invoices/{id}"));
    let shown = &shown["payments"][0];
    assert_eq!((&shown["confirmations"], &shown["confirmationsNeeded"]), (&json!(2), &json!(3)));
    shop.confirmed_by(&payment, 3);
    assert_eq!(stream.next().unwrap().data["status"], "confirmed");
}
