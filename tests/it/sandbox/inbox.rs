//! Webhook inboxes of the sandbox: stored requests, configured responses, and reads that wait for a request.

use crate::support::{Response, Shop, object_id};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

impl Shop {
    #[track_caller]
    fn inbox_requests(&self, query: &str) -> Vec<Value> {
        let answer = self.get(&format!("/sandbox/inbox/shop{query}"), None);
        answer.expect(200).json()["data"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn configure_inbox(&self, body: Value) -> Response {
        self.send("PUT", "/sandbox/inbox/shop", &[], &body.to_string())
    }

    /// Points the account's webhooks at the inbox.
    #[track_caller]
    fn send_webhooks_to_inbox(&self) {
        let url = format!("{}/sandbox/inbox/shop", self.url());
        self.update_account(json!({ "endpoints": [{ "url": url }] }));
    }
}

#[test]
fn inbox_stores_requests_unchanged() {
    let shop = Shop::open();
    let headers = [("X-Custom", "a"), ("Content-Type", "text/plain")];
    shop.send("POST", "/sandbox/inbox/shop", &headers, " not JSON\n").expect(200);
    let kept = shop.inbox_requests("");
    assert_eq!(kept[0]["body"], " not JSON\n");
    assert_eq!(kept[0]["headers"]["x-custom"], "a");
    assert_eq!(kept[0]["receivedAt"], shop.now());
    shop.send("POST", "/sandbox/inbox/shop", &[], "{}").expect(200);
    let bodies: Vec<Value> =
        shop.inbox_requests("").iter().map(|one| one["body"].clone()).collect();
    assert_eq!(bodies, [" not JSON\n", "{}"], "oldest first");
    assert_eq!(shop.get("/sandbox/inbox/other", None).expect(200).json()["data"], json!([]));
    shop.send("DELETE", "/sandbox/inbox/shop", &[], "").expect(204);
    assert!(shop.inbox_requests("").is_empty());
}

#[test]
fn inbox_read_waits_and_filters_by_type() {
    let shop = Shop::open();
    shop.send_webhooks_to_inbox();
    assert!(shop.inbox_requests("?wait=0s").is_empty());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| shop.inbox_requests("?type=invoice.expired&wait=20s"));
        shop.create_invoice("20.00", json!({ "ttlSeconds": 60 }));
        shop.create_invoice("20.00", json!({}));
        shop.advance("60s");
        let found = waiting.join().unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0]["body"].as_str().unwrap().contains(r#""type":"invoice.expired""#));
    });
    assert_eq!(shop.inbox_requests("?type=invoice.created&wait=1s").len(), 2);
    assert_eq!(shop.inbox_requests("").len(), 3);
    let begun = Instant::now();
    assert!(shop.inbox_requests("?type=invoice.failed&wait=1s").is_empty());
    assert!(begun.elapsed() >= Duration::from_secs(1));
    for (query, param) in [("?wait=61s", "wait"), ("?wait=5", "wait"), ("?type=invoice", "type")] {
        shop.get(&format!("/sandbox/inbox/shop{query}"), None).assert_error(
            400,
            "invalid_request",
            Some(param),
        );
    }
}

/// Returns the types of the events in these requests, of either format.
fn types_of(found: &[Value]) -> Vec<String> {
    let bodies = found.iter().map(|one| one["body"].as_str().unwrap());
    let events = bodies.map(|body| serde_json::from_str::<Value>(body).unwrap());
    let kind = |event: Value| ["type", "event"].map(|field| event[field].clone());
    let kinds = events.map(kind).map(|[new, old]| if new.is_null() { old } else { new });
    kinds.map(|kind| kind.as_str().unwrap().to_owned()).collect()
}

#[test]
fn inbox_read_filters_by_object_order_and_earlier_event() {
    for format in ["event", "legacy"] {
        let shop = Shop::open();
        let url = format!("{}/sandbox/inbox/shop", shop.url());
        shop.update_account(json!({ "endpoints": [{ "url": url, "format": format }] }));
        shop.send("POST", "/sandbox/inbox/shop", &[], "not JSON").expect(200);
        let invoices = ["one", "two"].map(|order| {
            let more = json!({ "asset": "LTC", "orderId": order });
            object_id(&shop.create_invoice("20.00", more))
        });
        for invoice in &invoices {
            let payment = shop.pay(json!({ "invoice": invoice }));
            shop.set_payment_state(&payment, "confirmed");
        }
        shop.advance("0s");
        let [_, second] = &invoices;
        let own = shop.inbox_requests(&format!("?object={second}"));
        let kinds = types_of(&own);
        assert!(kinds.len() > 1 && kinds.contains(&"invoice.confirmed".to_owned()), "{kinds:?}");
        assert_eq!(shop.inbox_requests("?orderId=two"), own, "{format}");
        let upper = second.to_uppercase();
        let confirmed = format!("?object={upper}&orderId=two&type=invoice.confirmed");
        assert_eq!(types_of(&shop.inbox_requests(&confirmed)), ["invoice.confirmed"]);
        assert!(shop.inbox_requests(&format!("?object={second}&orderId=one")).is_empty());
        let first: Value = serde_json::from_str(own[0]["body"].as_str().unwrap()).unwrap();
        let after = format!("?object={second}&after={}", first["id"].as_str().unwrap());
        assert_eq!(shop.inbox_requests(&after), own[1..], "{format}");
        let (total, begun) = (own.len(), Instant::now());
        let enough = format!("?orderId=two&count={total}&wait=20s");
        assert_eq!(shop.inbox_requests(&enough), own);
        assert!(begun.elapsed() < Duration::from_secs(10));
        let more = format!("?orderId=two&count={}&wait=1s", total + 1);
        assert_eq!(shop.inbox_requests(&more), own, "after the time limit, those that are there");
        for (query, param) in [
            ("?after=evt_01a1fd70-f1c0-72d6-a3de-4fa0dcc29946&wait=20s", "after"),
            ("?count=0", "count"),
            ("?count=10001", "count"),
            ("?orderid=two", "orderid"),
            ("?objects=x", "objects"),
        ] {
            let refused = shop.get(&format!("/sandbox/inbox/shop{query}"), None);
            refused.assert_error(400, "invalid_request", Some(param));
        }
    }
}

#[test]
fn inbox_read_waits_for_the_wanted_number_of_matches() {
    let shop = Shop::open();
    shop.send_webhooks_to_inbox();
    std::thread::scope(|scope| {
        let query = "?type=invoice.created&count=3&wait=20s";
        let waiting = scope.spawn(|| shop.inbox_requests(query));
        for _ in 0..3 {
            shop.create_invoice("20.00", json!({}));
        }
        assert_eq!(waiting.join().unwrap().len(), 3);
    });
}

#[test]
fn inbox_replies_as_configured() {
    let shop = Shop::open();
    shop.send_webhooks_to_inbox();
    shop.configure_inbox(json!({ "status": 503, "times": 2 })).expect(204);
    shop.create_invoice("20.00", json!({}));
    shop.advance("1h");
    let statuses: Vec<Value> = shop.deliveries()[0]["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| attempt["status"].clone())
        .collect();
    assert_eq!(statuses, [json!(503), json!(503), json!(200)]);
    shop.send("DELETE", "/sandbox/inbox/shop", &[], "").expect(204);
    shop.configure_inbox(json!({ "status": 410 })).expect(204);
    for _ in 0..3 {
        shop.send("POST", "/sandbox/inbox/shop", &[], "{}").expect(410);
    }
    shop.configure_inbox(json!({ "delayMs": 300, "times": 1 })).expect(204);
    for (least_ms, most_ms) in [(300, 30_000), (0, 300)] {
        let begun = Instant::now();
        shop.send("POST", "/sandbox/inbox/shop", &[], "{}").expect(200);
        let span = Duration::from_millis(least_ms)..Duration::from_millis(most_ms);
        assert!(span.contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }
    shop.configure_inbox(json!({ "status": 500 })).expect(204);
    shop.send("DELETE", "/sandbox/inbox/shop", &[], "").expect(204);
    shop.send("POST", "/sandbox/inbox/shop", &[], "{}").expect(200);
}

#[test]
fn invalid_inbox_setting_is_rejected() {
    let shop = Shop::open();
    for (body, param) in [
        (json!({ "status": 199 }), "status"),
        (json!({ "status": 600 }), "status"),
        (json!({ "status": "500" }), "status"),
        (json!({ "delayMs": -1 }), "delayMs"),
        (json!({ "delayMs": 60_001 }), "delayMs"),
        (json!({ "times": -1 }), "times"),
        (json!({ "times": 1.5 }), "times"),
        (json!({ "body": "x" }), "body"),
    ] {
        shop.configure_inbox(body).assert_error(400, "invalid_request", Some(param));
    }
    shop.send("POST", "/sandbox/inbox/shop", &[], "{}").expect(200);
}

#[test]
fn number_of_inboxes_is_limited() {
    let shop = Shop::open();
    let send = |name: &str| {
        let path = format!("/sandbox/inbox/{name}");
        shop.send("POST", &path, &[], "{}")
    };
    for number in 0..1000 {
        send(&format!("inbox-{number}")).expect(200);
    }
    let refused = send("one-more");
    refused.assert_error(503, "overloaded", None);
    assert!(refused.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    send("inbox-7").expect(200);
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    send("one-more").expect(200);
}
