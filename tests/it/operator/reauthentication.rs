//! Sensitive operations require a recently entered password. The age of the password entry is measured in real time.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, Response, TEST};
use coffer::http::{Auth, RecentPassword, Route, routes};
use serde_json::{Value, json};

const CONFIRM_PATH: &str = "/dashboard/api/session/confirm";
const NULL: Value = Value::Null;
/// Operations that always require a recent password.
const ALWAYS_SENSITIVE: [&str; 34] = [
    "addOwnAddress",
    "addWallet",
    "assignUnmatchedPayment",
    "beginSecondFactor",
    "changeEndpoint",
    "changeUser",
    "claimPayment",
    "confirmSecondFactor",
    "createAccountPayout",
    "createAdjustment",
    "createEndpoint",
    "createKey",
    "createResellerToken",
    "createUser",
    "endSecondFactor",
    "getEndpointSecret",
    "getLegacySecret",
    "importAddresses",
    "movePayout",
    "moveRefund",
    "removeChainNode",
    "removePayoutAddress",
    "requestRefund",
    "resolveUnmatchedPayment",
    "retireWallet",
    "revokeKey",
    "revokeResellerToken",
    "rollEndpointSecret",
    "rollKey",
    "rollLegacySecret",
    "setChainNode",
    "setPayoutAddress",
    "turnSecondFactorOff",
    "undoUnmatchedPayment",
];
/// Operations that require a recent password if the body has one of these fields.
const SENSITIVE_FIELDS: [(&str, &[&str]); 2] = [
    (
        "changeAccount",
        &[
            "feeBps",
            "maxInvoiceAmount",
            "payoutMinimum",
            "payoutDailyLimit",
            "signerLimit",
            "underBps",
            "overBps",
            "rateSpreadBps",
            "customersEnabled",
            "settlementEnabled",
            "serverQuota",
        ],
    ),
    ("setSettings", &["confirmations", "networkFees"]),
];
/// Writes that never require a recent password: they move no money, raise no limit and return no secret.
const HARMLESS_WRITES: [&str; 19] = [
    "cancelAccountInvoice",
    "changeOwnPassword",
    "changePaymentLink",
    "checkWallet",
    "confirmPassword",
    "createAccount",
    "createAccountInvoice",
    "createPaymentLink",
    "decideOnAccount",
    "decideServer",
    "removeEndpoint",
    "removePaymentLinkPicture",
    "resendDelivery",
    "resendSince",
    "setMailPreferences",
    "setPaymentLinkPicture",
    "setReceipts",
    "signOut",
    "switchCoin",
];

/// Makes the last password entry of all sessions older by this many milliseconds.
#[track_caller]
fn make_password_entries_older(interface: &OperatorInterface, ms: i64) {
    let sql = format!("update sessions set password_at = password_at - {ms}");
    interface.shop.execute_sql(&sql);
}

/// Calls a route on the account as the operator. The other ids in the path belong to no object.
#[track_caller]
fn call_route(interface: &OperatorInterface, route: &Route, body: &Value) -> Response {
    let path = route.path.replace("{account}", &interface.account);
    let path = path.replace("{chain}", "solana").replace("{pool}", "solana");
    let path = path.replace("{id}", "01a1fd55-7a80-7af2-9132-000000000000");
    let body = if route.method == "GET" { &NULL } else { body };
    interface.send_as_operator(route.method, &path, body)
}

/// Returns the sorted names of the operations whose rule `is_of` accepts.
fn operations_by_rule(is_of: impl Fn(&RecentPassword) -> bool) -> Vec<&'static str> {
    let of_kind = routes(true).filter(|route| is_of(&route.recent_password));
    let mut names: Vec<&str> = of_kind.map(|route| route.operation).collect();
    names.sort_unstable();
    names
}

#[test]
fn every_session_write_is_sensitive_or_listed_as_harmless() {
    assert_eq!(operations_by_rule(|asks| *asks == RecentPassword::Always), ALWAYS_SENSITIVE);
    for route in routes(true) {
        let (operation, asks) = (route.operation, route.recent_password);
        let by_field = SENSITIVE_FIELDS.iter().find(|(name, _)| *name == operation);
        match asks {
            RecentPassword::ForFields(fields) => assert_eq!(by_field.unwrap().1, fields),
            RecentPassword::Always | RecentPassword::Never => assert!(by_field.is_none()),
        }
        let is_write = matches!(route.auth(), Auth::Session(_)) && route.method != "GET";
        if is_write && asks == RecentPassword::Never {
            assert!(HARMLESS_WRITES.contains(&operation), "{operation}");
        }
    }
}

#[test]
fn sensitive_operations_reject_an_old_password() {
    let interface = OperatorInterface::open();
    // A password entry is recent for less than 900 seconds: 890 seconds are accepted, and ten more are not.
    make_password_entries_older(&interface, 890_000);
    let key = json!({ "class": "secret", "mode": "test" });
    interface.request("POST", "keys", &key).expect(201);
    make_password_entries_older(&interface, 10_000);
    let before = interface.audit_entry_count();
    for route in routes(true).filter(|route| route.recent_password == RecentPassword::Always) {
        let answer = call_route(&interface, route, &json!({ "x": 1 }));
        answer.assert_error(403, "reauthentication_required", None);
    }
    let secret = interface.request("POST", "keys", &key);
    secret.assert_error(403, "reauthentication_required", None);
    assert_eq!(interface.audit_entry_count(), before, "nothing was done");
    // Operations that are not sensitive still work.
    interface.get("keys");
    let session = interface.send_as_operator("GET", "/dashboard/api/session", &NULL);
    session.expect(200);
}

#[test]
fn sensitive_field_requires_a_recent_password() {
    let interface = OperatorInterface::open();
    make_password_entries_older(&interface, 900_000);
    for (operation, fields) in SENSITIVE_FIELDS {
        let route = routes(true).find(|route| route.operation == operation);
        for field in fields {
            // A null value is sensitive as well, because it may remove a limit.
            for value in [json!(1), NULL] {
                let answer = call_route(&interface, route.unwrap(), &json!({ *field: value }));
                answer.assert_error(403, "reauthentication_required", None);
            }
        }
    }
    // Other fields need no recent password, and an invalid body is reported as invalid.
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let change = |body: &Value| interface.send_as_operator("PATCH", &path, body);
    change(&json!({ "name": "A shop", "branding": { "color": "#0a84ff" } })).expect(200);
    change(&json!([])).assert_error(400, "invalid_request", None);
    change(&json!({ "name": 7 })).assert_error(400, "invalid_request", Some("name"));
    let settings = "/dashboard/api/settings";
    let pause = json!({ "maintenance": true });
    interface.send_as_operator("PUT", settings, &pause).expect(200);
}

#[test]
fn moving_money_requires_a_recent_password() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let invoice = shop.fund_balance(TEST, "100.00", "EUR");
    let refund = shop.create_refund(&invoice, Some("10.00"));
    let to = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
    let account = &interface.account;
    let refunds = format!("/dashboard/api/accounts/{account}/refunds?mode=test");
    let adjustments = format!("/dashboard/api/accounts/{account}/adjustments?mode=test");
    let endpoints = format!("/dashboard/api/accounts/{account}/endpoints");
    let terms = format!("/dashboard/api/accounts/{account}");
    let step = format!("/dashboard/api/refunds/{refund}");
    let acts: [(&str, &str, Value, u16); 7] = [
        ("POST", &refunds, json!({ "invoice": invoice, "amount": "1.00", "toAddress": to }), 201),
        ("POST", &step, json!({ "action": "approve" }), 200),
        ("POST", &step, json!({ "action": "process" }), 200),
        ("POST", &step, json!({ "action": "pay" }), 200),
        ("POST", &adjustments, json!({ "currency": "EUR", "amount": "1.00", "memo": "a" }), 201),
        ("POST", &endpoints, json!({ "url": "https://shop.example/hook" }), 201),
        ("PATCH", &terms, json!({ "payoutDailyLimit": "20000.00" }), 200),
    ];
    let confirm = json!({ "password": "sandbox" });
    for (method, path, body, status) in acts {
        make_password_entries_older(&interface, 900_000);
        let before = interface.audit_entry_count();
        let send = || interface.send_as_operator(method, path, &body);
        send().assert_error(403, "reauthentication_required", None);
        assert_eq!(interface.audit_entry_count(), before, "{path} did something");
        interface.send_as_operator("POST", CONFIRM_PATH, &confirm).expect(204);
        send().expect(status);
    }
}

#[test]
fn api_keys_and_sandbox_need_no_recent_password() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    make_password_entries_older(&interface, 900_000);
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let refund = shop.create_refund(&invoice, Some("10.00"));
    shop.apply_actions("refunds", &refund, &["approve", "process", "pay"]);
    shop.update_account(json!({ "payoutDailyLimit": "20000.00" }));
    shop.create_payout("25.00");
}

#[test]
fn password_entry_renews_one_session() {
    let interface = OperatorInterface::open();
    make_password_entries_older(&interface, 900_000);
    let body = json!({ "address": "So11111111111111111111111111111111111111112" });
    let set = || interface.request_as_merchant("PUT", "payout-addresses/solana", &body);
    set().assert_error(403, "reauthentication_required", None);
    let confirm = |cookie: &str, body: &Value| interface.send(cookie, "POST", CONFIRM_PATH, body);
    for (body, param) in [
        (json!({}), "password"),
        (json!({ "password": "" }), "password"),
        (json!({ "password": 1 }), "password"),
        (json!({ "password": "sandbox", "more": 1 }), "more"),
    ] {
        confirm(&interface.merchant, &body).assert_error(400, "invalid_request", Some(param));
    }
    let wrong = json!({ "password": "wrong" });
    confirm(&interface.merchant, &wrong).assert_error(401, "invalid_credentials", Some("password"));
    set().assert_error(403, "reauthentication_required", None);
    let right = json!({ "password": "sandbox" });
    confirm("coffer_session=none", &right).assert_error(401, "unauthorized", None);
    confirm(&interface.merchant, &right).expect(204);
    set().expect(200);
    let operators = interface.request("PUT", "payout-addresses/solana", &body);
    operators.assert_error(403, "reauthentication_required", None);
}

#[test]
fn password_age_uses_real_time() {
    let mut interface = OperatorInterface::open();
    let key = json!({ "class": "public", "mode": "test" });
    interface.shop.advance("11h");
    interface.request("POST", "keys", &key).expect(201);
    // Setting the wall clock back does not make a password entry newer.
    make_password_entries_older(&interface, -120_000);
    interface.request("POST", "keys", &key).assert_error(403, "reauthentication_required", None);
    interface.sign_in_again();
    interface.request("POST", "keys", &key).expect(201);
}

#[test]
fn stolen_session_cannot_guess_the_password() {
    let interface = OperatorInterface::open();
    let wrong = json!({ "password": "wrong" });
    let confirm = || interface.send(&interface.merchant, "POST", CONFIRM_PATH, &wrong);
    let slowed = (0..50).map(|_| confirm()).find(|answer| answer.status != 401);
    slowed.unwrap().assert_error(429, "too_many_attempts", None);
    // The user can sign in elsewhere and end the stolen session.
    interface.shop.sign_in("merchant@sandbox.test");
}

#[test]
fn account_has_at_most_a_hundred_active_keys() {
    let interface = OperatorInterface::open();
    let key = json!({ "class": "secret", "mode": "live" });
    let count = "select count(*) || '' from keys where account = 1 and revoked_at is null";
    let have: usize = interface.shop.query_text(count).parse().unwrap();
    let make = || interface.request_as_merchant("POST", "keys", &key);
    let mut ids: Vec<String> = Vec::new();
    for _ in have..100 {
        let made = make().expect(201).json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    make().assert_error(400, "invalid_request", None);
    let import = json!({ "import": "shop.0123456789abcdef", "mode": "live" });
    interface.request("POST", "keys", &import).assert_error(400, "invalid_request", None);
    // A leaked key can be replaced when the account has the maximum number of keys, but only if the old key expires
    // at once.
    let path = format!("keys/{}/roll", ids[0]);
    interface.request_as_merchant("POST", &path, &json!({ "overlapSeconds": 60 })).assert_error(
        400,
        "invalid_request",
        None,
    );
    interface.request_as_merchant("POST", &path, &json!({ "overlapSeconds": 0 })).expect(201);
    make().assert_error(400, "invalid_request", None);
    interface.request_as_merchant("DELETE", &format!("keys/{}", ids[1]), &NULL).expect(204);
    // A replaced key counts towards the maximum until the key expires.
    let path = format!("keys/{}/roll", ids[2]);
    interface.request_as_merchant("POST", &path, &json!({ "overlapSeconds": 60 })).expect(201);
    make().assert_error(400, "invalid_request", None);
    interface.shop.advance("1m");
    make().expect(201);
    make().assert_error(400, "invalid_request", None);
}

#[test]
fn account_has_at_most_a_hundred_active_reseller_tokens() {
    let interface = OperatorInterface::open();
    let count =
        "select count(*) || '' from reseller_tokens where account = 1 and revoked_at is null";
    let have: usize = interface.shop.query_text(count).parse().unwrap();
    let make = || interface.request_as_merchant("POST", "reseller-tokens", &NULL);
    for _ in have..99 {
        make().expect(201);
    }
    let last = make().expect(201).json();
    make().assert_error(400, "invalid_request", None);
    let path = format!("reseller-tokens/{}", last["id"].as_str().unwrap());
    interface.request_as_merchant("DELETE", &path, &NULL).expect(204);
    make().expect(201);
}
