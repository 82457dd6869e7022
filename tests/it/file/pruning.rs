//! Old attempts, delivered deliveries, idempotency responses and sessions are deleted.

use crate::file::audit::findings;
use crate::support::audit_log::record_direct_writes;
use crate::support::operator_interface::OperatorInterface;
use crate::support::process::start_sandbox;
use crate::support::receiver::{Receiver, Reply};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{Shop, TEST, agent, send};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// Returns the number of rows of a table, as text.
#[track_caller]
fn row_count(shop: &Shop, table: &str) -> String {
    shop.query_text(&format!("select count(*) || '' from {table}"))
}

/// Returns the ids of all deliveries of an account, newest first.
#[track_caller]
fn listed_deliveries(interface: &OperatorInterface) -> Vec<Value> {
    let page = interface.get("deliveries");
    page["data"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
}

#[test]
fn delivered_deliveries_are_deleted_with_their_last_attempt() {
    let status = Arc::new(AtomicU16::new(500));
    let reply = Arc::clone(&status);
    let receiver =
        Receiver::start_with_script(move |_, _| Reply::Status(reply.load(Ordering::SeqCst)));
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = |url: &str| json!({ "url": url, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint(&receiver.url()), endpoint(&inbox)] }));
    // The first invoice has a failed delivery, a delivered one, and one to its own webhookUrl.
    let invoice = shop.create_invoice("20.00", json!({ "webhookUrl": inbox }));
    shop.advance("2d");
    // The second invoice has only delivered ones.
    status.store(200, Ordering::SeqCst);
    let second = shop.create_invoice("20.00", json!({}));
    shop.advance("27d23h");
    let mut interface = OperatorInterface::with_shop(shop);
    record_direct_writes(interface.shop.file());
    let before = listed_deliveries(&interface);
    assert_eq!(before.len(), 6);
    let events = interface.shop.get("/v1/events?limit=100", Some(TEST)).expect(200).text;
    // The attempts of the first invoice were made 30 days ago, except the last ones of the failed delivery.
    interface.advance("2h");
    let left = interface.shop.deliveries();
    let states: Vec<_> = left.iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["failed", "delivered", "delivered"]);
    interface.shop.assert_audit_clean();
    // Another day and a half later, the failed delivery has no attempts. It stays and can be sent again.
    interface.advance("1d12h");
    let left = interface.shop.deliveries();
    assert_eq!((&left[0]["state"], &left[0]["attempts"]), (&json!("failed"), &json!([])));
    // The deliveries of the second invoice go, too.
    interface.advance("1d");
    let left = listed_deliveries(&interface);
    assert_eq!(left, [before[4].clone()]);
    for gone in before.iter().filter(|id| !left.contains(id)) {
        let path = format!("deliveries/{}", gone.as_str().unwrap());
        let get = interface.request("GET", &path, &Value::Null);
        get.assert_error(404, "not_found", None);
        let resend = interface.request("POST", &format!("{path}/resend"), &Value::Null);
        resend.assert_error(404, "not_found", None);
    }
    // All events stay, and the audit does not miss their deliveries.
    for invoice in [&invoice, &second] {
        let id = invoice["id"].as_str().unwrap();
        let types = ["invoice.created", "invoice.expired"];
        assert_eq!(interface.shop.event_types(id, TEST), types);
    }
    let now = interface.shop.get("/v1/events?limit=100", Some(TEST)).expect(200).text;
    assert_eq!(now, events);
    interface.shop.assert_audit_clean();
    // A resend stores one new attempt, whose number continues.
    let path = format!("deliveries/{}/resend", left[0].as_str().unwrap());
    interface.request("POST", &path, &Value::Null).expect(200);
    interface.shop.advance("0s");
    let again = interface.shop.deliveries().remove(0);
    assert_eq!(
        (&again["attempts"].as_array().unwrap().len(), &again["state"]),
        (&1, &json!("delivered"))
    );
    let all = json!({ "since": "2000-01-01T00:00:00.000Z" });
    let resent = interface.request("POST", "resend", &all).expect(200).json();
    assert_eq!(resent["count"], 1);
}

#[test]
fn more_deliveries_than_one_step_deletes_are_deleted() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = json!({ "url": inbox, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint, endpoint] }));
    for _ in 0..300 {
        shop.create_invoice("20.00", json!({}));
    }
    shop.advance("1s");
    shop.advance("29d23h");
    assert_eq!(row_count(&shop, "attempts"), "600");
    shop.advance("2h");
    assert_eq!(["attempts", "deliveries"].map(|table| row_count(&shop, table)), ["0", "0"]);
    assert_eq!(row_count(&shop, "pruned_deliveries where event = 300"), "2");
    shop.assert_audit_clean();
}

#[test]
fn resent_delivery_is_kept_from_its_last_attempt() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = json!({ "url": inbox, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint] }));
    shop.create_invoice("20.00", json!({}));
    shop.advance("29d");
    let id = shop.deliveries()[0]["id"].as_str().unwrap().to_owned();
    let mut interface = OperatorInterface::with_shop(shop);
    let resend = format!("deliveries/{id}/resend");
    interface.request("POST", &resend, &Value::Null).expect(200);
    for (span, numbers) in [("29d23h", &[2][..]), ("2h", &[])] {
        interface.advance(span);
        let page = interface.get("deliveries");
        let attempts = page["data"].as_array().unwrap().iter();
        let attempts = attempts.flat_map(|one| one["attempts"].as_array().unwrap());
        let found: Vec<_> = attempts.map(|one| one["number"].as_i64().unwrap()).collect();
        assert_eq!(found, numbers, "{span}");
    }
    assert_eq!(listed_deliveries(&interface), [] as [Value; 0]);
    interface.request("POST", &resend, &Value::Null).assert_error(404, "not_found", None);
}

#[test]
fn endpoint_does_not_fail_once_its_last_accepted_delivery_is_deleted() {
    let receiver = Receiver::start_with_script(|_, request| {
        Reply::Status(if request.body.contains("20.00") { 500 } else { 200 })
    });
    let shop = Shop::open();
    let endpoint = json!({ "url": receiver.url(), "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint] }));
    shop.create_invoice("20.00", json!({}));
    shop.create_invoice("30.00", json!({}));
    shop.advance("30d2h");
    let states: Vec<_> = shop.deliveries().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["failed"]);
    // The last attempts of the earlier event are still there. The endpoint accepted the later event.
    assert_ne!(shop.deliveries()[0]["attempts"], json!([]));
    let interface = OperatorInterface::with_shop(shop);
    assert_eq!(interface.get("summary")["failingEndpoints"], json!([]));
    let path = "/dashboard/api/summary?mode=test";
    let all = interface.send_as_operator("GET", path, &Value::Null).expect(200);
    assert_eq!(all.json()["failingEndpoints"], 0);
}

#[test]
fn audit_reports_a_missing_delivery_that_was_not_pruned() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = json!({ "url": inbox, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint, endpoint] }));
    let create = || shop.create_invoice("20.00", json!({ "webhookUrl": inbox }));
    create();
    shop.advance("32d");
    assert_eq!(shop.deliveries(), [] as [Value; 0]);
    create();
    shop.advance("1s");
    shop.assert_audit_clean();
    shop.execute_sql(
        "delete from attempts where delivery in (select max(seq) from deliveries group by endpoint);
         delete from deliveries where seq in (select max(seq) from deliveries group by endpoint)",
    );
    let found = findings(shop.file());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|line| line.starts_with("rule 4: event evt_")), "{found:?}");
    // After a reset the numbers of events begin again, and none of the new ones counts as pruned.
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    assert_eq!(row_count(&shop, "pruned_deliveries"), "0");
    shop.update_account(json!({ "endpoints": [endpoint] }));
    shop.create_invoice("20.00", json!({}));
    shop.advance("1s");
    shop.assert_audit_clean();
    shop.execute_sql("delete from attempts; delete from deliveries");
    assert_eq!(findings(shop.file()).len(), 1);
}

#[test]
fn attempts_are_kept_as_long_as_the_setting_says() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let start = |more: &[&str]| {
        start_sandbox("127.0.0.1:0", &[&["--file", path_text(&file)], more].concat())
    };
    let post = |url: &str, path: &str, headers: &[(&str, &str)], body: Value| {
        send(&agent(), "POST", &format!("{url}{path}"), headers, &body.to_string())
    };
    let count = |url: &str| {
        let page = send(&agent(), "GET", &format!("{url}/sandbox/webhooks"), &[], "").json();
        page["data"].as_array().unwrap().len()
    };
    let clock = |url: &str, body: Value| post(url, "/sandbox/clock", &[], body).expect(200);
    let (process, url) = start(&["--keep-attempts", "40d"]);
    clock(&url, json!({ "frozen": true }));
    let invoice = json!({
        "amount": "20.00", "currency": "EUR", "webhookUrl": format!("{url}/sandbox/inbox/shop"),
    });
    post(&url, "/v1/invoices", &[("X-API-Key", TEST)], invoice).expect(201);
    clock(&url, json!({ "advance": "39d23h" }));
    assert_eq!(count(&url), 2);
    drop(process);
    // The default is 30 days, and a longer time brings nothing back.
    for more in [&["--keep-attempts", "3650d"][..], &[], &["--keep-attempts", "40d"]] {
        let (_process, url) = start(more);
        clock(&url, json!({ "advance": "0s" }));
        assert_eq!(count(&url), if more.last() == Some(&"3650d") { 2 } else { 0 }, "{more:?}");
    }
}

#[test]
fn wrong_time_to_keep_attempts_is_rejected() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for command in ["serve", "sandbox"] {
        for wrong in
            ["", "0s", "soon", "30", "-30d", "1d23h59m59s", "3651d", "99999999999999999999d"]
        {
            let mut coffer = Command::new(env!("CARGO_BIN_EXE_coffer"));
            coffer.args([command, "--listen", "127.0.0.1:0", "--file"]).arg(&file);
            let output = coffer.env("COFFER_KEEP_ATTEMPTS", wrong).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let expected = format!(
                "--keep-attempts {wrong}: must be a span from 2d to 3650d, for example 30d"
            );
            assert!(said.contains(&expected), "{command} {wrong}: {said}");
            assert_eq!(output.status.code(), Some(1), "{command} {wrong}");
        }
    }
    assert!(!file.exists());
    drop(start_sandbox("127.0.0.1:0", &["--keep-attempts", "2d"]));
}

#[test]
fn expired_idempotency_responses_and_sessions_are_deleted() {
    let shop = Shop::open();
    let order = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "k")];
    shop.send("POST", "/v1/invoices", &headers, &order).expect(201);
    shop.sign_in_operator();
    shop.advance("11h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "sessions")),
        ("1".into(), "1".into())
    );
    shop.advance("2h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "sessions")),
        ("1".into(), "0".into())
    );
    shop.advance("12h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "invoices")),
        ("0".into(), "1".into())
    );
}
