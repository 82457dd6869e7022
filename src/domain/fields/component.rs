//! Schemas of the OpenAPI documents that have a name, each with an example.

use super::object::Object;
use super::schema::{Keywords, Schema, parsed};
use serde_json::{Value, json};

/// A schema that operations refer to by its name.
pub enum Component {
    /// An object.
    Object {
        /// Name in the document.
        name: &'static str,
        /// The object.
        object: &'static Object,
    },
    /// An object whose only field `data` has all items of a list.
    List {
        /// Name in the document.
        name: &'static str,
        /// Schema of an item.
        item: &'static Component,
        /// Description of the list.
        about: &'static str,
        /// Description of `data`, which says the order.
        about_data: &'static str,
    },
    /// A page of a list: `data`, `hasMore` and `nextBefore`.
    Page {
        /// Name in the document.
        name: &'static str,
        /// Schema of an item.
        item: &'static Component,
        /// Descriptions of the page, and of its fields in their order.
        about: [&'static str; 4],
        /// Schema of `nextBefore` where it is not null.
        before: &'static Schema,
    },
    /// A component with another example.
    Exemplified {
        /// The component.
        component: &'static Component,
        /// JSON text of the fields whose values in the example are others.
        differs: &'static str,
    },
    /// An object without a name, described where it stands.
    Inline(&'static Object),
    /// A schema that nothing here describes.
    Other {
        /// Name in the document.
        name: &'static str,
        /// Schema.
        schema: Schema,
        /// JSON text of an example.
        example: &'static str,
        /// Components that it refers to.
        parts: &'static [&'static Component],
    },
}

impl Component {
    /// Returns the name in the document.
    pub const fn name(&self) -> &'static str {
        match self {
            Component::Object { name, .. }
            | Component::List { name, .. }
            | Component::Page { name, .. }
            | Component::Other { name, .. } => name,
            Component::Exemplified { component, .. } => component.name(),
            Component::Inline(_) => "",
        }
    }

    /// Returns the reference that a schema makes to it.
    pub fn reference(&self) -> String {
        format!("#/components/schemas/{}", self.name())
    }

    /// Returns the JSON Schema.
    pub fn keywords(&self) -> Keywords {
        let schema = match self {
            Component::Object { object, .. } | Component::Inline(object) => {
                return object.keywords();
            }
            Component::Other { schema, .. } => return schema.keywords(),
            Component::Exemplified { component, .. } => return component.keywords(),
            Component::List {
                item,
                about,
                about_data,
                ..
            } => json!({
                "type": "object", "description": about, "additionalProperties": false,
                "required": ["data"], "properties": { "data": list_of(item, about_data) },
            }),
            Component::Page {
                item,
                about,
                before,
                ..
            } => {
                let [about, about_data, about_more, about_next] = about;
                let mut next_before = Schema::Nullable(before).keywords();
                next_before.insert("description".to_owned(), json!(about_next));
                let properties = json!({
                    "data": list_of(item, about_data),
                    "hasMore": { "type": "boolean", "description": about_more },
                    "nextBefore": next_before,
                });
                json!({
                    "type": "object", "description": about, "additionalProperties": false,
                    "required": ["data", "hasMore", "nextBefore"], "properties": properties,
                })
            }
        };
        match schema {
            Value::Object(schema) => schema,
            _ => Keywords::new(),
        }
    }

    /// Returns an example of a value.
    pub fn example(&self) -> Value {
        match self {
            Component::Object { object, .. } | Component::Inline(object) => {
                Value::Object(object.example())
            }
            Component::List { item, .. } => json!({ "data": [item.example()] }),
            Component::Page { item, .. } => {
                json!({ "data": [item.example()], "hasMore": false, "nextBefore": null })
            }
            Component::Exemplified { component, differs } => {
                let mut example = component.example();
                if let Value::Object(fields) = &mut example {
                    fields.extend(parsed(differs));
                }
                example
            }
            Component::Other { example, .. } => serde_json::from_str(example).unwrap_or_default(),
        }
    }

    /// Adds this component, and those that its schema refers to.
    pub fn add_components(&'static self, all: &mut Vec<&'static Component>) {
        if let Component::Inline(object) = self {
            return object.add_components(all);
        }
        if all.iter().any(|known| known.name() == self.name()) {
            return;
        }
        all.push(self);
        self.add_parts(all);
    }

    /// Adds the components that the schema refers to.
    fn add_parts(&'static self, all: &mut Vec<&'static Component>) {
        match self {
            Component::Object { object, .. } | Component::Inline(object) => {
                object.add_components(all);
            }
            Component::List { item, .. } | Component::Page { item, .. } => item.add_components(all),
            Component::Exemplified { component, .. } => component.add_parts(all),
            Component::Other { parts, .. } => {
                parts.iter().for_each(|part| part.add_components(all));
            }
        }
    }
}

/// Returns the schema of a list of such items.
fn list_of(item: &Component, about: &str) -> Value {
    let items = match item {
        Component::Inline(object) => json!(object.keywords()),
        named => json!({ "$ref": named.reference() }),
    };
    json!({ "type": "array", "items": items, "description": about })
}
