//! Payment links in the operator interface: creation, lists, changes and access.

use crate::support::Shop;
use crate::support::links::LinkClient;
use serde_json::{Value, json};

/// Id of another account.
const OTHER_ACCOUNT: &str = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";

#[test]
fn link_is_created_and_read() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link =
        interface.create_test_link(json!({ "name": "A coffee", "amount": 3.5, "currency": "EUR" }));
    let id = link["id"].as_str().unwrap();
    let expected = json!({
        "object": "payment_link",
        "id": id,
        "name": "A coffee",
        "amount": "3.50",
        "currency": "EUR",
        "description": null,
        "active": true,
        "livemode": false,
        "url": format!("{}/l/{id}", shop.url()),
        "createdAt": shop.now(),
        "state": "open",
        "expiresAt": null,
        "paidUsesMax": null,
        "paidUses": 0,
        "unconfirmedUses": 0,
        "redirectUrl": null,
        "pictureUrl": null,
    });
    assert_eq!(link.to_string(), expected.to_string(), "in this order");
    assert_eq!(interface.get("test", id).expect(200).json(), link);
    interface.get("live", id).assert_error(404, "not_found", None);
    interface.get("test", "x").assert_error(404, "not_found", None);
    interface.get("wrong", id).assert_error(400, "invalid_request", Some("mode"));
}

#[test]
fn links_are_listed_newest_first() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let first = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let any = json!({ "name": "Any", "currency": "USD", "description": "Thanks", "active": false });
    let second = interface.create_test_link(any);
    assert_eq!((&second["amount"], &second["active"]), (&Value::Null, &json!(false)));
    let page = interface.list("mode=test&limit=1").expect(200).json();
    assert_eq!(page["data"], json!([second]));
    assert_eq!((&page["hasMore"], &page["nextBefore"]), (&json!(true), &second["id"]));
    let rest = format!("mode=test&before={}", second["id"].as_str().unwrap());
    let rest = interface.list(&rest).expect(200).json();
    assert_eq!(rest["data"], json!([first]));
    assert_eq!((&rest["hasMore"], &rest["nextBefore"]), (&json!(false), &Value::Null));
    let live = interface.list("").expect(200).json();
    assert_eq!(live["data"], json!([]), "live where no mode is named");
    interface.list("mode=test&before=x").assert_error(400, "invalid_request", Some("before"));
}

#[test]
fn changed_link_is_logged() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let change = json!({ "name": " Tea ", "amount": null, "description": "Hot", "active": false });
    let changed = interface.update(&link, change).expect(200).json();
    let mut expected = link.clone();
    expected["name"] = json!("Tea");
    expected["amount"] = Value::Null;
    expected["description"] = json!("Hot");
    expected["active"] = json!(false);
    expected["state"] = json!("off");
    assert_eq!(changed, expected);
    assert_eq!(interface.update(&link, json!({})).expect(200).json(), changed);
    let bare = json!({ "description": null, "amount": "4", "active": null });
    let bare = interface.update(&link, bare).expect(200).json();
    assert_eq!(
        (&bare["description"], &bare["amount"], &bare["active"]),
        (&Value::Null, &json!("4.00"), &json!(false))
    );
    let noted = shop.query_text(
        "select group_concat(actor || ' ' || action, ', ') from audit_log where action like 'payment_link%'",
    );
    let change = "operator@sandbox.test payment_link.change";
    let create = "operator@sandbox.test payment_link.create";
    assert_eq!(noted, [create, change, change, change].join(", "));
}

#[test]
fn invalid_link_is_rejected_and_changes_nothing() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!(1)),
        ("name", json!("x".repeat(201))),
        ("amount", json!("0")),
        ("amount", json!("1.234")),
        ("amount", json!(-1)),
        ("amount", json!(true)),
        ("description", json!("x".repeat(501))),
        ("active", json!("yes")),
        ("other", json!(1)),
    ] {
        let mut body = json!({ "name": "Tea", "currency": "EUR" });
        body[field] = value.clone();
        interface.create("live", &body).assert_error(400, "invalid_request", Some(field));
        interface.update(&link, json!({ field: value })).assert_error(
            400,
            "invalid_request",
            Some(field),
        );
    }
    for (body, field) in [
        (json!({ "currency": "EUR" }), "name"),
        (json!({ "name": "x" }), "currency"),
        (json!({ "name": "x", "currency": "GBP" }), "currency"),
    ] {
        interface.create("live", &body).assert_error(400, "invalid_request", Some(field));
    }
    interface.update(&link, json!({ "name": null })).assert_error(
        400,
        "invalid_request",
        Some("name"),
    );
    interface.update(&link, json!({ "currency": "USD" })).assert_error(
        400,
        "invalid_request",
        Some("currency"),
    );
    for amount in ["50000.01", "99999999999999999999999"] {
        let body = json!({ "name": "x", "currency": "EUR", "amount": amount });
        interface.create("live", &body).assert_error(400, "amount_too_large", Some("amount"));
        let change = json!({ "amount": amount });
        interface.update(&link, change).assert_error(400, "amount_too_large", Some("amount"));
    }
    let id = link["id"].as_str().unwrap();
    assert_eq!(interface.get("test", id).expect(200).json(), link);
}

#[test]
fn merchant_sees_only_links_of_the_own_account() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface.create_test_link(json!({ "name": "A coffee", "currency": "EUR" }));
    shop.execute_sql(
        "create temp table copied as select * from accounts where seq = 1;
         update copied set seq = 2, id = '01a1fd55-7a80-7af2-9132-9b2fc82e5efe', name = 'Other';
         insert into accounts select * from copied;
         insert into users (id, email, password_hash, role, account, created_at)
           select 'm', 'merchant@sandbox.test', password_hash, 'merchant', 1, 0 from users limit 1;
         insert into users (id, email, password_hash, role, account, created_at)
           select 'o', 'other@sandbox.test', password_hash, 'merchant', 2, 0 from users limit 1;",
    );
    let at = |email: &str, account: &str| LinkClient {
        cookie: shop.sign_in(email),
        account: account.to_owned(),
        shop: &shop,
    };
    let id = link["id"].as_str().unwrap();
    let own = at("merchant@sandbox.test", &interface.account);
    own.get("test", id).expect(200);
    own.update(&link, json!({ "active": false })).expect(200);
    let body = json!({ "name": "x", "currency": "EUR" });
    own.create("live", &body).expect(201);
    let other = at("other@sandbox.test", &interface.account);
    for answer in [
        other.get("test", id),
        other.list("mode=test"),
        other.update(&link, json!({ "active": true })),
        other.create("test", &body),
        at("other@sandbox.test", OTHER_ACCOUNT).get("test", id),
        interface.for_account(OTHER_ACCOUNT).get("test", id),
        interface.for_account(OTHER_ACCOUNT).update(&link, json!({ "active": true })),
    ] {
        answer.assert_error(404, "not_found", None);
    }
    at("other@sandbox.test", OTHER_ACCOUNT).create("test", &body).expect(201);
    let nobody = LinkClient { cookie: String::new(), ..interface.for_account(OTHER_ACCOUNT) };
    nobody.list("").assert_error(401, "unauthorized", None);
    assert_eq!(interface.get("test", id).expect(200).json()["active"], false);
}
