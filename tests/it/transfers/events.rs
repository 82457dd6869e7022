//! Events of payouts and refunds in both webhook formats.

use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

/// Sends the events of both webhook formats to inboxes of the sandbox.
#[track_caller]
fn send_events_to_inboxes(shop: &Shop) {
    let inbox = |name: &str| format!("{}/sandbox/inbox/{name}", shop.url());
    shop.update_account(json!({ "endpoints": [
        { "url": inbox("event"), "format": "event" },
        { "url": inbox("legacy"), "format": "legacy" },
    ] }));
}

/// Returns the only message of a type in an inbox.
#[track_caller]
fn find_single_message(shop: &Shop, inbox: &str, kind: &str) -> Value {
    let messages = shop.get(&format!("/sandbox/inbox/{inbox}"), None).expect(200).json();
    let bodies = messages["data"].as_array().unwrap().iter();
    let bodies = bodies.map(|message| message["body"].as_str().unwrap());
    let bodies = bodies.map(|body| serde_json::from_str::<Value>(body).unwrap());
    let mut of_kind = bodies.filter(|body| body["type"] == kind || body["event"] == kind);
    let one = of_kind.next().unwrap();
    assert!(of_kind.next().is_none(), "one {kind}");
    one
}

#[test]
fn only_paid_and_failed_transfers_send_events() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    for (way, end) in [
        (&["reject"][..], None),
        (&["cancel"], None),
        (&["approve", "cancel"], None),
        (&["approve", "fail"], Some("failed")),
        (&["approve", "process", "pay"], Some("paid")),
    ] {
        let (payout, refund) =
            (shop.create_payout("20.00"), shop.create_refund(&invoice, Some("20.00")));
        for (kind, id) in [("payouts", &payout), ("refunds", &refund)] {
            shop.apply_actions(kind, id, way);
            let entry = kind.trim_end_matches('s');
            let expected: Vec<String> = end.iter().map(|end| format!("{entry}.{end}")).collect();
            assert_eq!(shop.event_types(id, LIVE), expected, "{way:?}");
            assert_eq!(shop.event_types(id, TEST), Vec::<String>::new());
        }
    }
}

#[test]
fn event_data_equals_the_object_when_sent() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    send_events_to_inboxes(&shop);
    let (payout, refund) =
        (shop.create_payout("20.00"), shop.create_refund(&invoice, Some("30.00")));
    shop.apply_actions("payouts", &payout, &["approve", "process", "pay"]);
    shop.apply_actions("refunds", &refund, &["approve", "fail"]);
    shop.advance("0s");
    for (kind, path) in [
        ("payout.paid", format!("/v1/payouts/{payout}")),
        ("refund.failed", format!("/v1/refunds/{refund}")),
    ] {
        let object = shop.get(&path, Some(LIVE)).expect(200).json();
        let event = find_single_message(&shop, "event", kind);
        assert_eq!(event["data"]["object"], object);
        assert_eq!(event["livemode"], true);
        let read = format!("/v1/events/{}", event["id"].as_str().unwrap());
        assert_eq!(shop.get(&read, Some(LIVE)).expect(200).json(), event);
        let legacy = find_single_message(&shop, "legacy", kind);
        assert_eq!(legacy["object"], object);
        assert_eq!((&legacy["id"], &legacy["createdAt"]), (&event["id"], &event["created"]));
    }
    assert_eq!(find_single_message(&shop, "legacy", "payout.paid")["invoice"], Value::Null);
    // A refund event contains the invoice as it is when the event is sent. This event is sent after the refund has
    // failed.
    let of_refund = &find_single_message(&shop, "legacy", "refund.failed")["invoice"];
    assert_eq!((&of_refund["id"], &of_refund["refundedAmount"]), (&json!(invoice), &Value::Null));
    assert_eq!(of_refund["priceAmount"], "100.00");
}

#[test]
fn refund_event_has_the_invoice_at_event_time() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    send_events_to_inboxes(&shop);
    // The receiver of the legacy format fails once. The later delivery still has the original body.
    let down = json!({ "status": 503, "times": 1 });
    shop.send("PUT", "/sandbox/inbox/legacy", &[], &down.to_string()).expect(204);
    let refund = shop.create_refund(&invoice, Some("30.00"));
    shop.apply_actions("refunds", &refund, &["approve", "process", "pay"]);
    shop.advance("0s");
    let first = find_single_message(&shop, "legacy", "refund.paid");
    shop.create_refund(&invoice, Some("20.00"));
    shop.send("DELETE", "/sandbox/inbox/legacy", &[], "").expect(204);
    shop.advance("10s");
    let again = find_single_message(&shop, "legacy", "refund.paid");
    assert_eq!(again, first);
    assert_eq!(again["invoice"]["refundedAmount"], "30.00");
    assert_eq!((&again["livemode"], &again["object"]["id"]), (&json!(false), &json!(refund)));
}
