//! Lists, pages and queries, the account with its balances, and coin selection.

use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

/// Returns a field of every entry of a list.
fn field_values(list: &Value, field: &str) -> Vec<String> {
    let entries = list["data"].as_array().unwrap().iter();
    entries.map(|entry| entry[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn undocumented_query_is_rejected() {
    let shop = Shop::open();
    for (path, max) in [("/v1/invoices", 100), ("/v1/ledger", 200), ("/v1/events", 200)] {
        for limit in ["0", "x", "-1", "1.5", "", "+1", &format!("{}", max + 1), "1&limit=2"] {
            let answer = shop.get(&format!("{path}?limit={limit}"), Some(TEST));
            answer.assert_error(400, "invalid_request", Some("limit"));
        }
        for limit in [1, max] {
            shop.get(&format!("{path}?limit={limit}"), Some(TEST)).expect(200);
        }
    }
    for (query, param) in [
        ("invoices?status=paid", "status"),
        ("invoices?orderId=", "orderId"),
        ("invoices?status=%ff", "status"),
        ("ledger?currency=GBP", "currency"),
        ("ledger?before=x", "before"),
        ("events?type=invoice", "type"),
        ("events?before=evt_00000000000070008000000000000000", "before"),
        ("events?object=", "object"),
    ] {
        shop.get(&format!("/v1/{query}"), Some(TEST)).assert_error(
            400,
            "invalid_request",
            Some(param),
        );
    }
}

#[test]
fn invoices_are_listed_newest_first_and_filtered_by_status_and_order_id() {
    let shop = Shop::open();
    for order in 0..30 {
        shop.create_invoice("20.00", json!({ "orderId": format!("order {order}") }));
    }
    let list =
        |query: &str| shop.get(&format!("/v1/invoices{query}"), Some(TEST)).expect(200).json();
    let newest: Vec<String> = (5..30).rev().map(|order| format!("order {order}")).collect();
    assert_eq!(field_values(&list(""), "orderId"), newest, "25 unless said otherwise");
    assert_eq!(field_values(&list("?limit=2"), "orderId"), ["order 29", "order 28"]);
    let paid = list("?orderId=order+7")["data"][0]["id"].as_str().unwrap().to_owned();
    shop.post(&format!("/v1/invoices/{paid}/simulate"), Some(TEST), json!({})).expect(200);
    assert_eq!(field_values(&list("?status=confirmed"), "orderId"), ["order 7"]);
    assert_eq!(list("?status=confirmed")["data"][0], shop.get_invoice(&paid));
    assert_eq!(list("?status=created&orderId=order%207")["data"], json!([]));
    assert_eq!(list("?orderId=nobody")["data"], json!([]));
    assert_eq!(field_values(&list("?status=created&limit=100"), "status").len(), 29);
}

#[test]
fn pages_of_events_and_ledger_contain_each_entry_once() {
    let shop = Shop::open();
    for currency in ["EUR", "USD", "EUR"] {
        let id = shop.create_invoice("20.00", json!({ "currency": currency }))["id"].clone();
        let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
        shop.post(&path, Some(TEST), json!({})).expect(200);
    }
    for path in ["/v1/events?", "/v1/ledger?"] {
        let all = shop.get(&format!("{path}limit=200"), Some(TEST)).expect(200).json();
        assert_eq!((&all["hasMore"], &all["nextBefore"]), (&json!(false), &json!(null)));
        let (mut found, mut before) = (Vec::new(), String::new());
        loop {
            let page = shop.get(&format!("{path}limit=2{before}"), Some(TEST)).expect(200).json();
            found.extend(page["data"].as_array().unwrap().clone());
            assert_eq!(page["hasMore"], json!(page["nextBefore"].is_string()));
            let Some(next) = page["nextBefore"].as_str() else {
                break;
            };
            before = format!("&before={next}");
        }
        assert_eq!(json!(found), all["data"]);
    }
    let dollars = shop.get("/v1/ledger?currency=USD", Some(TEST)).expect(200).json();
    assert_eq!(field_values(&dollars, "currency"), ["USD", "USD"]);
    let made = shop.get("/v1/events?type=invoice.created", Some(TEST)).expect(200).json();
    assert_eq!(made["data"].as_array().unwrap().len(), 3);
    let id = made["data"][0]["id"].as_str().unwrap();
    let object = made["data"][0]["data"]["object"]["id"].as_str().unwrap();
    let one = format!("/v1/events?object={object}&type=invoice.confirmed");
    assert_eq!(
        field_values(&shop.get(&one, Some(TEST)).expect(200).json(), "type"),
        ["invoice.confirmed"]
    );
    assert_eq!(
        shop.get(&format!("/v1/events/{id}"), Some(TEST)).expect(200).json(),
        made["data"][0]
    );
}

#[test]
fn account_is_readable_and_reports_status_changes() {
    let shop = Shop::open();
    shop.update_account(json!({ "endpoints": [{ "url": "http://127.0.0.1:9/hook", "mode": "live" }], "feeBps": 125 }));
    let mut live = shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
    for field in ["id", "createdAt", "balances"] {
        assert!(live.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    let rest = json!({
        "name": "Sandbox Shop", "status": "active", "feeBps": 125, "feePercent": "1.25", "settlementEnabled": true,
        "customersEnabled": true, "webhookUrl": "http://127.0.0.1:9/hook", "payoutAsset": "SOL", "livemode": true,
    });
    assert_eq!(live, rest);
    assert_eq!(shop.get("/v1/merchant", Some(TEST)).json()["webhookUrl"], json!(null));
    shop.update_account(json!({ "status": "suspended" }));
    shop.update_account(json!({ "status": "active" }));
    let events = shop.get("/v1/events", Some(LIVE)).expect(200).json();
    assert_eq!(field_values(&events, "type"), ["account.approved", "account.suspended"]);
    let account = &events["data"][0]["data"]["object"];
    assert_eq!((&account["object"], &account["status"]), (&json!("account"), &json!("active")));
    assert_eq!(shop.get("/v1/events", Some(TEST)).json()["data"], json!([]));
}

#[test]
fn seen_payment_is_pending_net_of_fee() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({ "asset": "LTC" }))["id"].clone();
    let payment = shop.pay(json!({ "invoice": id }));
    let euro = || shop.get("/v1/balances", Some(TEST)).expect(200).json()["data"][0].clone();
    assert_eq!((&euro()["pending"], &euro()["available"]), (&json!("19.80"), &json!("0.00")));
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!((&euro()["pending"], &euro()["available"]), (&json!("0.00"), &json!("19.80")));
}

#[test]
fn coin_selection_fixes_a_quote_until_payment_or_expiry() {
    let shop = Shop::open();
    let pick = |id: &Value, asset: &str| {
        let path = format!("/v1/invoices/{}/select", id.as_str().unwrap());
        shop.post(&path, Some(TEST), json!({ "asset": asset }))
    };
    let id = shop.create_invoice("20.00", json!({ "currency": "USD" }))["id"].clone();
    let bitcoin = pick(&id, "BTC").expect(200).json();
    assert_eq!(
        (&bitcoin["rate"], &bitcoin["amountExpected"]),
        (&json!("64800"), &json!("0.00030865"))
    );
    let (ether, base) =
        (pick(&id, "ETH").expect(200).json(), pick(&id, "USDC-BASE").expect(200).json());
    assert_eq!(ether["depositAddress"], base["depositAddress"], "one address for all evm chains");
    assert_ne!(ether["depositAddress"], bitcoin["depositAddress"]);
    assert_eq!(pick(&id, "BTC").expect(200).json(), bitcoin, "the quote from before, unchanged");
    pick(&id, "XYZ").assert_error(400, "coin_unavailable", Some("asset"));
    let cents = shop.create_invoice("0.05", json!({}))["id"].clone();
    pick(&cents, "BTC").assert_error(400, "coin_unavailable", Some("asset"));
    for body in [json!({}), json!({ "asset": 1 }), json!({ "asset": "" })] {
        let path = format!("/v1/invoices/{}/select", id.as_str().unwrap());
        shop.post(&path, Some(TEST), body).assert_error(400, "invalid_request", Some("asset"));
    }
    shop.pay(json!({ "invoice": id }));
    pick(&id, "LTC").assert_error(400, "payment_in_flight", None);
    shop.advance("20m");
    pick(&id, "LTC").assert_error(400, "invoice_closed", None);
    pick(&cents, "LTC").assert_error(400, "invoice_closed", None);
    let simulate = format!("/v1/invoices/{}/simulate", cents.as_str().unwrap());
    for (body, param) in [(json!({ "case": "most" }), "case"), (json!({ "asset": 1 }), "asset")] {
        shop.post(&simulate, Some(TEST), body).assert_error(400, "invalid_request", Some(param));
    }
    shop.post(&simulate, Some(TEST), json!({ "asset": "XYZ" })).assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
    shop.post(&simulate, Some(TEST), json!({})).assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
}
