//! What is refused because the document does not have it: keys, times out of reach, an inbox's behaviour.

use crate::support::{Shop, TEST};
use serde_json::json;

#[test]
fn the_clock_is_moved_forward_and_not_out_of_the_calendar() {
    let shop = Shop::open();
    for (body, param) in [
        (json!({ "advance": "3651d" }), "advance"),
        (json!({ "set": "9999-12-31T23:59:59.999Z" }), "set"),
        (json!({ "set": "2001-01-01T00:00:00.000Z" }), "set"),
    ] {
        let answer = shop.post("/sandbox/clock", None, body);
        answer.refused(400, "invalid_request", Some(param));
    }
    // A field that is null counts as absent.
    let body = json!({ "advance": "1m", "set": null, "frozen": null });
    shop.post("/sandbox/clock", None, body).expect(200);
}

#[test]
fn an_idempotency_key_is_printable() {
    let shop = Shop::open();
    let long = "k".repeat(201);
    for key in ["a\tb", "", long.as_str()] {
        let headers = [("X-API-Key", TEST), ("Idempotency-Key", key)];
        let body = json!({ "amount": "1.00", "currency": "EUR" }).to_string();
        let answer = shop.send("POST", "/v1/invoices", &headers, &body);
        answer.refused(400, "invalid_request", Some("Idempotency-Key"));
    }
}

#[test]
fn an_inbox_is_told_within_limits() {
    let shop = Shop::open();
    for (name, value) in [("status", 199), ("delayMs", 60_001), ("times", 0)] {
        let body = json!({ name: value }).to_string();
        let answer = shop.send("PUT", "/sandbox/inbox/a", &[], &body);
        answer.refused(400, "invalid_request", Some(name));
    }
    for wait in ["61s", "5", "s"] {
        let answer = shop.get(&format!("/sandbox/inbox/a?wait={wait}"), None);
        answer.refused(400, "invalid_request", Some("wait"));
    }
}
