//! The content of the reference pages, read from the OpenAPI documents.
//!
//! Invariant: the pages show every operation and every used object of the documents, and nothing else.

mod clients;
mod command;
mod fields;

use super::error;
use crate::domain::refusal::RefusalCode;
use crate::web::reference::{
    Body, Content, ErrorDoc, ErrorGroup, Field, ObjectDoc, OperationDoc, ResponseDoc, Topic,
    Webhook,
};
use fields::{Schemas, referenced_name};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the topics of the reference for a server at this URL. `documents` are the OpenAPI documents of the server.
///
/// # Errors
/// [`serde_json::Error`] if a document is not JSON.
pub(super) fn reference(
    url: &str,
    is_sandbox: bool,
    documents: &[&[u8]],
) -> Result<Vec<Topic>, serde_json::Error> {
    let documents = documents.iter().map(|text| serde_json::from_slice(text));
    let mut documents: Vec<Value> = documents.collect::<Result<_, _>>()?;
    documents.iter_mut().for_each(inline_shared_answers);
    let mut schemas = Map::new();
    for document in &documents {
        let own = document.pointer("/components/schemas");
        schemas.extend(own.and_then(Value::as_object).cloned().unwrap_or_default());
    }
    let schemas = Schemas(&schemas);
    let server = DocumentedServer { url, is_sandbox, schemas };
    let webhooks = documents.iter().flat_map(|document| entries(document, "webhooks"));
    let webhooks = webhooks.filter_map(|(name, path)| Some((name, path.get("post")?)));
    let webhooks: Vec<_> = webhooks.collect();
    let headers = webhooks.first().map(|(_, webhook)| server.parameter_fields(webhook));
    let topics = documents.iter().flat_map(|document| server.topics(document));
    let mut topics: Vec<Topic> = topics.collect();
    let objects = server.object_docs(&topics, &webhooks);
    let events = webhooks.iter().map(|(name, webhook)| webhook_doc(name, webhook)).collect();
    let webhooks = Content::Webhooks { headers: headers.unwrap_or_default(), events };
    topics.push(topic("Webhooks", "Requests from Coffer to your server.", webhooks));
    let errors = Content::Errors(error_docs(&documents));
    topics.push(topic("Errors", "Every error code with its status and an example.", errors));
    let objects = Content::Objects(objects);
    topics.push(topic("Objects", "Objects that requests and answers contain.", objects));
    Ok(topics)
}

fn topic(name: &str, about: &str, content: Content) -> Topic {
    Topic { id: anchor(name), name: name.to_owned(), about: about.to_owned(), content }
}

/// Replaces each reference to a shared answer by a copy of the answer.
fn inline_shared_answers(document: &mut Value) {
    let shared = document.pointer("/components/responses").cloned();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let operations = paths.into_iter().flat_map(Map::values_mut);
    let operations = operations.filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        for response in responses.into_iter().flat_map(Map::values_mut) {
            let reference = response.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|reference| reference.rsplit('/').next());
            if let Some(found) = name.and_then(|name| shared.as_ref()?.get(name)) {
                *response = found.clone();
            }
        }
    }
}

/// A server in the API reference, with the schemas of its OpenAPI documents.
struct DocumentedServer<'a> {
    url: &'a str,
    is_sandbox: bool,
    schemas: Schemas<'a>,
}

impl DocumentedServer<'_> {
    /// Returns the operations of a document, one topic for each tag.
    fn topics(&self, document: &Value) -> Vec<Topic> {
        let tags = document.get("tags").and_then(Value::as_array);
        let topics = tags.into_iter().flatten().filter_map(|tag| {
            let name = text_field(tag, "name");
            let mut operations = Vec::new();
            for (path, methods) in entries(document, "paths") {
                for (method, operation) in methods.as_object().into_iter().flatten() {
                    if operation.pointer("/tags/0").and_then(Value::as_str) == Some(&name) {
                        operations.push(self.operation_doc(path, method, operation));
                    }
                }
            }
            let content = Content::Operations(operations);
            let topic = topic(&name, &text_field(tag, "description"), content);
            (!topic.entries().is_empty()).then_some(topic)
        });
        topics.collect()
    }

    fn operation_doc(&self, path: &str, method: &str, operation: &Value) -> OperationDoc {
        let method = method.to_ascii_uppercase();
        let (caller, key) = required_credentials(operation);
        let sent = operation.get("requestBody");
        // A body that is not JSON is a file. The summary of its operation describes it.
        let json = sent.filter(|sent| sent.pointer("/content/application~1json").is_some());
        let is_file = sent.is_some() && json.is_none();
        let body = json.map(|body| self.body_doc(body));
        let example = body.as_ref().map(|body| body.example.as_str());
        let curl = command::curl_command(self, &method, path, key, example, is_file);
        let id = text_field(operation, "operationId");
        let example = json.and_then(|body| body.pointer("/content/application~1json/example"));
        let clients = clients::client_examples(self, &id, path, key, example);
        let mut answers = Vec::new();
        let mut refusals = Vec::new();
        for (status, response) in entries(operation, "responses") {
            let json = response.pointer("/content/application~1json");
            match json.and_then(|json| json.get("examples")) {
                Some(examples) => refusals.push(error_group(status, examples)),
                None => answers.push(response_doc(status, response)),
            }
        }
        OperationDoc {
            id,
            summary: text_field(operation, "summary"),
            path: path.to_owned(),
            method,
            caller,
            key,
            parameters: self.parameter_fields(operation),
            body,
            answers,
            refusals,
            curl,
            clients,
        }
    }

    fn parameter_fields(&self, operation: &Value) -> Vec<Field> {
        let parameters = operation.get("parameters").and_then(Value::as_array);
        let parameters = parameters.into_iter().flatten();
        let parameters = parameters.map(|parameter| {
            let schema = parameter.get("schema").unwrap_or(&Value::Null);
            let required = parameter.get("required").and_then(Value::as_bool);
            Field {
                place: text_field(parameter, "in"),
                about: text_field(parameter, "description"),
                ..self.schemas.field(text_field(parameter, "name"), schema, required == Some(true))
            }
        });
        parameters.collect()
    }

    fn body_doc(&self, body: &Value) -> Body {
        let json = body.pointer("/content/application~1json");
        let json = json.unwrap_or(&Value::Null);
        let schema = json.get("schema").unwrap_or(&Value::Null);
        let schema = self.schemas.resolve(schema);
        Body {
            about: text_field(schema, "description"),
            is_required: body.get("required").and_then(Value::as_bool) == Some(true),
            fields: self.schemas.fields(schema),
            example: example_json(json),
        }
    }

    /// Returns every object that an operation, a webhook or another object refers to.
    fn object_docs(&self, topics: &[Topic], webhooks: &[(&str, &Value)]) -> Vec<ObjectDoc> {
        let objects = self.schemas.0.iter().map(|(name, schema)| ObjectDoc {
            name: name.clone(),
            about: text_field(schema, "description"),
            fields: self.schemas.fields(schema),
        });
        let mut objects: Vec<ObjectDoc> = objects.collect();
        objects.sort_by(|one, other| one.name.cmp(&other.name));
        let operations = || {
            topics.iter().flat_map(|topic| match &topic.content {
                Content::Operations(operations) => operations.as_slice(),
                Content::Webhooks { .. } | Content::Errors(_) | Content::Objects(_) => &[],
            })
        };
        let answered = operations().flat_map(|operation| &operation.answers);
        let answered = answered.filter_map(|answer| answer.object.clone());
        let sent = operations().filter_map(|operation| operation.body.as_ref());
        let sent = sent.flat_map(|body| &body.fields);
        let within = objects.iter().flat_map(|object| &object.fields);
        let within = within.chain(sent).flat_map(|field| field.objects.clone());
        let mut wanted: BTreeSet<String> = answered.chain(within).collect();
        for (_, webhook) in webhooks {
            let schema = webhook.pointer("/requestBody/content/application~1json/schema");
            fields::collect_names(schema.unwrap_or(&Value::Null), &mut wanted);
        }
        objects.retain(|object| wanted.contains(&object.name));
        objects
    }
}

/// Returns the credentials that an operation requires: as a phrase for people, and as an identifier for the curl
/// example.
fn required_credentials(operation: &Value) -> (&'static str, &'static str) {
    let schemes = operation.get("security").and_then(Value::as_array);
    let schemes = schemes.into_iter().flatten().filter_map(Value::as_object);
    let is_asked = |name: &str| schemes.clone().any(|scheme| scheme.contains_key(name));
    if is_asked("apiKey") {
        ("a secret key", "secret")
    } else if is_asked("publicKey") {
        ("a public key", "public")
    } else if is_asked("reseller") {
        ("a reseller's token", "reseller")
    } else if is_asked("session") {
        ("somebody who is signed in", "session")
    } else if is_asked("metricsToken") {
        ("the token of --metrics-token, where one is set", "")
    } else {
        ("anybody", "")
    }
}

fn response_doc(status: &str, response: &Value) -> ResponseDoc {
    let content = response.get("content").and_then(Value::as_object);
    let content = content.and_then(|content| content.iter().next());
    let (kind, media) = content.map_or(("", &Value::Null), |(kind, media)| (kind.as_str(), media));
    let object = media.get("schema").and_then(referenced_name);
    ResponseDoc {
        status: match status {
            "default" => "other".to_owned(),
            status => status.to_owned(),
        },
        about: text_field(response, "description"),
        content: kind.to_owned(),
        object: object.map(str::to_owned),
        example: example_json(media),
    }
}

/// Returns the error codes of one status, read from the examples in the document.
fn error_group(status: &str, examples: &Value) -> ErrorGroup {
    let mut codes: Vec<String> = Vec::new();
    for error in error_bodies(examples) {
        let code = text_field(error, "error");
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    ErrorGroup { status: status.to_owned(), codes }
}

/// Returns every error code with its status and an example message.
fn error_docs(documents: &[Value]) -> Vec<ErrorDoc> {
    let mut found = BTreeMap::new();
    let paths = documents.iter().flat_map(|document| entries(document, "paths"));
    let operations = paths.flat_map(|(_, methods)| methods.as_object().into_iter().flatten());
    let responses = operations.flat_map(|(_, operation)| entries(operation, "responses"));
    for (status, response) in responses {
        let examples = response.pointer("/content/application~1json/examples");
        for error in examples.into_iter().flat_map(error_bodies) {
            let code = text_field(error, "error");
            found.entry((status.to_owned(), code.clone())).or_insert_with(|| ErrorDoc {
                code,
                status: status.to_owned(),
                message: text_field(error, "message"),
            });
        }
    }
    let told: Vec<String> = found.values().map(|refusal: &ErrorDoc| refusal.code.clone()).collect();
    let everywhere =
        RefusalCode::ALL.iter().filter(|code| !told.iter().any(|told| told == code.as_str()));
    for code in everywhere {
        let (status, code) = (error::status(*code).as_str().to_owned(), code.as_str().to_owned());
        let message = "any path may answer so; the message says why".to_owned();
        let refusal = ErrorDoc { code: code.clone(), status: status.clone(), message };
        found.insert((status, code), refusal);
    }
    found.into_values().collect()
}

/// Returns the error bodies in the examples of a response.
fn error_bodies(examples: &Value) -> impl Iterator<Item = &Value> {
    let examples = examples.as_object().into_iter().flatten();
    examples.filter_map(|(_, example)| example.get("value"))
}

fn webhook_doc(name: &str, webhook: &Value) -> Webhook {
    let json = webhook.pointer("/requestBody/content/application~1json");
    Webhook {
        name: name.to_owned(),
        summary: text_field(webhook, "summary"),
        example: example_json(json.unwrap_or(&Value::Null)),
    }
}

/// Returns the example of a body as formatted JSON, or an empty text if there is none.
fn example_json(media: &Value) -> String {
    let example = media.get("example");
    let example = example.and_then(|example| serde_json::to_string_pretty(example).ok());
    example.unwrap_or_default()
}

/// Iterates over the entries of the object in the field `name`.
fn entries<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let found = value.get(name).and_then(Value::as_object);
    let found = found.into_iter().flatten();
    found.map(|(name, value)| (name.as_str(), value))
}

/// Returns the text in the field `name`, or an empty text if there is none.
fn text_field(value: &Value, name: &str) -> String {
    let text = value.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Returns the name of a topic in URLs.
fn anchor(name: &str) -> String {
    let letters = name.chars().filter(|letter| *letter != ':');
    let letters =
        letters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() });
    letters.collect()
}
