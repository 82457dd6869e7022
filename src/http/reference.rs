//! The content of the reference pages, made from the routes and the schemas of the OpenAPI documents.
//!
//! Invariant: the pages show every operation and every used object of the documents, and nothing else.

mod clients;
mod command;
mod fields;

use super::auth::Auth;
use super::error;
use super::openapi::components::schemas;
use super::openapi::errors::example_text;
use super::openapi::parameters::{Parameter, parameters};
use super::openapi::webhooks;
use super::route::{self, Route, RouteAnswer, Tag};
use super::state::DocumentKind;
use crate::domain::{EventType, RefusalCode};
use crate::web::reference::{
    Body, Content, ErrorDoc, ErrorGroup, Field, ObjectDoc, OperationDoc, ResponseDoc, Topic,
    Webhook,
};
use fields::{object_fields, schema_field, text_field};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn reference(url: &str, is_sandbox: bool) -> Vec<Topic> {
    let controls = is_sandbox.then_some(DocumentKind::Sandbox);
    let documents = [DocumentKind::Interface].into_iter().chain(controls);
    let mut routes: Vec<&Route> = documents.flat_map(DocumentKind::routes).collect();
    // Operations of one path are together, as in the documents.
    let paths: Vec<&str> = routes.iter().map(|route| route.path).collect();
    routes.sort_by_cached_key(|route| paths.iter().position(|path| *path == route.path));
    let schemas = schemas(&routes);
    let server = DocumentedServer { url, is_sandbox, schemas: &schemas };
    let topics = Tag::ALL.iter().filter_map(|tag| server.operations_topic(*tag, &routes));
    let mut topics: Vec<Topic> = topics.collect();
    let objects = object_docs(&schemas, &topics);
    let headers = webhooks::headers().map(parameter_field).into();
    let events = EventType::ALL.iter().map(webhook_doc).collect();
    let webhooks = Content::Webhooks { headers, events };
    topics.push(topic("Webhooks", "Requests from Coffer to your server.", webhooks));
    let errors = Content::Errors(error_docs(&routes));
    topics.push(topic("Errors", "Every error code with its status and an example.", errors));
    let objects = Content::Objects(objects);
    topics.push(topic("Objects", "Objects that requests and answers contain.", objects));
    topics
}

fn topic(name: &'static str, about: &'static str, content: Content) -> Topic {
    Topic { id: anchor(name), name, about, content }
}

/// A server in the API reference, with the schemas of its OpenAPI documents.
struct DocumentedServer<'a> {
    url: &'a str,
    is_sandbox: bool,
    schemas: &'a Map<String, Value>,
}

impl DocumentedServer<'_> {
    /// Returns the topic of a tag, `None` if no operation has the tag.
    fn operations_topic(&self, tag: Tag, routes: &[&'static Route]) -> Option<Topic> {
        let tagged = routes.iter().filter(|route| route.tag == Some(tag));
        let operations: Vec<_> = tagged.map(|route| self.operation_doc(route)).collect();
        let (name, about) = tag.name_and_description();
        (!operations.is_empty()).then(|| topic(name, about, Content::Operations(operations)))
    }

    fn operation_doc(&self, route: &'static Route) -> OperationDoc {
        let (caller, key) = required_credentials(route.auth());
        let example = route.body.map(|body| body.component.example());
        let codes = route.error_codes();
        let refusals = codes.chunk_by(|one, other| error::status(*one) == error::status(*other));
        OperationDoc {
            id: route.operation,
            summary: route.summary,
            path: route.path,
            method: route.method,
            caller,
            key,
            parameters: parameters(route).into_iter().map(parameter_field).collect(),
            body: route.body.map(|body| self.body_doc(body)),
            answers: route.answers().into_iter().map(response_doc).collect(),
            refusals: refusals.filter_map(error_group).collect(),
            curl: command::curl_command(self, route, key, example.as_ref()),
            clients: clients::client_examples(self, route, example.as_ref()),
        }
    }

    fn body_doc(&self, body: route::Body) -> Body {
        let schema = self.schemas.get(body.component.name()).unwrap_or(&Value::Null);
        Body {
            about: text_field(schema, "description"),
            is_required: body.is_required,
            fields: object_fields(schema),
            example: format_json(&body.component.example()),
        }
    }
}

fn parameter_field(parameter: Parameter) -> Field {
    Field {
        place: parameter.place,
        about: parameter.about.to_owned(),
        ..schema_field(parameter.name.to_owned(), &parameter.schema, parameter.is_required)
    }
}

/// Returns every object that an operation, a webhook or another object refers to.
fn object_docs(schemas: &Map<String, Value>, topics: &[Topic]) -> Vec<ObjectDoc> {
    let objects = schemas.iter().map(|(name, schema)| ObjectDoc {
        name: name.clone(),
        about: text_field(schema, "description"),
        fields: object_fields(schema),
    });
    let mut objects: Vec<ObjectDoc> = objects.collect();
    objects.sort_by(|one, other| one.name.cmp(&other.name));
    let operations = || topics.iter().flat_map(Topic::operations);
    let answered = operations().flat_map(|operation| &operation.answers);
    let answered = answered.filter_map(|answer| answer.object);
    let sent = operations().filter_map(|operation| operation.body.as_ref());
    let sent = sent.flat_map(|body| &body.fields);
    let within = objects.iter().flat_map(|object| &object.fields);
    let within = within.chain(sent).flat_map(|field| &field.objects);
    let named = answered.chain(webhooks::BODIES).map(str::to_owned);
    let wanted: BTreeSet<String> = named.chain(within.cloned()).collect();
    objects.retain(|object| wanted.contains(&object.name));
    objects
}

/// Returns the credentials that an operation requires: as a phrase for people, and as an identifier for the curl
/// example.
const fn required_credentials(auth: Auth) -> (&'static str, &'static str) {
    match auth {
        Auth::Secret => ("a secret key", "secret"),
        Auth::Public => ("a public key", "public"),
        Auth::Reseller => ("a reseller's token", "reseller"),
        Auth::Session(_) => ("somebody who is signed in", "session"),
        Auth::Metrics => ("the token of --metrics-token, where one is set", ""),
        Auth::Open | Auth::Sandbox => ("anybody", ""),
    }
}

fn response_doc(answer: RouteAnswer) -> ResponseDoc {
    let component = match answer.content {
        route::Content::Component(component) => Some(component),
        _ => None,
    };
    ResponseDoc {
        status: match answer.status {
            0 => "other".to_owned(),
            status => status.to_string(),
        },
        about: answer.about,
        content: answer.content.media_type().unwrap_or_default(),
        object: component.map(|component| component.name()),
        example: component.map_or_else(String::new, |shown| format_json(&shown.example())),
    }
}

/// Returns the group of error codes that have the same status, `None` for no codes.
fn error_group(codes: &[RefusalCode]) -> Option<ErrorGroup> {
    let status = error::status(*codes.first()?).as_str().to_owned();
    Some(ErrorGroup { status, codes: codes.iter().map(|code| code.as_str()).collect() })
}

/// Returns every error code with its status and an example message.
fn error_docs(routes: &[&Route]) -> Vec<ErrorDoc> {
    let mut messages = BTreeMap::new();
    for route in routes {
        for code in route.error_codes() {
            messages.entry(code.as_str()).or_insert_with(|| example_text(route, code).0);
        }
    }
    let errors = RefusalCode::ALL.iter().map(|code| ErrorDoc {
        code: code.as_str(),
        status: error::status(*code).as_str().to_owned(),
        message: messages
            .remove(code.as_str())
            .unwrap_or_else(|| "any path may answer so; the message says why".to_owned()),
    });
    let mut errors: Vec<ErrorDoc> = errors.collect();
    errors.sort_by(|one, other| (&one.status, one.code).cmp(&(&other.status, other.code)));
    errors
}

fn webhook_doc(kind: &EventType) -> Webhook {
    Webhook {
        name: kind.as_str(),
        summary: webhooks::summary(*kind),
        example: format_json(&webhooks::event_example(*kind)),
    }
}

fn format_json(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn anchor(name: &str) -> String {
    let letters = name.chars().filter(|letter| *letter != ':');
    let letters =
        letters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() });
    letters.collect()
}
