//! Counts on the overview page: a change of an object changes its own count, and no other count.

use super::deliveries::receiver_with_status;
use crate::support::object_id;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::receiver::{Receiver, Reply};
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

const NULL: Value = Value::Null;

/// Returns the expected summary of a server without waiting work.
fn idle_summary() -> Value {
    let none = json!({ "requested": 0, "approved": 0, "processing": 0 });
    json!({
        "object": "summary", "mode": "live", "accountsPending": 0, "payouts": none, "refunds": none,
        "transfersUnknown": 0, "transfersToReview": 0, "payoutsToReview": 0, "refundsToReview": 0, "transfersWithoutSigner": 0, "serversWaiting": 0, "serversUnknown": 0, "unmatchedPayments": 0,
        "failingEndpoints": 0, "maintenance": false, "nothingOnOffer": null,
        "fileDamaged": false, "certificateWarning": null, "nodeChanges": [],
    })
}

/// Returns a list of counts by status, as in a summary.
fn status_counts(of: &[(&str, i64)]) -> Value {
    let count = |(status, count): &(&str, i64)| json!({ "status": status, "count": count });
    of.iter().map(count).collect()
}

/// Returns the non-zero counts.
#[track_caller]
fn non_zero_counts(counts: &Value) -> Vec<(String, i64)> {
    let counts = counts.as_array().unwrap().iter();
    let counts = counts.map(|entry| {
        let status = entry["status"].as_str().unwrap().to_owned();
        (status, entry["count"].as_i64().unwrap())
    });
    counts.filter(|(_, count)| *count != 0).collect()
}

impl OperatorInterface {
    /// Returns the summary of an account.
    #[track_caller]
    pub fn account_summary(&self, account: &str, mode: &str) -> Value {
        let path = format!("/dashboard/api/accounts/{account}/summary?mode={mode}");
        self.get_path(&path)
    }

    /// Asserts that the live summary differs from [`idle_summary`] in these values only.
    #[track_caller]
    fn assert_live_summary(&self, differences: &[(&str, Value)]) {
        let mut expected = idle_summary();
        for (pointer, value) in differences {
            *expected.pointer_mut(pointer).unwrap() = value.clone();
        }
        let path = "/dashboard/api/summary";
        let summary = self.send_as_operator("GET", path, &NULL);
        assert_eq!(summary.expect(200).json(), expected);
    }

    /// Asserts the non-zero counts of test invoices by status: `open` for open invoices, `recent` for invoices of the
    /// last 30 days.
    #[track_caller]
    fn assert_invoice_counts(&self, open: &[(&str, i64)], recent: &[(&str, i64)]) {
        let summary = self.account_summary(&self.account, "test");
        let owned = |of: &[(&str, i64)]| -> Vec<(String, i64)> {
            let of = of.iter();
            of.map(|(status, count)| ((*status).to_owned(), *count)).collect()
        };
        assert_eq!(non_zero_counts(&summary["openInvoices"]), owned(open));
        assert_eq!(non_zero_counts(&summary["recentInvoices"]), owned(recent));
    }

    /// Sends a request as the operator and asserts success.
    #[track_caller]
    fn send_expecting_success(&self, method: &str, path: &str, body: Value) -> Value {
        let path = format!("/dashboard/api/{path}");
        let answer = self.send_as_operator(method, &path, &body);
        assert!((200..300).contains(&answer.status), "{}", answer.text);
        answer.json()
    }
}

#[test]
fn empty_account_has_zero_counts() {
    let interface = OperatorInterface::open();
    interface.assert_access("getAccountSummary", "GET", "summary", false);
    let balance = |currency: &str| {
        json!({
            "currency": currency, "available": "0.00", "pending": "0.00", "reserved": "0.00", "sales": "0.00",
            "fees": "0.00", "payouts": "0.00", "refunds": "0.00",
        })
    };
    let none = json!({ "requested": 0, "approved": 0, "processing": 0 });
    let open = [("created", 0), ("awaiting_payment", 0), ("detected", 0)];
    let closed = [
        ("confirmed", 0),
        ("overpaid", 0),
        ("underpaid", 0),
        ("expired", 0),
        ("paid_late", 0),
        ("cancelled", 0),
        ("failed", 0),
    ];
    let all: Vec<(&str, i64)> = open.iter().chain(&closed).copied().collect();
    for mode in ["live", "test"] {
        let mut summary = interface.account_summary(&interface.account, mode);
        let sales = summary.as_object_mut().unwrap().remove("sales").unwrap();
        for (at, currency) in ["EUR", "USD"].into_iter().enumerate() {
            let (sales, none) = (&sales[at], json!("0.00"));
            assert_eq!((&sales["currency"], &sales["today"]), (&json!(currency), &none));
            assert_eq!(sales["days"].as_array().unwrap().len(), 30);
            assert_eq!(sales["total"], none);
        }
        let expected = json!({
            "object": "account_summary", "mode": mode, "balances": [balance("EUR"), balance("USD")],
            "openInvoices": status_counts(&open), "recentInvoices": status_counts(&all), "payouts": none, "refunds": none,
            "failingEndpoints": [],
        });
        assert_eq!(summary, expected);
    }
    let own = interface.send(&interface.merchant, "GET", &interface.path("summary"), &NULL);
    assert_eq!(own.expect(200).json()["mode"], "test");
    let wrong = interface.path("summary").replace("test", "both");
    let refused = interface.send(&interface.merchant, "GET", &wrong, &NULL);
    refused.assert_error(400, "invalid_request", Some("mode"));
    let of_all = interface.send(&interface.merchant, "GET", "/dashboard/api/summary", &NULL);
    of_all.assert_error(403, "forbidden", None);
}

#[test]
fn invoice_counts_follow_status_changes() {
    let mut interface = OperatorInterface::open();
    let invoice = object_id(&interface.shop.create_invoice("20.00", json!({})));
    interface.assert_invoice_counts(&[("created", 1)], &[("created", 1)]);
    let path = format!("/v1/invoices/{invoice}/select");
    let coin = json!({ "asset": "LTC" });
    interface.shop.post(&path, Some(TEST), coin).expect(200);
    let step = [("awaiting_payment", 1)];
    interface.assert_invoice_counts(&step, &step);
    let payment = interface.shop.pay(json!({ "invoice": invoice }));
    interface.assert_invoice_counts(&[("detected", 1)], &[("detected", 1)]);
    let balance = &interface.account_summary(&interface.account, "test")["balances"][0];
    assert_ne!(balance["pending"], "0.00");
    interface.shop.set_payment_state(&payment, "confirmed");
    interface.assert_invoice_counts(&[], &[("confirmed", 1)]);
    let balance = &interface.account_summary(&interface.account, "test")["balances"][0];
    assert_eq!((&balance["pending"], &balance["sales"]), (&json!("0.00"), &json!("20.00")));
    for (account, mode) in [(interface.account.as_str(), "live"), (OTHER_ACCOUNT, "test")] {
        let other = interface.account_summary(account, mode);
        assert_eq!(non_zero_counts(&other["recentInvoices"]), [], "{account} {mode}");
        assert_eq!(other["balances"][0]["sales"], "0.00", "{account} {mode}");
    }
    interface.shop.advance("29d");
    let later = object_id(&interface.shop.create_invoice("20.00", json!({})));
    interface.shop.cancel_invoice(&later).expect(200);
    interface.advance("1d");
    interface.assert_invoice_counts(&[], &[("confirmed", 1), ("cancelled", 1)]);
    interface.shop.advance("1s");
    interface.assert_invoice_counts(&[], &[("cancelled", 1)]);
}

#[test]
fn recent_invoices_begin_exactly_30_days_ago() {
    let mut interface = OperatorInterface::open();
    for count in [3, 1, 4] {
        for number in 0..count {
            let made = json!({ "amount": "20.00", "currency": "EUR" });
            let key = if number % 2 == 0 { TEST } else { LIVE };
            interface.shop.post("/v1/invoices", Some(key), made.clone()).expect(201);
            interface.shop.post("/v1/invoices", Some(TEST), made).expect(201);
        }
        interface.shop.advance("1s");
    }
    interface.shop.advance("29d");
    for (step, recent) in [("86397s", 13), ("1s", 8), ("1s", 6), ("1s", 0)] {
        interface.advance(step);
        let recent: &[_] = if recent == 0 { &[] } else { &[("expired", recent)] };
        interface.assert_invoice_counts(&[], recent);
    }
}

#[test]
fn payouts_and_refunds_are_counted_until_final() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.fund_balance(LIVE, "900.00", "EUR");
    for kind in ["payouts", "refunds"] {
        let id = match kind {
            "payouts" => interface.shop.create_payout("20.00"),
            _ => interface.shop.create_refund(&invoice, Some("1.00")),
        };
        let steps: [(&[&str], &str); 3] =
            [(&[], "requested"), (&["approve"], "approved"), (&["process"], "processing")];
        for (actions, status) in steps {
            interface.shop.apply_actions(kind, &id, actions);
            interface.assert_live_summary(&[(&format!("/{kind}/{status}"), json!(1))]);
            let own = interface.account_summary(&interface.account, "live");
            assert_eq!(own[kind][status], 1, "{kind} {status}");
            assert_eq!(interface.account_summary(OTHER_ACCOUNT, "live")[kind][status], 0);
            assert_eq!(interface.account_summary(&interface.account, "test")[kind][status], 0);
        }
        let lost = format!("update transfers set sending = 'unknown' where id = '{id}'");
        interface.shop.execute_sql(&lost);
        interface.assert_live_summary(&[
            (&format!("/{kind}/processing"), json!(1)),
            ("/transfersUnknown", json!(1)),
            ("/transfersToReview", json!(1)),
            (&format!("/{kind}ToReview"), json!(1)),
        ]);
        let paid = json!({ "action": "pay", "txid": format!("tx-{kind}") });
        interface.send_expecting_success("POST", &format!("{kind}/{id}"), paid);
        interface.assert_live_summary(&[]);
        let own = interface.account_summary(&interface.account, "live");
        let none = json!({ "requested": 0, "approved": 0, "processing": 0 });
        assert_eq!(own[kind], none);
    }
    let of_test = interface.shop.fund_balance(TEST, "20.00", "EUR");
    let refund = interface.shop.create_refund(&of_test, Some("1.00"));
    interface.assert_live_summary(&[]);
    let of_test = || {
        interface.send_expecting_success("GET", "summary?mode=test", NULL)["refunds"]["requested"]
            .clone()
    };
    assert_eq!(of_test(), 1);
    interface.shop.apply_actions("refunds", &refund, &["reject"]);
    assert_eq!(of_test(), 0);
}

#[test]
fn accounts_and_unmatched_payments_are_counted_until_resolved() {
    let interface = OperatorInterface::open();
    interface.assert_live_summary(&[]);
    let account =
        interface.send_expecting_success("POST", "accounts", json!({ "name": "Corner Shop" }));
    interface.assert_live_summary(&[("/accountsPending", json!(1))]);
    let path = format!("accounts/{}/status", object_id(&account));
    interface.send_expecting_success("POST", &path, json!({ "status": "active" }));
    interface.assert_live_summary(&[]);
    let body =
        json!({ "address": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "asset": "BTC", "amount": "2" });
    let payment = interface.shop.pay(body);
    interface.assert_live_summary(&[("/unmatchedPayments", json!(1))]);
    let path = format!("unmatched-payments/{payment}");
    interface.send_expecting_success("POST", &path, json!({ "note": "sent back" }));
    interface.assert_live_summary(&[]);
    interface.send_expecting_success("PUT", "settings", json!({ "maintenance": true }));
    interface.assert_live_summary(&[("/maintenance", json!(true))]);
    interface.send_expecting_success("PUT", "settings", json!({ "maintenance": false }));
    interface.assert_live_summary(&[]);
}

#[test]
fn waiting_servers_are_counted() {
    let interface = OperatorInterface::open();
    let order = json!({ "type": "kvm", "hostname": "web", "cpu": 1, "ramMb": 512, "diskGb": 5 });
    let reseller = |method: &str, path: &str, body: &str| {
        let token = [("Authorization", "Bearer rt_sandbox")];
        let path = format!("/reseller/servers{path}");
        interface.shop.send(method, &path, &token, body)
    };
    let server = object_id(&reseller("POST", "", &order.to_string()).expect(201).json());
    let decide =
        |body: Value| interface.send_expecting_success("POST", &format!("servers/{server}"), body);
    let one = [("/serversWaiting", json!(1))];
    interface.assert_live_summary(&one);
    let started = "update servers set status = 'provisioning', ordering = 'running'";
    interface.shop.execute_sql(started);
    interface.assert_live_summary(&[]);
    let lost = "update servers set ordering = 'unknown'";
    interface.shop.execute_sql(lost);
    interface.assert_live_summary(&[("/serversUnknown", json!(1))]);
    decide(json!({ "action": "release" }));
    interface.assert_live_summary(&one);
    decide(json!({ "action": "activate", "address": "192.0.2.7" }));
    interface.assert_live_summary(&[]);
    reseller("DELETE", &format!("/{server}"), "").expect(202);
    interface.assert_live_summary(&one);
    interface.shop.execute_sql(lost);
    interface.assert_live_summary(&[("/serversUnknown", json!(1))]);
    decide(json!({ "action": "delete" }));
    interface.assert_live_summary(&[]);
}

#[test]
fn endpoint_is_failing_until_it_accepts_a_delivery() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver_with_status(&status);
    let body = json!({ "url": receiver.url(), "mode": "test" });
    let endpoint = interface.request("POST", "endpoints", &body).expect(201).json();
    let failing = |mode: &str| {
        interface.account_summary(&interface.account, mode)["failingEndpoints"].clone()
    };
    let count = |mode: &str| {
        let path = format!("summary?mode={mode}");
        interface.send_expecting_success("GET", &path, NULL)["failingEndpoints"].clone()
    };
    assert_eq!((failing("test"), count("test")), (json!([]), json!(0)));
    let since = interface.shop.now();
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("10s");
    let entry = |since: &str, attempts: i64, last: &str| {
        json!({
            "id": endpoint["id"], "url": receiver.url(), "failingSince": since, "failedAttempts": attempts,
            "lastAttemptAt": last, "lastStatus": 500, "lastError": null,
        })
    };
    let last = interface.shop.now();
    assert_eq!(failing("test"), json!([entry(&since, 2, &last)]));
    assert_eq!(count("test"), 1);
    assert_eq!((failing("live"), count("live")), (json!([]), json!(0)));
    let others = interface.account_summary(OTHER_ACCOUNT, "test");
    assert_eq!(others["failingEndpoints"], json!([]));
    let switch = |enabled: bool| {
        let path = format!("endpoints/{}", object_id(&endpoint));
        let body = json!({ "enabled": enabled });
        interface.request("PATCH", &path, &body).expect(200);
    };
    switch(false);
    assert_eq!((failing("test"), count("test")), (json!([]), json!(0)));
    switch(true);
    assert_eq!(count("test"), 1);
    // The receiver accepts the next event while the rejected event still waits for its retry.
    status.store(204, Ordering::SeqCst);
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("1s");
    assert_eq!((failing("test"), count("test")), (json!([]), json!(0)));
    status.store(500, Ordering::SeqCst);
    let since = interface.shop.now();
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("1s");
    assert_eq!(failing("test"), json!([entry(&since, 1, &since)]));
    status.store(200, Ordering::SeqCst);
    interface.shop.advance("9s");
    assert_eq!((failing("test"), count("test")), (json!([]), json!(0)));
}

#[test]
fn unreachable_endpoint_is_reported_and_resend_restarts_attempts() {
    let mut interface = OperatorInterface::open();
    let url = format!("http://{}/hook", Receiver::unused_address());
    let body = json!({ "url": url, "types": ["invoice.created"] });
    let endpoint = interface.request("POST", "endpoints", &body).expect(201).json();
    interface.shop.create_invoice("20.00", json!({}));
    interface.advance("1d");
    let failing = |mode: &str| {
        interface.account_summary(&interface.account, mode)["failingEndpoints"].clone()
    };
    let shown = failing("test");
    assert_eq!((&shown[0]["failedAttempts"], &shown[0]["lastStatus"]), (&json!(11), &NULL));
    assert!(shown[0]["lastError"].as_str().is_some_and(|error| !error.is_empty()));
    assert_eq!(failing("live"), shown, "it is told of both modes");
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let path = format!("endpoints/{}", object_id(&endpoint));
    let body = json!({ "url": receiver.url() });
    interface.request("PATCH", &path, &body).expect(200);
    assert_eq!(failing("test")[0]["url"], receiver.url());
    let delivery = object_id(&interface.get("deliveries")["data"][0]);
    interface.request("POST", &format!("deliveries/{delivery}/resend"), &NULL).expect(200);
    interface.shop.advance("1s");
    assert_eq!(failing("test"), json!([]));
}
