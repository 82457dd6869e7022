//! Shared answers: an answer that several operations have is a component of the document, and the operations refer to
//! the component. Answers without a body are short and are not shared.

use serde_json::{Map, Value, json};
use std::collections::HashMap;

const CODES_IN_NAME_MAX: usize = 3;

/// Replaces every answer that several operations have by a reference to a shared answer. Returns the shared answers,
/// by name.
pub(super) fn share_answers(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    visit_answers(paths, |_, response| {
        let count = uses.entry(response.to_string()).or_default();
        *count = count.saturating_add(1);
    });
    let mut names: HashMap<String, String> = HashMap::new();
    let mut shared = Map::new();
    visit_answers(paths, |scheme, response| {
        let text = response.to_string();
        if uses.get(&text).is_none_or(|count| *count < 2) {
            return;
        }
        let name = names.entry(text).or_insert_with(|| {
            let name = unused_name(&answer_name(scheme, response), &shared);
            shared.insert(name.clone(), response.clone());
            name
        });
        *response = json!({ "$ref": format!("#/components/responses/{name}") });
    });
    shared
}

/// Calls `visit` with each answer that has a body, and with the name of the operation's security scheme.
fn visit_answers(paths: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut) {
        let scheme = operation.pointer("/security/0").and_then(Value::as_object);
        let scheme = scheme.and_then(|scheme| scheme.keys().next().cloned());
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        let responses = responses.into_iter().flat_map(Map::values_mut);
        for response in responses.filter(|response| response.get("content").is_some()) {
            visit(scheme.as_deref().unwrap_or_default(), response);
        }
    }
}

/// Returns a name for a shared answer, made from its content and its headers.
fn answer_name(scheme: &str, response: &Value) -> String {
    let content = response.get("content").and_then(Value::as_object);
    let json = content.and_then(|content| content.get("application/json"));
    let mut name = match (json, content.and_then(|content| content.keys().next())) {
        (Some(json), _) if json.get("examples").is_some() => refusal_name(scheme, json),
        (Some(json), _) => {
            let schema = json.pointer("/schema/$ref").and_then(Value::as_str);
            let schema = schema.and_then(|schema| schema.rsplit('/').next());
            schema.unwrap_or("Json").to_owned()
        }
        (None, kind) => pascal_case(kind.map_or("", String::as_str)),
    };
    let has_header = |header: &str| response.pointer(&format!("/headers/{header}")).is_some();
    if has_header("Access-Control-Allow-Methods") {
        name.push_str("Preflight");
    } else if has_header("Access-Control-Allow-Origin") {
        name.push_str("FromPages");
    }
    name
}

/// Returns a name for a shared error, made from its codes. If there is only one code, the name also has the field,
/// the resource or the security scheme of the error.
fn refusal_name(scheme: &str, json: &Value) -> String {
    let examples = json.get("examples");
    let examples = examples.and_then(Value::as_object);
    let codes: Vec<&str> = examples.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let mut name: String =
        codes.iter().take(CODES_IN_NAME_MAX).map(|code| pascal_case(code)).collect();
    if codes.len() > CODES_IN_NAME_MAX {
        name.push_str("OrOthers");
    }
    if let [code] = codes.as_slice() {
        let value = examples.and_then(|examples| examples.get(*code)?.get("value"));
        let text = |field: &str| value.and_then(|value| value.get(field)?.as_str());
        let qualifier = match *code {
            "unauthorized" => Some(scheme),
            "not_found" => text("message").and_then(|message| message.strip_prefix("no such ")),
            _ => text("param"),
        };
        name.push_str(&pascal_case(qualifier.unwrap_or_default()));
    }
    name
}

/// Returns `name` if no component has the name yet, else `name` with the first free number.
fn unused_name(name: &str, taken: &Map<String, Value>) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains_key(name)).unwrap_or_default()
}

/// Joins words into one name in Pascal case: `not_found` and `not found` become `NotFound`.
fn pascal_case(words: &str) -> String {
    let words = words.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .map(|word| match word.split_at_checked(1) {
            Some((first, rest)) => first.to_ascii_uppercase() + rest,
            None => String::new(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::share_answers;
    use serde_json::{Map, Value, json};

    fn refusal(code: &str, message: &str) -> Value {
        let value = json!({ "error": code, "message": message });
        json!({ "content": { "application/json": { "examples": { code: { "value": value } } } } })
    }

    #[test]
    fn shared_answer_becomes_a_component() {
        let operation = |message: &str| {
            let responses = json!({ "200": { "description": message, "content": { "text/csv": {} } }, "404": refusal("not_found", message), "409": refusal("payout_open", message) });
            json!({ "security": [{ "session": [] }], "responses": responses })
        };
        let paths = json!({
            "/a": { "get": operation("no such payment link"), "post": operation("no such payment link") },
            "/b": { "get": operation("no such key") },
        });
        let mut paths: Map<String, Value> = paths.as_object().cloned().unwrap_or_default();
        let shared = share_answers(&mut paths);
        let names: Vec<&String> = shared.keys().collect();
        assert_eq!(names, ["TextCsv", "NotFoundPaymentLink", "PayoutOpen"]);
        let reference = json!({ "$ref": "#/components/responses/NotFoundPaymentLink" });
        let paths = Value::Object(paths);
        for pointer in ["/~1a/get", "/~1a/post"] {
            assert_eq!(paths.pointer(&format!("{pointer}/responses/404")), Some(&reference));
        }
        let own = paths.pointer("/~1b/get/responses/404");
        assert_eq!(own, Some(&refusal("not_found", "no such key")));
    }
}
