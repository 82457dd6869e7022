//! Accounts in the operator interface: creation, status changes, settings and payout addresses.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

const NULL: Value = Value::Null;

#[test]
fn account_name_is_a_single_line() {
    let interface = OperatorInterface::open();
    let send =
        |method: &str, path: &str, body: Value| interface.send_as_operator(method, path, &body);
    let accounts = send("GET", "/dashboard/api/accounts", NULL).expect(200).json();
    let id = accounts["data"][0]["id"].as_str().unwrap();
    for name in [
        "Corner\nShop",
        "Corner Shop\n",
        "Corner\tShop",
        "\u{1b}[2JShop",
        "Shop\u{0}",
        "Sh\u{85}op",
        "Sh\u{7f}op",
    ] {
        let refused = send("POST", "/dashboard/api/accounts", json!({ "name": name }));
        refused.assert_error(400, "invalid_request", Some("name"));
        let path = format!("/dashboard/api/accounts/{id}");
        send("PATCH", &path, json!({ "name": name })).assert_error(
            400,
            "invalid_request",
            Some("name"),
        );
        let link = json!({ "name": name, "amount": "5.00", "currency": "EUR" });
        send("POST", &format!("{path}/payment-links?mode=test"), link).assert_error(
            400,
            "invalid_request",
            Some("name"),
        );
    }
    let path = format!("/dashboard/api/accounts/{id}");
    send("PATCH", &path, json!({ "name": "Café «Ñandú» 7 🙂" })).expect(200);
}

#[test]
fn operator_creates_account_and_changes_its_status() {
    let interface = OperatorInterface::open();
    let send =
        |method: &str, path: &str, body: Value| interface.send_as_operator(method, path, &body);
    let made = send("POST", "/dashboard/api/accounts", json!({ "name": "Corner Shop" }));
    let made = made.expect(201).json();
    let id = made["id"].as_str().unwrap();
    assert_eq!(
        (&made["status"], &made["feeBps"], &made["name"]),
        (&json!("pending"), &json!(100), &json!("Corner Shop"))
    );
    let all = send("GET", "/dashboard/api/accounts", NULL).expect(200).json();
    assert_eq!(all["data"].as_array().unwrap().last(), Some(&made));
    let path = format!("/dashboard/api/accounts/{id}/status");
    let become_ = |status: &str| send("POST", &path, json!({ "status": status }));
    become_("suspended").assert_error(409, "invalid_transition", None);
    for status in ["active", "suspended", "active"] {
        assert_eq!(become_(status).expect(200).json()["status"], status);
        become_(status).assert_error(409, "invalid_transition", None);
    }
    become_("rejected").assert_error(409, "invalid_transition", None);
    become_("pending").assert_error(409, "invalid_transition", None);
    become_("open").assert_error(400, "invalid_request", Some("status"));
    let actions = |name: &str| interface.shop.audit_entries(name).len();
    assert_eq!(
        (actions("account.approve"), actions("account.suspend"), actions("account.reactivate")),
        (1, 1, 1)
    );
    let events = format!("/dashboard/api/accounts/{id}/events");
    let events = send("GET", &events, NULL).expect(200).json();
    let types: Vec<&Value> =
        events["data"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["account.approved", "account.suspended", "account.approved"]);
    for wrong in [json!({}), json!({ "name": "" }), json!({ "name": 1 })] {
        send("POST", "/dashboard/api/accounts", wrong).assert_error(
            400,
            "invalid_request",
            Some("name"),
        );
    }
}

#[test]
fn operator_changes_terms_and_merchant_changes_settings() {
    let interface = OperatorInterface::open();
    let terms = json!({
        "feeBps": 250, "maxInvoiceAmount": "15.00", "payoutMinimum": "5.00", "payoutDailyLimit": 100.5,
        "underBps": 0, "overBps": 2000, "customersEnabled": false, "settlementEnabled": false,
    });
    let changed = interface.request("PATCH", "", &terms);
    // The path of an account has no trailing slash.
    changed.assert_error(404, "not_found", None);
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let by = |cookie: &str, body: &Value| interface.send(cookie, "PATCH", &path, body);
    let changed = by(&interface.operator, &terms).expect(200).json();
    assert_eq!((&changed["feeBps"], &changed["payoutDailyLimit"]), (&json!(250), &json!("100.50")));
    let merchant = interface.shop.get("/v1/merchant", Some(LIVE)).expect(200).json();
    assert_eq!(merchant["feeBps"], 250);
    let body = json!({ "amount": "20.00", "currency": "EUR" });
    let refused = interface.shop.post("/v1/invoices", Some(TEST), body);
    refused.assert_error(400, "amount_too_large", Some("amount"));
    for (name, value) in terms.as_object().unwrap() {
        let refused = by(&interface.merchant, &json!({ name: value }));
        refused.assert_error(403, "forbidden", Some(name));
    }
    let settings = json!({
        "name": "My Shop", "ttlSeconds": 600, "successUrl": "https://shop.example/thanks", "cancelUrl": null,
        "branding": { "color": "#0A84FF", "logoUrl": "https://shop.example/logo.png" }, "checkoutLang": "pt-BR",
        "allowedOrigins": ["https://Shop.Example"], "payoutAsset": "LTC",
    });
    let changed = by(&interface.merchant, &settings).expect(200).json();
    assert_eq!(
        (&changed["branding"]["color"], &changed["allowedOrigins"]),
        (&json!("#0a84ff"), &json!(["https://shop.example"]))
    );
    let read = interface.send(&interface.merchant, "GET", &path, &NULL);
    assert_eq!(read.expect(200).json(), changed);
    let config =
        interface.shop.get("/v1/public/config", Some("pk_test_sandbox")).expect(200).json();
    assert_eq!(
        (&config["branding"]["color"], &config["checkoutLang"]),
        (&json!("#0a84ff"), &json!("pt-BR"))
    );
    let taken_away = json!({ "successUrl": null, "branding": { "color": null } });
    let changed = by(&interface.merchant, &taken_away).expect(200).json();
    assert_eq!((&changed["successUrl"], &changed["branding"]["color"]), (&NULL, &NULL));
    assert_eq!(interface.shop.audit_entries("account.change").len(), 3);
}

#[test]
fn invalid_change_names_the_field_and_changes_nothing() {
    let interface = OperatorInterface::open();
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let before = interface.get_path(&path);
    for (param, value) in [
        ("name", json!("")),
        ("ttlSeconds", json!(59)),
        ("successUrl", json!("/thanks")),
        ("branding", json!({ "color": "red" })),
        ("branding", json!({ "logoUrl": "http://shop.example" })),
        ("branding", json!({ "font": "x" })),
        ("branding", json!([])),
        ("checkoutLang", json!("english please")),
        ("checkoutLang", json!("sv")),
        ("allowedOrigins", json!(["*"])),
        ("allowedOrigins", json!([1])),
        ("allowedOrigins", json!(vec!["https://a.example"; 51])),
        ("payoutAsset", json!("XMR")),
        ("feeBps", json!(10001)),
        ("underBps", json!(2001)),
        ("overBps", json!(-1)),
        ("maxInvoiceAmount", json!("0")),
        ("payoutMinimum", json!("1.001")),
        ("payoutDailyLimit", json!([])),
        ("customersEnabled", json!("yes")),
        ("status", json!("active")),
    ] {
        let mut body = json!({ "ttlSeconds": 700 });
        body[param] = value;
        let refused = interface.send_as_operator("PATCH", &path, &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
    let after = interface.send_as_operator("GET", &path, &NULL);
    assert_eq!(after.expect(200).json(), before);
}

#[test]
fn new_payout_address_waits_for_a_day() {
    let interface = OperatorInterface::open();
    interface.shop.fund_balance(LIVE, "100.00", "EUR");
    let path = "payout-addresses/solana";
    interface.assert_access("setPayoutAddress", "PUT", path, false);
    interface.assert_access("removePayoutAddress", "DELETE", path, false);
    let address = bs58::encode([9_u8; 32]).into_string();
    let body = json!({ "address": address });
    let set = |chain: &str, body: &Value| {
        let path = format!("payout-addresses/{chain}");
        interface.request_as_merchant("PUT", &path, body)
    };
    let account = set("solana", &body).expect(200).json();
    assert_eq!(account["payoutAddresses"][0]["address"], address);
    set("solana", &json!({ "address": "x" })).assert_error(400, "invalid_request", Some("address"));
    set("solana", &json!({})).assert_error(400, "invalid_request", Some("address"));
    set("monero", &body).assert_error(404, "not_found", None);
    // A bitcoin payout address has to be a bitcoin address.
    set("bitcoin", &body).assert_error(400, "invalid_request", Some("address"));
    let refused = interface.shop.request_payout("20.00");
    refused.assert_error(400, "no_address", None);
    interface.shop.advance("11h");
    // Setting the same address again changes nothing.
    assert_eq!(set("solana", &body).expect(200).json(), account);
    assert_eq!(interface.shop.audit_entries("payout_address.set").len(), 1);
    interface.shop.advance("13h");
    interface.shop.request_payout("20.00").expect(201);
    let remove = || interface.request_as_merchant("DELETE", "payout-addresses/solana", &NULL);
    let session = interface.shop.sign_in("merchant@sandbox.test");
    let path = interface.path("payout-addresses/solana");
    interface.send(&session, "DELETE", &path, &NULL).expect(204);
    let gone = interface.send(&session, "DELETE", &path, &NULL);
    gone.assert_error(404, "not_found", None);
    remove().assert_error(401, "unauthorized", None);
}
