//! Limits that the OpenAPI document states: keys, times, inbox settings, null values and path values.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

#[test]
fn sandbox_clock_rejects_times_out_of_range() {
    let shop = Shop::open();
    for (body, param) in [
        (json!({ "advance": "3651d" }), "advance"),
        (json!({ "set": "9999-12-31T23:59:59.999Z" }), "set"),
        (json!({ "set": "2001-01-01T00:00:00.000Z" }), "set"),
    ] {
        let answer = shop.post("/sandbox/clock", None, body);
        answer.assert_error(400, "invalid_request", Some(param));
    }
    // A null field counts as absent.
    let body = json!({ "advance": "1m", "set": null, "frozen": null });
    shop.post("/sandbox/clock", None, body).expect(200);
}

#[test]
fn idempotency_key_must_be_printable() {
    let shop = Shop::open();
    let long = "k".repeat(201);
    for key in ["a\tb", "", long.as_str()] {
        let headers = [("X-API-Key", TEST), ("Idempotency-Key", key)];
        let body = json!({ "amount": "1.00", "currency": "EUR" }).to_string();
        let answer = shop.send("POST", "/v1/invoices", &headers, &body);
        answer.assert_error(400, "invalid_request", Some("Idempotency-Key"));
    }
}

#[test]
fn inbox_settings_have_limits() {
    let shop = Shop::open();
    for (name, value) in [("status", 199), ("delayMs", 60_001), ("times", 0)] {
        let body = json!({ name: value }).to_string();
        let answer = shop.send("PUT", "/sandbox/inbox/a", &[], &body);
        answer.assert_error(400, "invalid_request", Some(name));
    }
    for wait in ["61s", "5", "s"] {
        let answer = shop.get(&format!("/sandbox/inbox/a?wait={wait}"), None);
        answer.assert_error(400, "invalid_request", Some("wait"));
    }
}

#[test]
fn optional_fields_may_be_null_as_documented() {
    let interface = OperatorInterface::open();
    let schemas = |path: &str| {
        let document = interface.shop.get(path, None).expect(200).json();
        document["components"]["schemas"].clone()
    };
    let of_interface = schemas("/v1/openapi.json");
    let of_sandbox = schemas("/sandbox/openapi.json");
    for (schema, field) in [
        ("ChangeAccount", "name"),
        ("CreateEndpoint", "enabled"),
        ("ChangeEndpoint", "url"),
        ("CreateKey", "import"),
        ("SandboxFault", "times"),
    ] {
        let of = if of_sandbox[schema].is_null() { &of_interface } else { &of_sandbox };
        let kinds = &of[schema]["properties"][field]["type"];
        assert!(kinds.as_array().unwrap().contains(&json!("null")), "{schema}.{field}: {kinds}");
    }
    let send = |method, rest: &str, body| {
        let path = format!("/dashboard/api/accounts/{}{rest}", interface.account);
        interface.send_as_operator(method, &path, &body)
    };
    let body = json!({ "name": null, "feeBps": 7 });
    let changed = send("PATCH", "", body).expect(200).json();
    assert_eq!((&changed["name"], &changed["feeBps"]), (&json!("Sandbox Shop"), &json!(7)));
    let body = json!({ "url": "https://shop.example/hooks", "enabled": null });
    let made = send("POST", "/endpoints", body).expect(201).json();
    assert_eq!(made["enabled"], true);
    let path = format!("/endpoints/{}", made["id"].as_str().unwrap());
    let kept = send("PATCH", &path, json!({ "url": null })).expect(200).json();
    assert_eq!(kept["url"], "https://shop.example/hooks");
    let body = json!({ "mode": "test", "class": "secret", "import": null });
    send("POST", "/keys", body).expect(201);
}

#[test]
fn document_lists_values_of_path_parameters() {
    let shop = Shop::open();
    let document = shop.get("/v1/openapi.json", None).expect(200).json();
    let account = "/dashboard/api/accounts/{account}";
    for (path, method, name, one) in [
        (format!("{account}/payout-addresses/{{chain}}"), "put", "chain", "litecoin"),
        (format!("{account}/exports/{{file}}"), "get", "file", "ledger.csv"),
        ("/dashboard/api/coins/{asset}".to_owned(), "put", "asset", "LTC"),
        ("/dashboard/api/pools/{pool}/addresses".to_owned(), "post", "pool", "solana"),
    ] {
        let parameters = &document["paths"][&path][method]["parameters"];
        let named = |parameter: &&Value| parameter["name"] == name;
        let parameter = parameters.as_array().unwrap().iter().find(named).unwrap();
        // The document lists chains and assets as examples, not as an enumeration, because new assets add values.
        let word = if ["chain", "asset"].contains(&name) { "examples" } else { "enum" };
        let texts = parameter["schema"][word].as_array().unwrap();
        assert!(texts.contains(&json!(one)), "{path}: {texts:?}");
    }
    let document = shop.get("/sandbox/openapi.json", None).expect(200).json();
    let of_snapshot = &document["paths"]["/sandbox/snapshots/{name}"]["post"]["parameters"][0];
    assert!(of_snapshot["schema"]["pattern"].is_string());
    shop.post("/sandbox/snapshots/a%20b", None, json!({})).assert_error(
        400,
        "invalid_request",
        Some("name"),
    );
}

#[test]
fn url_must_be_ascii() {
    let interface = OperatorInterface::open();
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let change = |body| interface.send_as_operator("PATCH", &path, &body);
    for name in ["successUrl", "cancelUrl"] {
        change(json!({ name: "https://m\u{fc}ller.example/" })).assert_error(
            400,
            "invalid_request",
            Some(name),
        );
        change(json!({ name: "https://xn--mller-kva.example/?a=%20" })).expect(200);
    }
    let body =
        json!({ "amount": "1.00", "currency": "EUR", "redirectUrl": "https://a.example/\u{e9}" });
    interface.shop.post("/v1/invoices", Some(TEST), body).assert_error(
        400,
        "invalid_request",
        Some("redirectUrl"),
    );
}
