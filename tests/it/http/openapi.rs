//! OpenAPI documents: their contents, realistic examples, and stability for published clients.

use super::shared_responses::resolve_responses;
use crate::support::{Shop, TEST};
use coffer::domain::EventType;
use coffer::http::{Auth, DocumentKind, Route};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT_KINDS: [DocumentKind; 2] = [DocumentKind::Interface, DocumentKind::Sandbox];

/// Returns each route with its operation in the document.
fn routes_with_operations(subject: DocumentKind) -> Vec<(&'static Route, Value)> {
    let document = resolve_responses(subject);
    let operation = |route: &'static Route| {
        let path = &document["paths"][route.path];
        (route, path[&route.method.to_ascii_lowercase()].clone())
    };
    subject.routes().map(operation).collect()
}

/// Collects the values of all fields with one of these names, at every depth of `value`.
pub(super) fn collect_values<'a>(value: &'a Value, names: &[&str], found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if names.contains(&name.as_str()) {
                    found.push(value);
                }
                collect_values(value, names, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_values(item, names, found)),
        _ => {}
    }
}

#[test]
fn api_and_sandbox_have_separate_documents() {
    let shop = Shop::open();
    let served = |path: &str| shop.get(path, None).expect(200).json();
    let interface = served("/v1/openapi.json");
    let controls = served("/sandbox/openapi.json");
    let paths = |document: &Value| -> Vec<String> {
        document["paths"].as_object().unwrap().keys().cloned().collect()
    };
    assert!(paths(&controls).iter().all(|path| path.starts_with("/sandbox")));
    assert!(!paths(&interface).iter().any(|path| path.starts_with("/sandbox")));
    let all = coffer::http::routes(true).filter(|route| route.is_documented());
    let all: BTreeSet<&str> = all.map(|route| route.path).collect();
    assert_eq!(paths(&interface).len() + paths(&controls).len(), all.len());
    for subject in DOCUMENT_KINDS {
        let document = resolve_responses(subject);
        let mut references = Vec::new();
        collect_values(&document, &["$ref"], &mut references);
        let used: BTreeSet<String> = references
            .iter()
            .map(|reference| reference.as_str().unwrap()[1..].to_owned())
            .collect();
        for pointer in &used {
            assert!(document.pointer(pointer).is_some(), "{pointer} is missing");
        }
        for kind in ["schemas", "headers"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                let pointer = format!("/components/{kind}/{name}");
                assert!(used.contains(&pointer), "{pointer} is not used");
            }
        }
    }
    // Pages of other sites cannot read the document of the sandbox controls.
    let refused = shop.send("GET", "/sandbox/openapi.json", &[("Host", "evil.example")], "");
    refused.assert_error(403, "forbidden", None);
}

#[test]
fn error_examples_can_occur_in_their_operation() {
    let mut count = 0;
    for (route, operation) in DOCUMENT_KINDS.into_iter().flat_map(routes_with_operations) {
        let codes: BTreeSet<&str> = route.error_codes().iter().map(|code| code.as_str()).collect();
        let mut shown = BTreeSet::new();
        for (status, response) in operation["responses"].as_object().unwrap() {
            let content = &response["content"]["application/json"];
            let is_error = content["schema"]["$ref"] == "#/components/schemas/Error";
            if !is_error {
                continue;
            }
            assert!(content["example"].is_null());
            for (name, example) in content["examples"].as_object().unwrap() {
                let body = &example["value"];
                let place = format!("{} {status} {name}", route.operation);
                let code = body["error"].as_str().unwrap();
                // Each example is named after its error code. Only `forbidden_host` of a sandbox route has the code
                // `forbidden`.
                let is_by_host = route.auth() == Auth::Sandbox && name == "forbidden_host";
                assert!(code == name || is_by_host && code == "forbidden", "{place}");
                assert!(codes.contains(code), "{place}");
                let about = response["description"].as_str().unwrap();
                assert!(about.contains(code), "{place}: {about}");
                assert!(!body["message"].as_str().unwrap().is_empty(), "{place}");
                // If an example has a `param`, the operation accepts a field, parameter or header of this name. Without
                // any, the example is about a parameter that the operation does not accept.
                if let Some(param) = body["param"].as_str() {
                    let has_none = route.method == "GET" && !has_query(&operation);
                    assert!(has_none || accepts_param(&operation, param), "{place}: {param}");
                }
                shown.insert(code.to_owned());
                count += 1;
            }
        }
        assert_eq!(shown.len(), codes.len(), "{}", route.operation);
    }
    assert!(count > 500, "{count}");
}

/// Returns `true` if the operation has parameters in its query.
fn has_query(operation: &Value) -> bool {
    let mut parameters = operation["parameters"].as_array().unwrap().iter();
    parameters.any(|parameter| parameter["in"] == "query")
}

/// Returns `true` if the operation accepts this body field, parameter or header.
fn accepts_param(operation: &Value, param: &str) -> bool {
    let named = |parameter: &Value| parameter["name"] == param;
    let is_parameter = operation["parameters"].as_array().unwrap().iter().any(named);
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    let is_field = schema.as_str().is_some_and(|name| {
        let documents = DOCUMENT_KINDS.map(resolve_responses);
        let mut schemas = documents.iter().filter_map(|document| document.pointer(&name[1..]));
        schemas.any(|schema| !schema["properties"][param].is_null())
    });
    is_parameter || is_field || param == "origin"
}

#[test]
fn real_errors_match_the_examples() {
    let shop = Shop::open();
    let example = |path: &str, method: &str, status: &str, code: &str| {
        let document = resolve_responses(DocumentKind::Interface);
        let response = &document["paths"][path][method]["responses"][status];
        response["content"]["application/json"]["examples"][code]["value"].clone()
    };
    for (path, real, key, status, code) in [
        ("/v1/invoices", "/v1/invoices", None, 401, "unauthorized"),
        ("/v1/invoices", "/v1/invoices?limit=0", Some(TEST), 400, "invalid_request"),
        ("/v1/invoices/{id}", "/v1/invoices/x", Some(TEST), 404, "not_found"),
        ("/v1/merchant", "/v1/merchant", Some("pk_test_sandbox"), 403, "wrong_key_type"),
        (
            "/v1/customers/{ref}/addresses",
            "/v1/customers/nobody/addresses",
            Some(TEST),
            404,
            "not_found",
        ),
    ] {
        let real = shop.get(real, key).expect(status).json();
        let example = example(path, "get", &status.to_string(), code);
        for field in ["error", "message", "param"] {
            assert_eq!(real[field], example[field], "{path}");
        }
    }
}

#[test]
fn sandbox_document_covers_foreign_host_errors() {
    let shop = Shop::open();
    let stranger = [("Host", "evil.example")];
    for (route, operation) in routes_with_operations(DocumentKind::Sandbox) {
        let refusals = &operation["responses"]["403"]["content"]["application/json"];
        let shown = &refusals["examples"]["forbidden_host"]["value"];
        let path = route.path.replace("{id}", "x").replace("{name}", "x");
        let real = shop.send(route.method, &path, &stranger, "");
        if route.operation == "inboxReceive" {
            assert!(shown.is_null() && real.status == 200, "{}", real.text);
            continue;
        }
        let mut real = real.expect(403).json();
        real["requestId"] = shown["requestId"].clone();
        assert_eq!(real, *shown, "{}", route.operation);
    }
    // A request from a page of another site also gets a documented error.
    let page = [("Sec-Fetch-Site", "cross-site")];
    let real = shop.send("GET", "/sandbox", &page, "").expect(403).json();
    let document = resolve_responses(DocumentKind::Sandbox);
    let refusals = &document["paths"]["/sandbox"]["get"]["responses"]["403"];
    let shown = &refusals["content"]["application/json"]["examples"]["forbidden"]["value"];
    assert_eq!(real["message"], shown["message"]);
}

#[test]
fn every_operation_has_a_described_tag() {
    for subject in DOCUMENT_KINDS {
        let document = resolve_responses(subject);
        let tags = document["tags"].as_array().unwrap();
        let listed: BTreeMap<&str, &str> = tags
            .iter()
            .map(|tag| (tag["name"].as_str().unwrap(), tag["description"].as_str().unwrap()))
            .collect();
        assert_eq!(listed.len(), tags.len());
        let mut used = BTreeSet::new();
        for (route, operation) in routes_with_operations(subject) {
            let tags = operation["tags"].as_array().unwrap();
            assert_eq!(tags.len(), 1, "{} has no tag: {}", route.operation, route.path);
            used.insert(tags[0].as_str().unwrap().to_owned());
        }
        for webhook in document["webhooks"].as_object().into_iter().flatten() {
            used.insert(webhook.1["post"]["tags"][0].as_str().unwrap().to_owned());
        }
        assert!(used.iter().map(String::as_str).eq(listed.keys().copied()), "{used:?}");
        assert!(listed.values().all(|about| !about.is_empty()));
    }
}

#[test]
fn every_event_is_documented_as_webhook() {
    let document = resolve_responses(DocumentKind::Interface);
    let webhooks = document["webhooks"].as_object().unwrap();
    let types: BTreeSet<&str> = EventType::TEXTS.iter().copied().collect();
    let told: BTreeSet<&str> = webhooks.keys().map(String::as_str).collect();
    assert_eq!(told, types);
    assert!(resolve_responses(DocumentKind::Sandbox)["webhooks"].is_null());
    // The documented headers equal those of a real delivery.
    let shop = Shop::open();
    let inbox = format!("{}/sandbox/inbox/shop", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": inbox }] }));
    shop.create_invoice("1.00", json!({}));
    shop.advance("0s");
    let told = shop.get("/sandbox/inbox/shop", None).expect(200).json();
    let headers = told["data"][0]["headers"].as_object().unwrap();
    let sent: BTreeSet<String> = headers.keys().map(|name| name.to_lowercase()).collect();
    for (name, webhook) in webhooks {
        let post = &webhook["post"];
        let parameters = post["parameters"].as_array().unwrap();
        let named = parameters.iter().map(|parameter| parameter["name"].as_str().unwrap());
        let named: Vec<&str> = named.collect();
        let expected =
            ["X-Service-Signature", "webhook-id", "webhook-timestamp", "webhook-signature"];
        assert_eq!(named, expected, "{name}");
        assert!(named.iter().all(|name| sent.contains(&name.to_lowercase())), "{sent:?}");
        let body = &post["requestBody"]["content"]["application/json"]["example"];
        assert_eq!(body["type"], *name);
    }
}

#[test]
fn new_asset_does_not_break_clients() {
    for subject in DOCUMENT_KINDS {
        let document = resolve_responses(subject);
        let mut found = Vec::new();
        let names = ["asset", "payoutAsset", "chain", "chainId", "chainIds", "family"];
        collect_values(&document["components"]["schemas"], &names, &mut found);
        assert!(!found.is_empty());
        for schema in found {
            let mut lists = Vec::new();
            collect_values(schema, &["enum"], &mut lists);
            assert!(lists.is_empty() && schema["enum"].is_null(), "{schema}");
        }
        let coins = document.pointer("/components/schemas/Currency/properties/id");
        for schema in coins.into_iter() {
            assert!(schema["enum"].is_null() && schema["examples"][0].is_string(), "{schema}");
        }
    }
}

/// Generated clients call operations by these names.
#[test]
fn operation_ids_do_not_change() {
    let mut names: Vec<&str> = DOCUMENT_KINDS
        .into_iter()
        .flat_map(DocumentKind::routes)
        .map(|route| route.operation)
        .collect();
    let of_v1 = [
        "createInvoice",
        "listInvoices",
        "getInvoice",
        "cancelInvoice",
        "selectCoin",
        "simulatePayment",
        "listCurrencies",
        "getMerchant",
        "listBalances",
        "listLedger",
        "listEvents",
        "getEvent",
        "createPayout",
        "listPayouts",
        "getPayout",
        "listRefunds",
        "getRefund",
        "createAccountPayout",
    ];
    for name in of_v1 {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!names.contains(&"requestPayout"));
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}
