//! JSON that is nested: the deepest metadata that is taken can be told to every kind of receiver, and no body is deeper
//! than a thread can walk.

use crate::support::{Shop, TEST};
use serde_json::json;

#[test]
fn metadata_is_at_most_64_levels_deep() {
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/legacy", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox, "format": "legacy" }] }));
    let create = |lists: usize| {
        let (open, close) = ("[".repeat(lists), "]".repeat(lists));
        let body =
            format!("{{\"amount\":1,\"currency\":\"EUR\",\"metadata\":{{\"a\":{open}{close}}}}}");
        shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], &body)
    };
    for lists in [64, 120, 124] {
        create(lists).assert_error(400, "invalid_request", Some("metadata"));
    }
    create(63).expect(201);
    shop.advance("0s");
    let told = shop.get("/sandbox/inbox/legacy", None).expect(200).json();
    assert_eq!(told["data"].as_array().unwrap().len(), 1);
}

/// A text that is JSON within JSON, each within as many lists as a reader takes, as long as a body may be; our library
/// reads what is behind this name anew, and each quote costs five characters a level.
fn within_itself(name: &str) -> String {
    let escaped = |text: &str| text.replace('\\', "\\u005c").replace('"', "\\u0022");
    let (open, close) = ("[".repeat(110), "]".repeat(110));
    let deeper = |text: &String| {
        let inner = escaped(text);
        Some(format!("{open}{{\"{name}\":\"{inner}\"}}{close}"))
    };
    let levels = std::iter::successors(Some("1".to_owned()), deeper);
    let levels = levels.take_while(|text| text.len() < 60_000);
    levels.last().unwrap()
}

#[test]
fn no_name_in_a_body_makes_it_deeper_than_a_reader_takes() {
    let shop = Shop::open();
    let names = [
        "$serde_json::private::RawValue",
        "\\u0024serde_json::private::\\u0052awValue",
    ];
    for text in names.map(within_itself) {
        for (path, body) in [
            (
                "/dashboard/api/session",
                format!("{{\"email\":{text},\"password\":\"x\"}}"),
            ),
            ("/dashboard/api/setup", format!("{{\"token\":{text}}}")),
            (
                "/v1/invoices",
                format!("{{\"amount\":1,\"metadata\":{{\"a\":{text}}}}}"),
            ),
        ] {
            let answer = shop.send("POST", path, &[("X-API-Key", TEST)], &body);
            answer.assert_error(400, "invalid_request", None);
        }
        // What comes to an inbox is read when it is looked through.
        shop.send("POST", "/sandbox/inbox/a", &[], &text)
            .expect(200);
        let found = shop.get("/sandbox/inbox/a?type=invoice.created", None);
        assert_eq!(found.expect(200).json()["data"], json!([]));
    }
}
