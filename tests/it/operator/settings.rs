//! Service settings: maintenance, available coins and the audit log.

use crate::coins::table::COINS;
use crate::support::object_id;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

const NULL: Value = Value::Null;

#[test]
fn maintenance_pauses_live_invoices() {
    let interface = OperatorInterface::open();
    let path = "/dashboard/api/settings";
    let read = || interface.get_path(path);
    assert_eq!(read()["maintenance"], false);
    let set = |body: Value| interface.send_as_operator("PUT", path, &body);
    set(json!({ "maintenance": true })).expect(200);
    assert_eq!(read()["maintenance"], true);
    let create = |key: &str| {
        let body = json!({ "amount": "20.00", "currency": "EUR" });
        interface.shop.post("/v1/invoices", Some(key), body)
    };
    create(LIVE).assert_error(503, "maintenance", None);
    create(TEST).expect(201);
    set(json!({ "maintenance": false })).expect(200);
    create(LIVE).expect(201);
    set(json!({})).assert_error(400, "invalid_request", Some("maintenance"));
    set(json!({ "maintenance": 1 })).assert_error(400, "invalid_request", Some("maintenance"));
    assert_eq!(interface.shop.audit_entries("settings.change").len(), 2);
}

#[test]
fn confirmations_are_set_for_each_coin_and_logged() {
    let interface = OperatorInterface::open();
    let path = "/dashboard/api/settings";
    let read = || interface.get_path(path)["confirmations"].clone();
    let set = |body: Value| interface.send_as_operator("PUT", path, &body);
    let by_default = read();
    assert_eq!(by_default.as_object().unwrap().len(), COINS.len());
    let tiers = |few: u32, more: u32, most: Value| {
        json!([
            { "below": "250.00", "confirmations": few },
            { "below": "2500.00", "confirmations": more },
            { "confirmations": most },
        ])
    };
    for (asset, expected) in [
        ("BTC", tiers(1, 2, json!(6))),
        ("LTC", tiers(3, 6, json!(12))),
        ("DOGE", tiers(10, 20, json!(40))),
        ("ETH", tiers(6, 12, json!("final"))),
        ("USDT-ERC20", tiers(6, 12, json!("final"))),
        ("USDC-BASE", tiers(10, 30, json!("final"))),
        ("USDC-POLYGON", tiers(32, 64, json!("final"))),
    ] {
        assert_eq!(by_default[asset], expected, "{asset}");
    }
    // One request sets two coins. Other coins and settings do not change.
    let own = json!([{ "below": "1000.00", "confirmations": 1 }, { "confirmations": 100 }]);
    let at_once = json!([{ "confirmations": "final" }]);
    let both = json!({ "confirmations": { "BTC": own, "ETH": at_once } });
    assert_eq!(set(both.clone()).expect(200).json()["confirmations"]["BTC"], own);
    let mut expected = by_default.clone();
    expected["BTC"] = own.clone();
    expected["ETH"] = at_once;
    assert_eq!(read(), expected);
    let noted = interface.shop.audit_entries("settings.change");
    assert_eq!(noted.len(), 1);
    assert_eq!(noted[0].2, both);
    assert_invalid_confirmations_change_nothing(&interface, &own);
    assert_eq!(read(), expected);
    let null = json!({ "confirmations": { "BTC": null, "ETH": null } });
    set(null).expect(200);
    assert_eq!(read(), by_default);
    let merchant = interface.send(&interface.merchant, "PUT", path, &both);
    merchant.assert_error(403, "forbidden", None);
    // A reset sandbox has the default settings.
    set(both).expect(200);
    interface.shop.post("/sandbox/reset", None, json!({})).expect(200);
}

/// Asserts that an error in one coin names that coin, and that the request changes no coin.
#[track_caller]
fn assert_invalid_confirmations_change_nothing(interface: &OperatorInterface, own: &Value) {
    for (confirmations, field) in [
        (json!({}), "confirmations"),
        (json!([]), "confirmations"),
        (json!({ "XMR": own }), "confirmations.XMR"),
        (json!({ "BTC": [] }), "confirmations.BTC"),
        (json!({ "LTC": own, "BTC": [{}] }), "confirmations.BTC[0].confirmations"),
        (json!({ "BTC": [{ "confirmations": 101 }] }), "confirmations.BTC[0].confirmations"),
        (
            json!({ "BTC": [{ "below": "250.00", "confirmations": 1 }] }),
            "confirmations.BTC[0].below",
        ),
    ] {
        let body = json!({ "maintenance": true, "confirmations": confirmations });
        let path = "/dashboard/api/settings";
        let answer = interface.send_as_operator("PUT", path, &body);
        answer.assert_error(400, "invalid_request", Some(field));
    }
}

#[test]
fn disabled_coin_is_not_offered_but_quotes_stay_payable() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let quoted = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let fresh = shop.create_invoice("20.00", json!({}));
    let switch = |asset: &str, body: Value| {
        let path = format!("/dashboard/api/coins/{asset}");
        interface.send_as_operator("PUT", &path, &body)
    };
    let off = switch("LTC", json!({ "enabled": false })).expect(200).json();
    assert_eq!((&off["asset"], &off["enabled"]), (&json!("LTC"), &json!(false)));
    switch("LTC", json!({ "enabled": false })).expect(200);
    let coins = interface.get_path("/dashboard/api/coins");
    let is_on = |coin: &&Value| coin["enabled"] == true;
    let count = coins["data"].as_array().unwrap().iter().filter(is_on).count();
    let others = COINS.len().saturating_sub(1);
    assert_eq!(count, others);
    let ids = |path: &str, key: &str, list: &str| {
        let answer = shop.get(path, Some(key)).expect(200).json();
        let all = answer[list].as_array().unwrap().iter();
        all.map(object_id).collect::<Vec<_>>()
    };
    for (path, key, list) in
        [("/v1/currencies", TEST, "data"), ("/v1/public/config", "pk_test_sandbox", "coins")]
    {
        let ids = ids(path, key, list);
        assert!(ids.len() == others && !ids.contains(&"LTC".to_owned()), "{path}");
    }
    let select = |invoice: &Value| {
        let path = format!("/v1/invoices/{}/select", invoice["id"].as_str().unwrap());
        shop.post(&path, Some(TEST), json!({ "asset": "LTC" }))
    };
    select(&fresh).assert_error(400, "coin_unavailable", Some("asset"));
    let same = select(&quoted).expect(200).json();
    assert_eq!(same["depositAddress"], quoted["depositAddress"]);
    let path = format!("/v1/invoices/{}/simulate", quoted["id"].as_str().unwrap());
    let paid = shop.post(&path, Some(TEST), json!({})).expect(200).json();
    assert_eq!(paid["paid"], true);
    switch("LTC", json!({ "enabled": true })).expect(200);
    select(&fresh).expect(200);
    switch("XMR", json!({ "enabled": true })).assert_error(404, "not_found", None);
    switch("LTC", json!({})).assert_error(400, "invalid_request", Some("enabled"));
    assert_eq!(shop.audit_entries("coin.switch").len(), 2, "only changes are noted");
}

#[test]
fn audit_log_is_paged_and_merchant_sees_own_entries() {
    let interface = OperatorInterface::open();
    let body = json!({ "class": "public", "mode": "test" });
    for _ in 0..3 {
        interface.request("POST", "keys", &body).expect(201);
    }
    let other = format!("/dashboard/api/accounts/{OTHER_ACCOUNT}/keys");
    interface.send_as_operator("POST", &other, &body).expect(201);
    let log = |cookie: &str, query: &str| {
        let path = format!("/dashboard/api/audit-log?{query}");
        interface.send(cookie, "GET", &path, &NULL)
    };
    let all = log(&interface.operator, "").expect(200).json();
    assert_eq!(all["data"].as_array().unwrap().len(), 4);
    assert_eq!(all["data"][0]["account"], OTHER_ACCOUNT);
    let first = log(&interface.operator, "limit=3").expect(200).json();
    let next = first["nextBefore"].as_str().unwrap();
    let rest = log(&interface.operator, &format!("limit=3&before={next}"));
    let rest = rest.expect(200).json();
    assert_eq!((&rest["hasMore"], &rest["data"][0]), (&json!(false), &all["data"][3]));
    let own = log(&interface.merchant, "").expect(200).json();
    assert_eq!(own["data"].as_array().unwrap()[..], all["data"].as_array().unwrap()[1..]);
    let named = format!("account={}", interface.account);
    assert_eq!(log(&interface.operator, &named).expect(200).json(), own);
    assert_eq!(log(&interface.merchant, &named).expect(200).json(), own);
    let foreign = format!("account={OTHER_ACCOUNT}");
    log(&interface.merchant, &foreign).assert_error(404, "not_found", None);
    log(&interface.operator, "account=x").assert_error(404, "not_found", None);
    log(&interface.operator, "before=x").assert_error(400, "invalid_request", Some("before"));
    log(&interface.operator, "limit=201").assert_error(400, "invalid_request", Some("limit"));
}
