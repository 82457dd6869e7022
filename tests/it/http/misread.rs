//! Requests that could be misread are refused: the message names what stands in them.

use crate::support::{LIVE, Response, Shop, TEST, agent};
use serde_json::{Value, json};

const INVOICE_BODY: &str = "{\"amount\":\"20.00\",\"currency\":\"EUR\"}";

#[track_caller]
fn message(answer: &Response) -> String {
    answer.json()["message"].as_str().unwrap().to_owned()
}

fn invoice_count(shop: &Shop) -> Value {
    shop.get("/sandbox", None).expect(200).json()["counts"]["invoices"].clone()
}

#[test]
fn encoded_body_is_refused_by_the_name_of_its_header() {
    let shop = Shop::open();
    let create = |headers: &[(&str, &str)]| {
        let headers = [&[("X-API-Key", TEST)], headers].concat();
        shop.send("POST", "/v1/invoices", &headers, INVOICE_BODY)
    };
    for coding in ["gzip", "GZIP", "br", "deflate, gzip", "identity, gzip", "x", "aes128gcm"] {
        let answer = create(&[("Content-Encoding", coding)]);
        answer.assert_error(400, "invalid_request", Some("Content-Encoding"));
        assert!(message(&answer).contains("unencoded"), "{}", answer.text);
    }
    let twice = create(&[("Content-Encoding", "identity"), ("Content-Encoding", "gzip")]);
    twice.assert_error(400, "invalid_request", Some("Content-Encoding"));
    assert_eq!(invoice_count(&shop), 0);
    for coding in ["identity", "Identity", "", "identity, identity"] {
        create(&[("Content-Encoding", coding)]).expect(201);
    }
    // A request without a body has nothing that could be encoded, and an inbox stores what it gets.
    let headers = [("X-API-Key", TEST), ("Content-Encoding", "gzip")];
    shop.send("GET", "/v1/invoices", &headers, "").expect(200);
    shop.send("POST", "/sandbox/inbox/shop", &headers, "{}").expect(200);
    for path in ["/sandbox/payments", "/sandbox/account", "/dashboard/api/session"] {
        let method = if path.ends_with("account") { "PATCH" } else { "POST" };
        let answer = shop.send(method, path, &headers, "{}");
        answer.assert_error(400, "invalid_request", Some("Content-Encoding"));
    }
}

#[test]
fn body_that_is_no_plain_json_is_refused_by_what_it_begins_with() {
    let shop = Shop::open();
    let url = format!("{}/v1/invoices", shop.url());
    for (begin, named) in [
        (&b"\xEF\xBB\xBF"[..], "byte order mark"),
        (b"\xFF\xFE", "byte order mark"),
        (b"\xFE\xFF", "byte order mark"),
        (b"\x1F\x8B\x08", "gzip"),
    ] {
        let body = [begin, INVOICE_BODY.as_bytes()].concat();
        let mut answer = agent().post(&url).header("X-API-Key", TEST).send(&body[..]).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((answer.status().as_u16(), &error["error"]), (400, &json!("invalid_request")));
        assert!(error["message"].as_str().unwrap().contains(named), "{text}");
        // Also where a body may be left out.
        let id = shop.create_invoice("20.00", json!({}))["id"].as_str().unwrap().to_owned();
        let url = format!("{url}/{id}/simulate");
        let mut answer = agent().post(&url).header("X-API-Key", TEST).send(begin).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        assert_eq!(answer.status().as_u16(), 400, "{text}");
        assert!(text.contains(named), "{text}");
    }
    assert_eq!(invoice_count(&shop), 4);
}

#[test]
fn field_that_stands_twice_is_refused_by_its_path() {
    let shop = Shop::open();
    let create = |fields: &str| {
        let body = format!("{{\"amount\":\"20.00\",\"currency\":\"EUR\",{fields}}}");
        shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], &body)
    };
    for (fields, path) in [
        (r#""amount":"2.00""#, "amount"),
        (r#""amount":"20.00""#, "amount"),
        (r#""\u0061mount":null"#, "amount"),
        (r#""x":1,"x":1"#, "x"),
        (r#""metadata":{"a":1},"metadata":{"a":1}"#, "metadata"),
        (r#""metadata":{"a":1,"a":2}"#, "metadata.a"),
        (r#""metadata":{"lines":[{"sku":1},{"sku":1,"sku":2}]}"#, "metadata.lines[1].sku"),
        (r#""metadata":{"a":{"b":[[{"c":{},"c":[]}]]}}"#, "metadata.a.b[0][0].c"),
    ] {
        let answer = create(fields);
        answer.assert_error(400, "invalid_request", Some(path));
        assert!(message(&answer).starts_with(&format!("{path} ")), "{}", answer.text);
    }
    assert_eq!(invoice_count(&shop), 0);
    let kept =
        create(r#""metadata":{"a":{"a":1},"b":[{"a":1.10},{"a":100}],"A":null}"#).expect(201);
    assert!(kept.text.contains(r#""metadata":{"a":{"a":1},"b":[{"a":1.10},{"a":100}],"A":null}"#));
}

#[test]
fn every_json_body_is_refused_if_a_field_stands_twice() {
    let shop = Shop::open();
    let account = shop.get("/v1/merchant", Some(LIVE)).expect(200).json()["id"].clone();
    let cookie = shop.sign_in_operator();
    let mut asked = 0;
    for document in ["/v1/openapi.json", "/sandbox/openapi.json"] {
        let document = shop.get(document, None).expect(200).json();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                if operation["requestBody"]["content"]["application/json"].is_null() {
                    continue;
                }
                let path = path
                    .replace("{account}", account.as_str().unwrap())
                    .replace("{chain}", "litecoin")
                    .replace("{asset}", "LTC")
                    .replace("{id}", "01900000-0000-7000-8000-000000000000");
                let key = match &path {
                    path if path.starts_with("/v1/public") => "pk_test_sandbox",
                    _ => TEST,
                };
                let mut headers = vec![("X-API-Key", key), ("Cookie", cookie.as_str())];
                if path.starts_with("/reseller") {
                    headers.push(("Authorization", "Bearer rt_sandbox"));
                }
                let body = r#"{"reason":1,"a":{"b":[{"c":1,"c":1}]}}"#;
                let method = method.to_uppercase();
                let answer = shop.send(&method, &path, &headers, body);
                let named = answer.json()["param"].clone();
                assert_eq!((answer.status, named), (400, json!("a.b[0].c")), "{method} {path}");
                asked += 1;
            }
        }
    }
    assert!(asked >= 40, "{asked}");
}

#[test]
fn doubled_part_of_a_path_is_named_with_the_right_path() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({}))["id"].as_str().unwrap().to_owned();
    let browser = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for (method, path, right) in [
        ("POST", "//v1/invoices", "/v1/invoices"),
        ("GET", "//v1/invoices?limit=1", "/v1/invoices"),
        ("GET", "/v1//invoices", "/v1/invoices"),
        ("GET", "///v1///merchant", "/v1/merchant"),
        ("POST", "/v1/v1/invoices", "/v1/invoices"),
        ("GET", "/v1/v1/v1/merchant", "/v1/merchant"),
        ("GET", "//v1//v1/merchant", "/v1/merchant"),
        ("POST", &format!("/v1/v1/invoices/{id}/cancel"), &format!("/v1/invoices/{id}/cancel")),
        ("GET", "//dashboard/api/accounts", "/dashboard/api/accounts"),
        ("POST", "//reseller/servers", "/reseller/servers"),
        ("POST", "//sandbox/reset", "/sandbox/reset"),
        ("GET", "//livez", "/livez"),
    ] {
        for headers in [&[("X-API-Key", TEST)][..], &[("X-API-Key", TEST), browser]] {
            let answer = shop.send(method, path, headers, "");
            answer.assert_error(404, "not_found", None);
            let message = message(&answer);
            let doubled = if path.contains("//") { "slash" } else { "/v1" };
            assert!(message.contains(doubled), "{method} {path}: {message}");
            assert!(message.contains(&format!(" {right}")), "{method} {path}: {message}");
        }
    }
    // What is doubled is named too where no path is right, and where an id is missing, no other path is proposed.
    for (path, named) in [
        ("//v1/nothing", "slash"),
        ("/v1/invoices//cancel", "{id}"),
        ("/v1/customers//addresses", "{ref}"),
    ] {
        let answer = shop.send("GET", path, &[("X-API-Key", TEST)], "");
        answer.assert_error(404, "not_found", None);
        assert!(message(&answer).contains(named), "{path}: {}", answer.text);
    }
    for path in ["/v1/v1", "/v1/v1/nothing", "/v1/x/v1/invoices", "/v2/v1/invoices"] {
        shop.get(path, Some(TEST)).assert_error(404, "not_found", None);
    }
    assert_eq!(shop.get_invoice(&id)["status"], "created");
    // Pages of the other site's widget may read why their request failed.
    let answer = shop.send("GET", "//v1/public/config", &[("X-API-Key", "pk_test_sandbox")], "");
    assert_eq!(answer.headers["access-control-allow-origin"], "*", "{}", answer.text);
    // A secret in a path is not repeated.
    let secret = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ";
    let answer = shop.get(&format!("//v1/customers/{secret}/addresses"), Some(TEST));
    answer.assert_error(404, "not_found", None);
    assert!(!answer.text.contains(secret), "{}", answer.text);
}
