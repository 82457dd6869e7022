//! Schemas of the OpenAPI documents that have a name, each with an example.

use super::object::{Object, describe};
use super::schema::{Keywords, Schema, keywords, parsed};
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
        /// Description of the list, empty for none.
        about: &'static str,
        /// Description of `data`, which says the order, or empty.
        about_data: &'static str,
    },
    /// A page of a list: `data`, `hasMore` and `nextBefore`.
    Page {
        /// Name in the document.
        name: &'static str,
        /// Schema of an item.
        item: &'static Component,
        /// Descriptions of the page, and of its fields in their order. An empty one is left out.
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
    /// One of several components.
    OneOf {
        /// Name in the document.
        name: &'static str,
        /// Description.
        about: &'static str,
        /// Components, of which those without a name are described here. The example is that of the first.
        choices: &'static [&'static Component],
    },
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
            | Component::OneOf { name, .. }
            | Component::Other { name, .. } => name,
            Component::Exemplified { component, .. } => component.name(),
            Component::Inline(_) => "",
        }
    }

    /// Returns the schema of a value of it: a reference, unless it has no name.
    pub(super) fn reference(&self) -> Keywords {
        match self {
            Component::Inline(object) => object.keywords(),
            _ => keywords([(
                "$ref",
                json!(format!("#/components/schemas/{}", self.name())),
            )]),
        }
    }

    /// Returns the JSON Schema.
    pub fn keywords(&self) -> Keywords {
        match self {
            Component::Object { object, .. } | Component::Inline(object) => object.keywords(),
            Component::Other { schema, .. } => schema.keywords(),
            Component::Exemplified { component, .. } => component.keywords(),
            Component::OneOf { about, choices, .. } => {
                let mut schema = Keywords::new();
                describe(&mut schema, about);
                schema.extend(Schema::OneOf(choices).keywords());
                schema
            }
            Component::List {
                item,
                about,
                about_data,
                ..
            } => envelope(about, vec![("data", list_of(item, about_data))]),
            Component::Page {
                item,
                about: [about, about_data, about_more, about_next],
                before,
                ..
            } => {
                let mut has_more = keywords([("type", json!("boolean"))]);
                describe(&mut has_more, about_more);
                let mut next_before = Schema::Nullable(before).keywords();
                describe(&mut next_before, about_next);
                let data = list_of(item, about_data);
                let fields = [
                    ("data", data),
                    ("hasMore", has_more),
                    ("nextBefore", next_before),
                ];
                envelope(about, fields.into())
            }
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
            Component::OneOf { choices, .. } => {
                Schema::OneOf(choices).example().unwrap_or_default()
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
            Component::OneOf { choices: parts, .. } | Component::Other { parts, .. } => {
                parts.iter().for_each(|part| part.add_components(all));
            }
        }
    }
}

/// Returns the schema of an object that always has these fields.
fn envelope(about: &str, fields: Vec<(&str, Keywords)>) -> Keywords {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let mut schema = keywords([("type", json!("object"))]);
    describe(&mut schema, about);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.insert("required".to_owned(), json!(names));
    let properties = fields
        .into_iter()
        .map(|(name, field)| (name.to_owned(), Value::Object(field)));
    schema.insert("properties".to_owned(), properties.collect());
    schema
}

/// Returns the schema of a list of such items.
fn list_of(item: &Component, about: &str) -> Keywords {
    let mut schema = keywords([("type", json!("array")), ("items", json!(item.reference()))]);
    describe(&mut schema, about);
    schema
}
