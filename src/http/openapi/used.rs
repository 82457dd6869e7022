//! Selects the components to which a document refers, directly or through other components.

use serde_json::{Map, Value, json};

/// Returns the components that a document refers to, directly or indirectly, and the security schemes that it uses.
pub(super) fn used_components(document: &Value, components: Value) -> Value {
    let mut names = Vec::new();
    let mut wanted = Vec::new();
    collect_references(document, &mut names, &mut wanted);
    let mut kept = Map::new();
    while let Some(pointer) = wanted.pop() {
        let Some((kind, name)) = pointer.split_once('/') else {
            continue;
        };
        let is_kept = kept.get(kind).and_then(|of_kind: &Value| of_kind.get(name));
        if let (None, Some(found)) = (is_kept, components.pointer(&format!("/{pointer}"))) {
            collect_references(found, &mut names, &mut wanted);
            let of_kind = kept.entry(kind).or_insert_with(|| json!({}));
            if let Some(of_kind) = of_kind.as_object_mut() {
                of_kind.insert(name.to_owned(), found.clone());
            }
        }
    }
    let schemes = components.get("securitySchemes").and_then(Value::as_object);
    let schemes = schemes.into_iter().flatten();
    let schemes = schemes.filter(|(name, _)| names.contains(*name));
    let schemes: Map<String, Value> =
        schemes.map(|(name, scheme)| (name.clone(), scheme.clone())).collect();
    if !schemes.is_empty() {
        kept.insert("securitySchemes".to_owned(), Value::Object(schemes));
    }
    Value::Object(kept)
}

/// Adds the references to components to `wanted`, and the names of security schemes to `names`.
fn collect_references(value: &Value, names: &mut Vec<String>, wanted: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let target = value.as_str().filter(|_| name == "$ref");
                let target = target.and_then(|text| text.strip_prefix("#/components/"));
                wanted.extend(target.map(str::to_owned));
                if name == "security" {
                    let schemes = value.as_array().into_iter().flatten();
                    let schemes = schemes.filter_map(Value::as_object).flatten();
                    names.extend(schemes.map(|(name, _)| name.clone()));
                }
                collect_references(value, names, wanted);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_references(item, names, wanted);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
