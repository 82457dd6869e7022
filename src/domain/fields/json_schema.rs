//! Converts declarations to JSON Schemas, and returns their examples and the components to which they refer.

use super::schema::{Component, Keywords, Object, Property, Schema};
use serde_json::{Value, json};

impl Schema {
    /// Returns the JSON Schema.
    pub fn json_schema(&self) -> Keywords {
        match self {
            Schema::Text(text) => parse_keywords(text),
            Schema::Choice(texts) => {
                schema_from_keywords([("type", json!("string")), ("enum", json!(texts))])
            }
            Schema::Example(texts) => {
                schema_from_keywords([("type", json!("string")), ("examples", json!(texts()))])
            }
            Schema::Nullable(schema) => nullable_schema(schema.json_schema()),
            Schema::OrNull(schema) => one_of_schema_or_null(schema.json_schema()),
            Schema::List(items) => schema_from_keywords([
                ("type", json!("array")),
                ("items", json!(items.json_schema())),
            ]),
            Schema::ListUpTo(max, items) => schema_from_keywords([
                ("type", json!("array")),
                ("maxItems", json!(max)),
                ("items", json!(items.json_schema())),
            ]),
            Schema::Map(values) => schema_from_keywords([
                ("type", json!("object")),
                ("additionalProperties", json!(values.json_schema())),
            ]),
            Schema::Object(object) => object.json_schema(),
            Schema::Component(component) => component.schema_or_reference(),
            Schema::Rule(rule) => rule.schema(),
            Schema::Default(schema, value) => {
                let mut all = schema.json_schema();
                all.insert("default".to_owned(), value());
                all
            }
            Schema::OneOf(components) => {
                let choices = components.iter();
                let choices = choices.map(|component| json!(component.schema_or_reference()));
                schema_from_keywords([("oneOf", choices.collect())])
            }
        }
    }

    /// Returns the example of the object or component that the schema contains; `None` if it contains no object or
    /// component.
    pub fn example(&self) -> Option<Value> {
        match self {
            Schema::Object(object) => Some(Value::Object(object.example())),
            Schema::Component(component) => Some(component.example()),
            Schema::OneOf(components) => components.first().map(|component| component.example()),
            Schema::Nullable(inner) | Schema::OrNull(inner) => inner.example(),
            _ => None,
        }
    }

    /// Adds the components to which this schema refers, directly or through other components.
    pub fn add_components(&self, all: &mut Vec<&'static Component>) {
        match self {
            Schema::Nullable(inner)
            | Schema::OrNull(inner)
            | Schema::List(inner)
            | Schema::ListUpTo(_, inner)
            | Schema::Map(inner)
            | Schema::Default(inner, _) => inner.add_components(all),
            Schema::Object(object) => object.add_components(all),
            Schema::Component(component) => component.add_components(all),
            Schema::OneOf(components) => {
                components.iter().for_each(|component| component.add_components(all));
            }
            Schema::Text(_) | Schema::Choice(_) | Schema::Example(_) | Schema::Rule(_) => {}
        }
    }
}

impl Property {
    /// Returns the object whose fields replace this property in the outer object; `None` for an ordinary field.
    fn flattened_object(&self) -> Option<&'static Object> {
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
    /// Returns all fields, including those of flattened objects.
    fn all_properties(&self) -> Vec<&'static Property> {
        let mut all = Vec::new();
        for property in self.properties {
            match property.flattened_object() {
                Some(inner) => all.extend(inner.all_properties()),
                None => all.push(property),
            }
        }
        all
    }

    /// Returns the JSON Schema of the object.
    pub fn json_schema(&self) -> Keywords {
        let all = self.all_properties();
        let required = all.iter().filter(|property| property.is_required);
        let required: Vec<&str> = required.map(|property| property.name).collect();
        let mut schema = Keywords::new();
        schema.insert("type".to_owned(), json!("object"));
        add_description(&mut schema, self.about);
        schema.insert("additionalProperties".to_owned(), json!(self.is_open));
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.extend(parse_keywords(self.besides));
        let properties = all.into_iter().map(|property| {
            let mut keywords = property.schema.json_schema();
            add_description(&mut keywords, property.about);
            (property.name.to_owned(), Value::Object(keywords))
        });
        schema.insert("properties".to_owned(), properties.collect());
        schema
    }

    /// Returns an example of the object, as its fields.
    pub fn example(&self) -> Keywords {
        let mut example = Keywords::new();
        for property in self.properties {
            if let Some(inner) = property.flattened_object() {
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
        example.extend(parse_keywords(self.differs));
        example
    }

    /// Adds the components to which the fields refer.
    pub fn add_components(&self, all: &mut Vec<&'static Component>) {
        for property in self.all_properties() {
            property.schema.add_components(all);
        }
    }
}

impl Component {
    /// Returns a reference to this component. A component without a name is returned as its whole schema.
    fn schema_or_reference(&self) -> Keywords {
        match self {
            Component::Inline(object) => object.json_schema(),
            _ => schema_from_keywords([(
                "$ref",
                json!(format!("#/components/schemas/{}", self.name())),
            )]),
        }
    }

    /// Returns the JSON Schema.
    pub fn json_schema(&self) -> Keywords {
        match self {
            Component::Object { object, .. } | Component::Inline(object) => object.json_schema(),
            Component::Other { schema, .. } => schema.json_schema(),
            Component::Exemplified { component, .. } => component.json_schema(),
            Component::OneOf { about, choices, .. } => {
                let mut schema = Keywords::new();
                add_description(&mut schema, about);
                schema.extend(Schema::OneOf(choices).json_schema());
                schema
            }
            Component::List { item, about, about_data, .. } => {
                object_schema(about, vec![("data", list_schema(item, about_data))])
            }
            Component::Page {
                item,
                about: [about, about_data, about_more, about_next],
                before,
                ..
            } => {
                let mut has_more = schema_from_keywords([("type", json!("boolean"))]);
                add_description(&mut has_more, about_more);
                let mut next_before = Schema::Nullable(before).json_schema();
                add_description(&mut next_before, about_next);
                let data = list_schema(item, about_data);
                let fields = [("data", data), ("hasMore", has_more), ("nextBefore", next_before)];
                object_schema(about, fields.into())
            }
        }
    }

    /// Returns an example of the component.
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
                    fields.extend(parse_keywords(differs));
                }
                example
            }
            Component::OneOf { choices, .. } => {
                Schema::OneOf(choices).example().unwrap_or_default()
            }
            Component::Other { example, .. } => serde_json::from_str(example).unwrap_or_default(),
        }
    }

    /// Adds this component and all components to which its schema refers.
    pub fn add_components(&'static self, all: &mut Vec<&'static Component>) {
        if let Component::Inline(object) = self {
            return object.add_components(all);
        }
        if all.iter().any(|known| known.name() == self.name()) {
            return;
        }
        all.push(self);
        self.add_referenced_components(all);
    }

    fn add_referenced_components(&'static self, all: &mut Vec<&'static Component>) {
        match self {
            Component::Object { object, .. } | Component::Inline(object) => {
                object.add_components(all);
            }
            Component::List { item, .. } | Component::Page { item, .. } => item.add_components(all),
            Component::Exemplified { component, .. } => component.add_referenced_components(all),
            Component::OneOf { choices: parts, .. } | Component::Other { parts, .. } => {
                parts.iter().for_each(|part| part.add_components(all));
            }
        }
    }
}

/// Returns the schema of an object with exactly these fields, all required.
fn object_schema(about: &str, fields: Vec<(&str, Keywords)>) -> Keywords {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let mut schema = schema_from_keywords([("type", json!("object"))]);
    add_description(&mut schema, about);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.insert("required".to_owned(), json!(names));
    let properties =
        fields.into_iter().map(|(name, field)| (name.to_owned(), Value::Object(field)));
    schema.insert("properties".to_owned(), properties.collect());
    schema
}

fn list_schema(item: &Component, about: &str) -> Keywords {
    let mut schema = schema_from_keywords([
        ("type", json!("array")),
        ("items", json!(item.schema_or_reference())),
    ]);
    add_description(&mut schema, about);
    schema
}

fn nullable_schema(mut all: Keywords) -> Keywords {
    let is_simple = ["enum", "properties"].iter().all(|word| !all.contains_key(*word));
    match all.get_mut("type") {
        Some(kind) if is_simple => {
            match kind {
                Value::Array(kinds) => kinds.push(json!("null")),
                _ => *kind = json!([kind, "null"]),
            }
            all
        }
        _ => one_of_schema_or_null(all),
    }
}

fn one_of_schema_or_null(all: Keywords) -> Keywords {
    schema_from_keywords([("oneOf", json!([all, { "type": "null" }]))])
}

/// Parses the JSON text of a declaration as an object. A test proves that the text of every declaration is valid.
fn parse_keywords(text: &str) -> Keywords {
    serde_json::from_str(text).unwrap_or_default()
}

pub(in crate::domain) fn schema_from_keywords<const N: usize>(all: [(&str, Value); N]) -> Keywords {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Adds a description to a schema. An empty description is left out.
fn add_description(schema: &mut Keywords, about: &str) {
    if !about.is_empty() {
        schema.insert("description".to_owned(), json!(about.trim()));
    }
}
