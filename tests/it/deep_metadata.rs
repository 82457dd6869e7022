//! Metadata that is nested: the deepest that is taken can be told to every kind of receiver.

use crate::support::{Shop, TEST};
use serde_json::json;

#[test]
fn metadata_is_at_most_64_levels_deep() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/legacy", shop.url());
    shop.switch(json!({ "endpoints": [{ "url": inbox, "format": "legacy" }] }));
    let create = |lists: usize| {
        let (open, close) = ("[".repeat(lists), "]".repeat(lists));
        let body =
            format!("{{\"amount\":1,\"currency\":\"EUR\",\"metadata\":{{\"a\":{open}{close}}}}}");
        shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], &body)
    };
    for lists in [64, 120, 124] {
        create(lists).refused(400, "invalid_request", Some("metadata"));
    }
    create(63).expect(201);
    shop.advance("0s");
    let told = shop.get("/sandbox/inbox/legacy", None).expect(200).json();
    assert_eq!(told["data"].as_array().unwrap().len(), 1);
}
