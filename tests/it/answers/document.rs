//! Operations as the two golden OpenAPI documents describe them.

use serde_json::{Map, Value};

/// An operation of an OpenAPI document.
pub struct Operation {
    pub id: String,
    pub method: String,
    pub path: String,
    pub tag: String,
    /// Security scheme, `None` if the operation needs no credential.
    pub scheme: Option<String>,
    /// Names of the query parameters.
    pub query: Vec<String>,
    pub is_idempotent: bool,
    /// Names of the body fields, `None` if the operation has no described body.
    pub fields: Option<Vec<String>>,
    /// Example of a request body.
    pub example: Option<Value>,
}

impl Operation {
    /// Returns `true` if the method is GET.
    pub fn is_get_request(&self) -> bool {
        self.method == "GET"
    }
}

/// Returns all operations of both documents, in document order.
pub fn operations() -> Vec<Operation> {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut all = Vec::new();
    for name in ["openapi.json", "openapi-sandbox.json"] {
        let text = std::fs::read_to_string(format!("{golden}/{name}")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                all.push(read_operation(&document, path, method, operation));
            }
        }
    }
    all
}

fn read_operation(document: &Value, path: &str, method: &str, operation: &Value) -> Operation {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parameters = operation["parameters"].as_array();
    let parameters: Vec<&Value> = parameters.into_iter().flatten().collect();
    let is_in = |place: &'static str| {
        let all = parameters.clone().into_iter();
        all.filter(move |one| one["in"] == place)
    };
    let content = &operation["requestBody"]["content"]["application/json"];
    let schema = resolve_reference(document, &content["schema"]);
    let properties = schema["properties"].as_object();
    let example = match &content["example"] {
        Value::Null => content["examples"].as_object().and_then(first_example),
        example => Some(example.clone()),
    };
    Operation {
        id: text(&operation["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        tag: text(&operation["tags"][0]),
        scheme: operation["security"][0]
            .as_object()
            .and_then(|scheme| scheme.keys().next().cloned()),
        query: is_in("query").map(|one| text(&one["name"])).collect(),
        is_idempotent: is_in("header").any(|one| one["name"] == "Idempotency-Key"),
        fields: properties.map(|fields| fields.keys().cloned().collect()),
        example,
    }
}

fn first_example(examples: &Map<String, Value>) -> Option<Value> {
    Some(examples.values().next()?["value"].clone())
}

/// Returns the schema that `$ref` refers to, or the schema itself if it has no reference.
fn resolve_reference<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => {
            &document["components"]["schemas"][reference.rsplit('/').next().unwrap()]
        }
        None => schema,
    }
}
