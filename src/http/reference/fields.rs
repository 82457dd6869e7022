//! Fields of a schema for the reference pages: names, types, ranges.
//!
//! Invariant: the name of a field in a nested object starts with the name of the outer field. An object with its own
//! schema is linked, and its fields are not repeated.

use crate::web::reference::Field;
use serde_json::Value;

const REFERENCE: &str = "#/components/schemas/";

/// Returns the name of the schema that `schema` refers to, `None` if `schema` is not a reference.
fn referenced_name(schema: &Value) -> Option<&str> {
    let target = schema.get("$ref").and_then(Value::as_str)?;
    target.strip_prefix(REFERENCE)
}

/// Returns the text in the field `name`, or an empty text if there is none.
pub(super) fn text_field(value: &Value, name: &str) -> String {
    let text = value.get(name).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

pub(super) fn object_fields(schema: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    add_fields(schema, "", &mut found);
    found
}

/// Adds the fields of an object to `found`. The prefix `within` of each field's name consists of the names of the
/// outer fields.
fn add_fields(schema: &Value, within: &str, found: &mut Vec<Field>) {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        let mut required = required.into_iter().flatten();
        required.any(|required| required == name)
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_none() {
        for alternative in alternatives(schema) {
            add_fields(alternative, within, found);
        }
    }
    for (name, property) in properties.into_iter().flatten() {
        let full = format!("{within}{name}");
        found.push(schema_field(full.clone(), property, is_required(name)));
        add_fields(property, &format!("{full}."), found);
    }
    if let Some(items) = schema.get("items") {
        let list = within.strip_suffix('.').unwrap_or(within);
        add_fields(items, &format!("{list}[]."), found);
    }
}

pub(super) fn schema_field(name: String, schema: &Value, is_required: bool) -> Field {
    let mut kinds = Vec::new();
    let mut field = Field {
        name,
        place: "",
        kind: String::new(),
        objects: Vec::new(),
        is_required,
        about: text_field(schema, "description"),
        rules: Vec::new(),
        values_are: "",
        values: Vec::new(),
        pattern: None,
    };
    describe_schema(schema, &mut kinds, &mut field);
    kinds.dedup();
    // The type `null` comes last.
    kinds.sort_by_key(|kind| kind == "null");
    field.kind = kinds.join(" or ");
    field
}

/// Returns the alternatives of a schema: `oneOf`, `anyOf` and `allOf`.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf", "allOf"].into_iter();
    let lists = lists.filter_map(|name| schema.get(name).and_then(Value::as_array));
    lists.flatten()
}

/// Adds the types of a schema to `kinds`, and its ranges and values to `field`.
fn describe_schema(schema: &Value, kinds: &mut Vec<String>, field: &mut Field) {
    if let Some(name) = referenced_name(schema) {
        field.objects.push(name.to_owned());
        return;
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for kind in types {
        match (kind, schema.get("items").map(|items| (referenced_name(items), items))) {
            ("array", Some((Some(name), _))) => {
                field.objects.push(name.to_owned());
                kinds.push("list of".to_owned());
            }
            ("array", Some((None, items))) => {
                let mut of = Vec::new();
                describe_schema(items, &mut of, field);
                kinds.push(format!("list of {}", of.join(" or ")));
            }
            ("string", _) => kinds.push(match schema.get("format").and_then(Value::as_str) {
                Some(format) => format!("string ({format})"),
                None => kind.to_owned(),
            }),
            _ => kinds.push(kind.to_owned()),
        }
    }
    if has_no_types(schema) {
        for alternative in alternatives(schema) {
            describe_schema(alternative, kinds, field);
        }
    }
    add_ranges(schema, &mut field.rules);
    add_values(schema, field);
}

fn has_no_types(schema: &Value) -> bool {
    schema.get("type").is_none()
}

/// Adds the allowed values, the examples and the pattern of a schema to the field.
fn add_values(schema: &Value, field: &mut Field) {
    let values = [("enum", "one of"), ("examples", "such as")];
    for (name, said) in values {
        if let Some(list) = schema.get(name).and_then(Value::as_array) {
            field.values_are = said;
            field.values.extend(list.iter().map(display_value));
        }
    }
    if let Some(only) = schema.get("const") {
        field.values_are = "always";
        field.values.push(display_value(only));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        field.pattern = Some(pattern.to_owned());
    }
}

/// Adds the ranges and the default of a schema to `rules`, in words.
fn add_ranges(schema: &Value, rules: &mut Vec<String>) {
    let number = |name: &str| schema.get(name).map(display_value);
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " fields"),
    ] {
        rules.extend(match (number(least), number(most)) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("at least {least}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        });
    }
    rules.extend(number("exclusiveMinimum").map(|least| format!("more than {least}")));
    rules.extend(number("default").map(|value| format!("{value} where it is left out")));
}

/// Formats a JSON value for people: a text has no quotes.
fn display_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
