//! Unmatched payments, which wait for an operator.

use super::operator::FOREIGN;
use crate::support::object_ids;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

const PATH: &str = "/sandbox/payments";

#[test]
fn transaction_may_pay_an_invoice_a_customer_and_an_unknown_address() {
    let shop = Shop::with_customer();
    let invoice = shop.create_invoice("60.00", json!({ "asset": "BTC" }));
    let customer = shop.customer_address(TEST, "ada", "utxo");
    let pay = |address: &Value| {
        let body = json!({ "address": address, "asset": "BTC", "amount": "0.001", "txid": "one" });
        shop.post(PATH, None, body)
    };
    let addresses = [&invoice["depositAddress"], &json!(customer), &json!(FOREIGN)];
    let first = addresses.map(|address| pay(address).expect(201).json());
    let states = first.iter().map(|payment| payment["state"].as_str().unwrap());
    assert_eq!(Vec::from_iter(states), ["seen", "seen", "unmatched"]);
    assert_eq!(addresses.map(|address| pay(address).expect(200).json()), first);
    let file = rusqlite::Connection::open(shop.file()).unwrap();
    let sql = "select position from observations where txid = 'one' order by position";
    let mut rows = file.prepare(sql).unwrap();
    let positions = rows.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(Vec::from_iter(positions.map(Result::unwrap)), [0, 1, 2]);
}

/// Returns the unmatched payments, as the operator interface shows them.
#[track_caller]
fn list_unmatched(shop: &Shop, cookie: &str, query: &str) -> Value {
    let path = format!("/dashboard/api/unmatched-payments{query}");
    let page = shop.session_request(cookie, "GET", &path, &Value::Null);
    page.expect(200).json()
}

#[test]
fn incomplete_payment_is_rejected() {
    let shop = Shop::with_customer();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "ETH" }));
    let address = &invoice["depositAddress"];
    shop.post(PATH, None, json!({ "address": address, "asset": "USDC-BASE" })).assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
    for body in [
        json!({ "address": FOREIGN }),
        json!({ "address": FOREIGN, "asset": "BTC" }),
        json!({ "address": FOREIGN, "amount": "1" }),
        json!({ "address": FOREIGN, "asset": "LTC", "amount": "1" }),
        json!({ "address": "x", "asset": "BTC", "amount": "1" }),
    ] {
        shop.post(PATH, None, body).assert_error(400, "invalid_request", Some("address"));
    }
    let cookie = shop.sign_in_operator();
    assert_eq!(list_unmatched(&shop, &cookie, "")["data"], json!([]));
}

#[test]
fn unmatched_payment_is_stored_and_books_nothing() {
    let shop = Shop::with_customer();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "ETH" }));
    let (address, id) = (&invoice["depositAddress"], invoice["id"].as_str().unwrap());
    let strange =
        json!({ "address": address, "asset": "USDC-BASE", "amount": "25", "txid": "0xa" });
    let strange = shop.post(PATH, None, strange).expect(201).json();
    assert_eq!((&strange["state"], &strange["txid"]), (&json!("unmatched"), &json!("0xa")));
    let lost = json!({ "address": FOREIGN, "asset": "BTC", "amount": "0.5" });
    let lost = shop.post(PATH, None, lost).expect(201).json();
    let main =
        json!({ "address": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "asset": "BTC", "amount": "2" });
    let main = shop.post(PATH, None, main).expect(201).json();
    shop.assert_invoice(id, "awaiting_payment", "created", "", ["0.00", "0.00"]);
    // An unmatched payment accepts all states, without an effect on a balance.
    for state in ["confirmed", "orphaned", "dropped", "seen"] {
        let moved = shop.set_payment_state(strange["id"].as_str().unwrap(), state);
        assert_eq!([&moved["id"], &moved["state"]], [&strange["id"], &strange["state"]]);
    }
    let path = format!("{PATH}/{}", strange["id"].as_str().unwrap());
    shop.post(&path, None, json!({ "state": "orphaned" })).assert_error(
        409,
        "invalid_transition",
        Some("state"),
    );
    let cookie = shop.sign_in_operator();
    let page = list_unmatched(&shop, &cookie, "");
    let ids: Vec<_> = page["data"].as_array().unwrap().iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids, [&main["id"], &lost["id"], &strange["id"]]);
    assert_eq!(
        (&page["data"][0]["livemode"], &page["data"][1]["livemode"]),
        (&json!(true), &json!(false))
    );
    let merchant = shop.get("/v1/merchant", Some(TEST)).expect(200).json();
    assert_eq!(
        page["data"][2],
        json!({
            "object": "unmatched_payment", "id": strange["id"], "livemode": false, "reason": "unquoted_coin",
            "account": merchant["id"], "invoice": id, "candidate": { "invoice": id }, "chain": "base", "asset": "USDC-BASE", "assetSymbol": "USDC",
            "address": address, "txid": "0xa", "position": 0, "explorerUrl": null, "amountCrypto": "25", "worthEur": "23.00",
            "worthUsd": "24.84", "state": "seen", "seenAt": shop.now(), "outcome": null, "resolvedAt": null, "note": null,
            "returnTxid": null, "payment": null, "deposit": null, "canBeUndone": false,
        })
    );
    let shown = |field: &str| page["data"][1][field].clone();
    assert_eq!((shown("reason"), shown("account")), (json!("unknown_address"), Value::Null));
    shop.assert_audit_clean();
}

#[test]
fn operator_resolves_an_unmatched_payment() {
    let shop = Shop::with_customer();
    let cookie = shop.sign_in_operator();
    let mut ids: Vec<String> = Vec::new();
    for number in 1..=3 {
        ids.insert(0, shop.pay(json!({ "address": FOREIGN, "asset": "BTC", "amount": number })));
    }
    let listed = |query: &str| {
        let page = list_unmatched(&shop, &cookie, query);
        (object_ids(&page), page["nextBefore"].clone(), page["hasMore"] == true)
    };
    assert_eq!(listed("?limit=2"), (ids[..2].to_vec(), json!(ids[1]), true));
    let next = format!("?limit=2&before={}", ids[1]);
    assert_eq!(listed(&next), (ids[2..].to_vec(), Value::Null, false));
    let path = |id: &str| format!("/dashboard/api/unmatched-payments/{id}");
    let resolve = |id: &str, body: Value| shop.session_request(&cookie, "POST", &path(id), &body);
    let at = shop.now();
    let done = resolve(&ids[1], json!({ "note": "sent back" })).expect(200).json();
    assert_eq!((&done["note"], &done["resolvedAt"]), (&json!("sent back"), &json!(at)));
    shop.advance("1m");
    let again = resolve(&ids[1], json!({ "note": "sent back twice" })).expect(200).json();
    assert_eq!((&again["note"], &again["resolvedAt"]), (&json!("sent back twice"), &json!(at)));
    assert_eq!(listed("?status=open").0, [ids[0].clone(), ids[2].clone()]);
    assert_eq!(listed("?status=all").0, ids);
    let noted = shop.audit_entries("unmatched_payment.resolve");
    assert_eq!(
        (noted.len(), &noted[0].1, &noted[0].2),
        (
            2,
            &Some(ids[1].clone()),
            &json!({ "outcome": "dismissed", "note": "sent back", "returnTxid": null })
        )
    );
}

#[test]
fn resolution_requires_an_operator_and_a_valid_note() {
    let shop = Shop::with_customer();
    let cookie = shop.sign_in_operator();
    let id = shop.pay(json!({ "address": FOREIGN, "asset": "BTC", "amount": "1" }));
    let path = |id: &str| format!("/dashboard/api/unmatched-payments/{id}");
    let resolve = |id: &str, body: Value| shop.session_request(&cookie, "POST", &path(id), &body);
    for (body, param) in [
        (json!({}), "note"),
        (json!({ "note": "" }), "note"),
        (json!({ "note": 1 }), "note"),
        (json!({ "note": "x".repeat(1001) }), "note"),
        (json!({ "note": "x", "more": 1 }), "more"),
    ] {
        resolve(&id, body).assert_error(400, "invalid_request", Some(param));
    }
    for unknown in ["x", "01a1fd71-e3f0-740f-bd59-25d40e11c67b"] {
        resolve(unknown, json!({ "note": "x" })).assert_error(404, "not_found", None);
    }
    let merchant = shop.merchant_cookie();
    for (method, path) in [("GET", "/dashboard/api/unmatched-payments"), ("POST", &path(&id))] {
        let body = if method == "GET" { Value::Null } else { json!({ "note": "x" }) };
        shop.session_request(&merchant, method, path, &body).assert_error(403, "forbidden", None);
    }
    for query in ["?before=x", "?limit=201", "?status=closed"] {
        let path = format!("/dashboard/api/unmatched-payments{query}");
        let param = query[1..].split('=').next();
        shop.session_request(&cookie, "GET", &path, &Value::Null).assert_error(
            400,
            "invalid_request",
            param,
        );
    }
    let page = list_unmatched(&shop, &cookie, "?status=open");
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
}
