//! Responses that are shared components of the OpenAPI documents.

use coffer::http::{DocumentKind, document};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns an OpenAPI document as the server serves it.
fn get_document(subject: DocumentKind) -> Value {
    serde_json::from_str(&document("http://127.0.0.1:1", subject)).unwrap()
}

/// Returns every response of every operation of a document.
fn operation_responses(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().unwrap().values_mut();
    let operations = paths.flat_map(|path| path.as_object_mut().unwrap().values_mut());
    operations.flat_map(|operation| operation["responses"].as_object_mut().unwrap().values_mut())
}

/// Replaces each reference to a shared response in a document by the response itself.
pub fn resolve_responses(subject: DocumentKind) -> Value {
    let mut document = get_document(subject);
    let shared = document["components"]["responses"].clone();
    for response in operation_responses(&mut document) {
        if let Some(reference) = response["$ref"].as_str() {
            *response = shared[reference.rsplit('/').next().unwrap()].clone();
        }
    }
    document
}

#[test]
fn equal_responses_are_shared() {
    for subject in [DocumentKind::Interface, DocumentKind::Sandbox] {
        let mut document = get_document(subject);
        let shared = document["components"]["responses"].clone();
        let mut uses: BTreeMap<String, usize> = BTreeMap::new();
        for response in operation_responses(&mut document) {
            // A response without a body is short and therefore not shared.
            if !response["content"].is_null() || !response["$ref"].is_null() {
                *uses.entry(response.to_string()).or_default() += 1;
            }
        }
        for (response, count) in &uses {
            assert_eq!(response.starts_with("{\"$ref\""), *count > 1, "{count}: {response}");
        }
        let references = uses.keys().filter(|response| response.starts_with("{\"$ref\""));
        assert_eq!(references.count(), shared.as_object().unwrap().len());
    }
}
