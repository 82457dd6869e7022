//! Error pages for customers: their language, the suggested next step, and the sites that may frame them.

use super::pages::checkout_path_and_token;
use crate::support::Shop;
use crate::support::browser::Page;
use crate::support::links::LinkClient;
use serde_json::json;

/// Checkout path of an invoice that does not exist.
const UNKNOWN_CHECKOUT_PATH: &str = "/checkout/019d9f7b-6a00-7000-8000-000000000001";
const ACCEPT_GERMAN: (&str, &str) = ("accept-language", "de-AT,de;q=0.9,en;q=0.8");

/// Writes the allowed origins and the checkout language of the account into the database.
fn set_origins_and_language(shop: &Shop, origins: &str, language: &str) {
    shop.execute_sql(&format!(
        "update accounts set allowed_origins = '{origins}', checkout_lang = '{language}'"
    ));
}

/// Sends a GET request of a browser that prefers German.
#[track_caller]
fn get_in_german(shop: &Shop, path: &str) -> Page {
    Page::from_response(shop.send("GET", path, &[ACCEPT_GERMAN], ""))
}

#[test]
fn error_page_uses_the_language_of_the_checkout() {
    let shop = Shop::open();
    set_origins_and_language(&shop, "[]", "auto");
    let invoice = shop.create_invoice("20.00", json!({}));
    let (path, token) = checkout_path_and_token(&invoice);
    let in_german =
        ["<html lang=\"de\" dir=\"ltr\">", "Seite nicht gefunden", "nennen Sie diese Nummer:"];
    for page in [UNKNOWN_CHECKOUT_PATH, &path, "/checkout/x", "/l/x", "/l/x/qr"] {
        get_in_german(&shop, page)
            .assert_error(404)
            .assert_contains_texts(404, &in_german)
            .assert_lacks_texts(&["not found", "Sandbox Shop"]);
        let picked = format!("{page}?lang=ar");
        get_in_german(&shop, &picked)
            .assert_contains_texts(404, &["lang=\"ar\" dir=\"rtl\"", "الصفحة غير موجودة"]);
        shop.get_page(page).assert_contains_texts(404, &["lang=\"en\"", "Page not found"]);
    }
    // A language in the form has priority over the account's language, which has priority over the browser's
    // language.
    set_origins_and_language(&shop, "[]", "fr");
    let select = |fields: &str| {
        let body = format!("token={token}&asset=XYZ{fields}");
        Page::from_response(shop.submit(&format!("{path}/select"), &[ACCEPT_GERMAN], &body))
    };
    let back = format!("href=\"../..{path}?token={token}&#38;lang=tr\"");
    select("&lang=tr").assert_contains_texts(400, &["Başka birini seçin", &back]);
    select("").assert_contains_texts(400, &["Choisissez-en une autre.", "Retour au paiement"]);
    get_in_german(&shop, &path).assert_contains_texts(404, &["Page introuvable"]);
    get_in_german(&shop, UNKNOWN_CHECKOUT_PATH)
        .assert_contains_texts(404, &["Seite nicht gefunden"]);
}

#[test]
fn payment_link_explains_errors_in_the_payers_language() {
    let shop = Shop::open();
    let link = LinkClient::sign_in(&shop)
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    set_origins_and_language(&shop, "[]", "auto");
    let path = format!("/l/{}", link["id"].as_str().unwrap());
    let pay = |body: &str| Page::from_response(shop.submit(&path, &[ACCEPT_GERMAN], body));
    let unread = "x".repeat(70_000);
    for (body, said) in
        [("lang=pl", "Wróć"), ("lang=%ff", "Gehen Sie zurück"), (&unread, "Gehen Sie zurück")]
    {
        let wrong = format!("{body}&amount=1&amount=2");
        let page = pay(&wrong);
        assert!(page.0.status == 400 || page.0.status == 413, "{}", page.0.status);
        assert!(page.0.text.contains(said), "{}", page.0.text);
    }
    shop.update_account(json!({ "status": "suspended" }));
    pay("").assert_contains_texts(403, &["kann zurzeit keine Zahlungen annehmen"]);
    pay("lang=ja")
        .assert_contains_texts(403, &["現在、このショップはお支払いを受け付けていません"]);
    shop.execute_sql(
        "update payment_links set active = 0; update accounts set checkout_lang = 'it'",
    );
    get_in_german(&shop, &path)
        .assert_contains_texts(404, &["Pagina non trovata"])
        .assert_lacks_texts(&["coffee"]);
}

#[test]
fn operator_error_pages_are_in_english() {
    let shop = Shop::open();
    for (path, status) in [("/setup", 403), ("/docs/nothing", 404)] {
        get_in_german(&shop, path).assert_error(status).assert_contains_texts(
            status,
            &["lang=\"en\"", "If you ask for help, give this number:"],
        );
    }
}

#[test]
fn checkout_error_may_be_framed_like_the_checkout() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("20.00", json!({}));
    let (path, token) = checkout_path_and_token(&invoice);
    let unread = "x".repeat(70_000);
    let long = [("x-long", "x".repeat(17_000))];
    let long: Vec<_> = long.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refusals = |path: &str| {
        [
            shop.submit(&format!("{path}/select"), &[], &unread),
            shop.submit(&format!("{path}/simulate"), &[], &unread),
            shop.submit(&format!("{path}/select"), &[], "token=%ff"),
            shop.submit(&format!("{path}/select"), &[], ""),
            shop.submit(&format!("{path}/simulate"), &[], &format!("token={token}&case=no")),
            shop.submit(&format!("{path}/other"), &[], ""),
            shop.send("GET", &format!("{path}/select"), &[], ""),
            shop.send("DELETE", path, &[], ""),
            shop.send("GET", path, &[], ""),
            shop.send("GET", &format!("{path}?token={token}"), &long, ""),
            shop.send("GET", &format!("{path}?token=a&token=b"), &[], ""),
        ]
    };
    for (origins, framed_by) in
        [("[]", "*"), ("[\"https://shop.example\"]", "'self' https://shop.example")]
    {
        set_origins_and_language(&shop, origins, "auto");
        for (path, framed_by) in [(&*path, framed_by), (UNKNOWN_CHECKOUT_PATH, "'none'")] {
            for refused in refusals(path) {
                assert!(refused.status >= 400, "{}", refused.status);
                let policy =
                    Page::from_response(refused).0.headers["content-security-policy"].clone();
                assert!(policy.ends_with(&format!("; frame-ancestors {framed_by}")), "{policy}");
            }
        }
    }
    // Other sites cannot frame a payment link or its error pages.
    let link = LinkClient::sign_in(&shop)
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let page = shop.submit(&format!("/l/{}", link["id"].as_str().unwrap()), &[], &unread);
    let policy = Page::from_response(page).0.headers["content-security-policy"].clone();
    assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
}

#[test]
fn mistyped_address_is_a_page_only_for_browsers() {
    let shop = Shop::open();
    let browser = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    for path in ["/checout/x", "/v1/nothing", "/%22%3E%3Cb%3E", "/dashboard/api/nothing"] {
        let page = Page::from_response(shop.send("GET", path, &[browser, ACCEPT_GERMAN], ""));
        page.assert_error(404)
            .assert_contains_texts(
                404,
                &["<html lang=\"de\"", "Unter dieser Adresse gibt es keine"],
            )
            .assert_lacks_texts(&["<b>", "nothing"]);
        for accepted in ["*/*", "application/json", "application/json, text/plain, */*"] {
            let answer = shop.send("GET", path, &[("accept", accepted)], "");
            answer.assert_error(404, "not_found", None);
        }
        let with_key = [browser, ("authorization", "Bearer sk_test_sandbox")];
        shop.send("GET", path, &with_key, "").assert_error(404, "not_found", None);
    }
    // Paths with a page keep their own error page, and known paths their answer.
    shop.send("GET", "/v1/invoices", &[browser], "").assert_error(401, "unauthorized", None);
    Page::from_response(shop.send("GET", "/checkout/x?token=y", &[browser], "")).assert_error(404);
}
