//! Old attempts, idempotency responses and sessions are deleted. Deliveries are not deleted.

use crate::file::audit::findings;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

/// Returns the number of rows of a table, as text.
#[track_caller]
fn row_count(shop: &Shop, table: &str) -> String {
    shop.query_text(&format!("select count(*) || '' from {table}"))
}

#[test]
fn attempts_are_deleted_after_90_days_and_deliveries_stay() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    let endpoint = json!({ "url": inbox, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": [endpoint] }));
    let invoice = shop.create_invoice("20.00", json!({}));
    shop.advance("0s");
    let attempts = || shop.deliveries()[0]["attempts"].as_array().unwrap().len();
    shop.advance("89d");
    assert_eq!(attempts(), 1);
    shop.advance("1d2h");
    let delivery = shop.deliveries().remove(0);
    assert_eq!((&delivery["attempts"], &delivery["state"]), (&json!([]), &json!("delivered")));
    let id = invoice["id"].as_str().unwrap();
    assert_eq!(shop.event_types(id, TEST), ["invoice.created", "invoice.expired"]);
    assert!(findings(shop.file()).is_empty());
    // A resend works after the old attempts were deleted, and stores one new attempt.
    let operator = shop.sign_in_operator();
    let account = shop.get("/v1/merchant", Some(TEST)).json()["id"].clone();
    let (account, delivery) = (account.as_str().unwrap(), delivery["id"].as_str().unwrap());
    let path = format!("/dashboard/api/accounts/{account}/deliveries/{delivery}/resend?mode=test");
    shop.session_request(&operator, "POST", &path, &Value::Null).expect(200);
    shop.advance("0s");
    assert_eq!((attempts(), &shop.deliveries()[0]["state"]), (1, &json!("delivered")));
}

#[test]
fn expired_idempotency_responses_and_sessions_are_deleted() {
    let shop = Shop::open();
    let order = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    let headers = [("X-API-Key", TEST), ("Idempotency-Key", "k")];
    shop.send("POST", "/v1/invoices", &headers, &order).expect(201);
    shop.sign_in_operator();
    shop.advance("11h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "sessions")),
        ("1".into(), "1".into())
    );
    shop.advance("2h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "sessions")),
        ("1".into(), "0".into())
    );
    shop.advance("12h");
    assert_eq!(
        (row_count(&shop, "idempotency"), row_count(&shop, "invoices")),
        ("0".into(), "1".into())
    );
}
