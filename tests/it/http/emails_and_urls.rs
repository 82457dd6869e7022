//! Validation of email addresses, URLs and ids, including unusual spellings.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{Shop, TEST};
use serde_json::json;

/// Schemes of URLs that a browser or the operating system may execute.
const FORBIDDEN_SCHEMES: [&str; 8] =
    ["javascript", "data", "vbscript", "file", "blob", "filesystem", "about", "intent"];

/// Returns spellings of a scheme that a browser may read differently from Coffer.
fn disguised_urls(scheme: &str) -> Vec<String> {
    let (first, rest) = scheme.split_at(1);
    let upper = scheme.to_ascii_uppercase();
    let mut urls = vec![
        format!("{scheme}:alert(1)"),
        format!("{upper}://%0aalert(1)"),
        format!("{}{rest}://x", first.to_ascii_uppercase()),
        format!(" {scheme}://x"),
        format!("{scheme} ://x"),
        format!("x:{scheme}://x"),
        format!("{scheme}://%0d%0aalert(1)"),
        format!("{scheme}:x://y"),
        format!("&#x6a;{rest}://x"),
    ];
    for hidden in ["\t", "\n", "\r", "\0", "\u{1}", "\u{200b}", "\u{ad}", "\\"] {
        urls.push(format!("{first}{hidden}{rest}://x"));
        urls.push(format!("{hidden}{scheme}://x"));
        urls.push(format!("{scheme}:{hidden}//x"));
        urls.push(format!("{scheme}:/{hidden}/x"));
    }
    urls
}

#[test]
fn customer_email_is_a_single_address() {
    let shop = Shop::open();
    let create = |email: &str| {
        let body = json!({ "amount": "1.00", "currency": "EUR", "customerEmail": email });
        shop.post("/v1/invoices", Some(TEST), body)
    };
    for email in [
        "ada@example.com",
        "ada+shop@localhost",
        "j\u{fc}rgen@m\u{fc}ller.example",
        "\u{7528}\u{6237}@\u{4f8b}\u{5b50}.\u{5e7f}\u{544a}",
    ] {
        let invoice = create(email).expect(201).json();
        assert_eq!(invoice["customerEmail"], email);
    }
    for email in [
        "ada@example.com,bob@example.com",
        "ada@example.com;bob@example.com",
        "ada,bob@example.com",
        "Ada <ada@example.com>",
        "ada@@example.com",
        "ada@b@example.com",
        "ada@exa_mple.com",
        "ada@-example.com",
        "ada@example..com",
        "ada@example.com.",
        "ada(x)@example.com",
        "\"ada\"@example.com",
        "ada@example.com\r\nBcc: bob@example.com",
        "a\u{202e}da@example.com",
        "ada\u{ff20}example.com",
    ] {
        create(email).assert_error(400, "invalid_request", Some("customerEmail"));
    }
    // The email of a user is validated like the email of a customer.
    let interface = OperatorInterface::open();
    let user = |email: &str| {
        let body = json!({ "email": email, "password": "long enough", "role": "operator" });
        interface.send_as_operator("POST", "/dashboard/api/users", &body)
    };
    user("eve@shop.test,bob@shop.test").assert_error(400, "invalid_request", Some("email"));
    user("eve@shop.test").expect(201);
}

#[test]
fn url_scheme_is_case_insensitive() {
    let interface = OperatorInterface::open();
    let body = json!({
        "amount": "1.00", "currency": "EUR", "redirectUrl": "HTTPS://Shop.example/thanks",
        "cancelUrl": "Http://shop.example", "webhookUrl": "HTTPS://shop.example/hook",
    });
    let made = interface.shop.post("/v1/invoices", Some(TEST), body);
    let invoice = made.expect(201).json();
    let page = interface.shop.get_page(invoice["checkoutUrl"].as_str().unwrap());
    page.assert_contains_texts(200, &["href=\"Http://shop.example\""]);
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let change = |body| interface.send_as_operator("PATCH", &path, &body);
    change(json!({ "branding": { "logoUrl": "HTTPS://cdn.example/logo.png" } })).expect(200);
    change(json!({ "branding": { "logoUrl": "HTTP://cdn.example/logo.png" } })).assert_error(
        400,
        "invalid_request",
        Some("branding"),
    );
    let origins = json!({ "allowedOrigins": ["HTTPS://Shop.example"] });
    assert_eq!(
        change(origins).expect(200).json()["allowedOrigins"],
        json!(["https://shop.example"])
    );
    let page = interface.shop.get_page(invoice["checkoutUrl"].as_str().unwrap());
    let policy = &page.0.headers["content-security-policy"];
    assert!(policy.contains("img-src 'self' https://cdn.example;"), "{policy}");
    let parents = "frame-ancestors 'self' https://shop.example";
    assert!(policy.ends_with(parents), "{policy}");
    let endpoint = json!({ "url": "HTTPS://shop.example/hooks" });
    interface.request("POST", "endpoints", &endpoint).expect(201);
    // The check against internal addresses uses the normalized URL.
    let inside = json!({ "url": "HTTPS://10.0.0.1/hooks" });
    interface.request("POST", "endpoints", &inside).assert_error(
        400,
        "invalid_request",
        Some("url"),
    );
}

#[test]
fn return_url_accepts_apps_and_rejects_scripts() {
    let interface = OperatorInterface::open();
    let create = |name: &str, url: &str| {
        let body = json!({ "amount": "1.00", "currency": "EUR", name: url });
        interface.shop.post("/v1/invoices", Some(TEST), body)
    };
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    let change = |body| interface.send_as_operator("PATCH", &path, &body);
    for url in ["myshop://thanks?order=1&x='y'", "com.shop.app:///thanks", "MyShop://"] {
        create("redirectUrl", url).expect(201);
        let invoice = create("cancelUrl", url).expect(201).json();
        let href = url.replace('&', "&#38;").replace('\'', "&#39;");
        interface
            .shop
            .get_page(invoice["checkoutUrl"].as_str().unwrap())
            .assert_contains_texts(200, &[&format!("href=\"{href}\"")]);
        let changed = change(json!({ "successUrl": url, "cancelUrl": url })).expect(200);
        assert_eq!(changed.json()["successUrl"], url);
    }
    // A webhook URL cannot open an app, because only the server calls it.
    create("webhookUrl", "myshop://hook").assert_error(400, "invalid_request", Some("webhookUrl"));
    let before = interface.shop.get("/sandbox", None).json()["counts"].clone();
    for url in FORBIDDEN_SCHEMES.iter().flat_map(|scheme| disguised_urls(scheme)) {
        for name in ["redirectUrl", "cancelUrl"] {
            create(name, &url).assert_error(400, "invalid_request", Some(name));
        }
        for name in ["successUrl", "cancelUrl"] {
            change(json!({ name: url })).assert_error(400, "invalid_request", Some(name));
        }
    }
    assert_eq!(interface.shop.get("/sandbox", None).json()["counts"], before, "nothing was made");
}

#[test]
fn url_error_names_the_problem() {
    let shop = Shop::open();
    let absolute = "must be an absolute http:// or https:// url";
    for (url, message) in [
        ("https://user:pass@shop.example/a", "must not carry a user name or password"),
        ("https://shop.example:0/", "must have a port from 1 to 65535, or none"),
        ("https://shop.example:65536/", "must have a port from 1 to 65535, or none"),
        ("https://*.shop.example/", "must name a host"),
        ("https://127.1/", "must name a host"),
        ("https://[shop.example]/", "must name a host"),
        ("https:/shop.example", absolute),
        ("https://sh\u{f6}p.example", absolute),
        ("ftp://shop.example", absolute),
    ] {
        for name in ["webhookUrl", "redirectUrl", "cancelUrl"] {
            let body = json!({ "amount": "1.00", "currency": "EUR", name: url });
            let refused = shop.post("/v1/invoices", Some(TEST), body);
            refused.assert_error(400, "invalid_request", Some(name));
            let told = refused.json()["message"].to_string();
            assert!(told.contains(message), "{name} {url}: {told}");
        }
    }
}

#[test]
fn pages_never_link_to_scripts() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("1.00", json!({ "cancelUrl": "https://shop.example/back" }));
    let address = invoice["checkoutUrl"].as_str().unwrap();
    shop.get_page(address).assert_contains_texts(200, &["href=\"https://shop.example/back\""]);
    for url in FORBIDDEN_SCHEMES.iter().flat_map(|scheme| disguised_urls(scheme)) {
        let quoted = url.replace('\'', "''").replace('\0', "");
        shop.execute_sql(&format!("update invoices set cancel_url = '{quoted}'"));
        shop.get_page(address).assert_lacks_texts(&["class=\"back\"", "alert"]);
    }
}

#[test]
fn id_is_case_insensitive() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let id = invoice["id"].as_str().unwrap().to_uppercase();
    let seen = |path: &str| shop.get(path, Some(TEST)).expect(200).json();
    let events = seen(&format!("/v1/events?object={id}"));
    assert_eq!(events["data"].as_array().unwrap().len(), 1, "{events}");
    assert_eq!(events, seen(&format!("/v1/events?object={}", id.to_lowercase())));
    let event = events["data"][0]["id"].as_str().unwrap().to_uppercase();
    assert_eq!(seen(&format!("/v1/events/{event}")), events["data"][0]);
    seen(&format!("/v1/events?before={event}"));
    assert_eq!(seen(&format!("/v1/invoices/{id}"))["id"], invoice["id"]);
    let paid = shop.fund_balance(TEST, "20.00", "EUR").to_uppercase();
    assert_eq!(seen(&format!("/v1/refunds?invoiceId={paid}"))["data"], json!([]));
    let booked = seen("/v1/ledger")["data"][0]["id"].clone();
    let before = booked.as_str().unwrap().to_uppercase();
    seen(&format!("/v1/ledger?before={before}"));

    let account = interface.account.to_uppercase();
    let read = |rest: &str| {
        let path = format!("/dashboard/api/accounts/{account}{rest}");
        interface.send_as_operator("GET", &path, &json!(null)).expect(200).json()
    };
    read("");
    let listed = read(&format!("/events?mode=test&object={id}"));
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    let made = interface.request("POST", "endpoints", &json!({ "url": "https://shop.example/" }));
    let endpoint = made.expect(201).json()["id"].as_str().unwrap().to_uppercase();
    read(&format!("/endpoints/{endpoint}/secret"));
    read(&format!("/deliveries?mode=test&endpoint={endpoint}&event={event}"));
    let key = json!({ "mode": "test", "class": "secret" });
    let key = interface.request("POST", "keys", &key).expect(201).json();
    let path = format!("keys/{}", key["id"].as_str().unwrap().to_uppercase());
    let path = format!("/dashboard/api/accounts/{account}/{path}");
    interface.send_as_operator("DELETE", &path, &json!(null)).expect(204);
}
