//! Valid and faulty requests of one operation.

use super::document::Operation;
use serde_json::{Map, Value, json};

/// A request of an operation, without credential and path.
#[derive(Clone)]
pub struct RequestCase {
    pub name: String,
    /// Body to send, or an empty string for none.
    pub body: String,
    /// Query without the question mark.
    pub query: String,
    /// Value that replaces each id in the path, `None` to use valid ids.
    pub id: Option<&'static str>,
    pub idempotency_key: Option<String>,
    pub credential: Credential,
}

/// Credential of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// The credential has permission to call the operation.
    Right,
    /// The credential lacks the permission: a merchant calls an operator operation, or the key has another class.
    Other,
    /// The key, token or session does not exist.
    Unknown,
    Absent,
}

/// A value of a type that no field accepts.
fn value_of_wrong_type() -> Value {
    json!([[{ "a": 1 }]])
}

pub fn case_with_body(name: &str, body: &str) -> RequestCase {
    RequestCase {
        name: name.to_owned(),
        body: body.to_owned(),
        query: String::new(),
        id: None,
        idempotency_key: None,
        credential: Credential::Right,
    }
}

/// Returns the requests that the test sends for an operation, based on its valid body. If `is_brief` is `true`,
/// returns only the requests that show the order of the checks.
pub fn cases(operation: &Operation, valid: Option<&Value>, is_brief: bool) -> Vec<RequestCase> {
    let sent = valid.map_or_else(String::new, Value::to_string);
    let base = case_with_body("valid", &sent);
    let mut all = vec![base.clone()];
    if let Some(fields) = &operation.fields {
        all.extend(faulty_bodies(fields, valid.and_then(Value::as_object), is_brief));
    }
    if !operation.is_get_request() {
        all.extend(malformed_bodies(&sent));
    }
    if is_brief {
        return all;
    }
    let queries = operation.query.iter().flat_map(|name| {
        [
            format!("{name}="),
            format!("{name}=%07"),
            format!("{name}=-1.5"),
            format!("{name}=99999999999999999999"),
            format!("{name}={}", "x".repeat(300)),
            format!("{name}=1&{name}=1"),
        ]
    });
    all.extend(queries.chain(["surprise=1".to_owned(), "%zz".to_owned()]).map(|query| {
        RequestCase { name: format!("?{}", shorten_case_name(&query)), query, ..base.clone() }
    }));
    if operation.path.contains('{') {
        let ids = ["x", "%07", "..%2f", "01a1fd55-7a80-7af2-9132-00000000FFFF"];
        all.extend(ids.map(|id| RequestCase {
            name: format!("path with {id}"),
            id: Some(id),
            ..base.clone()
        }));
    }
    if operation.is_idempotent {
        let keys = [String::new(), "é".to_owned(), "k".repeat(300)];
        all.extend(keys.map(|key| RequestCase {
            name: format!("Idempotency-Key: {}", shorten_case_name(&key)),
            idempotency_key: Some(key),
            ..base.clone()
        }));
    }
    if operation.scheme.is_some() {
        let credentials = [
            ("other credential", Credential::Other),
            ("unknown credential", Credential::Unknown),
            ("no credential", Credential::Absent),
        ];
        all.extend(credentials.map(|(name, credential)| RequestCase {
            name: name.to_owned(),
            credential,
            ..base.clone()
        }));
    }
    all
}

/// Returns bodies with one invalid field each, and one with an unknown field.
fn faulty_bodies(
    fields: &[String],
    valid: Option<&Map<String, Value>>,
    is_brief: bool,
) -> Vec<RequestCase> {
    let valid = valid.cloned().unwrap_or_default();
    let with = |name: &str, value: Value| {
        let mut body = valid.clone();
        body.insert(name.to_owned(), value);
        Value::Object(body).to_string()
    };
    let mut all = Vec::new();
    for field in fields {
        if valid.contains_key(field) {
            let mut body = valid.clone();
            body.remove(field);
            let body = Value::Object(body).to_string();
            all.push(case_with_body(&format!("{field} missing"), &body));
        }
        let faults = [
            ("null", Value::Null),
            ("of a wrong type", value_of_wrong_type()),
            ("as an object", json!({ "surprise": 1 })),
            ("as a number", json!(-1.5)),
            ("empty", json!("")),
            ("with a control character", json!("a\u{7}")),
            ("too long", json!("x".repeat(5000))),
        ];
        let count = if is_brief { 2 } else { faults.len() };
        for (name, value) in faults.into_iter().take(count) {
            all.push(case_with_body(&format!("{field} {name}"), &with(field, value)));
        }
    }
    all.push(case_with_body("an unknown field", &with("surprise", json!(1))));
    if let Some((field, value)) = valid.iter().next() {
        let body = Value::Object(valid.clone()).to_string();
        let twice = format!("{{\"{field}\":{value},{}", &body[1..]);
        all.push(case_with_body("a field twice", &twice));
    }
    all
}

/// Returns cases with a body that is missing, incomplete, too large or not a JSON object.
fn malformed_bodies(valid: &str) -> Vec<RequestCase> {
    let cut = valid.get(..valid.len().saturating_sub(1)).unwrap_or("");
    vec![
        case_with_body("no body", ""),
        case_with_body("an empty object", "{}"),
        case_with_body("half a body", if cut.is_empty() { "{" } else { cut }),
        case_with_body("an array", "[]"),
        case_with_body("a body of 70 000 bytes", &format!("{{\"a\":\"{}\"}}", "x".repeat(70_000))),
    ]
}

/// Returns a body in which the fields in `named` have their valid values and all other fields have invalid values.
pub fn body_with_other_faults(
    fields: &[String],
    valid: Option<&Value>,
    named: &[String],
) -> String {
    let mut body = Map::new();
    for field in fields {
        let value = valid.and_then(|valid| valid.get(field));
        match (named.contains(field), value) {
            (false, _) => body.insert(field.clone(), value_of_wrong_type()),
            (true, Some(value)) => body.insert(field.clone(), value.clone()),
            (true, None) => None,
        };
    }
    Value::Object(body).to_string()
}

fn shorten_case_name(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
