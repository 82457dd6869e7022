//! API keys in the operator interface and on the command line: creation, import, roll and revocation.

use crate::process::serve::{ProductionFile, call, start_server};
use crate::support::command::{
    coffer_output, coffer_output_with_input, run_coffer, run_coffer_json,
};
use crate::support::operator_interface::OperatorInterface;
use crate::support::process::Process;
use crate::support::{Response, Shop};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const NULL: Value = Value::Null;

/// Requests the account to which a key belongs.
fn get_merchant(shop: &Shop, key: &str) -> Response {
    shop.get("/v1/merchant", Some(key))
}

#[test]
fn keys_are_created_and_shown_once() {
    let interface = OperatorInterface::open();
    for (class, mode, prefix) in [
        ("secret", "live", "sk_live_"),
        ("secret", "test", "sk_test_"),
        ("public", "live", "pk_live_"),
        ("public", "test", "pk_test_"),
        ("legacy", "live", ""),
        ("legacy", "test", ""),
    ] {
        let body = json!({ "class": class, "mode": mode });
        let made = interface.request_as_merchant("POST", "keys", &body).expect(201).json();
        let text = made["key"].as_str().unwrap();
        assert!(text.starts_with(prefix) && text.ends_with(made["last4"].as_str().unwrap()));
        let answer = get_merchant(&interface.shop, text);
        if class == "public" {
            answer.assert_error(403, "wrong_key_type", None);
        } else {
            assert_eq!(answer.expect(200).json()["livemode"], mode == "live");
        }
        let listed = interface.get("keys")["data"].as_array().unwrap().clone();
        let listed = listed.iter().find(|key| key["id"] == made["id"]).unwrap();
        assert!(listed["key"].is_null() && listed["class"] == class && listed["mode"] == mode);
        let id = made["id"].as_str().unwrap();
        interface.assert_access("revokeKey", "DELETE", &format!("keys/{id}"), false);
        interface.request_as_merchant("DELETE", &format!("keys/{id}"), &NULL).expect(204);
        get_merchant(&interface.shop, text).assert_error(401, "unauthorized", None);
        let again = interface.request_as_merchant("DELETE", &format!("keys/{id}"), &NULL);
        again.assert_error(404, "not_found", None);
        let by = |action: &str| ("merchant@sandbox.test".to_owned(), action.to_owned());
        assert_eq!(interface.audit_entries(id), [by("key.create"), by("key.revoke")]);
    }
    for (body, param) in [
        (json!({ "class": "secret" }), "mode"),
        (json!({ "mode": "test" }), "class"),
        (json!({ "class": "x", "mode": "test" }), "class"),
        (json!({ "mode": "test", "more": 1 }), "more"),
    ] {
        let refused = interface.request_as_merchant("POST", "keys", &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn only_the_hash_of_a_key_is_stored() {
    let interface = OperatorInterface::open();
    for class in ["secret", "public", "legacy"] {
        let body = json!({ "class": class, "mode": "live" });
        let made = interface.request("POST", "keys", &body).expect(201).json();
        let text = made["key"].as_str().unwrap();
        let hash = coffer::domain::apikey::hash_key(text);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let sql = format!("select class from keys where hex(hash) = upper('{hex}')");
        assert_eq!(interface.shop.query_text(&sql), class);
        let file = interface.shop.file().to_str().unwrap().to_owned();
        for part in [file.clone(), format!("{file}-wal")] {
            let bytes = std::fs::read(&part).unwrap_or_default();
            let holds =
                |secret: &str| bytes.windows(secret.len()).any(|at| at == secret.as_bytes());
            assert!(!holds(text) && !holds(&text[12..]), "{class} in {part}");
        }
    }
}

#[test]
fn operator_imports_an_existing_legacy_key() {
    let interface = OperatorInterface::open();
    let text = "corner-shop.0123456789abcdef";
    let body = json!({ "import": text, "mode": "live" });
    get_merchant(&interface.shop, text).assert_error(401, "unauthorized", None);
    let refused = interface.request_as_merchant("POST", "keys", &body);
    refused.assert_error(403, "forbidden", Some("import"));
    let made = interface.request("POST", "keys", &body).expect(201).json();
    assert_eq!(
        (&made["class"], &made["last4"], &made["key"]),
        (&json!("legacy"), &json!("cdef"), &NULL)
    );
    get_merchant(&interface.shop, text).expect(200);
    let refused = |import: &str| {
        let body = json!({ "import": import, "mode": "live" });
        let refused = interface.request("POST", "keys", &body);
        refused.assert_error(400, "invalid_request", Some("import"));
        assert!(import.is_empty() || !refused.text.contains(import));
    };
    for wrong in [text, "short.secret", "sandbox.sandbox", "sk_live_x.0123456789abcdef", "nodot"] {
        refused(wrong);
    }
    let body = json!({ "import": "a.0123456789abcdef", "mode": "live", "class": "secret" });
    let refused = interface.request("POST", "keys", &body);
    refused.assert_error(400, "invalid_request", Some("class"));
}

#[test]
fn rolled_key_works_until_it_expires() {
    let interface = OperatorInterface::open();
    let made = interface.request("POST", "keys", &json!({ "class": "secret", "mode": "test" }));
    let made = made.expect(201).json();
    let (id, old) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let path = format!("keys/{id}/roll");
    for seconds in [json!(-1), json!(604_801), json!("60")] {
        let refused = interface.request("POST", &path, &json!({ "overlapSeconds": seconds }));
        refused.assert_error(400, "invalid_request", Some("overlapSeconds"));
    }
    let rolled = interface.request("POST", &path, &json!({ "overlapSeconds": 60 }));
    let rolled = rolled.expect(201).json();
    let new = rolled["key"].as_str().unwrap();
    assert!(new != old && new.starts_with("sk_test_"));
    let again = interface.request("POST", &path, &json!({}));
    again.assert_error(409, "invalid_transition", None);
    get_merchant(&interface.shop, old).expect(200);
    get_merchant(&interface.shop, new).expect(200);
    interface.shop.advance("59s");
    // The server caches the key, and the cached key must expire as well.
    get_merchant(&interface.shop, old).expect(200);
    interface.shop.advance("1s");
    get_merchant(&interface.shop, old).assert_error(401, "unauthorized", None);
    get_merchant(&interface.shop, new).expect(200);
    interface.request("POST", &path, &json!({})).assert_error(404, "not_found", None);
    let path = format!("keys/{}/roll", rolled["id"].as_str().unwrap());
    let body = json!({ "overlapSeconds": 0 });
    interface.request("POST", &path, &body).expect(201);
    get_merchant(&interface.shop, new).assert_error(401, "unauthorized", None);
    let of_other = format!(
        "/dashboard/api/accounts/{}/keys/{id}/roll",
        crate::support::operator_interface::OTHER_ACCOUNT
    );
    let stranger = interface.send(&interface.stranger, "POST", &of_other, &json!({}));
    stranger.assert_error(404, "not_found", None);
}

#[test]
fn command_line_manages_keys_while_server_runs() {
    let shop = ProductionFile::new();
    let file = shop.file();
    let (_server, url): (Process, String) = start_server(&file, &[]);
    let status = |key: &str| call(&url, key, "GET", "/v1/merchant", json!({})).status;
    let keys = coffer_output(&file, &["key", "list"]).json_lines();
    let last4 = &shop.test[shop.test.len() - 4..];
    let of_test = keys.iter().find(|key| key["last4"] == last4).unwrap();
    let id = of_test["id"].as_str().unwrap();
    assert_eq!(status(&shop.test), 200);
    let rolled = run_coffer_json(&file, &["key", "roll", id, "--overlap", "3600"]);
    let new = rolled["key"].as_str().unwrap();
    assert_eq!((status(new), status(&shop.test)), (200, 200));
    assert_eq!(run_coffer(&file, &["key", "revoke", id]), "");
    let revoked = Instant::now();
    while status(&shop.test) == 200 {
        assert!(revoked.elapsed() < Duration::from_secs(1));
    }
    let account = shop.account();
    let import = ["key", "import", account, "--mode", "live"];
    let imported = coffer_output_with_input(&file, &import, "shop.0123456789abcdef\n");
    assert_eq!(imported.json_lines()[0]["class"], "legacy");
    assert_eq!(status("shop.0123456789abcdef"), 200);
    for wrong in ["sandbox.sandbox", "shop.0123456789abcdef", "short.secret"] {
        assert_eq!(coffer_output_with_input(&file, &import, wrong).printed, "");
    }
    assert_eq!(status("sandbox.sandbox"), 401);
}
