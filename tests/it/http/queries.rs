//! Query parameters: a route for programs refuses those that it does not declare.

use crate::support::{Shop, TEST};
use coffer::http::{Route, routes};
use serde_json::json;

const CHAIN: &str = "bitcoin";
const ID: &str = "01a1fd55-7a80-7af2-9132-000000000000";

/// Returns `true` if a route is for programs, and not for pages, browsers or receivers of webhooks.
fn is_for_programs(route: &Route) -> bool {
    let of = |prefix: &str| route.path.starts_with(prefix);
    let inbox = route.operation == "inboxReceive";
    (of("/v1/") || of("/dashboard/api/") || of("/sandbox") || of("/reseller/"))
        && !of("/v1/public/")
        && !inbox
}

#[test]
fn routes_for_programs_refuse_unknown_parameters() {
    let shop = Shop::open();
    let cookie = shop.sign_in_operator();
    let headers =
        [("X-API-Key", TEST), ("Cookie", cookie.as_str()), ("Authorization", "Bearer rt_sandbox")];
    let before = shop.get("/sandbox", None).json();
    let mut refused = 0;
    for route in routes(true) {
        let segments = route.path.split('/').map(|segment| match segment {
            "{chain}" => CHAIN,
            parameter if parameter.starts_with('{') => ID,
            segment => segment,
        });
        let path = segments.collect::<Vec<_>>().join("/");
        // Reseller routes read the bearer token, all others the key.
        let headers =
            if route.path.starts_with("/reseller/") { &headers[2..] } else { &headers[..2] };
        let answer = shop.send(route.method, &format!("{path}?utm_source=x"), headers, "");
        let name = route.operation;
        if is_for_programs(route) {
            refused += 1;
            answer.assert_error(400, "invalid_request", Some("utm_source"));
        } else {
            let is_named = answer.status == 400 && answer.text.contains("utm_source");
            assert!(!is_named, "{name}: {}", answer.text);
        }
    }
    assert!(refused > 100, "{refused}");
    assert_eq!(shop.get("/sandbox", None).json(), before);
}

#[test]
fn mistyped_filters_select_nothing() {
    let shop = Shop::open();
    shop.create_invoice("20.00", json!({ "orderId": "other" }));
    for (path, name, known) in [
        ("/v1/invoices?order_id=x", "order_id", "orderId"),
        ("/v1/invoices?orderid=x", "orderid", "orderId"),
        ("/v1/invoices?%6Frder_id=x", "order_id", "orderId"),
        ("/v1/invoices?orderId=x&x", "x", "orderId"),
        ("/v1/events?objectId=x", "objectId", "object"),
        ("/v1/refunds?invoice=x", "invoice", "invoiceId"),
        ("/v1/payouts?before=x", "before", "limit"),
        ("/v1/balances?currency=EUR", "currency", "none"),
        ("/v1/invoices?%ff=x", "%ff", "orderId"),
        ("/v1/invoices?=x", "", "orderId"),
    ] {
        let answer = shop.send("GET", path, &[("X-API-Key", TEST)], "");
        answer.assert_error(400, "invalid_request", Some(name));
        assert!(answer.text.contains(known), "{path}: {}", answer.text);
    }
}

#[test]
fn long_unknown_names_are_not_repeated_as_they_may_be_secrets() {
    let shop = Shop::open();
    let secret = "sk_live_4f9d0a7c1be2438c9b1f6e5d7a80c3e2";
    for query in [format!("{secret}=1"), secret.to_owned(), format!("limit=1&{secret}")] {
        let answer = shop.send("GET", &format!("/v1/invoices?{query}"), &[("X-API-Key", TEST)], "");
        assert_eq!((answer.status, &answer.json()["error"]), (400, &json!("invalid_request")));
        assert!(!answer.text.contains(&secret[8..20]), "{}", answer.text);
        assert!(answer.text.contains("orderId"), "{}", answer.text);
    }
}
