//! OpenAPI document of the operations that a merchant's server calls.

use super::openapi::collect_values;
use super::shared_responses::resolve_responses;
use coffer::http::{Auth, DocumentKind};
use serde_json::{Value, json};
use std::process::Command;

/// Returns the document that `coffer openapi` prints with this flag.
fn print_document(flag: &str) -> Value {
    let mut coffer = Command::new(env!("CARGO_BIN_EXE_coffer"));
    let output = coffer.args(["openapi", flag]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn merchant_document_has_server_operations_and_webhooks() {
    let (whole, merchant) =
        (resolve_responses(DocumentKind::Interface), print_document("--merchant"));
    let mut calls = 0;
    for (path, operations) in merchant["paths"].as_object().unwrap() {
        assert!(path.starts_with("/v1/"), "{path}");
        for (method, operation) in operations.as_object().unwrap() {
            let of_whole = &whole["paths"][path][method];
            assert_eq!(operation["operationId"], of_whole["operationId"], "{path}");
            assert_eq!(
                operation["security"],
                json!([{ "apiKey": [] }, { "bearer": [] }]),
                "{path}"
            );
            calls += 1;
        }
    }
    let secret = DocumentKind::Interface.routes();
    let secret = secret.filter(|route| route.auth() == Auth::Secret).count();
    assert_eq!(calls, secret);
    assert_eq!(merchant["webhooks"], whole["webhooks"]);
    for (name, schema) in merchant["components"]["schemas"].as_object().unwrap() {
        assert_eq!(*schema, whole["components"]["schemas"][name], "{name}");
    }
    let mut references = Vec::new();
    collect_values(&merchant, &["$ref"], &mut references);
    for reference in references {
        let pointer = reference.as_str().unwrap().trim_start_matches('#');
        assert!(merchant.pointer(pointer).is_some(), "{pointer}");
    }
}
