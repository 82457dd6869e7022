//! Objects of bodies and answers: their properties, and what follows from them for the documents.

use super::component::Component;
use super::schema::{Keywords, Schema, parsed};
use serde_json::{Value, json};

/// An object with known fields.
pub struct Object {
    /// Description, as the documentation comment has it.
    pub about: &'static str,
    /// Whether it may have fields besides these.
    pub is_open: bool,
    /// Fields of the object.
    pub properties: &'static [Property],
    /// Further keywords of its schema, as JSON text.
    pub besides: &'static str,
    /// JSON text of the fields whose values in the example are not those of the properties.
    pub differs: &'static str,
}

/// A field of an object, or the fields of another.
pub struct Property {
    /// Name in JSON.
    pub name: &'static str,
    /// Description, as the documentation comment has it.
    pub about: &'static str,
    /// Schema of the value.
    pub schema: Schema,
    /// Whether the object has the field always.
    pub is_required: bool,
    /// Whether the fields of the value take the place of this one.
    pub is_flattened: bool,
    /// JSON text of the field in the object's example, `None` for the example of its own schema.
    pub example: Option<&'static str>,
}

impl Property {
    /// Returns the object whose fields take the place of this one.
    fn flattened(&self) -> Option<&'static Object> {
        match self.schema {
            Schema::Object(object) if self.is_flattened => Some(object),
            Schema::Component(Component::Object { object, .. }) if self.is_flattened => {
                Some(*object)
            }
            _ => None,
        }
    }
}

impl Object {
    /// Returns the fields, those of flattened objects among them.
    fn all_properties(&self) -> Vec<&'static Property> {
        let mut all = Vec::new();
        for property in self.properties {
            match property.flattened() {
                Some(inner) => all.extend(inner.all_properties()),
                None => all.push(property),
            }
        }
        all
    }

    /// Returns the JSON Schema.
    pub fn keywords(&self) -> Keywords {
        let all = self.all_properties();
        let required = all.iter().filter(|property| property.is_required);
        let required: Vec<&str> = required.map(|property| property.name).collect();
        let mut schema = Keywords::new();
        schema.insert("type".to_owned(), json!("object"));
        describe(&mut schema, self.about);
        schema.insert("additionalProperties".to_owned(), json!(self.is_open));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.extend(parsed(self.besides));
        let properties = all.into_iter().map(|property| {
            let mut keywords = property.schema.keywords();
            describe(&mut keywords, property.about);
            (property.name.to_owned(), Value::Object(keywords))
        });
        schema.insert("properties".to_owned(), properties.collect());
        schema
    }

    /// Returns the fields of an example.
    pub fn example(&self) -> Keywords {
        let mut example = Keywords::new();
        for property in self.properties {
            if let Some(inner) = property.flattened() {
                example.extend(inner.example());
                continue;
            }
            let value = match property.example {
                Some(text) => serde_json::from_str(text).ok(),
                None if property.is_required => property.schema.example(),
                None => None,
            };
            example.extend(value.map(|value| (property.name.to_owned(), value)));
        }
        example.extend(parsed(self.differs));
        example
    }

    /// Adds the components that its fields refer to.
    pub fn add_components(&self, all: &mut Vec<&'static Component>) {
        for property in self.all_properties() {
            property.schema.add_components(all);
        }
    }
}

/// Adds a description, unless there is none.
pub(super) fn describe(schema: &mut Keywords, about: &str) {
    if !about.is_empty() {
        schema.insert("description".to_owned(), json!(about.trim()));
    }
}
