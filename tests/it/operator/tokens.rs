//! Reseller tokens: they are shown once and can be revoked, and mistyped tokens are rejected.

use crate::support::installation::{Installation, RunningServer};
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::{Response, agent, send, with_typo};
use serde_json::{Value, json};

const NULL: Value = Value::Null;

fn order_body() -> String {
    json!({ "type": "kvm", "hostname": "web", "cpu": 1, "ramMb": 512, "diskGb": 5 }).to_string()
}

/// Orders a server with this token.
#[track_caller]
fn order_server(url: &str, token: &str) -> Response {
    let token = format!("Bearer {token}");
    let headers = [("Authorization", token.as_str())];
    let url = format!("{url}/reseller/servers");
    send(&agent(), "POST", &url, &headers, &order_body())
}

/// Returns the path of the tokens of an account.
fn tokens_path(account: &str) -> String {
    format!("/dashboard/api/accounts/{account}/reseller-tokens")
}

/// Returns the list entry of a token.
#[track_caller]
fn find_token(list: &Value, id: &str) -> Value {
    let mut all = list["data"].as_array().unwrap().iter();
    all.find(|token| token["id"] == id).unwrap().clone()
}

/// Creates a token on a server and returns its id and its text.
#[track_caller]
fn create_token(running: &RunningServer, served: &Installation) -> (String, String) {
    let made = running.operator_request("POST", &tokens_path(&served.account), &NULL);
    let made = made.expect(201).json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("token"))
}

#[test]
fn token_is_shown_once_and_identified_by_last_four_characters() {
    let interface = OperatorInterface::open();
    let made = interface.request_as_merchant("POST", "reseller-tokens", &json!({}));
    let made = made.expect(201).json();
    let (id, text) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    assert!(text.starts_with("rt_") && text.len() == 39, "{text}");
    assert!(text.bytes().skip(3).all(|byte| byte.is_ascii_alphanumeric()));
    assert!(text.ends_with(made["last4"].as_str().unwrap()));
    let list = interface.get("reseller-tokens");
    assert!(!list.to_string().contains(text));
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("token");
    assert_eq!(find_token(&list, id), shown);
    assert_eq!((&shown["object"], &shown["lastUsedAt"]), (&json!("reseller_token"), &NULL));
    let other = interface.request("POST", "reseller-tokens", &NULL).expect(201).json();
    assert_ne!(other["token"], made["token"]);
    let file = rusqlite::Connection::open(interface.shop.file()).unwrap();
    let kept = |hash: &[u8]| -> i64 {
        let sql = "select count(*) from reseller_tokens where hash = ?1";
        file.query_row(sql, [hash], |row| row.get(0)).unwrap()
    };
    assert_eq!(kept(&coffer::domain::apikey::hash_key(text)), 1);
    let details: String =
        file.query_row("select group_concat(detail) from audit_log", [], |row| row.get(0)).unwrap();
    assert!(!details.contains(text) && !details.contains(&text[3..]));
}

#[test]
fn token_works_until_revoked() {
    let interface = OperatorInterface::open();
    let made = interface.request_as_merchant("POST", "reseller-tokens", &NULL);
    let made = made.expect(201).json();
    let (id, text) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let server = order_server(interface.shop.url(), text).expect(201).json();
    let now = interface.shop.now();
    interface.shop.advance("1s");
    assert_eq!(find_token(&interface.get("reseller-tokens"), id)["lastUsedAt"], now);
    let path = format!("reseller-tokens/{id}");
    interface.assert_access("revokeResellerToken", "DELETE", &path, false);
    let of_other = format!("{}/{id}", tokens_path(OTHER_ACCOUNT));
    for cookie in [&interface.operator, &interface.stranger] {
        let refused = interface.send(cookie, "DELETE", &of_other, &NULL);
        refused.assert_error(404, "not_found", None);
    }
    let others = interface.send(&interface.stranger, "GET", &tokens_path(OTHER_ACCOUNT), &NULL);
    assert_eq!(others.expect(200).json()["data"], json!([]));
    let refused =
        interface.send(&interface.stranger, "GET", &interface.path("reseller-tokens"), &NULL);
    refused.assert_error(404, "not_found", None);
    let revoked_at = interface.shop.now();
    interface.request("DELETE", &path, &NULL).expect(204);
    order_server(interface.shop.url(), text).assert_error(401, "unauthorized", None);
    let again = interface.request("DELETE", &path, &NULL);
    again.assert_error(404, "not_found", None);
    let list = interface.get("reseller-tokens");
    assert_eq!(find_token(&list, id)["revokedAt"], json!(revoked_at));
    let by = |who: &str, action: &str| (format!("{who}@sandbox.test"), action.to_owned());
    assert_eq!(
        interface.audit_entries(id),
        [by("merchant", "reseller_token.create"), by("operator", "reseller_token.revoke")]
    );
    let servers = interface.get("servers");
    assert_eq!(servers["data"][0]["id"], server["id"], "what it ordered stays");
}

#[test]
fn server_accepts_only_created_tokens_until_revoked() {
    let (served, running) = Installation::start_new(&[]);
    let (id, text) = create_token(&running, &served);
    order_server(&running.url, &text).expect(201);
    let mistyped = with_typo(&text);
    // A malformed token is rejected without a lookup, even if the file contains its hash.
    for planted in [mistyped.as_str(), "rt_sandbox"] {
        let hash = coffer::domain::apikey::hash_key(planted);
        let statement = "insert into reseller_tokens (id, account, hash, last4, created_at)
            values (?1, 1, ?2, 'none', 0)";
        let params = rusqlite::params![planted, &hash[..]];
        served.open_file().execute(statement, params).unwrap();
        let refused = order_server(&running.url, planted);
        refused.assert_error(401, "unauthorized", None);
        assert!(refused.text.contains("mistyped"), "{}", refused.text);
    }
    let (_, other) = create_token(&running, &served);
    let path = format!("{}/{id}", tokens_path(&served.account));
    running.operator_request("DELETE", &path, &NULL).expect(204);
    let refused = order_server(&running.url, &text);
    refused.assert_error(401, "unauthorized", None);
    assert!(refused.text.contains("revoked"), "{}", refused.text);
    order_server(&running.url, &other).expect(201);
}

#[test]
fn tokens_and_keys_are_not_interchangeable() {
    let (served, running) = Installation::start_new(&[]);
    let (_, text) = create_token(&running, &served);
    let url = format!("{}/v1/merchant", running.url);
    let as_key = send(&agent(), "GET", &url, &[("X-API-Key", &text)], "");
    as_key.assert_error(401, "unauthorized", None);
    order_server(&running.url, &served.key).assert_error(401, "unauthorized", None);
}
