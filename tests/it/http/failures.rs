//! Internal errors: the response has only a request id, the log has the cause.

use crate::support::installation::Installation;
use crate::support::{Shop, TEST, agent, send};
use serde_json::{Value, json};

#[test]
fn internal_error_hides_its_cause() {
    let shop = Shop::open();
    shop.execute_sql("alter table ledger rename to misplaced");
    let failed = shop.get("/v1/ledger", Some(TEST));
    failed.assert_error(500, "internal_error", None);
    for cause in ["ledger", "table", "sql", "misplaced"] {
        assert!(!failed.text.to_lowercase().contains(cause), "{}", failed.text);
    }
    shop.get("/v1/merchant", Some(TEST)).expect(200);
}

#[test]
fn log_contains_the_request_id_of_the_error() {
    let served = Installation::new();
    let log = served.path("log");
    let running = served.start_with_log("debug", &log);
    let call = |path: &str| running.api_request("GET", path, &Value::Null);
    let (fine, missing) = (call("/v1/merchant").expect(200), call("/v1/invoices/x").expect(404));
    let refused = running.api_request("POST", "/v1/payouts", &json!({ "amount": "1.001" }));
    let unknown = call("/v1/invoices?order%0aid=x");
    let name = "n".repeat(20_000);
    let body = format!(r#"{{"{name}":1,"{name}":2}}"#);
    let headers = [("X-API-Key", served.key.as_str())];
    send(&agent(), "POST", &format!("{}/v1/invoices", running.url), &headers, &body).expect(400);
    served.open_file().execute_batch("alter table ledger rename to misplaced").unwrap();
    let failed = call("/v1/ledger");
    failed.assert_error(500, "internal_error", None);
    let logged = running.stop_and_read_log(&log);
    let line = |id: &str, words: &str| {
        let has = |line: &str| line.contains(id) && line.contains(words);
        assert!(logged.lines().any(has), "{id} {words}: {logged}");
    };
    let id = |answer: &crate::support::Response| answer.headers["x-request-id"].clone();
    line(&id(&fine), "GET /v1/merchant 200");
    assert!(logged.lines().all(|line| line.len() < 2_000), "{logged}");
    line(&id(&missing), "GET /v1/invoices/x 404");
    line(&id(&missing), " error=not_found");
    line(&id(&refused), " error=invalid_amount param=amount");
    line(&id(&unknown), r" error=invalid_request param=order\nid");
    line(&id(&failed), "failed: ");
    assert_ne!(id(&fine), id(&missing));
}
