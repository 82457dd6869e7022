//! Idempotency keys and order ids under repeated and concurrent requests.

use crate::customers::addresses::create_second_account;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

const INVOICE_BODY: &str = "{\"amount\":\"20.00\",\"currency\":\"EUR\"}";

/// Creates an invoice with an Idempotency-Key.
fn create_with_idempotency_key(shop: &Shop, api_key: &str, key: &str, body: &str) -> Response {
    let headers = [("X-API-Key", api_key), ("Idempotency-Key", key)];
    shop.send("POST", "/v1/invoices", &headers, body)
}

/// Returns the responses of 50 concurrent requests.
pub fn concurrent_responses(ask: impl Fn() -> Response + Sync) -> Vec<Response> {
    let barrier = std::sync::Barrier::new(50);
    std::thread::scope(|scope| {
        let one = || {
            barrier.wait();
            ask()
        };
        let threads: Vec<_> = (0..50).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn invoice_count(shop: &Shop) -> Value {
    shop.get("/sandbox", None).expect(200).json()["counts"]["invoices"].clone()
}

#[test]
fn concurrent_requests_with_one_key_create_one_invoice() {
    let shop = Shop::open();
    let answers =
        concurrent_responses(|| create_with_idempotency_key(&shop, TEST, "one", INVOICE_BODY));
    for answer in &answers {
        assert_eq!((answer.status, &answer.text), (201, &answers[0].text));
    }
    assert_eq!(invoice_count(&shop), 1);
}

#[test]
fn concurrent_requests_with_one_order_id_create_one_invoice() {
    let shop = Shop::open();
    let body = json!({ "amount": "20.00", "currency": "EUR", "orderId": "one" });
    let answers = concurrent_responses(|| shop.post("/v1/invoices", Some(TEST), body.clone()));
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!((&statuses[..49], statuses[49]), (&[200; 49][..], 201));
    assert!(answers.iter().all(|answer| answer.text == answers[0].text));
    assert_eq!(invoice_count(&shop), 1);
}

#[test]
fn different_body_conflicts_and_names_the_field() {
    let shop = Shop::open();
    create_with_idempotency_key(
        &shop,
        TEST,
        "k",
        "{\"amount\":\"19.99\",\"currency\":\"EUR\",\"metadata\":{\"a\":1}}",
    )
    .expect(201);
    for (body, field) in [
        ("{\"amount\":19.99,\"currency\":\"EUR\",\"metadata\":{\"a\":1}}", "amount"),
        ("{\"amount\":\"19.99\",\"currency\":\"USD\",\"metadata\":{\"a\":1}}", "currency"),
        ("{\"amount\":\"19.99\",\"currency\":\"EUR\",\"metadata\":{\"a\":2}}", "metadata"),
        ("{\"amount\":\"19.99\",\"currency\":\"EUR\"}", "metadata"),
        ("{\"amount\":\"19.99\",\"currency\":\"EUR\",\"metadata\":{\"a\":1},\"x\":null}", "x"),
    ] {
        create_with_idempotency_key(&shop, TEST, "k", body).assert_error(
            409,
            "idempotency_conflict",
            Some(field),
        );
    }
    let spaced = "{ \"currency\": \"EUR\", \"amount\": \"19.99\", \"metadata\": { \"a\": 1 } }";
    create_with_idempotency_key(&shop, TEST, "k", spaced).expect(201);
    assert_eq!(invoice_count(&shop), 1, "the same JSON is the same body");
}

#[test]
fn idempotency_key_belongs_to_one_mode_and_expires_after_a_day() {
    let shop = Shop::open();
    let first = create_with_idempotency_key(&shop, TEST, "k", INVOICE_BODY).expect(201).text;
    assert_ne!(create_with_idempotency_key(&shop, LIVE, "k", INVOICE_BODY).expect(201).text, first);
    shop.advance("23h59m59s");
    assert_eq!(
        create_with_idempotency_key(&shop, TEST, "k", INVOICE_BODY).expect(201).text,
        first,
        "as it was answered, not as it is now"
    );
    shop.advance("1s");
    assert_ne!(create_with_idempotency_key(&shop, TEST, "k", INVOICE_BODY).expect(201).text, first);
}

#[test]
fn idempotency_key_has_1_to_200_characters() {
    let shop = Shop::open();
    create_with_idempotency_key(&shop, TEST, &"k".repeat(200), INVOICE_BODY).expect(201);
    for key in ["", &"k".repeat(201)] {
        create_with_idempotency_key(&shop, TEST, key, INVOICE_BODY).assert_error(
            400,
            "invalid_request",
            Some("Idempotency-Key"),
        );
    }
}

#[test]
fn error_is_not_stored_and_replay_skips_checks() {
    let shop = Shop::open();
    create_with_idempotency_key(&shop, TEST, "k", "{\"amount\":\"0\",\"currency\":\"EUR\"}")
        .assert_error(400, "invalid_request", Some("amount"));
    let first = create_with_idempotency_key(&shop, TEST, "k", INVOICE_BODY).expect(201).text;
    shop.update_account(json!({ "status": "suspended", "maintenance": true }));
    assert_eq!(create_with_idempotency_key(&shop, TEST, "k", INVOICE_BODY).expect(201).text, first);
    create_with_idempotency_key(&shop, TEST, "other", INVOICE_BODY).assert_error(
        403,
        "account_suspended",
        None,
    );
}

#[test]
fn idempotency_key_and_order_id_belong_to_one_account() {
    let shop = Shop::open();
    let foreign = create_second_account(shop.file(), "test");
    let body = "{\"amount\":\"20.00\",\"currency\":\"EUR\",\"orderId\":\"a\"}";
    let own = create_with_idempotency_key(&shop, TEST, "k", body).expect(201).json();
    let other = create_with_idempotency_key(&shop, &foreign, "k", body).expect(201).json();
    assert_ne!(own["id"], other["id"]);
    // A new idempotency key with the same order id returns the existing invoice.
    let again = create_with_idempotency_key(&shop, TEST, "other", body).expect(200).json();
    assert_eq!(again["id"], own["id"]);
    create_with_idempotency_key(&shop, TEST, "other", body).expect(200);
    assert_eq!(invoice_count(&shop), 2);
}

#[test]
fn idempotency_key_belongs_to_one_route() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    create_with_idempotency_key(&shop, LIVE, "k", INVOICE_BODY).expect(201);
    let headers = [("X-API-Key", LIVE), ("Idempotency-Key", "k")];
    let payout = json!({ "amount": "20.00" }).to_string();
    let payout = shop.send("POST", "/v1/payouts", &headers, &payout);
    assert_eq!(payout.expect(201).json()["status"], "requested");
}

#[test]
fn two_different_idempotency_keys_are_rejected() {
    let shop = Shop::open();
    let create = |keys: &[&str]| {
        let mut headers = vec![("X-API-Key", TEST)];
        headers.extend(keys.iter().map(|key| ("Idempotency-Key", *key)));
        shop.send("POST", "/v1/invoices", &headers, INVOICE_BODY)
    };
    for keys in [&["a", "b"][..], &["a", "a", "b"], &["a", ""], &["", "a"], &["a", "A"]] {
        let answer = create(keys);
        answer.assert_error(400, "invalid_request", Some("Idempotency-Key"));
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("Idempotency-Key "), "{message}");
    }
    assert_eq!(invoice_count(&shop), 0);
    let first = create(&["a", "a"]).expect(201).text;
    assert_eq!(create(&["a"]).expect(201).text, first);
    assert_eq!(create(&["a", "a", "a"]).expect(201).text, first);
    assert_eq!(invoice_count(&shop), 1);
    for path in ["/v1/payouts", "/reseller/servers"] {
        let auth = match path {
            "/v1/payouts" => ("X-API-Key", LIVE),
            _ => ("Authorization", "Bearer rt_sandbox"),
        };
        let headers = [auth, ("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
        let body = "{\"amount\":\"20.00\"}";
        let answer = shop.send("POST", path, &headers, body);
        answer.assert_error(400, "invalid_request", Some("Idempotency-Key"));
    }
}
