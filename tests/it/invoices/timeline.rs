//! The timeline of an invoice: every status change with its amounts, in chronological order.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

/// Returns the timeline entries of a test invoice.
#[track_caller]
fn timeline_entries(interface: &OperatorInterface, invoice: &str) -> Vec<Value> {
    let timeline = interface.get(&format!("invoices/{invoice}/timeline"));
    timeline["data"].as_array().unwrap().clone()
}

/// Returns the texts of timeline entries.
#[track_caller]
fn timeline_texts(interface: &OperatorInterface, invoice: &str) -> Vec<String> {
    let entries = timeline_entries(interface, invoice);
    let text = |entry: &Value| entry["text"].as_str().unwrap().to_owned();
    entries.iter().map(text).collect()
}

/// Creates an invoice of 100.00 EUR in litecoin at a rate of 80 and returns its id.
#[track_caller]
fn create_litecoin_invoice(shop: &Shop) -> String {
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    invoice["id"].as_str().unwrap().to_owned()
}

#[test]
fn timeline_shows_each_step_of_payment_and_refund() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let invoice = create_litecoin_invoice(shop);
    let payment = shop.pay(json!({ "invoice": invoice, "amount": "1.24375" }));
    shop.set_payment_state(&payment, "confirmed");
    shop.advance("1s");
    let refund = shop.create_refund(&invoice, Some("10.00"));
    shop.apply_actions("refunds", &refund, &["reject"]);
    let told = timeline_texts(&interface, &invoice);
    let address = shop.get_invoice(&invoice)["depositAddress"].clone();
    let until = shop.get_invoice(&invoice)["expiresAt"].clone();
    let (address, until) = (address.as_str().unwrap(), until.as_str().unwrap());
    let expected = [
        format!("created: 100.00 EUR due until {until}"),
        format!("LTC picked: 1.25 at 80 EUR each, to {address}"),
        format!("awaiting_payment: nothing was paid of the 100.00 EUR due until {until}"),
        "payment of 1.24375 LTC seen: worth 99.50 EUR at 80, in time".to_owned(),
        "detected: confirmed 0.00 of 100.00 EUR due, and 99.50 seen in time but not confirmed"
            .to_owned(),
        "payment of 1.24375 LTC confirmed: worth 99.50 EUR at 80, in time".to_owned(),
        "booked 99.50 EUR as sale".to_owned(),
        "booked -1.00 EUR as fee".to_owned(),
        "confirmed: confirmed 99.50 of 100.00 EUR due, tolerance 0.50".to_owned(),
        "refund of 10.00 EUR requested".to_owned(),
    ];
    assert_eq!(told[..10], expected);
    assert!(told[10].starts_with("refund of 10.00 EUR rejected"), "{told:?}");
    let entries = timeline_entries(&interface, &invoice);
    assert_eq!(entries[8]["sums"]["confirmedOnTime"], "99.50");
    assert_eq!(entries[5]["payment"]["step"], "confirmed");
    assert_eq!(entries[6]["booking"]["kind"], "sale");
    assert_eq!(entries[10]["refund"]["id"], refund);
}

#[test]
fn timeline_shows_every_status_change() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let ways: [&[&str]; 6] = [
        &["seen", "confirmed", "orphaned", "dropped", "20m"],
        &["seen", "dropped", "seen again", "confirmed"],
        &["seen", "replaced", "20m"],
        &["cancel", "seen", "confirmed"],
        &["20m", "seen", "confirmed", "dropped"],
        &["seen", "20m", "confirmed", "dropped", "confirmed"],
    ];
    for way in ways {
        let invoice = create_litecoin_invoice(shop);
        let mut payment = String::new();
        for step in way {
            match *step {
                "seen" => payment = shop.pay(json!({ "invoice": invoice })),
                "seen again" => drop(shop.set_payment_state(&payment, "seen")),
                "cancel" => drop(shop.cancel_invoice(&invoice).expect(200)),
                "20m" => shop.advance("20m"),
                "replaced" => {
                    payment = shop.set_payment_state(&payment, "replaced")["id"]
                        .as_str()
                        .unwrap()
                        .to_owned();
                }
                step => drop(shop.set_payment_state(&payment, step)),
            }
        }
        let entries = timeline_entries(&interface, &invoice);
        let told: Vec<_> = entries.iter().filter_map(|entry| entry["status"].as_str()).collect();
        let events = shop.event_types(&invoice, TEST);
        let of_events: Vec<_> =
            events.iter().map(|kind| kind.trim_start_matches("invoice.")).collect();
        // `awaiting_payment` is the only status without an event.
        let with_event: Vec<_> =
            told.iter().filter(|status| **status != "awaiting_payment").copied().collect();
        assert_eq!(with_event, of_events, "{way:?}");
        assert_eq!(told.last().copied(), shop.get_invoice(&invoice)["status"].as_str());
        let times: Vec<_> = entries.iter().map(|entry| entry["at"].as_str()).collect();
        assert!(times.is_sorted(), "{way:?}: {times:?}");
        let booked = entries.iter().filter(|entry| entry["kind"] == "booking").count();
        let in_ledger = shop.invoice_ledger(&invoice, TEST);
        let in_ledger = in_ledger.split(", ").filter(|text| !text.is_empty());
        assert_eq!(booked, in_ledger.count(), "{way:?}");
    }
}

#[test]
fn timeline_shows_a_new_coin_selection() {
    let interface = OperatorInterface::open();
    let invoice = create_litecoin_invoice(&interface.shop);
    for asset in ["BTC", "LTC", "LTC"] {
        let select = format!("/v1/invoices/{invoice}/select");
        let body = json!({ "asset": asset });
        interface.shop.post(&select, Some(TEST), body).expect(200);
    }
    let picked: Vec<_> = timeline_entries(&interface, &invoice)
        .iter()
        .filter_map(|entry| entry["coin"]["asset"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(picked, ["LTC", "BTC", "LTC"]);
    let nothing = interface.path("invoices/x/timeline");
    interface.send_as_operator("GET", &nothing, &Value::Null).assert_error(404, "not_found", None);
}
