//! Parts of the checkout page other than payment: language, brand color, and the buttons of a test invoice.

use super::pages::{checkout_path_and_token, get_checkout_page};
use crate::support::browser::Page;
use crate::support::{LIVE, Shop};
use serde_json::{Value, json};

#[test]
fn other_site_cannot_move_the_sandbox_clock() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let (_, token) = checkout_path_and_token(&invoice);
    let id = invoice["id"].as_str().unwrap();
    // Browsers send `Origin: null` from the checkout page because of its referrer policy. Other sites can send the
    // same value, but with another `Sec-Fetch-Site`.
    let move_by = |headers: &[(&str, &str)]| {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let (headers, path) = ([headers, &[form]].concat(), format!("/checkout/{id}/simulate"));
        shop.send("POST", &path, &headers, &format!("token={token}&case=clock"))
    };
    let before = shop.now();
    for (origin, site) in [
        ("https://evil.example", "cross-site"),
        ("https://evil.example", "same-origin"),
        ("null", "cross-site"),
        ("null", "same-site"),
        ("null", ""),
        ("http://127.0.0.1:1", "same-site"),
    ] {
        Page::from_response(move_by(&[("origin", origin), ("sec-fetch-site", site)]))
            .assert_error(403);
    }
    assert_eq!(shop.now(), before);
    let own = [("origin", "null"), ("sec-fetch-site", "same-origin")];
    move_by(&own).expect(200);
    assert_ne!(shop.now(), before);
}

#[test]
fn only_test_checkout_has_simulation_buttons() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let (_, token) = checkout_path_and_token(&invoice);
    let id = invoice["id"].as_str().unwrap();
    let buttons = ["exact", "under", "over", "clock"].map(|case| format!("value=\"{case}\""));
    let buttons = buttons.each_ref().map(String::as_str);
    get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &buttons)
        .assert_lacks_texts(&["value=\"late\""]);
    let press = |id: &str, body: &str| shop.submit(&format!("/checkout/{id}/simulate"), &[], body);
    for (body, status) in [
        ("", 404),
        ("token=x&case=exact", 404),
        (&*format!("token={token}"), 400),
        (&*format!("token={token}&case=much"), 400),
        (&*format!("token={token}&case=late"), 400),
        (&*format!("token={token}&case=exact&case=over"), 400),
    ] {
        Page::from_response(press(id, body)).assert_error(status);
    }
    assert_eq!(shop.get_invoice(id)["status"], "awaiting_payment");
    let pressed = press(id, &format!("token={token}&case=under&lang=de-AT"));
    assert_eq!(pressed.status, 303, "{}", pressed.text);
    let back = format!("../{id}?token={token}&lang=de#heading");
    assert_eq!(pressed.headers["location"], back);
    assert_eq!(shop.get_invoice(id)["status"], "underpaid");
    // The first request moves the clock to the deadline. The second request changes nothing.
    for _ in 0..2 {
        assert_eq!(press(id, &format!("token={token}&case=clock")).status, 303);
    }
    let page = get_checkout_page(&shop, &invoice)
        .assert_contains_texts(200, &["Not paid in full", "value=\"late\""]);
    page.assert_lacks_texts(&["value=\"exact\"", "value=\"clock\""]);
    assert_eq!(press(id, &format!("token={token}&case=late")).status, 303);
    assert_eq!(shop.get_invoice(id)["status"], "paid_late");
    get_checkout_page(&shop, &invoice).assert_lacks_texts(&["/simulate"]);

    let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "ETH" });
    let live = shop.post("/v1/invoices", Some(LIVE), body).expect(201).json();
    get_checkout_page(&shop, &live).assert_lacks_texts(&["/simulate"]);
    let (_, token) = checkout_path_and_token(&live);
    let id = live["id"].as_str().unwrap();
    for case in ["exact", "under", "over", "clock"] {
        Page::from_response(press(id, &format!("token={token}&case={case}"))).assert_error(403);
    }
}

#[test]
fn checkout_uses_the_language_of_the_customer() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let url = invoice["checkoutUrl"].as_str().unwrap();
    let path = url.strip_prefix(shop.url()).unwrap();
    let page = |more: &str, accepted: &str| {
        let headers = [("accept-language", accepted)];
        Page::from_response(shop.send("GET", &format!("{path}{more}"), &headers, ""))
    };
    let german = ["<html lang=\"de\" dir=\"ltr\">", ">0,25 LTC senden</h1>", "data-exact=\"0.25\""];
    page("", "sv, de-AT;q=0.7, en;q=0.5").assert_contains_texts(200, &german);
    page("", "sv").assert_contains_texts(200, &["<html lang=\"en\"", ">Send 0.25 LTC</h1>"]);
    let arabic = [
        "<html lang=\"ar\" dir=\"rtl\">",
        "\u{2066}0.25 LTC\u{2069}",
        "name=\"lang\" value=\"ar\"",
    ];
    page("&lang=ar", "de").assert_contains_texts(200, &arabic);
    page("&lang=%3Cb%3E", "de")
        .assert_contains_texts(200, &german)
        .assert_lacks_texts(&["<b>", "name=\"lang\""]);
    let links = ["?lang=ja&#38;token=", "aria-current=\"true\">Deutsch<", "hreflang=\"zh-Hans\""];
    page("", "de").assert_contains_texts(200, &links);
    // The account's language has priority over the browser's language. An unsupported language falls back to English.
    shop.execute_sql("update accounts set checkout_lang = 'pt-BR'");
    let other = shop.create_invoice("20.00", json!({}));
    get_checkout_page(&shop, &other)
        .assert_contains_texts(200, &["<html lang=\"pt\"", "Escolha uma criptomoeda", "20,00 EUR"]);
    page("", "de").assert_contains_texts(200, &["<html lang=\"pt\""]);
    page("&lang=de", "de").assert_contains_texts(200, &german);
    shop.execute_sql("update accounts set checkout_lang = 'sv'");
    let page = Page::from_response(shop.send(
        "GET",
        &checkout_path(&shop, &shop.create_invoice("20.00", json!({}))),
        &[],
        "",
    ));
    page.assert_contains_texts(200, &["<html lang=\"en\""]);
}

/// Returns the path of an invoice's checkout with its token.
fn checkout_path(shop: &Shop, invoice: &Value) -> String {
    let url = invoice["checkoutUrl"].as_str().unwrap();
    url.strip_prefix(shop.url()).unwrap().to_owned()
}

#[test]
fn brand_color_passes_csp_and_has_contrast() {
    let shop = Shop::open();
    shop.execute_sql("update accounts set branding_color = '#ffd400'");
    let page = get_checkout_page(&shop, &shop.create_invoice("20.00", json!({})));
    let page = page
        .assert_contains_texts(200, &["<style>:root{--brand:#ffd400;--on-brand:#000000}</style>"]);
    let policy = &page.0.headers["content-security-policy"];
    assert_eq!(policy.matches("'sha256-").count(), 2, "{policy}");
    // The database itself rejects a value that is no color.
    shop.execute_sql("update accounts set branding_color = null");
    let page = get_checkout_page(&shop, &shop.create_invoice("20.00", json!({})))
        .assert_lacks_texts(&["--on-brand:#0"]);
    let policy = &page.0.headers["content-security-policy"];
    assert_eq!(policy.matches("'sha256-").count(), 1, "{policy}");
}
