//! Schemas of the OpenAPI documents that have a name, each with an example.

use serde_json::{Map, Value, json};

/// A JSON Schema, or a part of one, by its keywords.
pub type Keywords = Map<String, Value>;

/// A schema that operations refer to by its name.
pub struct Component {
    /// Name in the document.
    pub name: &'static str,
    /// Kind of the value that it describes.
    pub kind: ComponentKind,
}

/// Kinds of values that have a schema of their own.
pub enum ComponentKind {
    /// An object.
    Object {
        /// Lines of the description.
        about: &'static [&'static str],
        /// Whether it may have fields besides these.
        is_open: bool,
        /// Properties, first those of the object that it extends.
        properties: &'static [&'static [Property]],
        /// Returns the fields whose values in the example are not those of the properties.
        differs: fn() -> Value,
    },
    /// An object whose only field `data` has all items of a list.
    List {
        /// Schema of an item.
        item: &'static Component,
        /// Description of the list.
        about: &'static str,
        /// Description of `data`, which says the order.
        about_data: &'static str,
    },
    /// A page of a list: `data`, `hasMore` and `nextBefore`.
    Page {
        /// Schema of an item.
        item: &'static Component,
        /// Descriptions of the page, and of its fields in their order.
        about: [&'static str; 4],
    },
}

impl Component {
    /// Returns the JSON Schema.
    pub fn schema(&self) -> Value {
        match &self.kind {
            ComponentKind::Object {
                about,
                is_open,
                properties,
                ..
            } => object_schema(about, *is_open, properties),
            ComponentKind::List {
                item,
                about,
                about_data,
            } => {
                let data = list_of(item, about_data);
                json!({
                    "type": "object", "description": about, "additionalProperties": false,
                    "required": ["data"], "properties": { "data": data },
                })
            }
            ComponentKind::Page { item, about } => {
                let [about, about_data, about_more, about_next] = about;
                let properties = json!({
                    "data": list_of(item, about_data),
                    "hasMore": { "type": "boolean", "description": about_more },
                    "nextBefore": {
                        "type": ["string", "null"], "format": "uuid", "description": about_next
                    },
                });
                json!({
                    "type": "object", "description": about, "additionalProperties": false,
                    "required": ["data", "hasMore", "nextBefore"], "properties": properties,
                })
            }
        }
    }

    /// Returns an example of a value.
    pub fn example(&self) -> Value {
        match &self.kind {
            ComponentKind::Object {
                properties,
                differs,
                ..
            } => object_example(properties, &differs()),
            ComponentKind::List { item, .. } => json!({ "data": [item.example()] }),
            ComponentKind::Page { item, .. } => {
                json!({ "data": [item.example()], "hasMore": false, "nextBefore": null })
            }
        }
    }

    /// Returns this component and those that its schema refers to.
    pub fn with_parts(&'static self) -> Vec<&'static Component> {
        match &self.kind {
            ComponentKind::Object { .. } => vec![self],
            ComponentKind::List { item, .. } | ComponentKind::Page { item, .. } => {
                vec![self, *item]
            }
        }
    }
}

/// Returns the schema of a list of such items.
fn list_of(item: &Component, about: &str) -> Value {
    let reference = format!("#/components/schemas/{}", item.name);
    json!({ "type": "array", "items": { "$ref": reference }, "description": about })
}

/// A property of an object's schema.
pub struct Property {
    /// Name in JSON.
    pub name: &'static str,
    /// Lines of the description, as the field's documentation has them.
    pub about: &'static [&'static str],
    /// Returns the keywords of the value's schema, without the description.
    pub keywords: fn() -> Keywords,
    /// Whether the object has the field always.
    pub is_required: bool,
    /// Returns the value of the field in the object's example.
    pub example: fn() -> Option<Value>,
}

/// Returns the schema of a field that has this value if it is absent.
pub fn with_default(mut keywords: Keywords, value: Value) -> Keywords {
    keywords.insert("default".to_owned(), value);
    keywords
}

fn object_schema(about: &[&str], is_open: bool, properties: &[&[Property]]) -> Value {
    let all = || properties.iter().copied().flatten();
    let required = all().filter(|property| property.is_required);
    let required: Vec<&str> = required.map(|property| property.name).collect();
    let mut schema = Keywords::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("description".to_owned(), json!(joined(about)));
    schema.insert("additionalProperties".to_owned(), json!(is_open));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    let properties = all().map(|property| {
        let mut keywords = (property.keywords)();
        keywords.insert("description".to_owned(), json!(joined(property.about)));
        (property.name.to_owned(), Value::Object(keywords))
    });
    schema.insert("properties".to_owned(), properties.collect());
    Value::Object(schema)
}

fn object_example(properties: &[&[Property]], differs: &Value) -> Value {
    let all = properties.iter().copied().flatten();
    let examples = all.filter_map(|property| {
        let differing = differs.get(property.name).cloned();
        let value = differing.or_else(property.example)?;
        Some((property.name.to_owned(), value))
    });
    Value::Object(examples.collect())
}

/// Returns the lines of a documentation comment as one text.
fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}

/// A field's name in JSON, made of its name in Rust: `overlap_seconds` becomes `overlapSeconds`.
pub struct CamelCase {
    bytes: [u8; CamelCase::BYTES_MAX],
    length: usize,
}

impl CamelCase {
    /// Length of the longest name.
    const BYTES_MAX: usize = 40;

    /// Returns the name of a field. A longer name than 40 bytes does not compile.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "evaluated by the compiler, which refuses what overflows"
    )]
    pub const fn of(name: &str) -> CamelCase {
        let name = name.as_bytes();
        let (mut bytes, mut length, mut at) = ([0; CamelCase::BYTES_MAX], 0, 0);
        let mut is_first_of_word = false;
        while at < name.len() {
            if name[at] == b'_' {
                is_first_of_word = true;
            } else {
                let letter = name[at];
                bytes[length] = if is_first_of_word {
                    letter.to_ascii_uppercase()
                } else {
                    letter
                };
                is_first_of_word = false;
                length += 1;
            }
            at += 1;
        }
        CamelCase { bytes, length }
    }

    /// Returns the name as text.
    pub const fn as_str(&self) -> &str {
        let (name, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(name) {
            Ok(name) => name,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CamelCase;

    #[test]
    fn name_in_json_has_no_underscores() {
        for (rust, json) in [
            ("id", "id"),
            ("last4", "last4"),
            ("last_used_at", "lastUsedAt"),
        ] {
            assert_eq!(CamelCase::of(rust).as_str(), json);
        }
    }
}
