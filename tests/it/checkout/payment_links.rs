//! Payment links as a payer uses them: prices, limits, errors and languages.

use crate::support::browser::Page;
use crate::support::installation::Installation;
use crate::support::links::LinkClient;
use crate::support::{Shop, TEST, agent, send};
use coffer::Config;
use serde_json::{Value, json};

/// Returns the public path of a payment link.
fn link_path(link: &Value) -> String {
    format!("/l/{}", link["id"].as_str().unwrap())
}

/// Submits the form of a payment link, and returns the created invoice.
#[track_caller]
fn create_from_link(shop: &Shop, link: &Value, body: &str) -> Value {
    let answer = shop.submit(&link_path(link), &[], body);
    assert_eq!(answer.status, 303, "{}", answer.text);
    let location = answer.headers["location"].strip_prefix("..").unwrap().to_owned();
    shop.get_page(&location).assert_contains_texts(200, &["Choose a coin"]);
    let id = location.split(['/', '?']).nth(2).unwrap();
    shop.get_invoice(id)
}

#[test]
fn link_with_fixed_price_sets_the_amount() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    shop.execute_sql("update accounts set success_url = 'https://shop.example/thanks'");
    let link = interface.create_test_link(json!({ "name": "A <i>coffee</i>", "amount": "3.50", "currency": "USD", "description": "Hot & strong" }));
    let page = shop.get_page(&link_path(&link)).assert_contains_texts(
        200,
        &[
            "<h1><bdi>A &#60;i&#62;coffee&#60;/i&#62;</bdi></h1>",
            "Hot &#38; strong",
            "3.50 USD",
            "Sandbox Shop",
            "TEST.",
            "method=\"post\"",
        ],
    );
    let page = page.assert_lacks_texts(&["<input", "http-equiv"]);
    assert!(page.0.headers["content-security-policy"].contains("frame-ancestors 'none'"));
    let invoice = create_from_link(&shop, &link, "amount=0.01");
    assert_eq!((&invoice["amount"], &invoice["currency"]), (&json!("3.50"), &json!("USD")));
    assert_eq!(invoice["paymentLinkId"], link["id"]);
    assert_eq!(invoice["description"], "Hot & strong");
    assert_eq!(shop.event_types(invoice["id"].as_str().unwrap(), TEST), ["invoice.created"]);
    let second = create_from_link(&shop, &link, "");
    assert_ne!(second["id"], invoice["id"], "each submission makes one");
}

#[test]
fn payer_enters_an_open_price() {
    let shop = Shop::open();
    let link =
        LinkClient::sign_in(&shop).create_test_link(json!({ "name": "Gift", "currency": "EUR" }));
    shop.get_page(&link_path(&link)).assert_contains_texts(
        200,
        &["<label for=\"amount\">Amount in EUR</label>", "id=\"amount\""],
    );
    for (sent, amount) in
        [("amount=12.5", "12.50"), ("amount=+7+", "7.00"), ("amount=1%2C25", "1.25")]
    {
        let invoice = create_from_link(&shop, &link, sent);
        assert_eq!(invoice["amount"], amount);
        assert_eq!(invoice["description"], "Gift");
    }
    for wrong in [
        "",
        "amount=",
        "amount=0",
        "amount=-1",
        "amount=1e3",
        "amount=1%2C000",
        "amount=%3Cb%3E",
        "amount=1.001",
    ] {
        let page = Page::from_response(shop.submit(&link_path(&link), &[], wrong));
        page.assert_contains_texts(400, &["role=\"alert\"", "Enter an amount like 19.99."])
            .assert_lacks_texts(&["<b>"]);
    }
    let hostile = "amount=%22%27%3E%3Cscript%3E%26amp";
    Page::from_response(shop.submit(&link_path(&link), &[], hostile))
        .assert_contains_texts(400, &["value=\"&#34;&#39;&#62;&#60;script&#62;&#38;amp\""]);
    let page = Page::from_response(shop.submit(&link_path(&link), &[], "amount=50000.01"));
    page.assert_contains_texts(400, &["The most is 50000.00 EUR.", "value=\"50000.01\""]);
    let invoices = shop.get("/v1/invoices", Some(TEST)).expect(200).json();
    assert_eq!(invoices["data"].as_array().unwrap().len(), 3);
}

#[test]
fn unavailable_link_shows_an_error_page() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    interface.update(&link, json!({ "active": false })).expect(200);
    for path in [&link_path(&link)[..], "/l/019d9f7b-6a00-7000-8000-000000000001", "/l/x"] {
        shop.get_page(path).assert_error(404).assert_lacks_texts(&["coffee"]);
        Page::from_response(shop.submit(path, &[], "")).assert_error(404);
    }
    interface.update(&link, json!({ "active": true })).expect(200);
    shop.get_page(&link_path(&link)).assert_contains_texts(200, &["A coffee"]);
    shop.update_account(json!({ "status": "suspended" }));
    Page::from_response(shop.submit(&link_path(&link), &[], "")).assert_error(403);
    shop.update_account(json!({ "status": "active", "maintenance": true }));
    create_from_link(&shop, &link, "");
    let live = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    let live = interface.create("live", &live).expect(201).json();
    let paused = shop.submit(&link_path(&live), &[], "");
    assert!(paused.headers.contains_key("retry-after"));
    Page::from_response(paused).assert_error(503);
}

#[test]
fn test_link_on_a_server_creates_marked_test_invoices() {
    let (served, running) = Installation::start_new(&[]);
    let links = format!("/dashboard/api/accounts/{}/payment-links", served.account);
    let body = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    for (query, livemode) in [("?mode=test", false), ("?mode=live", true), ("", true)] {
        let path = format!("{links}{query}");
        let link = running.operator_request("POST", &path, &body).expect(201).json();
        assert_eq!(link["livemode"], livemode, "{query}");
        let listed = running.operator_get(&path);
        let all = listed["data"].as_array().unwrap();
        assert!(all.iter().all(|link| link["livemode"] == livemode));
        let get = |path: &str| {
            let url = format!("{}{path}", running.url);
            send(&agent(), "GET", &url, &[], "").expect(200).text
        };
        let says_test = |text: &str| text.contains("<strong>TEST.</strong>");
        let page = link_path(&link);
        assert_eq!(says_test(&get(&page)), !livemode, "{query}");
        // The client follows the redirect to the checkout.
        let url = format!("{}{page}", running.url);
        let checkout = send(&agent(), "POST", &url, &[], "").expect(200).text;
        assert_eq!(says_test(&checkout), !livemode, "{query}");
        let mode = if livemode { "live" } else { "test" };
        let path = format!("{}/invoices?mode={mode}", links.replace("/payment-links", ""));
        let made = running.operator_get(&path);
        let made = &made["data"][0];
        assert_eq!((&made["paymentLinkId"], &made["livemode"]), (&link["id"], &json!(livemode)));
    }
    let modes = "select group_concat(json_extract(detail, '$.mode'), ' ') from audit_log
        where action = 'payment_link.create'";
    let noted: String = served.open_file().query_row(modes, [], |row| row.get(0)).unwrap();
    assert_eq!(noted, "test live live");
}

#[test]
fn each_client_of_a_link_is_rate_limited() {
    let config = Config {
        link_invoices_per_minute: 1,
        trusted_proxy: vec!["127.0.0.1".parse().unwrap()],
        ..Config::sandbox()
    };
    let shop = Shop::with_config(config);
    let link = LinkClient::sign_in(&shop)
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let from = |client: &str| shop.submit(&link_path(&link), &[("x-forwarded-for", client)], "");
    for _ in 0..10 {
        assert_eq!(from("198.51.100.1").status, 303);
    }
    let refused = from("198.51.100.9, 198.51.100.1");
    assert!(refused.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    Page::from_response(refused).assert_error(429);
    assert_eq!(from("198.51.100.2").status, 303, "another client has its own");
    shop.get_page(&link_path(&link)).assert_contains_texts(200, &["A coffee"]);
}

#[test]
fn client_networks_have_separate_rate_limits() {
    let config = Config {
        link_invoices_per_minute: 1,
        trusted_proxy: vec!["127.0.0.1".parse().unwrap()],
        ..Config::sandbox()
    };
    let shop = Shop::with_config(config);
    let interface = LinkClient::sign_in(&shop);
    let body = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    let link = interface.create_test_link(body.clone());
    let made = |clients: &mut dyn Iterator<Item = String>| {
        let from =
            |client: String| shop.submit(&link_path(&link), &[("x-forwarded-for", &client)], "");
        clients.filter(|client| from(client.clone()).status == 303).count()
    };
    // 150 clients have addresses in one IPv4 /24 network, and 150 clients have /64 networks in one IPv6 /48 network.
    let made_v4 = made(&mut (0..150).map(|host| format!("198.51.100.{host}")));
    let made_v6 = made(&mut (0..150).map(|site| format!("2001:db8:1:{site:x}::1")));
    // The limit is 100 requests at once. More requests are allowed as time passes, so the loop may send a few more.
    assert!((100..105).contains(&made_v4), "{made_v4}");
    assert!((100..105).contains(&made_v6), "{made_v6}");
    // Clients of other networks have their own limits.
    assert_eq!(made(&mut ["198.51.101.1", "2001:db8:2::1"].map(str::to_owned).into_iter()), 2);
}

#[test]
fn link_has_a_limited_number_of_open_invoices() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let body = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    let (link, other) =
        (interface.create_test_link(body.clone()), interface.create_test_link(body));
    let first = create_from_link(&shop, &link, "");
    shop.advance("1m");
    for _ in 1..600 {
        assert_eq!(shop.submit(&link_path(&link), &[], "").status, 303);
    }
    let refused = shop.submit(&link_path(&link), &[], "");
    let seconds = 19 * 60;
    assert_eq!(refused.headers["retry-after"], seconds.to_string());
    Page::from_response(refused).assert_error(429);
    // Other links, and invoices that the account creates itself, are not limited.
    create_from_link(&shop, &other, "");
    shop.create_invoice("3.50", json!({}));
    shop.get_page(&link_path(&link)).assert_contains_texts(200, &["A coffee"]);
    // The link accepts a new invoice as soon as one of its open invoices is paid, cancelled or expired.
    let pay = format!("/v1/invoices/{}/simulate", first["id"].as_str().unwrap());
    shop.post(&pay, Some(TEST), json!({ "asset": "BTC" })).expect(200);
    let second = create_from_link(&shop, &link, "");
    Page::from_response(shop.submit(&link_path(&link), &[], "")).assert_error(429);
    shop.cancel_invoice(second["id"].as_str().unwrap()).expect(200);
    create_from_link(&shop, &link, "");
    Page::from_response(shop.submit(&link_path(&link), &[], "")).assert_error(429);
    shop.advance("20m");
    create_from_link(&shop, &link, "");
}

#[test]
fn only_a_trusted_proxy_sets_the_client_address() {
    let config = Config { link_invoices_per_minute: 1, ..Config::sandbox() };
    let shop = Shop::with_config(config);
    let link = LinkClient::sign_in(&shop)
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let from =
        |client: &str| shop.submit(&link_path(&link), &[("x-forwarded-for", client)], "").status;
    let answers: Vec<u16> = (0..11).map(|last| from(&format!("198.51.100.{last}"))).collect();
    assert_eq!(answers[..10], [303; 10]);
    assert_eq!(answers[10], 429);
}

#[test]
fn link_has_a_printable_qr_code() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface.create_test_link(
        json!({ "name": "A <b>coffee</b>", "amount": "3.50", "currency": "EUR" }),
    );
    let url = link["url"].as_str().unwrap();
    let id = link["id"].as_str().unwrap();
    let code = format!("/l/{id}/qr");
    let said = ["A &#60;b&#62;coffee", "3.50 EUR", url, "role=\"img\"", "href=\"qr.svg\"", "TEST."];
    shop.get_page(&code).assert_contains_texts(200, &said).assert_lacks_texts(&["<b>"]);
    shop.get_page(&format!("{code}?lang=de"))
        .assert_contains_texts(200, &["3,50 EUR", "Zum Bezahlen scannen"]);
    let picture = shop.send("GET", &format!("/l/{id}/qr.svg"), &[], "");
    assert_eq!(picture.status, 200);
    assert_eq!(picture.headers["content-type"], "image/svg+xml");
    assert!(picture.headers["content-security-policy"].contains("script-src 'self'"));
    let is_drawn = picture.text.starts_with("<svg xmlns=") && picture.text.contains("d=\"M4 4h7");
    assert!(is_drawn, "{}", picture.text);
    interface.update(&link, json!({ "active": false })).expect(200);
    shop.get_page(&code).assert_error(404);
    Page::from_response(shop.send("GET", &format!("/l/{id}/qr.svg"), &[], "")).assert_error(404);
}

#[test]
fn payment_link_keeps_the_selected_language() {
    let shop = Shop::open();
    let link =
        LinkClient::sign_in(&shop).create_test_link(json!({ "name": "Gift", "currency": "EUR" }));
    let german =
        ["<html lang=\"de\"", "Betrag in EUR", "Zum Beispiel 19,99", "name=\"lang\" value=\"de\""];
    shop.get_page(&format!("{}?lang=de", link_path(&link))).assert_contains_texts(200, &german);
    let wrong = Page::from_response(shop.submit(&link_path(&link), &[], "amount=x&lang=de"));
    wrong.assert_contains_texts(
        400,
        &["Geben Sie einen Betrag wie 19,99 ein.", "name=\"lang\" value=\"de\""],
    );
    let made = shop.submit(&link_path(&link), &[], "amount=12,50&lang=de");
    assert_eq!(made.status, 303, "{}", made.text);
    let location = &made.headers["location"];
    assert!(location.ends_with("&lang=de"), "{location}");
    let page = location.strip_prefix("..").unwrap();
    shop.get_page(page).assert_contains_texts(200, &[">12,50 EUR bezahlen</h1>"]);
}
