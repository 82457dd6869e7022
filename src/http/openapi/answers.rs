//! Responses in the OpenAPI documents: statuses, headers, bodies, and links to related operations.
//!
//! Invariant: every answer has the headers that its response declares as required.

use super::{DocumentKind, errors, media_object};
use crate::domain::RefusalCode;
use crate::http::route::{Content, Route};
use crate::http::{error, public};
use hyper::StatusCode;
use serde_json::{Map, Value, json};

/// Returns every successful answer and every error of a route, by status.
pub(super) fn responses(route: &Route, subject: DocumentKind) -> Value {
    let mut responses = Map::new();
    for answer in route.answers() {
        let status =
            if answer.status == 0 { "default".to_owned() } else { answer.status.to_string() };
        let mut response =
            json!({ "description": answer.about, "headers": response_headers(route, None) });
        let media = match answer.content {
            Content::Component(component) => media_object(component),
            Content::AnyJson => json!({ "schema": { "type": "object" } }),
            Content::Csv | Content::Text => json!({ "schema": { "type": "string" } }),
            Content::Events(component) => event_stream_media(component.name()),
            Content::Empty => Value::Null,
        };
        if let (Some(response), Some(kind)) =
            (response.as_object_mut(), answer.content.media_type())
        {
            response.insert("content".to_owned(), json!({ kind: media }));
        }
        let links = links(route, subject);
        if let (Some(response), false) = (response.as_object_mut(), links.is_empty()) {
            response.insert("links".to_owned(), Value::Object(links));
        }
        responses.insert(status, response);
    }
    let refusals = route.error_codes();
    for code in &refusals {
        let status = error::status(*code);
        let same: Vec<RefusalCode> =
            refusals.iter().copied().filter(|other| error::status(*other) == status).collect();
        let about: Vec<&str> = same.iter().map(|code| code.as_str()).collect();
        let about = format!("error is one of: {}", about.join(", "));
        let content = json!({ "application/json": {
            "schema": { "$ref": "#/components/schemas/Error" },
            "examples": errors::examples(route, &same),
        } });
        responses.insert(
            status.as_str().to_owned(),
            json!({ "description": about, "headers": response_headers(route, Some(status)), "content": content }),
        );
    }
    Value::Object(responses)
}

pub(super) fn headers() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let mut headers = json!({
        "X-Request-Id": { "required": true, "schema": text, "description": "Id of the request, also in the service's log." },
        "WWW-Authenticate": { "required": true, "schema": { "type": "string", "const": "Bearer" }, "description": "Authentication scheme." },
        "Retry-After": { "required": true, "schema": { "type": "integer", "minimum": 0 }, "description": "Seconds to wait before the next try." },
        "RateLimit": { "schema": text, "description": "Remaining rate of the key; absent without a limit." },
        "RateLimit-Policy": { "schema": text, "description": "Rate of the key; absent without a limit." },
    });
    if let Some(headers) = headers.as_object_mut() {
        headers.extend(public::cors_headers(true).map(|(name, value)| {
            let always = json!({ "type": "string", "const": value });
            let about = "Permission for pages of other sites, which browsers require.";
            (name.to_owned(), json!({ "required": true, "schema": always, "description": about }))
        }));
    }
    headers
}

/// Returns references to the headers of one answer. `refused` is the status of an error, `None` for a successful
/// answer.
fn response_headers(route: &Route, refused: Option<StatusCode>) -> Value {
    let mut names = vec!["X-Request-Id"];
    match refused {
        Some(StatusCode::UNAUTHORIZED) => names.push("WWW-Authenticate"),
        Some(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
            names.push("Retry-After");
        }
        Some(_) | None => {}
    }
    if route.is_rate_limited && refused != Some(StatusCode::UNAUTHORIZED) {
        names.extend(["RateLimit", "RateLimit-Policy"]);
    }
    if route.form.is_shared {
        let of_preflight = route.method == "OPTIONS";
        let cors = public::cors_headers(of_preflight);
        names.extend(cors.map(|(name, _)| name));
    }
    let reference = |name| json!({ "$ref": format!("#/components/headers/{name}") });
    let headers: Map<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), reference(name))).collect();
    Value::Object(headers)
}

/// Returns links from a created resource to every operation on a path `/…/{id}` of the same kind of resource.
fn links(route: &Route, subject: DocumentKind) -> Map<String, Value> {
    let creates = route.method == "POST"
        && !route.path.contains('{')
        && route.answers().iter().any(|answer| answer.status == 201);
    let Some((_, kind)) = route.path.rsplit_once('/').filter(|_| creates) else {
        return Map::new();
    };
    let of_one = format!("/{kind}/{{id}}");
    let link = |next: &Route| json!({ "operationId": next.operation, "parameters": { "id": "$response.body#/id" } });
    subject
        .routes()
        .filter(|next| next.path.contains(&of_one))
        .map(|next| (next.operation.to_owned(), link(next)))
        .collect()
}

/// Returns the media type object of an event stream. OpenAPI can describe the data of an event, but not the wire
/// format.
fn event_stream_media(schema: &str) -> Value {
    let data = format!("#/components/schemas/{schema}");
    let about = format!("The data of each event is JSON as `{schema}` describes it.");
    json!({ "schema": { "type": "string", "description": about, "contentMediaType": "application/json", "contentSchema": { "$ref": data } } })
}
