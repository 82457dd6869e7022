//! Nesting limits of JSON. The deepest accepted metadata can be sent in every webhook format, and no thread overflows
//! its stack.

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

/// Returns nested lists around an object whose field `name` contains JSON as text. This JSON has the same structure,
/// and so on to the innermost level. The JSON library parses the text in such a field. At each level, escaping adds
/// five characters to each quote.
fn nested_raw_value(name: &str) -> String {
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
fn special_field_name_does_not_bypass_the_depth_limit() {
    let shop = Shop::open();
    let names = ["$serde_json::private::RawValue", "\\u0024serde_json::private::\\u0052awValue"];
    for text in names.map(nested_raw_value) {
        for (path, body) in [
            ("/dashboard/api/session", format!("{{\"email\":{text},\"password\":\"x\"}}")),
            ("/dashboard/api/setup", format!("{{\"token\":{text}}}")),
            ("/v1/invoices", format!("{{\"amount\":1,\"metadata\":{{\"a\":{text}}}}}")),
        ] {
            let answer = shop.send("POST", path, &[("X-API-Key", TEST)], &body);
            answer.assert_error(400, "invalid_request", None);
        }
        // The inbox parses a stored body when the inbox is read.
        shop.send("POST", "/sandbox/inbox/a", &[], &text).expect(200);
        let found = shop.get("/sandbox/inbox/a?type=invoice.created", None);
        assert_eq!(found.expect(200).json()["data"], json!([]));
    }
}
