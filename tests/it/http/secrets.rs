//! The log, errors and metrics contain no secret, even at the most detailed log level.

use crate::support::installation::{Installation, RunningServer};
use crate::support::{Response, agent, send, with_typo};
use serde_json::{Value, json};

#[track_caller]
fn text_field(of: &Value, name: &str) -> String {
    of[name].as_str().unwrap_or_else(|| unreachable!("{name} in {of}")).to_owned()
}

/// Creates an invoice and returns its checkout URL and the token in it.
fn create_checkout(running: &RunningServer, key: &str) -> (String, String) {
    let order =
        json!({ "amount": "20.00", "currency": "EUR", "customerEmail": "anna@example.com" });
    let invoice = call_merchant_api(running, "POST", "/v1/invoices", key, &order);
    let url = text_field(&invoice.expect(201).json(), "checkoutUrl");
    let token = url.rsplit_once('=').unwrap().1.to_owned();
    (url, token)
}

/// Calls the merchant API with this key.
fn call_merchant_api(
    running: &RunningServer,
    method: &str,
    path: &str,
    key: &str,
    body: &Value,
) -> Response {
    let url = format!("{}{path}", running.url);
    send(&agent(), method, &url, &[("X-API-Key", key)], &body.to_string())
}

/// Creates a reseller token and sends a request with it.
fn create_reseller_token(running: &RunningServer, served: &Installation) -> String {
    let path = format!("/dashboard/api/accounts/{}/reseller-tokens", served.account);
    let made = running.operator_request("POST", &path, &Value::Null).expect(201);
    let token = text_field(&made.json(), "token");
    let bearer = format!("Bearer {token}");
    let url = format!("{}/reseller/servers", running.url);
    send(&agent(), "POST", &url, &[("Authorization", &bearer)], "{").expect(400);
    token
}

/// Returns all responses to wrong keys, passwords and cookies in one text.
fn refused_responses(
    running: &RunningServer,
    wrong_keys: &[&str],
    password: &str,
    cookie: &str,
) -> String {
    let session = format!("{}/dashboard/api/session", running.url);
    let body = json!({ "email": "operator@shop.test", "password": password }).to_string();
    let cookie = format!("coffer_session={cookie}");
    let mut answers: Vec<Response> = wrong_keys
        .iter()
        .map(|key| call_merchant_api(running, "GET", "/v1/invoices", key, &Value::Null))
        .collect();
    answers.push(send(&agent(), "POST", &session, &[], &body));
    answers.push(send(&agent(), "GET", &session, &[("cookie", &cookie)], ""));
    answers
        .iter()
        .inspect(|answer| assert_eq!(answer.status, 401, "{}", answer.text))
        .map(|answer| answer.text.as_str())
        .collect()
}

#[test]
fn secrets_are_not_logged_or_returned() {
    let served = Installation::new();
    let log = served.path("log");
    let running = served.start_with_log("trace", &log);
    let interface = |method: &str, path: &str, body: Value| {
        let path = format!("/dashboard/api/accounts/{}/{path}", served.account);
        running.operator_request(method, &path, &body)
    };
    let made = interface("POST", "keys", json!({ "class": "secret", "mode": "test" })).expect(201);
    let key = text_field(&made.json(), "key");
    let reseller = create_reseller_token(&running, &served);
    let hook = json!({ "url": "https://shop.example/hook" });
    let endpoint = interface("POST", "endpoints", hook).expect(201).json();
    let legacy = interface("GET", "legacy-secret", Value::Null).expect(200).json();
    let (page, token) = create_checkout(&running, &key);
    send(&agent(), "GET", &page, &[], "").expect(200);
    call_merchant_api(&running, "POST", "/v1/invoices", &key, &json!({ "amount": "none" }))
        .expect(400);
    let guessed = with_typo(&served.key);
    let unknown = "sk_live_000000000000000000000000000000000000";
    let told =
        refused_responses(&running, &[&guessed, unknown], "a guessed password", "guessed-cookie");
    let metrics = send(&agent(), "GET", &format!("{}/metrics", running.url), &[], "");
    let metrics = metrics.expect(200).text;
    let cookie = running.cookie().split_once('=').unwrap().1.to_owned();
    let logged = running.stop_and_read_log(&log);
    assert!(
        logged.contains("/v1/invoices") && logged.contains("sign-in failed: email="),
        "{logged}"
    );
    for secret in [
        served.key.as_str(),
        &key,
        &guessed,
        unknown,
        &cookie,
        "guessed-cookie",
        "operator's password",
        "a guessed password",
        &text_field(&endpoint, "secret"),
        &text_field(&legacy, "secret"),
        &token,
        &reseller,
        "anna@example.com",
    ] {
        for (place, text) in [("log", &logged), ("errors", &told), ("metrics", &metrics)] {
            assert!(!text.contains(secret), "{secret} in {place}");
        }
    }
}
