//! Request schemas in the OpenAPI documents.
//!
//! Invariant: every optional field may be null, and null means absent.

use serde_json::{Value, json};

/// Changes the schema of an object, and of nested objects, so that every optional field may be null.
pub(super) fn make_optional_nullable(schema: &mut Value) {
    let required: Vec<Value> =
        schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        make_optional_nullable(property);
        if let Some(items) = property.get_mut("items") {
            make_optional_nullable(items);
        }
        if !required.contains(&json!(name)) {
            make_nullable(property);
        }
    }
}

/// Changes a schema so that the value may be null.
fn make_nullable(schema: &mut Value) {
    let nothing = json!("null");
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    match fields.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&nothing) => kinds.push(nothing),
        Some(kind) if kind.is_string() => *kind = json!([kind, nothing]),
        _ => {}
    }
    match fields.get_mut("enum") {
        Some(Value::Array(texts)) if !texts.contains(&Value::Null) => texts.push(Value::Null),
        _ => {}
    }
    for word in ["anyOf", "oneOf"] {
        let of_null = json!({ "type": "null" });
        match fields.get_mut(word) {
            Some(Value::Array(kinds)) if !kinds.contains(&of_null) => kinds.push(of_null),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::make_optional_nullable;
    use serde_json::json;

    #[test]
    fn optional_fields_allow_null() {
        let mut schema = json!({
            "required": ["needed"],
            "properties": {
                "needed": { "type": "string", "enum": ["a"] },
                "choice": { "type": "string", "enum": ["a", "b"] },
                "amount": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
                "known": { "type": ["integer", "null"] },
                "list": { "type": "array", "items": { "properties": { "inner": { "type": "boolean" } } } },
            },
        });
        make_optional_nullable(&mut schema);
        let list = json!({ "type": ["array", "null"], "items": { "properties": { "inner": { "type": ["boolean", "null"] } } } });
        assert_eq!(
            schema.get("properties").cloned().unwrap_or_default(),
            json!({
                "needed": { "type": "string", "enum": ["a"] },
                "choice": { "type": ["string", "null"], "enum": ["a", "b", null] },
                "amount": { "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "null" }] },
                "known": { "type": ["integer", "null"] },
                "list": list,
            })
        );
    }
}
