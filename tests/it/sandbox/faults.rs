//! Simulated faults, and snapshots of a sandbox.

use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop, TEST, agent, send};
use coffer::http::{Auth, routes};
use coffer::{Config, Server};
use serde_json::{Value, json};
use std::time::Instant;

const FAULTS_PATH: &str = "/sandbox/faults";

fn invoice_body(number: u32) -> Value {
    json!({ "amount": "20.00", "currency": "EUR", "orderId": format!("order-{number}") })
}

#[test]
fn fault_applies_to_the_given_number_of_calls() {
    let shop = Shop::open();
    for (status, code) in [
        (503, "maintenance"),
        (500, "internal_error"),
        (429, "rate_limited"),
        (418, "invalid_request"),
    ] {
        let body = json!({ "route": "POST /v1/invoices", "status": status, "times": 2 });
        let state = shop.post(FAULTS_PATH, None, body).expect(200).json();
        assert_eq!(state["faults"]["calls"][0]["times"], 2);
        for _ in 0..2 {
            let refused = shop.post("/v1/invoices", Some(TEST), invoice_body(1));
            refused.assert_error(status, code, None);
            assert_eq!(refused.headers.contains_key("retry-after"), [429, 503].contains(&status));
        }
        shop.get("/v1/invoices", Some(TEST)).expect(200);
    }
    let state = shop.get("/sandbox", None).expect(200).json();
    assert_eq!(state["faults"]["calls"], json!([]));
    assert_eq!(state["counts"]["invoices"], 0, "nothing was done");
    shop.post("/v1/invoices", Some(TEST), invoice_body(1)).expect(201);
}

#[test]
fn request_with_dropped_response_was_executed() {
    let shop = Shop::open();
    let body = json!({ "route": "POST /v1/invoices", "dropAnswer": true, "times": 1 });
    shop.post(FAULTS_PATH, None, body).expect(200);
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "once")];
    // This agent has no open connection. On a reused connection, it would repeat the request by itself.
    let url = format!("{}/v1/invoices", shop.url());
    let mut request = agent().post(&url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    assert!(request.send(invoice_body(7).to_string()).is_err());
    let again = shop.send("POST", "/v1/invoices", &headers, &invoice_body(7).to_string());
    let invoice = again.expect(201).json();
    let listed = shop.get("/v1/invoices", Some(TEST)).expect(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed["data"][0]["id"], invoice["id"]);
}

#[test]
fn delayed_call_is_executed() {
    let shop = Shop::open();
    let body = json!({ "delayMs": 50, "times": 1 });
    shop.post(FAULTS_PATH, None, body).expect(200);
    let begun = Instant::now();
    shop.post("/v1/invoices", Some(TEST), invoice_body(1)).expect(201);
    assert!(begun.elapsed().as_millis() >= 50);
    shop.post(FAULTS_PATH, None, json!({ "status": 500, "times": 9 })).expect(200);
    shop.get("/v1/merchant", Some(TEST)).assert_error(500, "internal_error", None);
    shop.send("DELETE", FAULTS_PATH, &[], "").expect(204);
    shop.get("/v1/merchant", Some(TEST)).expect(200);
}

#[test]
fn faults_of_pool_and_rates_stay_until_cleared() {
    let shop = Shop::open();
    let body = json!({ "pool": "empty", "rates": "stale" });
    let state = shop.post(FAULTS_PATH, None, body).expect(200).json();
    assert_eq!(
        state["faults"],
        json!({ "calls": [], "pool": "empty", "rates": "stale", "deliveries": null })
    );
    let path = "/v1/customers/anna/addresses";
    let refused = shop.post(path, Some(TEST), json!({}));
    refused.assert_error(503, "pool_refilling", None);
    let invoice = shop.post("/v1/invoices", Some(LIVE), invoice_body(1)).expect(201).json();
    let select = format!("/v1/invoices/{}/select", invoice["id"].as_str().unwrap());
    let stale = shop.post(&select, Some(LIVE), json!({ "asset": "BTC" }));
    stale.assert_error(400, "coin_unavailable", Some("asset"));
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    shop.post(path, Some(TEST), json!({})).expect(201);
}

#[test]
fn coin_without_addresses_is_unavailable() {
    let shop = Shop::open();
    let quoted = shop.create_invoice("20.00", json!({ "asset": "BTC" }));
    shop.post(FAULTS_PATH, None, json!({ "pool": "empty" })).expect(200);
    let select = |invoice: &Value| {
        let path = format!("/v1/invoices/{}/select", invoice["id"].as_str().unwrap());
        shop.post(&path, Some(TEST), json!({ "asset": "BTC" }))
    };
    let invoice = shop.create_invoice("20.00", json!({ "asset": "BTC" }));
    assert_eq!(
        (&invoice["status"], invoice["warnings"].as_array().unwrap().len()),
        (&json!("created"), 1)
    );
    select(&invoice).assert_error(400, "coin_unavailable", Some("asset"));
    assert_eq!(select(&quoted).expect(200).json()["depositAddress"], quoted["depositAddress"]);
    shop.send("DELETE", FAULTS_PATH, &[], "").expect(204);
    select(&invoice).expect(200);
}

#[test]
fn invalid_fault_is_rejected() {
    let shop = Shop::open();
    for (body, param) in [
        (json!({ "route": "POST /v1/nothing", "status": 500, "times": 1 }), Some("route")),
        (json!({ "route": "POST /sandbox/reset", "status": 500, "times": 1 }), Some("route")),
        (json!({ "status": 200, "times": 1 }), Some("status")),
        (json!({ "status": 500 }), Some("times")),
        (json!({ "status": 500, "times": 0 }), Some("times")),
        (json!({ "times": 1 }), Some("status")),
        (json!({ "delayMs": 60_001, "times": 1 }), Some("delayMs")),
        (json!({ "dropAnswer": true, "status": 500, "times": 1 }), Some("dropAnswer")),
        (json!({ "pool": "full" }), Some("pool")),
        (json!({ "rates": "old" }), Some("rates")),
        (json!({ "more": 1 }), Some("more")),
        (json!({}), None),
    ] {
        shop.post(FAULTS_PATH, None, body).assert_error(400, "invalid_request", param);
    }
    let state = shop.get("/sandbox", None).expect(200).json();
    assert_eq!(
        state["faults"],
        json!({ "calls": [], "pool": null, "rates": null, "deliveries": null })
    );
}

#[test]
fn snapshot_restores_the_clock() {
    let shop = Shop::open();
    let before = shop.create_invoice("10.00", json!({ "orderId": "before", "ttlSeconds": 60 }));
    let id = before["id"].as_str().unwrap();
    let then = shop.now();
    shop.post("/sandbox/snapshots/one", None, json!({})).expect(200);
    shop.create_invoice("10.00", json!({ "orderId": "after" }));
    shop.advance("1h");
    assert_eq!(shop.get_invoice(id)["status"], "expired");
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    shop.post("/sandbox/clock", None, json!({ "frozen": true })).expect(200);
    for _ in 0..2 {
        let state = shop.post("/sandbox/snapshots/one/restore", None, json!({}));
        let state = state.expect(200).json();
        assert_eq!((&state["time"], &state["frozen"]), (&json!(then), &json!(true)));
        assert_eq!(shop.get_invoice(id), before, "as it was, not from a copy");
        let listed = shop.get("/v1/invoices", Some(TEST)).expect(200).json();
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
        shop.advance("61s");
        assert_eq!(shop.get_invoice(id)["status"], "expired", "time goes on from there");
    }
    shop.post("/sandbox/snapshots/other/restore", None, json!({})).assert_error(
        404,
        "not_found",
        None,
    );
    // A snapshot `one-wal` would have the file name of the WAL of a snapshot `one`.
    for name in ["a%2Fb", "one-journal", "one-wal"] {
        let refused = shop.post(&format!("/sandbox/snapshots/{name}"), None, json!({}));
        refused.assert_error(400, "invalid_request", Some("name"));
    }
    shop.post("/sandbox/snapshots/one/restore", None, json!({})).expect(200);
}

#[test]
fn failed_restore_changes_nothing() {
    let shop = Shop::open();
    let call = |path: &str, body: Value| shop.post(path, None, body);
    call("/sandbox/snapshots/one", json!({})).expect(200);
    shop.advance("1h");
    let invoice = shop.create_invoice("10.00", json!({}));
    call("/sandbox/clock", json!({ "frozen": false })).expect(200);
    let stays = |what: &str| {
        let before = shop.now();
        call("/sandbox/snapshots/one/restore", json!({})).assert_error(500, "internal_error", None);
        let state = shop.get("/sandbox", None).expect(200).json();
        let time = state["time"].as_str().unwrap();
        assert!(time >= before.as_str() && state["frozen"] == false, "{what}: {before}, {state}");
        assert_eq!(shop.get_invoice(invoice["id"].as_str().unwrap()), invoice);
    };
    let other = rusqlite::Connection::open(shop.file()).unwrap();
    other.execute_batch("begin immediate").unwrap();
    stays("another program writes all the time");
    other.execute_batch("rollback").unwrap();
    let mut snapshot = shop.file().as_os_str().to_owned();
    snapshot.push("-snapshot-one");
    let file = std::fs::File::options().write(true).open(snapshot).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    stays("half of the snapshot is gone");
}

#[test]
fn snapshots_are_removed_with_a_temporary_file_only() {
    let shop = Shop::open();
    shop.post("/sandbox/snapshots/one", None, json!({})).expect(200);
    let file = shop.file().to_owned();
    let left = |of: &std::path::Path| {
        let name = of.file_name().unwrap().to_string_lossy().into_owned();
        let entries = std::fs::read_dir(of.parent().unwrap()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|other| other.starts_with(&name)).count()
    };
    assert!(left(&file) > 1);
    drop(shop);
    assert_eq!(left(&file), 0);
    let scratch = Scratch::new();
    let mut config = Config::sandbox();
    config.file = Some(scratch.path("kept.db"));
    let server = Server::start(config.clone()).unwrap();
    let call = |server: &Server, path: &str| {
        send(&agent(), "POST", &format!("{}{path}", server.url()), &[], "").expect(200);
    };
    call(&server, "/sandbox/snapshots/one");
    drop(server);
    let server = Server::start(config).unwrap();
    call(&server, "/sandbox/snapshots/one/restore");
}

#[test]
fn other_sites_cannot_use_fault_controls() {
    let shop = Shop::open();
    for route in routes(true).filter(|route| route.auth() == Auth::Sandbox) {
        let path = route.path.replace("{id}", "x").replace("{name}", "x");
        for header in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
            let refused = shop.send(route.method, &path, &[header], "");
            refused.assert_error(403, "forbidden", None);
        }
    }
}
