//! Data that must not grow without limit: stored responses, the WAL, lists, and selections of a customer.

use crate::file::audit::findings;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{Shop, TEST, polling};
use coffer::Config;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

/// Maximum size of the WAL file, in bytes.
const WAL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Returns the total length of the delivery responses in the file, in bytes.
#[track_caller]
fn stored_response_bytes(shop: &Shop) -> i64 {
    let bytes = "select cast(ifnull(sum(length(cast(answer as blob))), 0) as text) from attempts";
    shop.query_text(bytes).parse().unwrap()
}

/// Returns the responses of a delivery's attempts.
fn attempt_responses(delivery: &Value) -> Vec<&str> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    attempts.map(|attempt| attempt["answer"].as_str().unwrap()).collect()
}

#[test]
fn repeated_delivery_response_is_stored_once() {
    let keep_attempts_ms = 90 * 24 * 3_600_000;
    let shop = Shop::with_config(Config { keep_attempts_ms, ..Config::sandbox() });
    let page = |letter: &str| letter.repeat(8 * 1024);
    // The receiver replies with the same error page every time except once.
    let receiver = Receiver::start_with_script(move |number, _| {
        Reply::Text(500, page(if number == 5 { "b" } else { "a" }))
    });
    shop.update_account(
        json!({ "endpoints": [{ "url": receiver.url(), "types": ["invoice.created"] }] }),
    );
    shop.create_invoice("20.00", json!({}));
    shop.advance("2d");
    let start = |letter: &str| letter.repeat(4 * 1024);
    let mut expected = vec![start("a"); 11];
    expected[5] = start("b");
    assert_eq!(attempt_responses(&shop.deliveries()[0]), expected);
    assert_eq!(stored_response_bytes(&shop), 2 * 4 * 1024);
    shop.assert_audit_clean();
    // The operator interface shows the response of every attempt, also after a resend.
    let operator = shop.sign_in_operator();
    let account = shop.get("/v1/merchant", Some(TEST)).json()["id"].clone();
    let path = format!("/dashboard/api/accounts/{}/deliveries", account.as_str().unwrap());
    let id = shop.deliveries()[0]["id"].as_str().unwrap().to_owned();
    let again = format!("{path}/{id}/resend?mode=test");
    shop.session_request(&operator, "POST", &again, &Value::Null).expect(200);
    shop.advance("10d");
    let operator = shop.sign_in_operator();
    expected.extend(vec![start("a"); 11]);
    let listed = shop
        .session_request(&operator, "GET", &format!("{path}?mode=test"), &Value::Null)
        .expect(200);
    assert_eq!(attempt_responses(&listed.json()["data"][0]), expected);
    assert_eq!(stored_response_bytes(&shop), 2 * 4 * 1024);
    // After 1908 more hours, 91.5 days (2 + 10 + 79.5) have passed since the first attempt. Attempts older than 90
    // days are deleted, with the response that only these attempts referred to.
    shop.advance("1908h");
    assert_eq!(attempt_responses(&shop.deliveries()[0]), vec![start("a"); 12]);
    assert_eq!(stored_response_bytes(&shop), 4 * 1024);
    shop.advance("10d");
    assert_eq!(shop.deliveries()[0]["attempts"], json!([]));
    assert_eq!(stored_response_bytes(&shop), 0);
    shop.assert_audit_clean();
}

#[test]
fn audit_reports_a_reference_to_a_missing_response() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_script(|_, _| Reply::Text(500, "no".to_owned()));
    shop.update_account(
        json!({ "endpoints": [{ "url": receiver.url(), "types": ["invoice.created"] }] }),
    );
    shop.create_invoice("20.00", json!({}));
    shop.advance("20s");
    assert_eq!(attempt_responses(&shop.deliveries()[0]), ["no"; 2]);
    shop.execute_sql("update attempts set answer = null where number = 1");
    let found = findings(shop.file());
    assert!(found.len() == 1 && found[0].contains("which has no answer"), "{found:?}");
}

#[test]
fn empty_response_differs_from_no_response() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_script(|number, _| match number {
        0 | 1 => Reply::Text(500, String::new()),
        2 => Reply::Close,
        _ => Reply::Text(500, "no".to_owned()),
    });
    shop.update_account(
        json!({ "endpoints": [{ "url": receiver.url(), "types": ["invoice.created"] }] }),
    );
    shop.create_invoice("20.00", json!({}));
    shop.advance("4h");
    let delivery = shop.deliveries().remove(0);
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    let said: Vec<Value> = attempts.map(|attempt| attempt["answer"].clone()).collect();
    assert_eq!(said[..5], [json!(""), json!(""), Value::Null, json!("no"), json!("no")]);
}

/// Returns the size of the WAL of a file, in bytes.
fn wal_bytes(file: &Path) -> u64 {
    let log = format!("{}-wal", file.display());
    std::fs::metadata(log).map_or(0, |found| found.len())
}

#[test]
fn wal_is_truncated_after_a_long_read() {
    let shop = Shop::open();
    let reader = Connection::open(shop.file()).unwrap();
    reader.execute_batch("begin").unwrap();
    let read = |reader: &Connection| {
        let count = "select count(*) from invoices";
        let count: i64 = reader.query_row(count, [], |row| row.get(0)).unwrap();
        count
    };
    assert_eq!(read(&reader), 0);
    let much = "insert into idempotency
        (account, mode, route, client_key, path_ids, request, outcome, answer, created_at)
        values (1, 'test', 'r', 'k', '', 'q', 'created', hex(zeroblob(12000000)), 0)";
    shop.execute_sql(much);
    assert!(wal_bytes(shop.file()) > WAL_BYTES_MAX);
    // On a slow disk, this large insert locks the file so long that the server rejects writes for a moment.
    let is_ready = || shop.get("/readyz", None).status == 200;
    assert!(polling::wait_until(is_ready));
    // The long read does not delay writes, and writes do not change its snapshot.
    for _ in 0..20 {
        shop.create_invoice("1.00", json!({}));
    }
    assert!(wal_bytes(shop.file()) > WAL_BYTES_MAX);
    assert_eq!(read(&reader), 0);
    drop(reader);
    let is_small = || wal_bytes(shop.file()) <= WAL_BYTES_MAX;
    assert!(polling::wait_until(is_small), "{}", wal_bytes(shop.file()));
    let made = shop.get("/v1/invoices?limit=100", Some(TEST)).json();
    assert_eq!(made["data"].as_array().unwrap().len(), 20);
    shop.assert_audit_clean();
}

#[test]
fn sandbox_deliveries_are_paged() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = json!({ "url": inbox, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint, endpoint] }));
    for _ in 0..3 {
        shop.create_invoice("1.00", json!({ "webhookUrl": inbox }));
    }
    shop.advance("1s");
    let page = |query: &str| shop.get(&format!("/sandbox/webhooks{query}"), None);
    let whole = page("").expect(200).json();
    let all = whole["data"].as_array().unwrap().clone();
    assert_eq!(
        (all.len(), &whole["hasMore"], &whole["nextBefore"]),
        (9, &json!(false), &Value::Null)
    );
    for limit in [1, 2, 4, 8, 9, 500] {
        let (mut seen, mut before) = (Vec::new(), String::new());
        loop {
            let part = page(&format!("?limit={limit}{before}")).expect(200).json();
            let older = part["data"].as_array().unwrap().clone();
            assert!((1..=limit).contains(&older.len()));
            assert_eq!(part["hasMore"], part["nextBefore"].is_string());
            seen.splice(0..0, older);
            match part["nextBefore"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(seen, all, "{limit}");
    }
    for (query, param) in [("limit=0", "limit"), ("limit=501", "limit"), ("before=x", "before")] {
        page(&format!("?{query}")).assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn repeated_selection_keeps_one_quote_for_each_coin() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({}));
    let id = invoice["id"].as_str().unwrap();
    let pick = |asset: &str| {
        let path = format!("/v1/invoices/{id}/select");
        shop.post(&path, Some(TEST), json!({ "asset": asset })).expect(200).json()
    };
    for _ in 0..100 {
        for asset in ["BTC", "LTC", "SOL"] {
            assert_eq!(pick(asset)["asset"], asset);
        }
    }
    let rows = |table: &str| shop.query_text(&format!("select count(*) || '' from {table}"));
    let kept = ["invoice_steps where quote is not null", "quotes", "addresses"];
    // The timeline has one entry for each of the three coins. The first selection adds a second entry, because it
    // changes the status of the invoice.
    assert_eq!(kept.map(rows), ["4", "3", "3"]);
    // A selection that received a payment stays in the timeline.
    let payment = shop.pay(json!({ "invoice": id, "asset": "SOL", "amount": "0.001" }));
    shop.set_payment_state(&payment, "dropped");
    for asset in ["BTC", "SOL", "BTC", "SOL"] {
        pick(asset);
    }
    assert_eq!(kept.map(rows), ["6", "3", "3"]);
    shop.assert_audit_clean();
}

#[test]
fn test_invoice_accepts_a_hundred_simulated_payments() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let path = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
    let pay = || shop.post(&path, Some(TEST), json!({ "case": "over" }));
    for _ in 0..100 {
        pay().expect(200);
    }
    pay().assert_error(400, "invalid_request", None);
    let kept = shop.query_text("select count(*) || '' from payments");
    assert_eq!(kept, "100");
    shop.assert_audit_clean();
}
