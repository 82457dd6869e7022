//! Server quota: the operator enables servers for each account.

use super::servers::order_body;
use crate::invoices::idempotency::concurrent_responses;
use crate::support::command::{run_coffer, run_coffer_json};
use crate::support::database::text_column;
use crate::support::installation::{Installation, TOKEN};
use crate::support::operator_interface::OperatorInterface;
use crate::support::scratch::Scratch;
use crate::support::{Response, Shop, agent, send};
use serde_json::{Value, json};

const SERVERS: &str = "/reseller/servers";

#[track_caller]
fn order_server(shop: &Shop, more: &[(&str, &str)]) -> Response {
    let headers = [&[("Authorization", "Bearer rt_sandbox")], more].concat();
    shop.send("POST", SERVERS, &headers, &order_body().to_string())
}

#[test]
fn account_has_at_most_its_quota_of_servers() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let decide = |server: &Value, body: Value| {
        let path = format!("/dashboard/api/servers/{}", server["id"].as_str().unwrap());
        interface.send_as_operator("POST", &path, &body).expect(200)
    };
    shop.update_account(json!({ "serverQuota": 2 }));
    let first = order_server(shop, &[("Idempotency-Key", "first")]).expect(201);
    let second = order_server(shop, &[]).expect(201).json();
    order_server(shop, &[]).assert_error(409, "server_quota_exceeded", None);
    let again = order_server(shop, &[("Idempotency-Key", "first")]).expect(201);
    assert_eq!(again.text, first.text, "a retry is no further server");
    // A failed or deleted server does not count towards the quota. A server counts until its removal is complete.
    let first = first.json();
    decide(&first, json!({ "action": "activate", "address": "192.0.2.7", "ref": "vm-7" }));
    let path = format!("{SERVERS}/{}", first["id"].as_str().unwrap());
    let token = [("Authorization", "Bearer rt_sandbox")];
    shop.send("DELETE", &path, &token, "").expect(202);
    order_server(shop, &[]).assert_error(409, "server_quota_exceeded", None);
    decide(&first, json!({ "action": "delete" }));
    order_server(shop, &[]).expect(201);
    decide(&second, json!({ "action": "fail", "reason": "no room" }));
    order_server(shop, &[]).expect(201);
    order_server(shop, &[]).assert_error(409, "server_quota_exceeded", None);
    // With a quota of 0, the account can read and delete its servers, but cannot order any.
    shop.update_account(json!({ "serverQuota": 0 }));
    order_server(shop, &[]).assert_error(403, "servers_disabled", None);
    order_server(shop, &[("Idempotency-Key", "new")]).assert_error(403, "servers_disabled", None);
    let listed = shop.send("GET", SERVERS, &token, "").expect(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 4);
}

#[test]
fn only_the_operator_sets_the_quota() {
    let interface = OperatorInterface::open();
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let change = |cookie: &str, quota: Value| {
        interface.send(cookie, "PATCH", &path, &json!({ "serverQuota": quota }))
    };
    change(&interface.merchant, json!(1000)).assert_error(403, "forbidden", Some("serverQuota"));
    for wrong in [json!(-1), json!(100_001), json!("2"), json!(1.5)] {
        change(&interface.operator, wrong).assert_error(
            400,
            "invalid_request",
            Some("serverQuota"),
        );
    }
    let changed = change(&interface.operator, json!(0)).expect(200).json();
    assert_eq!(changed["serverQuota"], 0);
    // A token of the merchant's own account cannot order servers.
    let tokens = format!("{path}/reseller-tokens");
    let made = interface.send(&interface.merchant, "POST", &tokens, &Value::Null);
    let bearer = format!("Bearer {}", made.expect(201).json()["token"].as_str().unwrap());
    let headers = [("Authorization", bearer.as_str())];
    let order = || interface.shop.send("POST", SERVERS, &headers, &order_body().to_string());
    order().assert_error(403, "servers_disabled", None);
    change(&interface.operator, json!(1)).expect(200);
    order().expect(201);
    order().assert_error(409, "server_quota_exceeded", None);
}

#[test]
fn concurrent_orders_respect_the_quota() {
    let served = Installation::new();
    let set = |quota: &str| {
        let account = ["account", "servers", &served.account, quota];
        run_coffer_json(&served.file, &account)["serverQuota"].clone()
    };
    assert_eq!(set("3"), 3);
    let running = served.start(&[]);
    let ordered = || {
        let (url, token) = (format!("{}{SERVERS}", running.url), format!("Bearer {TOKEN}"));
        let headers = [("Authorization", token.as_str())];
        let answers = concurrent_responses(|| {
            send(&agent(), "POST", &url, &headers, &order_body().to_string())
        });
        answers.iter().filter(|answer| answer.status == 201).count()
    };
    assert_eq!(ordered(), 3);
    assert_eq!(set("0"), 0);
    let refused = running.reseller_request("POST", SERVERS, &order_body());
    refused.assert_error(403, "servers_disabled", None);
    assert_eq!(set("5"), 5);
    assert_eq!(ordered(), 2);
}

#[test]
fn new_account_has_no_quota() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    run_coffer(&file, &["account", "create", "New"]);
    assert_eq!(text_column(&file, "select server_quota || '' from accounts"), ["0"]);
}
