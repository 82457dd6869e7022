//! Sign-in: the session cookie, its scope, and limits on guessing.

use crate::support::{Response, Shop};
use serde_json::json;

/// Signs in as the sandbox operator with this password.
fn sign_in(shop: &Shop, password: &str) -> Response {
    let body = json!({ "email": "Operator@Sandbox.test", "password": password });
    shop.post("/dashboard/api/session", None, body)
}

#[test]
fn operator_signs_in_and_out() {
    let shop = Shop::open();
    let begun = sign_in(&shop, "sandbox").expect(201);
    let user = &begun.json()["user"];
    assert_eq!((&user["role"], &user["account"]), (&json!("operator"), &json!(null)));
    let set = &begun.headers["set-cookie"];
    for part in ["; Path=/dashboard", "; HttpOnly", "; SameSite=Strict", "; Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains("Secure"), "not behind https: {set}");
    let cookie = set.split(';').next().unwrap();
    let path = "/dashboard/api/session";
    let who = shop.send("GET", path, &[("cookie", cookie)], "").expect(200);
    assert_eq!(who.json()["user"]["email"], "operator@sandbox.test");
    shop.send("DELETE", path, &[("cookie", cookie)], "").expect(204);
    let after = shop.send("GET", path, &[("cookie", cookie)], "");
    after.assert_error(401, "unauthorized", None);
    shop.send("GET", path, &[], "").assert_error(401, "unauthorized", None);
}

#[test]
fn session_ends_after_twelve_hours() {
    let shop = Shop::open();
    let begun = sign_in(&shop, "sandbox").expect(201);
    let cookie = begun.session_cookie();
    let read = || shop.send("GET", "/dashboard/api/session", &[("cookie", &cookie)], "");
    shop.advance("11h59m59s");
    read().expect(200);
    shop.advance("1s");
    read().assert_error(401, "unauthorized", None);
}

#[test]
fn guesser_is_limited_and_learns_nothing() {
    let shop = Shop::open();
    for _ in 0..6 {
        sign_in(&shop, "wrong").assert_error(401, "invalid_credentials", None);
    }
    let slowed = sign_in(&shop, "sandbox");
    slowed.assert_error(429, "too_many_attempts", None);
    assert!(slowed.headers["retry-after"].parse::<u32>().unwrap() >= 1);
    let nobody = json!({ "email": "nobody@sandbox.test", "password": "sandbox" });
    let nobody = shop.post("/dashboard/api/session", None, nobody);
    nobody.assert_error(401, "invalid_credentials", None);
}

#[test]
fn sandbox_reset_clears_guess_limits() {
    let shop = Shop::open();
    for _ in 0..6 {
        sign_in(&shop, "wrong").assert_error(401, "invalid_credentials", None);
    }
    sign_in(&shop, "sandbox").assert_error(429, "too_many_attempts", None);
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    sign_in(&shop, "sandbox").expect(201);
}

#[test]
fn other_sites_cannot_use_a_session() {
    let shop = Shop::open();
    let begun = sign_in(&shop, "sandbox").expect(201);
    let cookie = begun.session_cookie();
    let path = "/dashboard/api/session";
    for foreign in
        [("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        let refused = shop.send("DELETE", path, &[("cookie", &cookie), foreign], "");
        refused.assert_error(403, "forbidden", None);
    }
    let own = shop.url().to_owned();
    shop.send("DELETE", path, &[("cookie", &cookie), ("origin", &own)], "").expect(204);
}

#[test]
fn invalid_sign_in_body_is_rejected() {
    let shop = Shop::open();
    for (body, param) in [
        (json!({ "password": "sandbox" }), "email"),
        (json!({ "email": "a@b" }), "password"),
        (json!({ "email": 1, "password": "x" }), "email"),
        (json!({ "email": "a@b", "password": "x", "more": 1 }), "more"),
    ] {
        let refused = shop.post("/dashboard/api/session", None, body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
}
