//! Messages to the team, as a sandbox shows them: sales, waiting work and alarms.

use super::open_with_all_messages;
use crate::support::TEST;
use crate::support::operator_interface::OperatorInterface;
use crate::support::receiver::{Receiver, Reply};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PATH: &str = "/dashboard/api/mail";

/// Returns recipient, kind and subject of every message, oldest first.
fn messages(all: &OperatorInterface) -> Vec<(String, String, String)> {
    let file = open_with_all_messages(all.shop.file());
    let query = "select recipient, kind, subject from mail_messages order by seq";
    let mut rows = file.prepare(query).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn choose(all: &OperatorInterface, cookie: &str, choice: Value) -> Value {
    all.send(cookie, "PUT", PATH, &choice).expect(200).json()
}

fn pay(all: &OperatorInterface, order: &str, case: &str) {
    let invoice = all.shop.create_invoice("20.00", json!({ "asset": "LTC", "orderId": order }));
    let path = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
    all.shop.post(&path, Some(TEST), json!({ "case": case })).expect(200);
}

#[test]
fn user_chooses_messages() {
    let all = OperatorInterface::open();
    let get = |cookie: &str| all.send(cookie, "GET", PATH, &Value::Null);
    let nothing = json!({
        "object": "mail_preferences", "available": true, "email": "merchant@sandbox.test", "sales": "off",
        "tasks": false, "alarms": false,
    });
    assert_eq!(get(&all.merchant).expect(200).json(), nothing);
    let some = choose(&all, &all.merchant, json!({ "sales": "daily", "alarms": true }));
    assert_eq!(
        (&some["sales"], &some["tasks"], &some["alarms"]),
        (&json!("daily"), &json!(false), &json!(true))
    );
    let more = choose(&all, &all.merchant, json!({ "tasks": true }));
    assert_eq!(
        (&more["sales"], &more["tasks"], &more["alarms"]),
        (&json!("daily"), &json!(true), &json!(true))
    );
    assert_eq!(get(&all.merchant).json(), more);
    assert_eq!(get(&all.operator).json()["sales"], "off", "of one user only");
    let off = json!({ "sales": "off", "tasks": false, "alarms": false });
    assert_eq!(choose(&all, &all.merchant, off), nothing);
    assert_eq!(all.shop.query_text("select cast(count(*) as text) from mail_preferences"), "0");
    for wrong in
        [json!({ "sales": "hourly" }), json!({ "tasks": 1 }), json!({ "email": "a@b.example" })]
    {
        assert_eq!(all.send(&all.merchant, "PUT", PATH, &wrong).status, 400, "{wrong}");
    }
    assert_eq!(get("coffer_session=none").status, 401);
}

#[test]
fn sales_and_tasks_go_to_those_whom_they_concern() {
    let all = OperatorInterface::open();
    for cookie in [&all.operator, &all.merchant, &all.stranger] {
        choose(&all, cookie, json!({ "sales": "each", "tasks": true }));
    }
    pay(&all, "exact", "exact");
    pay(&all, "over", "over");
    pay(&all, "under", "under");
    let got = |recipient: &str| -> Vec<String> {
        let all =
            messages(&all).into_iter().filter(|(to, kind, _)| to == recipient && kind != "alarm");
        all.map(|(_, kind, subject)| format!("{kind} {}", subject.split(" (").next().unwrap()))
            .collect()
    };
    let expected = [
        "sale Test: Sale: 20.00 EUR, order exact",
        "sale Test: Sale: 20.00 EUR, order over",
        "task Test: Overpaid: 20.00 EUR, order over",
        "task Test: Underpaid: 20.00 EUR, order under",
    ];
    assert_eq!(got("merchant@sandbox.test"), expected);
    assert_eq!(got("operator@sandbox.test"), expected);
    assert!(got("stranger@sandbox.test").is_empty(), "of another account");
    all.shop.execute_sql("update users set disabled_at = 1 where email = 'merchant@sandbox.test'");
    pay(&all, "later", "exact");
    assert_eq!(got("merchant@sandbox.test").len(), 4, "a disabled user gets nothing");
    assert_eq!(got("operator@sandbox.test").len(), 5);
}

#[test]
fn failing_endpoint_is_told_after_an_hour_and_when_it_works_again() {
    let all = OperatorInterface::open();
    let works = Arc::new(AtomicBool::new(false));
    let is_working = Arc::clone(&works);
    let receiver = Receiver::start_with_script(move |_, _| {
        Reply::Status(if is_working.load(Ordering::SeqCst) { 200 } else { 500 })
    });
    all.shop.update_account(json!({ "endpoints": [{ "url": receiver.url() }] }));
    choose(&all, &all.merchant, json!({ "alarms": true }));
    choose(&all, &all.operator, json!({ "tasks": true }));
    all.shop.create_invoice("20.00", json!({}));
    let alarms = |all: &OperatorInterface| -> Vec<(String, String)> {
        let alarms = messages(all).into_iter().filter(|(_, kind, _)| kind == "alarm");
        alarms.map(|(to, _, subject)| (to, subject)).collect()
    };
    all.shop.advance("50m");
    assert!(alarms(&all).is_empty());
    all.shop.advance("11m");
    let told = alarms(&all);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].0 == "merchant@sandbox.test" && told[0].1.ends_with(" has failed for an hour"),
        "{told:?}"
    );
    all.shop.advance("5h");
    assert_eq!(alarms(&all).len(), 1, "one message while it lasts");
    works.store(true, Ordering::SeqCst);
    all.shop.create_invoice("20.00", json!({}));
    all.shop.advance("1h");
    let told = alarms(&all);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].1.starts_with("Over: the endpoint "), "{told:?}");
}

#[test]
fn day_is_summed_up_after_midnight() {
    let all = OperatorInterface::open();
    choose(&all, &all.operator, json!({ "sales": "daily" }));
    let live = crate::support::LIVE;
    all.shop.post("/sandbox/clock", None, json!({ "set": "2030-01-01T23:00:00.000Z" })).expect(200);
    for _ in 0..2 {
        let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC" });
        let invoice = all.shop.post("/v1/invoices", Some(live), body).expect(201).json();
        let payment = all.shop.pay(json!({ "invoice": invoice["id"] }));
        all.shop.set_payment_state(&payment, "confirmed");
    }
    let summaries = || -> Vec<String> {
        let all = messages(&all).into_iter().filter(|(_, kind, _)| kind == "summary");
        all.map(|(.., subject)| subject).collect()
    };
    assert!(summaries().is_empty());
    all.shop.advance("70m");
    assert_eq!(summaries(), ["2 sales on 2030-01-01"]);
    all.shop.advance("1d");
    assert_eq!(summaries().len(), 1, "a day without sales has no summary");
}
