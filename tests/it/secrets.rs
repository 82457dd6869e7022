//! No secret in the log, in errors or in metrics, however much is logged.

use crate::support::served::Served;
use crate::support::{Answer, agent, send};
use serde_json::{Value, json};

/// A text of an answer.
#[track_caller]
fn text(of: &Value, name: &str) -> String {
    of[name]
        .as_str()
        .unwrap_or_else(|| unreachable!("{name} in {of}"))
        .to_owned()
}

#[test]
fn no_secret_is_logged_or_told() {
    let served = Served::new();
    let log = served.path("log");
    let running = served.start_logging("trace", &log);
    let account = format!("/dashboard/api/accounts/{}", served.account);
    let desk = |method: &str, path: &str, body: Value| {
        running.desk(method, &format!("{account}/{path}"), &body)
    };
    let call = |method: &str, path: &str, key: &str, body: Value| -> Answer {
        let url = format!("{}{path}", running.url);
        send(
            &agent(),
            method,
            &url,
            &[("X-API-Key", key)],
            &body.to_string(),
        )
    };
    let made = desk("POST", "keys", json!({ "class": "secret", "mode": "test" })).expect(201);
    let key = text(&made.json(), "key");
    let endpoint = desk(
        "POST",
        "endpoints",
        json!({ "url": "https://shop.example/hook" }),
    );
    let endpoint = endpoint.expect(201).json();
    let legacy = desk("GET", "legacy-secret", Value::Null).expect(200).json();
    let order =
        json!({ "amount": "20.00", "currency": "EUR", "customerEmail": "anna@example.com" });
    let invoice = call("POST", "/v1/invoices", &key, order).expect(201).json();
    let checkout = text(&invoice, "checkoutUrl");
    let token = checkout.rsplit_once('=').unwrap().1;
    send(&agent(), "GET", &checkout, &[], "").expect(200);
    let guessed = format!("{}x", &served.key[..served.key.len() - 1]);
    let unknown = "sk_live_000000000000000000000000000000000000";
    let body = json!({ "email": "operator@shop.test", "password": "a guessed password" });
    let session = format!("{}/dashboard/api/session", running.url);
    let refused = [
        call("GET", "/v1/invoices", &guessed, Value::Null),
        call("GET", "/v1/invoices", unknown, Value::Null),
        call("POST", "/v1/invoices", &key, json!({ "amount": "none" })),
        send(&agent(), "POST", &session, &[], &body.to_string()),
        send(
            &agent(),
            "GET",
            &session,
            &[("cookie", "coffer_session=guessed-cookie")],
            "",
        ),
    ];
    let metrics = send(
        &agent(),
        "GET",
        &format!("{}/metrics", running.url),
        &[],
        "",
    )
    .expect(200);
    let told: String = refused.iter().map(|answer| answer.text.as_str()).collect();
    let cookie = running.cookie().split_once('=').unwrap().1.to_owned();
    drop(running);
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(
        logged.contains("/v1/invoices") && logged.contains("a sign-in as"),
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
        &text(&endpoint, "secret"),
        &text(&legacy, "secret"),
        token,
        "anna@example.com",
    ] {
        for (place, text) in [
            ("log", &logged),
            ("errors", &told),
            ("metrics", &metrics.text),
        ] {
            assert!(!text.contains(secret), "{secret} in {place}");
        }
    }
}
