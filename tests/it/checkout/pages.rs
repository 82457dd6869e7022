//! Checkout pages: coin selection, each status, access by token, and errors.

use crate::support::browser::Page;
use crate::support::{LIVE, Response, Shop, TEST};
use serde_json::{Value, json};

/// Returns the path and the token of an invoice's checkout.
pub fn checkout_path_and_token(invoice: &Value) -> (String, String) {
    let url = invoice["checkoutUrl"].as_str().unwrap();
    let (address, token) = url.split_once("?token=").unwrap();
    let path = address.split_once("/checkout/").unwrap().1;
    (format!("/checkout/{path}"), token.to_owned())
}

/// Requests the checkout page of an invoice.
#[track_caller]
pub fn get_checkout_page(shop: &Shop, invoice: &Value) -> Page {
    shop.get_page(invoice["checkoutUrl"].as_str().unwrap())
}

/// Data that no page shows: the customer's email, the shop's metadata and unescaped markup.
const HIDDEN_TEXTS: [&str; 3] = ["anna@example.com", "only the shop", "<b>"];

/// Creates an invoice with all fields that a page may show, and with some fields that a page must not show.
#[track_caller]
fn create_invoice_with_all_fields(shop: &Shop) -> Value {
    let more = json!({
        "description": "Two <b>books</b>",
        "redirectUrl": "https://shop.example/thanks?a=1&b=2",
        "cancelUrl": "https://shop.example/cart",
        "customerEmail": "anna@example.com",
        "metadata": { "secret": "only the shop's" },
    });
    shop.create_invoice("20.00", more)
}

#[test]
fn selected_coin_shows_its_address() {
    let shop = Shop::open();
    let invoice = create_invoice_with_all_fields(&shop);
    let page = get_checkout_page(&shop, &invoice).assert_contains_texts(
        200,
        &[
            ">Pay 20.00 EUR</h1>",
            "Sandbox Shop",
            "TEST.",
            "Two &#60;b&#62;books&#60;/b&#62;",
            "value=\"LTC\"",
            "0.25 LTC",
            "https://shop.example/cart",
            "http-equiv=\"refresh\"",
        ],
    );
    page.assert_lacks_texts(&HIDDEN_TEXTS).assert_lacks_texts(&["shop.example/thanks"]);

    let (path, token) = checkout_path_and_token(&invoice);
    let picked = select_coin(&shop, &path, &format!("token={token}&asset=LTC"));
    assert_eq!(picked.status, 303, "{}", picked.text);
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(picked.headers["location"], format!("../{id}?token={token}#heading"));
    let quoted = shop.get_invoice(id);
    assert_eq!(quoted["status"], "awaiting_payment");
    let page = get_checkout_page(&shop, &invoice).assert_contains_texts(
        200,
        &[
            ">Send 0.25 LTC</h1>",
            quoted["depositAddress"].as_str().unwrap(),
            "only on the Litecoin network",
            "1 LTC = 80 EUR",
            quoted["expiresAt"].as_str().unwrap(),
            "TEST.",
            "http-equiv=\"refresh\" content=\"10\"",
            "value=\"BTC\"",
        ],
    );
    page.assert_lacks_texts(&HIDDEN_TEXTS).assert_lacks_texts(&[
        "litecoin:",
        "value=\"LTC\"",
        "shop.example/thanks",
    ]);
}

#[test]
fn page_shows_seen_and_confirmed_payment_and_return_link() {
    let shop = Shop::open();
    let invoice = create_invoice_with_all_fields(&shop);
    let payment = shop.pay(json!({ "invoice": invoice["id"], "asset": "LTC" }));
    let page = get_checkout_page(&shop, &invoice);
    let way_back = "href=\"https://shop.example/thanks?a=1&#38;b=2\"";
    let page = page.assert_contains_texts(
        200,
        &["Payment received, confirming", "http-equiv=\"refresh\"", way_back, "Transaction:"],
    );
    page.assert_lacks_texts(&HIDDEN_TEXTS).assert_lacks_texts(&["shop.example/cart"]);
    shop.set_payment_state(&payment, "confirmed");
    let page = get_checkout_page(&shop, &invoice);
    let page =
        page.assert_contains_texts(200, &[">Paid</h1>", "Your payment has arrived", way_back]);
    page.assert_lacks_texts(&HIDDEN_TEXTS).assert_lacks_texts(&[
        "http-equiv",
        "shop.example/cart",
        "<form",
    ]);
}

/// Submits the form that selects a coin.
#[track_caller]
pub fn select_coin(shop: &Shop, path: &str, body: &str) -> Response {
    let id = path.strip_prefix("/checkout/").unwrap();
    shop.submit(&format!("/checkout/{id}/select"), &[], body)
}

#[test]
fn every_status_has_a_page() {
    let shop = Shop::open();
    let simulated = |case: &str| {
        let invoice =
            shop.create_invoice("20.00", json!({ "cancelUrl": "https://shop.example/cart" }));
        let path = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
        shop.post(&path, Some(TEST), json!({ "case": case, "asset": "LTC" })).expect(200);
        invoice
    };
    let over = simulated("over");
    get_checkout_page(&shop, &over)
        .assert_contains_texts(200, &[">Paid</h1>", "more than was due", "0.375 LTC"]);
    let under = simulated("under");
    get_checkout_page(&shop, &under)
        .assert_contains_texts(
            200,
            &[
                ">Send 0.125 LTC more</h1>",
                "0.125 LTC has arrived, less than was due. Send the rest to the same address.",
                shop.get_invoice(under["id"].as_str().unwrap())["depositAddress"].as_str().unwrap(),
                "href=\"https://shop.example\"",
                "http-equiv=\"refresh\"",
            ],
        )
        .assert_lacks_texts(&["/select\"", "shop.example/cart"]);
    let cancelled = shop.create_invoice("20.00", json!({}));
    shop.cancel_invoice(cancelled["id"].as_str().unwrap()).expect(200);
    get_checkout_page(&shop, &cancelled)
        .assert_contains_texts(200, &[">Cancelled</h1>"])
        .assert_lacks_texts(&["http-equiv", "/select\""]);
    let (late, gone) = (
        shop.create_invoice("20.00", json!({ "asset": "LTC" })),
        shop.create_invoice("20.00", json!({ "asset": "LTC" })),
    );
    let payment = shop.pay(json!({ "invoice": gone["id"] }));
    shop.set_payment_state(&payment, "dropped");
    let expired = shop.create_invoice("20.00", json!({}));
    shop.advance("20m");
    get_checkout_page(&shop, &expired)
        .assert_contains_texts(200, &["The time to pay is over"])
        .assert_lacks_texts(&["http-equiv", "/select\""]);
    get_checkout_page(&shop, &gone).assert_contains_texts(200, &["did not go through"]);
    let over_and_less =
        ["Not paid in full", "0.125 LTC", "0.25 LTC", "href=\"https://shop.example\""];
    get_checkout_page(&shop, &under)
        .assert_contains_texts(200, &over_and_less)
        .assert_lacks_texts(&["http-equiv", "/select\""]);
    let payment = shop.pay(json!({ "invoice": late["id"] }));
    shop.set_payment_state(&payment, "confirmed");
    get_checkout_page(&shop, &late)
        .assert_contains_texts(200, &["Paid too late"])
        .assert_lacks_texts(&["http-equiv"]);
}

#[test]
fn token_opens_only_its_invoice() {
    let shop = Shop::open();
    let (one, other) =
        (shop.create_invoice("20.00", json!({})), shop.create_invoice("21.00", json!({})));
    let ((path, token), (_, wrong)) =
        (checkout_path_and_token(&one), checkout_path_and_token(&other));
    let upper = token.to_uppercase();
    let longer = format!("{token}0");
    for tried in ["", &wrong, &token[..31], &longer, &upper, "%00", &"x".repeat(5_000)] {
        shop.get_page(&format!("{path}?token={tried}"))
            .assert_error(404)
            .assert_lacks_texts(&["20.00", "Sandbox Shop"]);
        let answer = select_coin(&shop, &path, &format!("token={tried}&asset=LTC"));
        Page::from_response(answer).assert_error(404);
    }
    shop.get_page(&path).assert_error(404);
    let unknown = "/checkout/019d9f7b-6a00-7000-8000-000000000001";
    shop.get_page(&format!("{unknown}?token={token}")).assert_error(404);
    shop.get_page("/checkout/x?token=y").assert_error(404);
    shop.get_page(&format!("/checkout/{}?token=a&token=b", "x")).assert_error(400);
    assert_eq!(shop.get_invoice(one["id"].as_str().unwrap())["status"], "created");
    let read = format!("/v1/invoices/{}", one["id"].as_str().unwrap());
    shop.get(&read, Some(&token)).assert_error(401, "unauthorized", None);
}

#[test]
fn invalid_selection_shows_an_error_and_changes_nothing() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let (path, token) = checkout_path_and_token(&invoice);
    let select = |body: &str| select_coin(&shop, &path, body);
    for asset in ["", "XYZ", "%3Cscript%3E"] {
        let answer = select(&format!("token={token}&asset={asset}"));
        Page::from_response(answer).assert_error(400);
    }
    Page::from_response(select(&format!("token={token}&asset=LTC&asset=BTC"))).assert_error(400);
    Page::from_response(select("token=%ff")).assert_error(400);
    Page::from_response(select("")).assert_error(404);
    Page::from_response(select(&"x".repeat(70_000))).assert_error(413);
    Page::from_response(shop.send("DELETE", &path, &[], "")).assert_error(405);
    Page::from_response(shop.send("GET", &format!("{path}/select"), &[], "")).assert_error(405);
    Page::from_response(shop.send("GET", &format!("{path}/other"), &[], "")).assert_error(404);
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(shop.get_invoice(id)["status"], "created");

    select(&format!("token={token}&asset=LTC"));
    shop.pay(json!({ "invoice": id }));
    let late = select(&format!("token={token}&asset=BTC"));
    assert_eq!(late.status, 303, "the page says what became of it: {}", late.text);
    assert_eq!(shop.get_invoice(id)["asset"], "LTC");
}

#[test]
fn shop_name_is_escaped() {
    let shop = Shop::open();
    shop.execute_sql(
        "update accounts set name = '<script>alert(\"1\")</script>', branding_logo_url = 'https://img.example/a?b=''c''&d={{e}}'",
    );
    let invoice =
        shop.create_invoice("20.00", json!({ "description": "\"><script>x</script>{{token}}" }));
    let page = shop.send(
        "GET",
        &format!(
            "{}?token={}",
            checkout_path_and_token(&invoice).0,
            checkout_path_and_token(&invoice).1
        ),
        &[],
        "",
    );
    assert!(!page.text.contains("<script>"), "{}", page.text);
    assert!(page.text.contains("&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;"));
    assert!(page.text.contains("&#34;&#62;&#60;script&#62;x&#60;/script&#62;{{token}}"));
    let policy = &page.headers["content-security-policy"];
    assert!(policy.contains("img-src 'self' https://img.example;"), "{policy}");
    let logo = "<img src=\"https://img.example/a?b=&#39;c&#39;&#38;d={{e}}\" alt";
    assert!(page.text.contains(logo), "{}", page.text);
    for url in [
        "javascript:alert(1)",
        "https://img.example/\"><script>",
        "https://me@img.example/",
        "https://img.example;script-src *",
    ] {
        shop.execute_sql(&format!("update accounts set branding_logo_url = '{url}'"));
        let page = get_checkout_page(&shop, &shop.create_invoice("20.00", json!({})));
        assert!(page.0.headers["content-security-policy"].contains("img-src 'self';"));
        page.assert_lacks_texts(&[url, "<img src=\"h"]);
    }
}

#[test]
fn sandbox_marks_live_pages_as_simulated() {
    let shop = Shop::open();
    let body = json!({ "amount": "20.00", "currency": "USD", "asset": "ETH" });
    let invoice = shop.post("/v1/invoices", Some(LIVE), body).expect(201).json();
    let page =
        get_checkout_page(&shop, &invoice).assert_contains_texts(200, &["TEST.", "USD", "ETH"]);
    let policy = &page.0.headers["content-security-policy"];
    assert!(policy.contains("frame-ancestors *"), "{policy}");
    page.assert_lacks_texts(&["ethereum:"]);
    let small = shop.create_invoice("0.01", json!({}));
    get_checkout_page(&shop, &small)
        .assert_contains_texts(200, &["no coin that this can be paid with"]);
}
