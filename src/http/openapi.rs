//! The OpenAPI documents, generated from the routes: all operations of a server, the operations for a shop, and the
//! controls of a sandbox.
//!
//! Invariant: a document contains exactly the components that it refers to.

mod answers;
mod bodies;
pub(super) mod components;
pub(super) mod errors;
pub(super) mod parameters;
mod shared;
mod used;
pub(super) mod webhooks;

use super::auth::{Auth, cookie_name};
use super::route::{Route, Tag};
use super::routes::routes;
use super::state::DocumentKind;
use crate::domain::fields::Component;
use answers::{headers, responses};
use components::schemas;
use parameters::parameters;
use serde_json::{Map, Value, json};
use shared::share_answers;

impl DocumentKind {
    /// Returns the routes that the document describes.
    pub fn routes(self) -> impl Iterator<Item = &'static Route> {
        routes(self == DocumentKind::Sandbox).filter(move |route| {
            let auth = route.auth();
            let is_subject = match self {
                DocumentKind::Interface => auth != Auth::Sandbox,
                DocumentKind::Merchant => auth == Auth::Secret,
                DocumentKind::Sandbox => auth == Auth::Sandbox,
            };
            is_subject && route.is_documented()
        })
    }

    const fn title_and_description(self) -> (&'static str, &'static str) {
        match self {
            DocumentKind::Interface | DocumentKind::Merchant => (
                "Coffer",
                "A crypto payment service. Money amounts are strings; times are RFC 3339 in UTC.",
            ),
            DocumentKind::Sandbox => (
                "Coffer's sandbox",
                "The controls of a sandbox: its clock, simulated chains, faults and inboxes. They ask for no key. \
                 A sandbox answers only to a Host that no stranger can point at it by DNS. Otherwise it answers 403 \
                 `forbidden`, whatever is asked, also of the operations that its other document has; only \
                 `inboxReceive` takes any Host.",
            ),
        }
    }
}

/// Returns the OpenAPI document of a server at this URL, as JSON.
pub fn document(public_url: &str, subject: DocumentKind) -> String {
    let mut paths = Map::new();
    for route in subject.routes() {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.to_ascii_lowercase(), operation_object(route, subject));
        }
    }
    let shared = share_answers(&mut paths);
    let (title, description) = subject.title_and_description();
    let has_webhooks = subject != DocumentKind::Sandbox;
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": "1.0.0",
            "description": description,
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": public_url }],
        "tags": tag_objects(subject),
        "paths": paths,
    });
    let components = json!({
        "schemas": schemas(&all_routes()),
        "responses": shared,
        "headers": headers(),
        "securitySchemes": {
            "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A secret key." },
            "publicKey": { "type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A public key." },
            "bearer": { "type": "http", "scheme": "bearer", "description": "The same key." },
            "metricsToken": { "type": "http", "scheme": "bearer", "description": "Token of `--metrics-token`, if one is set." },
            "reseller": { "type": "http", "scheme": "bearer", "description": "A reseller's token." },
            "session": { "type": "apiKey", "in": "cookie", "name": cookie_name(public_url), "description": "Cookie of a session." },
        },
    });
    if let Some(fields) = document.as_object_mut() {
        if has_webhooks {
            fields.insert("webhooks".to_owned(), webhooks::webhooks());
        }
        let used = used::used_components(&Value::Object(fields.clone()), components);
        fields.insert("components".to_owned(), used);
    }
    document.to_string()
}

fn all_routes() -> Vec<&'static Route> {
    routes(true).collect()
}

/// Returns the tags of the document's operations and webhooks, each with its description.
fn tag_objects(subject: DocumentKind) -> Value {
    let is_used = |tag: &Tag| subject.routes().any(|route| route.tag == Some(*tag));
    let used = Tag::ALL.into_iter().filter(is_used).map(Tag::name_and_description);
    let webhooks = (subject != DocumentKind::Sandbox).then_some(webhooks::TAG);
    used.chain(webhooks)
        .map(|(name, about)| json!({ "name": name, "description": about }))
        .collect()
}

fn operation_object(route: &Route, subject: DocumentKind) -> Value {
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "tags": route.tag.map(|tag| tag.name_and_description().0).into_iter().collect::<Vec<_>>(),
        "parameters": parameters(route),
        "responses": responses(route, subject),
    });
    let Some(fields) = operation.as_object_mut() else {
        return operation;
    };
    match route.auth() {
        Auth::Secret => {
            fields.insert("security".to_owned(), json!([{ "apiKey": [] }, { "bearer": [] }]))
        }
        Auth::Public => fields.insert("security".to_owned(), json!([{ "publicKey": [] }])),
        Auth::Reseller => fields.insert("security".to_owned(), json!([{ "reseller": [] }])),
        Auth::Metrics => fields.insert("security".to_owned(), json!([{}, { "metricsToken": [] }])),
        Auth::Session(_) => fields.insert("security".to_owned(), json!([{ "session": [] }])),
        Auth::Open | Auth::Sandbox => fields.insert("security".to_owned(), json!([])),
    };
    if let Some(body) = &route.body {
        let content = json!({ "application/json": media_object(body.component) });
        fields.insert(
            "requestBody".to_owned(),
            json!({ "required": body.is_required, "content": content }),
        );
    }
    if let Some(upload) = &route.upload {
        let media = upload.media_types.iter().map(|media| ((*media).to_owned(), json!({})));
        let content: Map<String, Value> = media.collect();
        fields.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    operation
}

fn media_object(component: &Component) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{}", component.name()) });
    json!({ "schema": schema, "example": component.example() })
}

#[cfg(test)]
mod tests {
    use super::components::components;
    use super::{DocumentKind, all_routes, document, schemas};
    use serde_json::{Map, Value};

    /// Returns the names of wrong fields in the example: fields unknown to the schema, and missing required fields.
    fn wrong_fields(schema: &Value, example: &Value, all: &Map<String, Value>) -> Vec<String> {
        if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
            let name = path.rsplit('/').next().unwrap_or_default();
            return wrong_fields(all.get(name).unwrap_or(&Value::Null), example, all);
        }
        if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
            let is_null = |choice: &&Value| choice["type"] == "null";
            let mut fitting = choices.iter().filter(|one| is_null(one) == example.is_null());
            let found = fitting.next().map(|one| wrong_fields(one, example, all));
            return found.unwrap_or_else(|| vec!["null".to_owned()]);
        }
        let mut found = Vec::new();
        for item in example.as_array().into_iter().flatten() {
            found.extend(wrong_fields(&schema["items"], item, all));
        }
        let Some(fields) = example.as_object() else {
            return found;
        };
        for (name, value) in fields {
            match schema.pointer(&format!("/properties/{name}")) {
                Some(schema) => found.extend(wrong_fields(schema, value, all)),
                None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                    found.push(name.clone());
                }
                None => {}
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        found.extend(required.filter(|name| !fields.contains_key(*name)).map(str::to_owned));
        found
    }

    #[test]
    fn every_example_has_the_fields_of_its_schema() {
        let schemas = schemas(&all_routes());
        for component in components(&all_routes()) {
            let name = component.name();
            let schema = schemas.get(name).unwrap_or(&Value::Null);
            let wrong = wrong_fields(schema, &component.example(), &schemas);
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn schemas_have_enum_values_and_base_fields() {
        for subject in [DocumentKind::Interface, DocumentKind::Sandbox] {
            let text = document("http://127.0.0.1:1", subject);
            assert!(!text.contains("\"enum\":[]"));
        }
        let created = schemas(&all_routes()).remove("CreatedInvoice").unwrap_or_default();
        for field in ["warnings", "id"] {
            let pointer = format!("/properties/{field}");
            assert!(created.pointer(&pointer).is_some(), "{field}");
        }
    }
}
