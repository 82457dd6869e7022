//! Browser security: cookies, cache headers and requests from other sites.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{Response, Shop, TEST, send};
use coffer::{Config, Server};
use serde_json::{Value, json};
use std::net::SocketAddr;

const PASSWORD: &str = "sandbox";
const SIGN_IN: &str = "/dashboard/api/session";

fn sign_in_body() -> String {
    json!({ "email": "operator@sandbox.test", "password": PASSWORD }).to_string()
}

#[test]
fn other_site_cannot_sign_in() {
    let shop = Shop::open();
    let own = shop.url().to_owned();
    let sign_in = |headers: &[(&str, &str)]| shop.send("POST", SIGN_IN, headers, &sign_in_body());
    for foreign in [
        &[("Origin", "https://evil.example")][..],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
    ] {
        let answer = sign_in(foreign);
        answer.assert_error(403, "forbidden", None);
        assert!(!answer.headers.contains_key("set-cookie"));
    }
    sign_in(&[]).expect(201);
    sign_in(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]).expect(201);
}

#[test]
fn https_cookie_is_bound_to_host() {
    let [.., high, low] = std::process::id().to_be_bytes();
    let listen = SocketAddr::from(([127, 78, high, low], 18_081));
    let server = Server::start(Config {
        listen,
        public_url: Some("https://pay.example.com".to_owned()),
        ..Config::sandbox()
    })
    .unwrap();
    let agent = crate::support::agent();
    let call = |method: &str, headers: &[(&str, &str)], body: &str| -> Response {
        send(&agent, method, &format!("http://{listen}{SIGN_IN}"), headers, body)
    };
    let set = call("POST", &[], &sign_in_body()).expect(201).headers["set-cookie"].clone();
    let (pair, attributes) = set.split_once("; ").unwrap();
    let value = pair.strip_prefix("__Host-coffer_session=").unwrap();
    assert!(attributes.starts_with("Path=/; Secure; Max-Age="), "{set}");
    assert!(attributes.ends_with("; HttpOnly; SameSite=Strict"), "{set}");
    assert!(!attributes.contains("Domain"), "{set}");
    call("GET", &[("Cookie", pair)], "").expect(200);
    let plain = format!("coffer_session={value}");
    call("GET", &[("Cookie", &plain)], "").assert_error(401, "unauthorized", None);
    let cleared = call("DELETE", &[("Cookie", pair)], "").expect(204);
    let cleared = &cleared.headers["set-cookie"];
    assert!(cleared.starts_with("__Host-coffer_session=; Path=/; Secure; Max-Age=0;"), "{cleared}");
    call("GET", &[("Cookie", pair)], "").assert_error(401, "unauthorized", None);
    drop(server);
}

#[test]
fn private_responses_are_not_cached() {
    let interface = OperatorInterface::open();
    let kept_by_nobody = |answer: Response| {
        assert_eq!(answer.headers["cache-control"], "no-store", "{}", answer.text);
    };
    for path in ["/v1/invoices", "/v1/nothing", "/v1/openapi.json", "/v1/merchant"] {
        kept_by_nobody(interface.shop.get(path, Some(TEST)));
        kept_by_nobody(interface.shop.get(path, None));
    }
    for path in ["invoices", "exports/invoices.csv", "keys"] {
        let path = interface.path(path);
        kept_by_nobody(interface.send_as_operator("GET", &path, &Value::Null));
        kept_by_nobody(interface.send("", "GET", &path, &Value::Null));
    }
    kept_by_nobody(interface.shop.send("POST", SIGN_IN, &[], &sign_in_body()));
    let widget = interface.shop.get("/widget.js", None).expect(200);
    assert_ne!(widget.headers["cache-control"], "no-store");
}
