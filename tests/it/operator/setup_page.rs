//! The page of the setup link.

use crate::support::browser::Page;
use crate::support::{Response, Shop};
use serde_json::json;

/// Path of the setup page, with the token.
const SETUP_PATH: &str = "/setup?token=a+token+for+the+set-up";
/// Form field with the token.
const TOKEN_FIELD: &str = "token=a+token+for+the+set-up";
/// SHA-256 of the token.
const TOKEN_HASH: &str = "1b24f140e45b76a4d07e45bf716f196b73780090db0c702790d9b43a2375c329";

/// Starts a sandbox without users, whose setup link is valid for an hour.
fn shop_without_users() -> Shop {
    let shop = Shop::open();
    shop.execute_sql(&format!(
        "delete from users;
         update file set setup_hash = x'{TOKEN_HASH}', setup_expires_at = clock_frozen_at + 3600000;"
    ));
    shop
}

/// Submits the form with these fields and the token.
fn post_form(shop: &Shop, fields: &str) -> Response {
    shop.submit("/setup", &[], &format!("{TOKEN_FIELD}&{fields}"))
}

/// Submits the form and returns the page in the response.
fn submit_form(shop: &Shop, fields: &str) -> Page {
    Page::from_response(post_form(shop, fields))
}

/// Returns the number of accounts.
fn count_accounts(shop: &Shop) -> i64 {
    shop.query_text("select count(*) || '' from accounts").parse().unwrap()
}

#[test]
fn first_operator_without_shop_creates_no_account() {
    let shop = shop_without_users();
    let before = count_accounts(&shop);
    post_form(&shop, "email=anna%40shop.test&password=long+enough&shop=+").expect(303);
    assert_eq!(count_accounts(&shop), before);
}

#[test]
fn first_operator_is_created_once() {
    let shop = shop_without_users();
    let page = shop
        .get_page(SETUP_PATH)
        .assert_contains_texts(200, &["name=\"email\"", "type=\"password\"", "action=\"setup\""]);
    assert!(page.0.headers["content-security-policy"].contains("frame-ancestors 'none'"));
    page.assert_lacks_texts(&["TEST."]);
    let before = count_accounts(&shop);
    let fields = "email=anna%40shop.test&password=+anna%27s+password+&shop=+Anna%27s+Books+";
    let done = post_form(&shop, fields).expect(303);
    assert_eq!(done.headers["location"], "dashboard");
    let (cookie, place) = done.headers["set-cookie"].split_once(';').unwrap();
    assert_eq!(place, " Path=/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict");
    let cookie = [("cookie", cookie)];
    let session = shop.send("GET", "/dashboard/api/session", &cookie, "").expect(200).json();
    assert_eq!(session["user"]["email"], "anna@shop.test");
    let accounts = shop.send("GET", "/dashboard/api/accounts", &cookie, "").expect(200).json();
    let made = accounts["data"].as_array().unwrap().last().unwrap();
    assert_eq!((&made["name"], &made["status"]), (&json!("Anna's Books"), &json!("active")));
    assert_eq!(count_accounts(&shop), before + 1);
    let log = "select group_concat(action, ' ') from (select action from audit_log
        where actor = 'set-up link' order by seq)";
    assert_eq!(shop.query_text(log), "user.create account.create account.approve");
    let key = r#"{"class":"secret","mode":"live"}"#;
    let keys = format!("/dashboard/api/accounts/{}/keys", made["id"].as_str().unwrap());
    shop.send("POST", &keys, &cookie, key).expect(201);
    let body = json!({ "email": "anna@shop.test", "password": " anna's password " });
    let begun = shop.post("/dashboard/api/session", None, body).expect(201).json();
    assert_eq!(begun["user"]["role"], "operator");
    shop.get_page(SETUP_PATH).assert_error(403).assert_lacks_texts(&["<form"]);
    submit_form(&shop, "email=eve%40shop.test&password=eve%27s+password").assert_error(403);
    assert_eq!(shop.query_text("select count(*) || '' from users"), "1");
}

#[test]
fn invalid_form_shows_errors_and_link_stays_valid() {
    let shop = shop_without_users();
    for (fields, told) in [
        ("email=&password=long+enough", "Email must"),
        ("email=anna&password=long+enough", "Email must be"),
        ("email=anna%40shop.test&password=short", "Password must have 10 to 200 characters."),
        ("email=anna%40shop.test", "Password must"),
        ("email=a%40shop.test&password=long+enough&shop=a%0Ab", "Shop must"),
        ("email=%22%3E%3Cscript%3E&password=long+enough", "value=\"&#34;&#62;&#60;script&#62;\""),
    ] {
        submit_form(&shop, fields)
            .assert_contains_texts(400, &["role=\"alert\"", told])
            .assert_lacks_texts(&["long enough"]);
    }
    let long = format!("email=a%40shop.test&password=long+enough&shop={}", "x".repeat(201));
    submit_form(&shop, &long).assert_contains_texts(400, &["Shop must have 1 to 200 characters"]);
    let accounts = count_accounts(&shop);
    let twice = "email=a%40shop.test&email=b%40shop.test&password=long+enough";
    submit_form(&shop, twice).assert_error(400);
    assert_eq!(count_accounts(&shop), accounts);
    assert_eq!(shop.query_text("select count(*) || '' from users"), "0");
    shop.get_page(SETUP_PATH).assert_contains_texts(200, &["<form"]);
}

#[test]
fn invalid_or_expired_link_shows_no_form() {
    let shop = shop_without_users();
    for wrong in ["/setup", "/setup?token=", "/setup?token=guessed"] {
        shop.get_page(wrong).assert_error(403).assert_lacks_texts(&["<form"]);
    }
    let guess = "token=guessed&email=anna%40shop.test&password=long+enough";
    Page::from_response(shop.submit("/setup", &[], guess)).assert_error(403);
    Page::from_response(shop.send("DELETE", "/setup", &[], "")).assert_error(405);
    shop.advance("1h");
    shop.get_page(SETUP_PATH).assert_error(403).assert_lacks_texts(&["<form"]);
    submit_form(&shop, "email=anna%40shop.test&password=long+enough").assert_error(403);
}
