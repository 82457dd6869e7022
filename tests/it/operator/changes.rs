//! The stream that tells operator pages what has changed.

use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::receiver::{Receiver, Reply};
use crate::support::stream::{EventStream, StreamEvent};
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

const PATH: &str = "/dashboard/api/changes";

impl OperatorInterface {
    /// Opens the stream of a session, and asserts its status and headers.
    #[track_caller]
    fn open_changes(&self, cookie: &str, query: &str) -> EventStream {
        let headers = format!("Cookie: {cookie}\r\n");
        let stream = EventStream::open(&self.shop, &format!("{PATH}{query}"), &headers);
        for expected in
            ["HTTP/1.0 200 ", "content-type: text/event-stream", "cache-control: no-store"]
        {
            let head = &stream.head;
            assert!(head.contains(expected), "{expected} is not in {head}");
        }
        stream
    }
}

/// Returns the kinds of an event for an account and a mode.
fn kinds<'e>(event: &'e StreamEvent, account: &Value, mode: &str) -> Vec<&'e str> {
    let changed = event.data["changed"].as_array().unwrap().iter();
    let of = changed.filter(|one| one["account"] == *account && one["mode"] == mode);
    of.flat_map(|one| one["kinds"].as_array().unwrap()).map(|kind| kind.as_str().unwrap()).collect()
}

/// Reads events until one has this kind. Returns its id.
#[track_caller]
fn wait_for(stream: &mut EventStream, account: &Value, mode: &str, kind: &str) -> String {
    stream.next_matching(|event| kinds(event, account, mode).contains(&kind)).id
}

#[test]
fn changes_are_told_by_kind_and_account() {
    let interface = OperatorInterface::open();
    let own = json!(interface.account);
    let mut operator = interface.open_changes(&interface.operator, "");
    let mut merchant = interface.open_changes(&interface.merchant, "");
    let mut stranger = interface.open_changes(&interface.stranger, "");
    for stream in [&mut operator, &mut merchant, &mut stranger] {
        let first = stream.next().unwrap();
        assert_eq!(first.name, "changes");
        assert_eq!(first.data["version"].as_str().map(str::len), Some(16));
    }
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let endpoint = json!({ "url": receiver.url(), "mode": "test" });
    interface.request("POST", "endpoints", &endpoint).expect(201);
    interface.shop.create_invoice("20.00", json!({}));
    for stream in [&mut operator, &mut merchant] {
        wait_for(stream, &own, "test", "invoices");
    }
    interface.shop.advance("1s");
    interface.shop.fund_balance(LIVE, "90.00", "EUR");
    interface.shop.create_payout("20.00");
    for stream in [&mut operator, &mut merchant] {
        wait_for(stream, &own, "live", "transfers");
    }
    let customer = "/v1/customers/anna";
    interface.shop.post(&format!("{customer}/addresses"), Some(TEST), json!({})).expect(201);
    let deposit = json!({ "asset": "SOL", "amount": "1.5" });
    interface.shop.post(&format!("{customer}/simulate"), Some(TEST), deposit).expect(201);
    wait_for(&mut merchant, &own, "test", "deposits");
    let strange =
        json!({ "address": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "asset": "BTC", "amount": "2" });
    interface.shop.pay(strange);
    wait_for(&mut operator, &Value::Null, "live", "unmatched");
    // A merchant's user hears nothing of other accounts, and nothing of no account. The stream ends at sign-out.
    let session = "/dashboard/api/session";
    for (cookie, mut stream, account) in [
        (&interface.merchant, merchant, own.clone()),
        (&interface.stranger, stranger, json!(OTHER_ACCOUNT)),
    ] {
        interface.send(cookie, "DELETE", session, &Value::Null).expect(204);
        while let Some(event) = stream.next() {
            let changed = event.data["changed"].as_array().unwrap();
            assert!(changed.iter().all(|one| one["account"] == account), "{event:?}");
        }
    }
}

#[test]
fn stream_tells_of_each_attempt_to_deliver() {
    let interface = OperatorInterface::open();
    let own = json!(interface.account);
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let endpoint = json!({ "url": receiver.url(), "mode": "test" });
    interface.request("POST", "endpoints", &endpoint).expect(201);
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("1s");
    let delivery = interface.get("deliveries")["data"][0].clone();
    assert_eq!(delivery["state"], "delivered");
    let mut stream = interface.open_changes(&interface.merchant, "");
    stream.next().unwrap();
    let path = format!("deliveries/{}/resend", delivery["id"].as_str().unwrap());
    interface.request("POST", &path, &Value::Null).expect(200);
    let attempts = || interface.get("deliveries")["data"][0]["attempts"].as_array().unwrap().len();
    while attempts() < 2 {
        wait_for(&mut stream, &own, "test", "deliveries");
    }
}

#[test]
fn reconnecting_page_hears_what_it_missed() {
    let interface = OperatorInterface::open();
    let own = json!(interface.account);
    let mut stream = interface.open_changes(&interface.merchant, "");
    stream.next().unwrap();
    interface.shop.create_invoice("20.00", json!({}));
    let first = wait_for(&mut stream, &own, "test", "invoices");
    drop(stream);
    let since = |id: &str| {
        let mut stream = interface.open_changes(&interface.merchant, &format!("?since={id}"));
        stream.next().unwrap()
    };
    let nothing = since(&first);
    assert_eq!(
        (&nothing.data["changed"], &nothing.data["everything"]),
        (&json!([]), &json!(false))
    );
    interface.shop.create_invoice("20.00", json!({}));
    let missed = since(&first);
    assert_eq!(kinds(&missed, &own, "test"), ["invoices"]);
    assert_ne!(missed.id, first);
    // An id of another process, of the future, or of nothing.
    let (process, _) = first.split_once('-').unwrap();
    for strange in ["00000000-1", &format!("{process}-18446744073709551615"), "x", ""] {
        assert_eq!(since(strange).data["everything"], true, "{strange}");
    }
}

#[test]
fn stream_needs_a_session_and_ends_with_it() {
    let interface = OperatorInterface::open();
    for cookie in ["", "coffer_session=none"] {
        let refused = interface.send(cookie, "GET", PATH, &Value::Null);
        refused.assert_error(401, "unauthorized", None);
    }
    let mut stream = interface.open_changes(&interface.merchant, "");
    stream.next().unwrap();
    // A session that ends by time is noticed at the next change of any account.
    interface.shop.advance("13h");
    interface.shop.create_invoice("20.00", json!({}));
    while stream.next().is_some() {}
}
