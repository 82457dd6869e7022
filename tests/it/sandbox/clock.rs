//! The clock of the sandbox: each job runs at the time at which it is due. The sandbox controls reject requests from
//! other sites.

use crate::support::scratch::Scratch;
use crate::support::second_factor::{FACTOR, SESSION, code_at_step};
use crate::support::{Response, Shop, TEST};
use coffer::Config;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl Shop {
    #[track_caller]
    fn change_clock(&self, body: Value) -> Response {
        self.post("/sandbox/clock", None, body)
    }

    /// Returns type and time of each event of an object, oldest first.
    #[track_caller]
    fn events_with_times(&self, object: &str) -> Vec<(String, String)> {
        let path = format!("/v1/events?limit=200&object={object}");
        let events = self.get(&path, Some(TEST)).expect(200).json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let events = events["data"].as_array().unwrap().iter().rev();
        events.map(|event| (text(&event["type"]), text(&event["created"]))).collect()
    }
}

fn json_text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn frozen_clock_moves_only_when_set() {
    let shop = Shop::open();
    let state = shop.get("/sandbox", None).expect(200).json();
    assert_eq!(state["frozen"], true);
    assert_eq!(shop.now(), json_text(&state["time"]));
    let set = shop.change_clock(json!({ "set": "2099-11-21T10:30:00.5+01:00" })).expect(200).json();
    assert_eq!((&set["time"], &set["frozen"]), (&json!("2099-11-21T09:30:00.500Z"), &json!(true)));
    shop.change_clock(json!({ "set": "2099-11-21T09:30:00.500Z" })).expect(200);
    shop.change_clock(json!({ "set": "2099-11-21T09:30:00.499Z" })).assert_error(
        400,
        "invalid_request",
        Some("set"),
    );
    shop.advance("1d2h3m4s");
    assert_eq!(shop.now(), "2099-11-22T11:33:04.500Z");
    let running = shop.change_clock(json!({ "frozen": false })).expect(200).json();
    assert_eq!(running["frozen"], false);
    assert!(shop.now().as_str() >= "2099-11-22T11:33:04.500Z");
    let invoice = shop.create_invoice("10.00", json!({}));
    assert!(json_text(&invoice["createdAt"]).starts_with("2099-11-22T11:33:"));
}

#[test]
fn invalid_clock_change_is_rejected() {
    let shop = Shop::open();
    let before = shop.now();
    for (body, param) in [
        (json!({}), None),
        (json!({ "advance": "1s", "frozen": true }), None),
        (json!({ "advance": "1s", "set": "2099-01-01T00:00:00Z" }), None),
        (json!({ "advance": "1" }), Some("advance")),
        (json!({ "advance": "1s1m" }), Some("advance")),
        (json!({ "advance": "-1s" }), Some("advance")),
        (json!({ "advance": "3651d" }), Some("advance")),
        (json!({ "advance": 60 }), Some("advance")),
        (json!({ "set": "tomorrow" }), Some("set")),
        (json!({ "set": "2001-01-01T00:00:00Z" }), Some("set")),
        (json!({ "frozen": "yes" }), Some("frozen")),
        (json!({ "forward": "1s" }), Some("forward")),
    ] {
        shop.change_clock(body).assert_error(400, "invalid_request", param);
    }
    assert_eq!(shop.now(), before);
}

#[test]
fn advance_runs_each_deadline_at_its_own_time() {
    let shop = Shop::open();
    let mut invoices = Vec::new();
    for seconds in [86_400, 60, 3_600, 61] {
        invoices.push(shop.create_invoice("10.00", json!({ "ttlSeconds": seconds })));
    }
    shop.advance("2d");
    for invoice in invoices {
        let expected = [
            ("invoice.created".to_owned(), json_text(&invoice["createdAt"])),
            ("invoice.expired".to_owned(), json_text(&invoice["expiresAt"])),
        ];
        assert_eq!(shop.events_with_times(invoice["id"].as_str().unwrap()), expected);
    }
}

#[test]
fn dropped_payment_fails_invoice_when_running_clock_reaches_deadline() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox, "types": ["invoice.failed"] }] }));
    let invoice = shop.create_invoice("10.00", json!({ "ttlSeconds": 60, "asset": "LTC" }));
    let payment = shop.pay(json!({ "invoice": invoice["id"] }));
    shop.advance("58s");
    shop.change_clock(json!({ "frozen": false })).expect(200);
    shop.set_payment_state(&payment, "dropped");
    let told = shop.get("/sandbox/inbox/shop?wait=20s", None).expect(200).json();
    assert_eq!(told["data"].as_array().unwrap().len(), 1);
}

#[test]
fn request_uses_the_time_of_its_completion() {
    let shop = Shop::open();
    let id = json_text(&shop.create_invoice("10.00", json!({ "ttlSeconds": 60 }))["id"]);
    let body = r#"{"asset":"LTC"}"#;
    let address = shop.url().strip_prefix("http://").unwrap();
    let mut slow = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/invoices/{id}/select HTTP/1.1\r\nhost: {address}\r\nx-api-key: {TEST}\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).unwrap();
    // `100 Continue` shows that the server is handling the request.
    let mut go_on = [0; 25];
    slow.read_exact(&mut go_on).unwrap();
    assert!(go_on.starts_with(b"HTTP/1.1 100"));
    shop.advance("1m");
    slow.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("invoice_closed"), "{answer}");
    shop.advance("1m");
    assert_eq!(shop.event_types(&id, TEST), ["invoice.created", "invoice.expired"]);
}

#[test]
fn api_responds_during_an_advance() {
    let shop = Shop::open();
    let slow = format!("{}/sandbox/inbox/slow", shop.url());
    shop.send("PUT", "/sandbox/inbox/slow", &[], r#"{"delayMs":60000}"#).expect(204);
    shop.update_account(json!({ "endpoints": [{ "url": slow, "types": ["invoice.created"] }] }));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let invoice = shop.create_invoice("10.00", json!({}));
        let path = "/sandbox/inbox/slow?wait=10s";
        let arrived = shop.get(path, None).expect(200).json();
        assert!(arrived["data"][0]["body"].is_string());
        let moved = scope.spawn(|| shop.advance("1h"));
        // The inbox delays its response, so the advance waits until the delivery times out. Meanwhile, the API
        // responds.
        assert_eq!(shop.get_invoice(invoice["id"].as_str().unwrap())["status"], "created");
        shop.create_invoice("20.00", json!({}));
        assert!(!moved.is_finished());
        // The reset ends the advance at once.
        shop.post("/sandbox/reset", None, json!({})).expect(200);
        moved.join().unwrap();
        shop.advance("1h");
        assert!(begun.elapsed() < Duration::from_secs(8), "less than a send may take");
    });
    assert_eq!(shop.get("/v1/invoices", Some(TEST)).expect(200).json()["data"], json!([]));
}

#[test]
fn advance_completes_after_the_client_disconnects() {
    let shop = Shop::open();
    let before = shop.change_clock(json!({ "frozen": false })).expect(200).json();
    let slow = format!("{}/sandbox/inbox/slow", shop.url());
    shop.send("PUT", "/sandbox/inbox/slow", &[], r#"{"delayMs":1000,"times":1}"#).expect(204);
    shop.update_account(json!({ "endpoints": [{ "url": slow, "types": ["invoice.created"] }] }));
    shop.create_invoice("10.00", json!({}));
    let body = r#"{"advance":"1h"}"#;
    let address = shop.url().strip_prefix("http://").unwrap();
    let mut caller = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /sandbox/clock HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    caller.write_all(request.as_bytes()).unwrap();
    while shop.get("/sandbox", None).expect(200).json()["frozen"] == false {}
    drop(caller);
    // Advances run one after another, so the second advance starts at the end of the first.
    let after = shop.change_clock(json!({ "advance": "0s" })).expect(200).json();
    assert_eq!(after["frozen"], false);
    let hour = |state: &Value| state["time"].as_str().unwrap()[..13].to_owned();
    assert_ne!(hour(&before), hour(&after));
}

#[test]
fn reset_removes_the_second_factor() {
    let shop = Shop::open();
    let sign_in = || {
        let known = json!({ "email": "operator@sandbox.test", "password": "sandbox" });
        shop.post(SESSION, None, known).expect(201).session_cookie()
    };
    let own = sign_in();
    let act = |path: &str, body: Value| {
        let headers = [("cookie", own.as_str())];
        shop.send("POST", path, &headers, &body.to_string())
    };
    let begun = act(FACTOR, json!({})).expect(201).json();
    let step = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let step = i64::try_from(step.as_secs()).unwrap() / 30;
    let code = code_at_step(&json_text(&begun["secret"]), step);
    act(&format!("{FACTOR}/confirm"), json!({ "code": code })).expect(200);
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    sign_in();
}

#[test]
fn reset_restores_initial_data_and_real_time() {
    let shop = Shop::open();
    let seed = shop.get("/sandbox", None).expect(200).json()["account"].clone();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({
        "endpoints": [{ "url": inbox }], "feeBps": 7, "maintenance": true, "customersEnabled": false,
        "settlementEnabled": false, "payoutAsset": "LTC", "maxInvoiceAmount": "1.00",
    }));
    let id = json_text(&shop.create_invoice("1.00", json!({}))["id"]);
    shop.advance("40d");
    let state = shop.post("/sandbox/reset", None, json!({})).expect(200).json();
    assert_eq!(state["account"], seed);
    assert_eq!(state["frozen"], false);
    for (name, count) in state["counts"].as_object().unwrap() {
        assert_eq!(count, 0, "{name}");
    }
    shop.get(&format!("/v1/invoices/{id}"), Some(TEST)).assert_error(404, "not_found", None);
    assert_eq!(shop.get("/sandbox/inbox/shop", None).expect(200).json()["data"], json!([]));
    let fresh = Shop::open();
    let day = |shop: &Shop| shop.now()[..10].to_owned();
    assert_eq!(day(&shop), day(&fresh), "real time");
}

#[test]
fn restarted_sandbox_continues_at_the_recorded_time() {
    let scratch = Scratch::new();
    let config = Config { file: Some(scratch.path("kept.db")), ..Config::sandbox() };
    let shop = Shop::with_config(config.clone());
    let id = json_text(&shop.create_invoice("10.00", json!({}))["id"]);
    shop.advance("30d");
    let frozen_at = shop.now();
    drop(shop);
    let shop = Shop::with_config(config.clone());
    assert_eq!(shop.now(), frozen_at);
    assert_eq!(shop.get_invoice(&id)["status"], "expired");
    shop.change_clock(json!({ "frozen": false })).expect(200);
    shop.advance("1d");
    let running_at = shop.now();
    drop(shop);
    let shop = Shop::with_config(config);
    assert!(shop.now() >= running_at);
    assert_eq!(shop.now()[..13], running_at[..13]);
}

#[test]
fn other_sites_cannot_use_the_controls() {
    let shop = Shop::open();
    let own = shop.url().to_owned();
    let port = own.rsplit(':').next().unwrap();
    let localhost = format!("localhost:{port}");
    let localhost_origin = format!("http://{localhost}");
    let admitted: [&[(&str, &str)]; 5] = [
        &[("Origin", &own)],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", &own)],
        &[("Sec-Fetch-Site", "none")],
        &[("Host", &localhost), ("Origin", &localhost_origin)],
        &[("Host", "[::1]:1")],
    ];
    let refused: [&[(&str, &str)]; 8] = [
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Host", "evil.example")],
        &[("Host", "127.0.0.1.evil.example")],
        &[("Host", "evil.example"), ("Origin", "http://evil.example")],
        &[("Host", "10.0.0.1:80")],
    ];
    for (method, path) in
        [("GET", "/sandbox"), ("POST", "/sandbox/reset"), ("GET", "/sandbox/inbox/a")]
    {
        for headers in admitted {
            shop.send(method, path, headers, "").expect(200);
        }
        for headers in refused {
            shop.send(method, path, headers, "").assert_error(403, "forbidden", None);
        }
    }
    // A request from another site may call the merchant API, because the API checks only the key.
    let foreign = [("Origin", "https://evil.example"), ("X-API-Key", TEST)];
    shop.send("GET", "/v1/invoices", &foreign, "").expect(200);
}
