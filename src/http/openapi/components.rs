//! Schemas and examples of the OpenAPI documents: those of declared operations, and those in JSON files.
//!
//! A schema in a file can extend another, and have an enumeration of the code by its name.

use super::{bodies, webhooks};
use crate::domain::fields::Component;
use crate::domain::refusal::Code;
use crate::domain::status::InvoiceStatus;
use crate::http::route::Content;
use crate::http::routes::routes;
use crate::web::packed::Packed;
use serde_json::{Map, Value, json};

/// The JSON files beside the operations, a line for each: components by name, each with its `schema` and an `example`.
pub(super) const COMPONENTS: Packed =
    Packed(include_bytes!(concat!(env!("OUT_DIR"), "/components.gz")));

/// The schemas, with the code's own lists put in.
pub(super) fn filled(mut schemas: Map<String, Value>) -> Map<String, Value> {
    let written = schemas.clone();
    for schema in schemas.values_mut() {
        extend(schema, &written);
        fill_lists(schema);
    }
    for body in routes(true).filter_map(|route| route.body.as_ref()) {
        if let Some(schema) = schemas.get_mut(body.schema) {
            bodies::let_optional_be_null(schema);
        }
    }
    schemas
}

/// The schema and the example of every component.
pub(super) fn components() -> (Map<String, Value>, Map<String, Value>) {
    let (mut schemas, mut examples) = (Map::new(), Map::new());
    // What cannot be parsed is missing, which the test of the document tells.
    let text = COMPONENTS.text();
    let files = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    for component in declared() {
        let name = component.name().to_owned();
        schemas.insert(name.clone(), Value::Object(component.keywords()));
        examples.insert(name, component.example());
    }
    for (name, mut component) in files.flat_map(|file: Map<String, Value>| file) {
        let mut take = |part: &str| component.get_mut(part).map(Value::take);
        let (schema, example) = (take("schema"), take("example"));
        examples.extend(example.map(|example| (name.clone(), example)));
        schemas.extend(schema.map(|schema| (name, schema)));
    }
    (schemas, examples)
}

/// Returns the components that operations refer to.
fn declared() -> Vec<&'static Component> {
    let mut all = Vec::new();
    webhooks::LEGACY_EVENT.add_components(&mut all);
    for route in routes(true) {
        let body = route.body.as_ref().and_then(|body| body.component);
        let answers = route.answers().into_iter();
        let answers = answers.filter_map(|answer| match answer.content {
            Content::Component(component) => Some(component),
            _ => None,
        });
        body.into_iter()
            .chain(answers)
            .for_each(|component| component.add_components(&mut all));
    }
    all
}

/// A schema that says `@extends` has what the other has, and its own besides.
fn extend(schema: &mut Value, all: &Map<String, Value>) {
    let Some(base) = schema
        .get("@extends")
        .and_then(Value::as_str)
        .and_then(|name| all.get(name))
        .cloned()
    else {
        return;
    };
    let own = std::mem::replace(schema, base);
    for (name, value) in own
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "@extends")
    {
        match (schema.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
            (Some(known), value) => *known = value.clone(),
            (None, _) => {}
        }
    }
}

/// Puts the code's lists where a schema says `"enum": "@Name"`, or `"examples"` of a list that grows.
fn fill_lists(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().and_then(|text| text.strip_prefix('@')) {
                    Some(list) if name == "enum" || name == "examples" => {
                        *value = json!(texts(list))
                    }
                    _ => fill_lists(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(fill_lists),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The texts of an enumeration of the code; none where there is no such enumeration.
fn texts(name: &str) -> Vec<&'static str> {
    match name {
        "InvoiceStatus" => InvoiceStatus::TEXTS.to_vec(),
        "ErrorCode" => Code::TEXTS.to_vec(),
        _ => Vec::new(),
    }
}
