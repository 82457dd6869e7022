//! What is sensitive asks for a password that was given lately, by real time.

use crate::support::operator_interface::OperatorInterface;
use coffer::http::{Route, routes};
use serde_json::{Value, json};

const CONFIRM: &str = "/dashboard/api/session/confirm";
const NULL: Value = Value::Null;
/// What must ask, whatever else does.
const SENSITIVE: [&str; 21] = [
    "addOwnAddress",
    "addWallet",
    "beginSecondFactor",
    "changeUser",
    "confirmSecondFactor",
    "createKey",
    "createResellerToken",
    "createUser",
    "endSecondFactor",
    "getEndpointSecret",
    "getLegacySecret",
    "importAddresses",
    "removePayoutAddress",
    "retireWallet",
    "revokeKey",
    "revokeResellerToken",
    "rollEndpointSecret",
    "rollKey",
    "rollLegacySecret",
    "setPayoutAddress",
    "turnSecondFactorOff",
];

/// Every password was given this long before.
#[track_caller]
fn age(interface: &OperatorInterface, ms: i64) {
    let sql = format!("update sessions set password_at = password_at - {ms}");
    interface.shop.write_beside(&sql);
}

/// Calls a route on the account as the operator; whatever else its path names is not there.
#[track_caller]
fn call(interface: &OperatorInterface, route: &Route) -> (u16, Value) {
    let path = route.path.replace("{account}", &interface.account);
    let path = path
        .replace("{chain}", "solana")
        .replace("{pool}", "solana");
    let path = path.replace("{id}", "01a1fd55-7a80-7af2-9132-000000000000");
    let body = if route.method == "GET" {
        NULL
    } else {
        json!({ "x": 1 })
    };
    let answer = interface.send(&interface.operator, route.method, &path, &body);
    (answer.status, answer.json()["error"].clone())
}

#[test]
fn what_is_sensitive_asks_for_a_recent_password() {
    let interface = OperatorInterface::open();
    let sensitive: Vec<&Route> = routes(true)
        .filter(|route| route.needs_recent_password)
        .collect();
    let mut names: Vec<&str> = sensitive.iter().map(|route| route.operation).collect();
    names.sort_unstable();
    assert_eq!(names, SENSITIVE);
    let asked = (403, json!("reauthentication_required"));
    // Ten seconds are for the test itself.
    age(&interface, 890_000);
    interface
        .act(
            "POST",
            "keys",
            &json!({ "class": "secret", "mode": "test" }),
        )
        .expect(201);
    age(&interface, 10_000);
    let before = interface.log_length();
    for route in sensitive {
        assert_eq!(call(&interface, route), asked, "{}", route.operation);
    }
    let secret = interface.act(
        "POST",
        "keys",
        &json!({ "class": "secret", "mode": "test" }),
    );
    secret.refused(403, "reauthentication_required", None);
    assert_eq!(interface.log_length(), before, "nothing was done");
    // What is not sensitive goes on.
    interface.read("keys");
    let session = interface.send(&interface.operator, "GET", "/dashboard/api/session", &NULL);
    session.expect(200);
}

#[test]
fn the_password_given_again_renews_one_session() {
    let interface = OperatorInterface::open();
    age(&interface, 900_000);
    let body = json!({ "address": "So11111111111111111111111111111111111111112" });
    let set = || interface.by_merchant("PUT", "payout-addresses/solana", &body);
    set().refused(403, "reauthentication_required", None);
    let confirm = |cookie: &str, body: &Value| interface.send(cookie, "POST", CONFIRM, body);
    for (body, param) in [
        (json!({}), "password"),
        (json!({ "password": "" }), "password"),
        (json!({ "password": 1 }), "password"),
        (json!({ "password": "sandbox", "more": 1 }), "more"),
    ] {
        confirm(&interface.merchant, &body).refused(400, "invalid_request", Some(param));
    }
    let wrong = json!({ "password": "wrong" });
    confirm(&interface.merchant, &wrong).refused(401, "invalid_credentials", Some("password"));
    set().refused(403, "reauthentication_required", None);
    let right = json!({ "password": "sandbox" });
    confirm("coffer_session=none", &right).refused(401, "unauthorized", None);
    confirm(&interface.merchant, &right).expect(204);
    set().expect(200);
    let operators = interface.act("PUT", "payout-addresses/solana", &body);
    operators.refused(403, "reauthentication_required", None);
}

#[test]
fn it_is_real_time_that_counts() {
    let mut interface = OperatorInterface::open();
    let key = json!({ "class": "public", "mode": "test" });
    interface.shop.advance("11h");
    interface.act("POST", "keys", &key).expect(201);
    // A wall clock that was set back does not make a password young.
    age(&interface, -120_000);
    interface
        .act("POST", "keys", &key)
        .refused(403, "reauthentication_required", None);
    interface.sign_in_again();
    interface.act("POST", "keys", &key).expect(201);
}

#[test]
fn a_stolen_session_does_not_guess_the_password() {
    let interface = OperatorInterface::open();
    let wrong = json!({ "password": "wrong" });
    let confirm = || interface.send(&interface.merchant, "POST", CONFIRM, &wrong);
    let slowed = (0..50)
        .map(|_| confirm())
        .find(|answer| answer.status != 401);
    slowed.unwrap().refused(429, "too_many_attempts", None);
    // The user signs in elsewhere all the same, and ends it.
    interface.shop.signed_in("merchant@sandbox.test");
}

#[test]
fn an_account_has_at_most_a_hundred_keys_that_work() {
    let interface = OperatorInterface::open();
    let key = json!({ "class": "secret", "mode": "live" });
    let count = "select count(*) || '' from keys where account = 1 and revoked_at is null";
    let have: usize = interface.shop.read_beside(count).parse().unwrap();
    let make = || interface.by_merchant("POST", "keys", &key);
    let mut ids: Vec<String> = Vec::new();
    for _ in have..100 {
        let made = make().expect(201).json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    make().refused(400, "invalid_request", None);
    let import = json!({ "import": "shop.0123456789abcdef", "mode": "live" });
    interface
        .act("POST", "keys", &import)
        .refused(400, "invalid_request", None);
    // A key that leaked can be replaced all the same, but not doubled.
    let path = format!("keys/{}/roll", ids[0]);
    interface
        .by_merchant("POST", &path, &json!({ "overlapSeconds": 60 }))
        .refused(400, "invalid_request", None);
    interface
        .by_merchant("POST", &path, &json!({ "overlapSeconds": 0 }))
        .expect(201);
    make().refused(400, "invalid_request", None);
    interface
        .by_merchant("DELETE", &format!("keys/{}", ids[1]), &NULL)
        .expect(204);
    // One that is being replaced counts until its time is up.
    let path = format!("keys/{}/roll", ids[2]);
    interface
        .by_merchant("POST", &path, &json!({ "overlapSeconds": 60 }))
        .expect(201);
    make().refused(400, "invalid_request", None);
    interface.shop.advance("1m");
    make().expect(201);
    make().refused(400, "invalid_request", None);
}

#[test]
fn an_account_has_at_most_a_hundred_reseller_tokens_that_work() {
    let interface = OperatorInterface::open();
    let count =
        "select count(*) || '' from reseller_tokens where account = 1 and revoked_at is null";
    let have: usize = interface.shop.read_beside(count).parse().unwrap();
    let make = || interface.by_merchant("POST", "reseller-tokens", &NULL);
    for _ in have..99 {
        make().expect(201);
    }
    let last = make().expect(201).json();
    make().refused(400, "invalid_request", None);
    let path = format!("reseller-tokens/{}", last["id"].as_str().unwrap());
    interface.by_merchant("DELETE", &path, &NULL).expect(204);
    make().expect(201);
}
