//! `/v1/public`: requests of shop pages with a public key, from any site.

use crate::coins::table::COINS;
use crate::support::{LIVE, Response, Shop, TEST};
use coffer::http::{Auth, routes};
use serde_json::{Value, json};

const CONFIG: &str = "/v1/public/config";
const SESSIONS: &str = "/v1/public/checkout-sessions";
const PK_TEST: &str = "pk_test_sandbox";
const PK_LIVE: &str = "pk_live_sandbox";

/// Asserts that pages of other sites may read this response.
#[track_caller]
fn assert_cors(answer: &Response) {
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    let exposed = &answer.headers["access-control-expose-headers"];
    assert_eq!(exposed, "X-Request-Id, Retry-After");
    assert!(answer.headers.contains_key("x-request-id"));
}

/// Returns the field names of an object in order.
fn field_names(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn configuration_belongs_to_the_mode_of_the_key() {
    let shop = Shop::open();
    for (key, live) in [(PK_TEST, false), (PK_LIVE, true)] {
        let answer = shop.get(CONFIG, Some(key)).expect(200);
        assert_cors(&answer);
        let config = answer.json();
        assert_eq!(
            field_names(&config),
            [
                "merchant",
                "livemode",
                "branding",
                "currencies",
                "checkoutLang",
                "coins",
                "widgetUrl"
            ]
        );
        assert_eq!(config["merchant"], "Sandbox Shop");
        assert_eq!(config["livemode"], live);
        let nothing = json!({ "color": null, "logoUrl": null });
        assert_eq!(config["branding"], nothing);
        assert_eq!(config["currencies"], json!(["EUR", "USD"]));
        assert_eq!(config["checkoutLang"], "en");
        assert_eq!(config["widgetUrl"], format!("{}/widget.js", shop.url()));
        let coins = config["coins"].as_array().unwrap();
        assert_eq!(coins.len(), COINS.len());
        assert_eq!(field_names(&coins[0]), ["id", "symbol", "name", "chain"]);
        let bitcoin =
            json!({ "id": "BTC", "symbol": "BTC", "name": "Bitcoin", "chain": "bitcoin" });
        assert_eq!(coins[0], bitcoin);
    }
}

#[test]
fn checkout_session_returns_the_checkout_url() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let answer = shop.post(SESSIONS, Some(PK_TEST), json!({ "invoiceId": invoice["id"] }));
    let answer = answer.expect(200);
    assert_cors(&answer);
    let session = answer.json();
    let fields = ["invoiceId", "token", "checkoutUrl", "status", "expiresAt"];
    assert_eq!(field_names(&session), fields);
    assert_eq!(session["invoiceId"], invoice["id"]);
    assert_eq!(session["checkoutUrl"], invoice["checkoutUrl"]);
    assert_eq!(session["status"], "created");
    assert_eq!(session["expiresAt"], invoice["expiresAt"]);
    let url = session["checkoutUrl"].as_str().unwrap();
    assert!(url.ends_with(&format!("?token={}", session["token"].as_str().unwrap())));
}

#[test]
fn checkout_session_requires_invoice_of_account_and_mode() {
    let shop = Shop::open();
    let test = shop.create_invoice("20.00", json!({}))["id"].clone();
    let live = json!({ "amount": "20.00", "currency": "EUR" });
    let live = shop.post("/v1/invoices", Some(LIVE), live).expect(201);
    let live = live.json()["id"].clone();
    let unknown = json!("019d9f7b-6a00-7000-8000-000000000001");
    for (key, id) in [
        (PK_LIVE, &test),
        (PK_TEST, &live),
        (PK_TEST, &unknown),
        (PK_TEST, &json!("no uuid")),
        (PK_TEST, &json!("")),
    ] {
        let answer = shop.post(SESSIONS, Some(key), json!({ "invoiceId": id }));
        answer.assert_error(404, "not_found", None);
        assert_cors(&answer);
    }
    for body in [json!({}), json!({ "invoiceId": null }), json!({ "invoiceId": 1 })] {
        let answer = shop.post(SESSIONS, Some(PK_TEST), body);
        answer.assert_error(400, "invalid_request", Some("invoiceId"));
        assert_cors(&answer);
    }
    for body in ["", "[]", "{", "null"] {
        let answer = shop.send("POST", SESSIONS, &[("X-API-Key", PK_TEST)], body);
        answer.assert_error(400, "invalid_request", None);
        assert_cors(&answer);
    }
}

#[test]
fn public_routes_require_a_public_key() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({}))["id"].clone();
    let body = json!({ "invoiceId": id }).to_string();
    let of_public = || routes(true).filter(|route| route.auth() == Auth::Public);
    assert_eq!(of_public().count(), 2);
    for route in of_public() {
        let call = |headers: &[(&str, &str)]| shop.send(route.method, route.path, headers, &body);
        for secret in [TEST, LIVE, "sandbox.sandbox"] {
            let answer = call(&[("X-API-Key", secret)]);
            answer.assert_error(403, "wrong_key_type", None);
            assert_cors(&answer);
        }
        let bearer = format!("Bearer {TEST}");
        call(&[("Authorization", &bearer)]).assert_error(403, "wrong_key_type", None);
        for headers in [&[][..], &[("X-API-Key", "pk_test_unknown")], &[("X-API-Key", "")]] {
            let answer = call(headers);
            answer.assert_error(401, "unauthorized", None);
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
            assert_cors(&answer);
        }
        call(&[("X-API-Key", PK_TEST)]).expect(200);
    }
}

#[test]
fn preflight_request_is_answered() {
    let shop = Shop::open();
    for path in [CONFIG, SESSIONS, "/v1/public/not-there"] {
        let headers = [
            ("origin", "https://shop.example"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "x-api-key, content-type"),
        ];
        for headers in [&headers[..], &[]] {
            let answer = shop.send("OPTIONS", path, headers, "").expect(204);
            assert_cors(&answer);
            for (name, value) in [
                ("access-control-allow-methods", "GET, POST, OPTIONS"),
                ("access-control-allow-headers", "X-API-Key, Content-Type"),
                ("access-control-max-age", "86400"),
            ] {
                assert_eq!(answer.headers[name], value, "{path}");
            }
        }
    }
}

#[test]
fn public_errors_allow_cross_origin_reads() {
    let shop = Shop::open();
    let key = ("X-API-Key", PK_TEST);
    let long = "x".repeat(70_000);
    for (method, path, body, status, code) in [
        ("GET", "/v1/public/not-there", "", 404, "not_found"),
        ("DELETE", CONFIG, "", 405, "method_not_allowed"),
        ("GET", SESSIONS, "", 405, "method_not_allowed"),
        ("POST", SESSIONS, &long[..], 413, "payload_too_large"),
    ] {
        let answer = shop.send(method, path, &[key], body);
        answer.assert_error(status, code, None);
        assert_cors(&answer);
    }
    let long = ("x-long", &"x".repeat(17_000)[..]);
    let answer = shop.send("GET", CONFIG, &[key, long], "");
    answer.assert_error(431, "headers_too_large", None);
    assert_cors(&answer);
    let allow = shop.send("DELETE", CONFIG, &[key], "").headers["allow"].clone();
    assert_eq!(allow, "GET, OPTIONS, HEAD");
    for path in ["/v1/merchant", "/v1/public", "/v1/publicx", "/livez", "/sandbox"] {
        let answer = shop.get(path, Some(TEST));
        let named = answer.headers.keys().find(|name| name.starts_with("access-control"));
        assert_eq!(named, None, "{path}");
    }
    shop.send("OPTIONS", "/v1/merchant", &[], "").assert_error(405, "method_not_allowed", None);
}

#[test]
fn public_key_works_from_allowed_origins_only() {
    let shop = Shop::open();
    let from = |origin: &str| {
        let headers = [("X-API-Key", PK_TEST), ("origin", origin)];
        shop.send("GET", CONFIG, &headers, "")
    };
    from("https://anywhere.example").expect(200);
    shop.execute_sql(r#"update accounts set allowed_origins = '["https://shop.example"]'"#);
    from("https://shop.example").expect(200);
    from("HTTPS://Shop.Example").expect(200);
    shop.get(CONFIG, Some(PK_TEST)).expect(200);
    for foreign in ["https://shop.example.evil", "http://shop.example", "null", ""] {
        let answer = from(foreign);
        answer.assert_error(403, "forbidden", None);
        assert_cors(&answer);
    }
}

#[test]
fn configuration_contains_branding() {
    let shop = Shop::open();
    shop.execute_sql(
        "update accounts set branding_color = '#aa00ff', branding_logo_url = 'https://shop.example/logo.png', checkout_lang = 'de'",
    );
    let config = shop.get(CONFIG, Some(PK_TEST)).expect(200).json();
    let branding = json!({ "color": "#aa00ff", "logoUrl": "https://shop.example/logo.png" });
    assert_eq!(config["branding"], branding);
    assert_eq!(config["checkoutLang"], "de");
}
