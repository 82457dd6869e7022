//! Event types and invoice statuses: filters accept only the documented values. An event contains the object as the
//! API returns it. Lists show only objects of the key.

use crate::customers::addresses::create_second_account;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{LIVE, Shop, TEST};
use coffer::domain::{EventType, InvoiceStatus};
use coffer::http::{Auth, Route, routes};
use serde_json::{Value, json};

/// The documented event types.
const EVENT_TYPES: [&str; 16] = [
    "invoice.created",
    "invoice.detected",
    "invoice.confirmed",
    "invoice.overpaid",
    "invoice.underpaid",
    "invoice.expired",
    "invoice.paid_late",
    "invoice.cancelled",
    "invoice.failed",
    "deposit.confirmed",
    "payout.paid",
    "payout.failed",
    "refund.paid",
    "refund.failed",
    "account.approved",
    "account.suspended",
];
/// The documented statuses.
const INVOICE_STATUSES: [&str; 10] = [
    "created",
    "awaiting_payment",
    "detected",
    "confirmed",
    "overpaid",
    "underpaid",
    "expired",
    "paid_late",
    "cancelled",
    "failed",
];

/// Asserts the type of an invoice's last event, and that the event contains the invoice as the API returns it.
#[track_caller]
fn assert_last_event(shop: &Shop, id: &str, status: &str) {
    let invoice = shop.get_invoice(id);
    assert_eq!(invoice["status"], status);
    let last = shop.list_entries(&format!("/v1/events?limit=1&object={id}"), TEST).remove(0);
    assert_eq!(last["type"], format!("invoice.{status}"));
    assert_eq!(last["data"]["object"], invoice, "{status}");
    assert_eq!(last["created"], shop.now());
}

/// Creates test invoices in each status except `awaiting_payment`, which has no event. Returns their ids in order.
#[track_caller]
fn create_invoice_per_status(shop: &Shop) -> Vec<(&'static str, String)> {
    let make = || {
        let more = json!({ "asset": "LTC", "ttlSeconds": 60, "metadata": { "n": 1.10 } });
        let invoice = shop.create_invoice("100.00", more);
        invoice["id"].as_str().unwrap().to_owned()
    };
    let confirmed = |id: &str, amount: &str| {
        let payment = shop.pay(json!({ "invoice": id, "amount": amount }));
        assert_last_event(shop, id, "detected");
        shop.set_payment_state(&payment, "confirmed");
        payment
    };
    let [expired, late] = [make(), make()];
    shop.advance("1m");
    assert_last_event(shop, &expired, "expired");
    let payment = shop.pay(json!({ "invoice": late }));
    shop.set_payment_state(&payment, "confirmed");
    let [detected, paid, over, under, cancelled, failed] = std::array::from_fn(|_| make());
    shop.pay(json!({ "invoice": detected }));
    confirmed(&paid, "1.25");
    confirmed(&over, "1.5");
    confirmed(&under, "0.5");
    shop.cancel_invoice(&cancelled).expect(200);
    let gone = confirmed(&failed, "1.25");
    shop.set_payment_state(&gone, "dropped");
    let created = shop.create_invoice("100.00", json!({}))["id"].clone();
    let all = [
        ("created", created.as_str().unwrap().to_owned()),
        ("detected", detected),
        ("confirmed", paid),
        ("overpaid", over),
        ("underpaid", under),
        ("expired", expired),
        ("paid_late", late),
        ("cancelled", cancelled),
        ("failed", failed),
    ];
    all.into()
}

#[test]
fn event_contains_the_invoice_as_the_api_returns_it() {
    let shop = Shop::open();
    for (status, id) in create_invoice_per_status(&shop) {
        if status != "expired" {
            assert_last_event(&shop, &id, status);
        }
    }
}

#[test]
fn status_filter_accepts_documented_statuses_only() {
    assert_eq!(InvoiceStatus::TEXTS, INVOICE_STATUSES);
    let shop = Shop::open();
    let mut all = create_invoice_per_status(&shop);
    let picked = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let picked = picked["id"].as_str().unwrap().to_owned();
    all.push(("awaiting_payment", picked));
    for (status, id) in &all {
        let found = shop.list_entries(&format!("/v1/invoices?status={status}"), TEST);
        assert_eq!(found, [shop.get_invoice(id)], "{status}");
        let paid = ["confirmed", "overpaid"].contains(status);
        assert_eq!(found[0]["paid"], paid, "{status}");
    }
    assert_eq!(all.len(), INVOICE_STATUSES.len());
    for wrong in ["paid", "pending", "CREATED", ""] {
        let answer = shop.get(&format!("/v1/invoices?status={wrong}"), Some(TEST));
        answer.assert_error(400, "invalid_request", Some("status"));
    }
}

#[test]
fn type_filter_accepts_documented_types_only() {
    assert_eq!(EventType::TEXTS, EVENT_TYPES);
    let shop = Shop::open();
    create_invoice_per_status(&shop);
    shop.create_addresses(TEST, "ada").expect(201);
    let deposit = json!({ "asset": "BTC", "amount": "0.001" });
    shop.post("/v1/customers/ada/simulate", Some(TEST), deposit).expect(201);
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    for way in [&["approve", "fail"][..], &["approve", "process", "pay"]] {
        shop.apply_actions("payouts", &shop.create_payout("20.00"), way);
        shop.apply_actions("refunds", &shop.create_refund(&invoice, Some("20.00")), way);
    }
    shop.update_account(json!({ "status": "suspended" }));
    shop.update_account(json!({ "status": "active" }));
    for kind in EVENT_TYPES {
        let path = format!("/v1/events?limit=200&type={kind}");
        let found = [shop.list_entries(&path, TEST), shop.list_entries(&path, LIVE)].concat();
        assert!(!found.is_empty(), "{kind}");
        assert!(found.iter().all(|event| event["type"] == kind), "{kind}");
    }
    for wrong in ["invoice.awaiting_payment", "payout.requested", "account.rejected", "invoice", ""]
    {
        let answer = shop.get(&format!("/v1/events?type={wrong}"), Some(TEST));
        answer.assert_error(400, "invalid_request", Some("type"));
    }
}

#[test]
fn event_contains_the_account_as_the_api_returns_it() {
    let shop = Shop::open();
    shop.fund_balance(LIVE, "100.00", "EUR");
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let types = ["account.approved", "account.suspended"];
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url(), "types": types }] }));
    for (status, kind) in [("suspended", "account.suspended"), ("active", "account.approved")] {
        shop.update_account(json!({ "status": status }));
        shop.advance("0s");
        let told = receiver.requests().pop().unwrap();
        let event = told.json();
        assert_eq!((&event["type"], &event["livemode"]), (&json!(kind), &json!(true)));
        let path = format!("/v1/events/{}", event["id"].as_str().unwrap());
        let read = shop.get(&path, Some(LIVE)).expect(200);
        assert_eq!(read.text, told.body);
        shop.get(&path, Some(TEST)).assert_error(404, "not_found", None);
        let mut account = event["data"]["object"].clone();
        let object = account.as_object_mut().unwrap().remove("object");
        assert_eq!(object, Some(json!("account")));
        let merchant = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
        assert_eq!(account, merchant);
        assert_eq!(merchant["status"], status);
    }
    assert_eq!(receiver.requests().len(), 2);
}

/// Returns the routes that list objects of the account.
fn list_routes() -> impl Iterator<Item = &'static Route> {
    routes(false).filter(|route| {
        route.auth() == Auth::Secret && route.method == "GET" && !route.path.contains('{')
    })
}

#[test]
fn account_can_read_lists_in_every_status() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    for status in ["pending", "suspended", "rejected", "active"] {
        shop.update_account(json!({ "status": status }));
        for key in [TEST, LIVE] {
            for route in list_routes() {
                shop.get(route.path, Some(key)).expect(200);
            }
            let merchant = shop.get("/v1/merchant", Some(key)).expect(200).json();
            assert_eq!(merchant["status"], status);
        }
        assert_eq!(shop.get_invoice(&invoice)["paid"], true);
    }
}

#[test]
fn lists_show_only_objects_of_the_key() {
    let shop = Shop::open();
    let mut invoices = Vec::new();
    for key in [TEST, LIVE] {
        let invoice = shop.fund_balance(key, "100.00", "EUR");
        shop.create_refund(&invoice, Some("1.00"));
        let address = shop.customer_address(key, "ada", "utxo");
        let deposit = shop.pay(json!({ "address": address, "amount": "0.001" }));
        shop.set_payment_state(&deposit, "confirmed");
        invoices.push(invoice);
    }
    shop.create_payout("20.00");
    let others = ["test", "live"].map(|mode| create_second_account(shop.file(), mode));
    let mut walked = 0;
    for route in list_routes() {
        let path = route.path;
        // These lists are skipped: coins are the same for all accounts, the account is not a list, and a balance has
        // no id.
        if ["/v1/currencies", "/v1/merchant", "/v1/balances"].contains(&path) {
            continue;
        }
        walked += 1;
        let (test, live) = (shop.list_ids(path, TEST), shop.list_ids(path, LIVE));
        assert_eq!(test.is_empty(), path == "/v1/payouts", "{path}");
        assert!(!live.is_empty(), "{path}");
        assert!(test.iter().all(|id| !live.contains(id)), "{path}");
        for other in &others {
            let of_other = shop.list_entries(path, other);
            let own = |entry: &Value| entry["type"] == "account.approved";
            assert!(of_other.iter().all(own), "{path}");
        }
    }
    assert_eq!(walked, 6, "invoices, ledger, payouts, refunds, events, deposits");
    for other in &others {
        let balances = shop.list_entries("/v1/balances", other);
        assert!(balances.iter().all(|balance| balance["sales"] == "0.00"));
    }
    // A filter by an invoice of the other mode or of another account finds nothing.
    for (invoice, foreign) in [(&invoices[0], LIVE), (&invoices[1], TEST)] {
        for key in [foreign, &others[0], &others[1]] {
            for query in ["refunds?invoiceId", "events?object"] {
                let path = format!("/v1/{query}={invoice}");
                assert_eq!(shop.list_entries(&path, key), Vec::<Value>::new(), "{path}");
            }
        }
    }
    for path in ["/v1/ledger", "/v1/events"] {
        let page = shop.get(&format!("{path}?limit=1"), Some(TEST)).json();
        let before = format!("{path}?before={}", page["nextBefore"].as_str().unwrap());
        shop.get(&before, Some(TEST)).expect(200);
        for key in [LIVE, &others[0], &others[1]] {
            let refused = shop.get(&before, Some(key));
            refused.assert_error(400, "invalid_request", Some("before"));
        }
    }
}

#[test]
fn filter_returns_a_subset_of_the_list() {
    let shop = Shop::open();
    let others = ["test", "live"].map(|mode| create_second_account(shop.file(), mode));
    let keys = [TEST, LIVE, &others[0], &others[1]];
    for key in keys {
        for currency in ["EUR", "USD"] {
            shop.fund_balance(key, "100.00", currency);
        }
        let body = json!({ "amount": "20.00", "currency": "EUR", "orderId": "a" });
        shop.post("/v1/invoices", Some(key), body).expect(201);
        let address = shop.customer_address(key, "ada", "utxo");
        let deposit = shop.pay(json!({ "address": address, "amount": "0.001" }));
        shop.set_payment_state(&deposit, "confirmed");
    }
    for key in keys {
        for (list, filter, field, value) in [
            ("invoices", "status=confirmed", "/status", "confirmed"),
            ("invoices", "status=created", "/status", "created"),
            ("invoices", "orderId=a", "/orderId", "a"),
            ("invoices", "orderId=a&status=created", "/orderId", "a"),
            ("ledger", "currency=EUR", "/currency", "EUR"),
            ("ledger", "currency=USD", "/currency", "USD"),
            ("events", "type=invoice.created", "/type", "invoice.created"),
            ("events", "type=deposit.confirmed", "/type", "deposit.confirmed"),
            ("deposits", "customer=ada", "/customer", "ada"),
        ] {
            let path = format!("/v1/{list}?limit=100");
            let mut expected = shop.list_entries(&path, key);
            expected.retain(|entry| entry.pointer(field) == Some(&json!(value)));
            let found = shop.list_entries(&format!("{path}&{filter}"), key);
            assert_eq!(found, expected, "{list}?{filter}");
            assert!(!found.is_empty(), "{list}?{filter}");
        }
    }
}
