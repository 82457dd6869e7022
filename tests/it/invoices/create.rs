//! Validation of `POST /v1/invoices`.

use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

/// Returns the row counts that the sandbox reports.
fn row_counts(shop: &Shop) -> Value {
    shop.get("/sandbox", None).expect(200).json()["counts"].clone()
}

/// Posts an invoice with exactly this body.
fn post_invoice(shop: &Shop, body: &str) -> crate::support::Response {
    shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], body)
}

#[test]
fn amount_is_a_plain_decimal_text_or_number() {
    let shop = Shop::open();
    for (amount, printed) in
        [("\"19.99\"", "19.99"), ("19.99", "19.99"), ("0.1", "0.10"), ("\"50000\"", "50000.00")]
    {
        let answer = post_invoice(&shop, &format!("{{\"amount\":{amount},\"currency\":\"EUR\"}}"))
            .expect(201);
        assert_eq!(answer.json()["amount"], printed);
    }
    let before = row_counts(&shop);
    let long = format!("\"{}\"", "9".repeat(60 * 1024));
    let huge = format!("1{}", "0".repeat(30));
    for amount in [
        "1e3", "\"1e3\"", "19.999", "-1", "0", "\"abc\"", "true", "null", "[]", "{}", "\"\"",
        "\" 1\"", "\"1,5\"",
    ] {
        let answer = post_invoice(&shop, &format!("{{\"amount\":{amount},\"currency\":\"EUR\"}}"));
        answer.assert_error(400, "invalid_request", Some("amount"));
    }
    for amount in [huge.as_str(), long.as_str(), "50000.01"] {
        let answer = post_invoice(&shop, &format!("{{\"amount\":{amount},\"currency\":\"EUR\"}}"));
        answer.assert_error(400, "amount_too_large", Some("amount"));
    }
    post_invoice(&shop, "{\"currency\":\"EUR\"}").assert_error(
        400,
        "invalid_request",
        Some("amount"),
    );
    assert_eq!(row_counts(&shop), before, "what is refused writes nothing");
}

#[test]
fn invoice_fields_have_limits() {
    let shop = Shop::open();
    let text = |length: usize| json!("é".repeat(length));
    let email = |length: usize| json!(format!("{}@b.example", "a".repeat(length - 10)));
    let taken = [
        ("orderId", text(1)),
        ("orderId", text(200)),
        ("description", text(0)),
        ("description", text(500)),
        ("asset", text(40)),
        ("redirectUrl", json!("https://shop.example/thanks?order=1")),
        ("cancelUrl", json!("http://shop.example")),
        ("webhookUrl", json!("https://shop.example/hook")),
        ("webhookUrl", json!("http://127.0.0.1:9/hook")),
        ("metadata", json!({})),
        ("ttlSeconds", json!(60)),
        ("ttlSeconds", json!(86_400)),
        ("ttlSeconds", json!(60.0)),
        ("customerEmail", email(200)),
    ];
    for (field, value) in taken {
        let body = json!({ "amount": "1.00", "currency": "USD", field: value });
        assert_eq!(shop.post("/v1/invoices", Some(TEST), body).status, 201, "{field} {value}");
    }
    let before = row_counts(&shop);
    let refused = [
        ("currency", json!("GBP")),
        ("currency", json!(null)),
        ("orderId", json!("")),
        ("orderId", text(201)),
        ("orderId", json!(7)),
        ("description", text(501)),
        ("asset", text(41)),
        ("redirectUrl", json!("/thanks")),
        ("cancelUrl", json!("javascript:alert(1)")),
        ("webhookUrl", json!("http://shop.example/hook")),
        ("webhookUrl", json!("https://10.0.0.1/hook")),
        ("webhookUrl", json!("https://[::ffff:10.0.0.1]/hook")),
        ("webhookUrl", json!("ftp://shop.example")),
        ("metadata", json!([])),
        ("metadata", json!("x")),
        ("ttlSeconds", json!(59)),
        ("ttlSeconds", json!(86_401)),
        ("ttlSeconds", json!("60")),
        ("ttlSeconds", json!(60.5)),
        ("customerEmail", email(201)),
        ("customerEmail", json!("nobody")),
    ];
    for (field, value) in refused {
        let mut body = json!({ "amount": "1.00", "currency": "USD" });
        body[field] = value;
        shop.post("/v1/invoices", Some(TEST), body).assert_error(
            400,
            "invalid_request",
            Some(field),
        );
    }
    assert_eq!(row_counts(&shop), before, "what is refused writes nothing");
}

#[test]
fn body_must_be_a_json_object_with_any_content_type() {
    let shop = Shop::open();
    for body in
        ["", "{", "[]", "\"x\"", "null", "{\"amount\":1,}", "\u{feff}{}", "{\"a\":\"\\ud800\"}"]
    {
        post_invoice(&shop, body).assert_error(400, "invalid_request", None);
    }
    let deep = format!("{{\"metadata\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    post_invoice(&shop, &deep).assert_error(400, "invalid_request", None);
    let headers = [("X-API-Key", TEST), ("Content-Type", "text/plain")];
    let body = "{\"amount\":\"1.00\",\"currency\":\"EUR\"}";
    shop.send("POST", "/v1/invoices", &headers, body).expect(201);
}

#[test]
fn new_invoice_has_every_field() {
    let shop = Shop::open();
    let metadata = "{\"z\":1.10,\"a\":[null,true]}";
    let body = format!(
        "{{\"amount\":\"20.00\",\"currency\":\"EUR\",\"metadata\":{metadata},\"colour\":\"red\"}}"
    );
    let answer = post_invoice(&shop, &body).expect(201);
    assert!(
        answer.text.contains(&format!("\"metadata\":{metadata}")),
        "kept as sent: {}",
        answer.text
    );
    let mut invoice = answer.json();
    let now = shop.get("/sandbox", None).expect(200).json()["time"].clone();
    let id = invoice["id"].as_str().unwrap().to_owned();
    let checkout = invoice["checkoutUrl"].as_str().unwrap().to_owned();
    assert!(checkout.starts_with(&format!("{}/checkout/{id}?token=", shop.url())), "{checkout}");
    assert_eq!(invoice["warnings"], json!(["unknown field \"colour\" was ignored"]));
    assert_eq!(invoice["createdAt"], now);
    for field in ["id", "checkoutUrl", "warnings", "createdAt", "expiresAt"] {
        assert!(invoice.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    let rest = json!({
        "object": "invoice", "orderId": null, "status": "created", "paid": false, "livemode": false,
        "amount": "20.00", "currency": "EUR", "description": null, "asset": null, "assetSymbol": null,
        "amountExpected": null, "amountReceived": null, "rate": null, "depositAddress": null,
        "customerEmail": null, "metadata": serde_json::from_str::<Value>(metadata).unwrap(), "paymentLinkId": null,
        "refundedAmount": null, "confirmedAt": null,
    });
    assert_eq!(invoice, rest);
    shop.advance("19m59s");
    assert_eq!(shop.get_invoice(&id)["status"], "created");
    shop.advance("1s");
    assert_eq!(shop.get_invoice(&id)["status"], "expired", "20 minutes unless said otherwise");
}

#[test]
fn unavailable_asset_causes_a_warning() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    assert_eq!(
        (&invoice["status"], &invoice["amountExpected"]),
        (&json!("awaiting_payment"), &json!("0.25"))
    );
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(shop.event_types(id, TEST), ["invoice.created"]);
    for (amount, asset) in [("20.00", "XYZ"), ("0.01", "BTC")] {
        let invoice = shop.create_invoice(amount, json!({ "asset": asset }));
        assert_eq!((&invoice["status"], &invoice["asset"]), (&json!("created"), &json!(null)));
        let warnings = invoice["warnings"].as_array().unwrap();
        assert!(
            warnings[0].as_str().unwrap().starts_with("asset was not preselected"),
            "{warnings:?}"
        );
    }
}

#[test]
fn order_id_is_unique_in_each_mode() {
    let shop = Shop::open();
    let first = shop.create_invoice("20.00", json!({ "orderId": "a" }));
    let body = |amount: &str, currency: &str| json!({ "amount": amount, "currency": currency, "orderId": "a" });
    let again = shop.post("/v1/invoices", Some(TEST), body("20.00", "EUR")).expect(200).json();
    assert_eq!(again, first);
    let other =
        shop.post("/v1/invoices", Some(TEST), body("99999999.00", "USD")).expect(200).json();
    assert_eq!((&other["id"], other["warnings"].as_array().unwrap().len()), (&first["id"], 2));
    let live = shop.post("/v1/invoices", Some(LIVE), body("20.00", "EUR")).expect(201).json();
    assert_eq!(live["livemode"], true);
}
