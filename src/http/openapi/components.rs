//! Schemas of the OpenAPI documents: the schemas that operations, handlers and errors refer to.

use super::bodies::make_optional_nullable;
use super::webhooks;
use crate::domain::fields::Component;
use crate::http::error::ErrorView;
use crate::http::route::{Content, Route};
use serde_json::{Map, Value};

static ERROR: Component = ErrorView::COMPONENT;

/// Returns the schemas to which routes, webhooks and errors refer, by name.
pub(in crate::http) fn schemas(routes: &[&Route]) -> Map<String, Value> {
    let schemas = components(routes).into_iter();
    let schemas = schemas.map(|component| {
        let schema = Value::Object(component.json_schema());
        (component.name().to_owned(), schema)
    });
    let mut schemas: Map<String, Value> = schemas.collect();
    for body in routes.iter().filter_map(|route| route.body) {
        if let Some(schema) = schemas.get_mut(body.component.name()) {
            make_optional_nullable(schema);
        }
    }
    schemas
}

/// Returns the components of these routes, of webhooks and of errors, including components to which only other
/// components refer.
pub(super) fn components(routes: &[&Route]) -> Vec<&'static Component> {
    let mut all = Vec::new();
    ERROR.add_components(&mut all);
    webhooks::LEGACY_EVENT.add_components(&mut all);
    for route in routes {
        let body = route.body.map(|body| body.component);
        let answers = route.answers().into_iter();
        let answers = answers.filter_map(|answer| match answer.content {
            Content::Component(component) | Content::Events(component) => Some(component),
            Content::AnyJson | Content::Text | Content::Csv | Content::Empty => None,
        });
        body.into_iter().chain(answers).for_each(|component| component.add_components(&mut all));
    }
    all
}
