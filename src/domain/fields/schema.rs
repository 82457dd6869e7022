//! JSON Schemas as data, so that a declared field adds no code to the program.

use super::component::Component;
use super::object::Object;
use crate::domain::asset::{Asset, Chain};
use serde_json::{Map, Value, json};

/// A JSON Schema, or a part of one, by its keywords.
pub type Keywords = Map<String, Value>;

/// A rule as the schema of a field, whatever its type.
pub trait Describing: Sync {
    /// Returns the JSON Schema.
    fn schema(&self) -> Keywords;
}

/// A JSON Schema.
#[derive(Clone, Copy)]
pub enum Schema {
    /// This JSON text.
    Text(&'static str),
    /// A text of a list.
    Choice(&'static [&'static str]),
    /// A text of a list that grows: its present entries are examples.
    Example(fn() -> Vec<&'static str>),
    /// A value, or null.
    Nullable(&'static Schema),
    /// A value, or null, described apart.
    OrNull(&'static Schema),
    /// A list.
    List(&'static Schema),
    /// A list of at most so many items.
    ListUpTo(u32, &'static Schema),
    /// An object whose names are free.
    Map(&'static Schema),
    /// An object, described where it stands.
    Object(&'static Object),
    /// A component, by its name.
    Component(&'static Component),
    /// The value that a rule takes.
    Rule(&'static dyn Describing),
    /// A value, or this one where it is absent.
    Default(&'static Schema, fn() -> Value),
    /// One of several components. The example is that of the first.
    OneOf(&'static [&'static Component]),
}

/// Returns the schema that this JSON object is.
macro_rules! schema {
    ($json:tt) => {
        $crate::domain::fields::Schema::Text(stringify!($json))
    };
}

pub(crate) use schema;

impl Schema {
    /// A text.
    pub const STRING: Schema = schema!({ "type": "string" });
    /// An id.
    pub const UUID: Schema = schema!({ "type": "string", "format": "uuid" });
    /// A URL.
    pub const URL: Schema = schema!({ "type": "string", "format": "uri" });
    /// A moment, in UTC.
    pub const MOMENT: Schema = schema!({ "type": "string", "format": "date-time" });
    /// A number that is not negative, like a count or a height.
    pub const COUNT: Schema = schema!({ "type": "integer", "minimum": 0 });
    /// Id of a coin.
    pub const ASSET: Schema = Schema::Example(Asset::ids);
    /// Name of a chain.
    pub const CHAIN: Schema = Schema::Example(|| Chain::TEXTS.to_vec());
    /// An amount in whole coins, or a rate.
    pub const COINS: Schema = schema!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$" });
    /// An amount of money that is not negative.
    pub const PRICE: Schema = schema!({ "type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$" });

    /// Returns the JSON Schema.
    pub fn keywords(&self) -> Keywords {
        match self {
            Schema::Text(text) => parsed(text),
            Schema::Choice(texts) => keywords([("type", json!("string")), ("enum", json!(texts))]),
            Schema::Example(texts) => {
                keywords([("type", json!("string")), ("examples", json!(texts()))])
            }
            Schema::Nullable(schema) => nullable(schema.keywords()),
            Schema::OrNull(schema) => one_of_null(schema.keywords()),
            Schema::List(items) => {
                keywords([("type", json!("array")), ("items", json!(items.keywords()))])
            }
            Schema::ListUpTo(max, items) => keywords([
                ("type", json!("array")),
                ("maxItems", json!(max)),
                ("items", json!(items.keywords())),
            ]),
            Schema::Map(values) => keywords([
                ("type", json!("object")),
                ("additionalProperties", json!(values.keywords())),
            ]),
            Schema::Object(object) => object.keywords(),
            Schema::Component(component) => component.reference(),
            Schema::Rule(rule) => rule.schema(),
            Schema::Default(schema, value) => {
                let mut all = schema.keywords();
                all.insert("default".to_owned(), value());
                all
            }
            Schema::OneOf(components) => {
                let choices = components.iter();
                let choices = choices.map(|component| json!(component.reference()));
                keywords([("oneOf", choices.collect())])
            }
        }
    }

    /// Returns the example of an object or component that the schema describes.
    pub fn example(&self) -> Option<Value> {
        match self {
            Schema::Object(object) => Some(Value::Object(object.example())),
            Schema::Component(component) => Some(component.example()),
            Schema::OneOf(components) => components.first().map(|component| component.example()),
            Schema::Nullable(inner) | Schema::OrNull(inner) => inner.example(),
            _ => None,
        }
    }

    /// Adds the components that this schema refers to, and those that they refer to.
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
                components
                    .iter()
                    .for_each(|component| component.add_components(all));
            }
            Schema::Text(_) | Schema::Choice(_) | Schema::Example(_) | Schema::Rule(_) => {}
        }
    }
}

/// Returns the schema of a value that may be null, too.
fn nullable(mut all: Keywords) -> Keywords {
    let is_simple = ["enum", "properties"]
        .iter()
        .all(|word| !all.contains_key(*word));
    match all.get_mut("type") {
        Some(kind) if is_simple => {
            match kind {
                Value::Array(kinds) => kinds.push(json!("null")),
                _ => *kind = json!([kind, "null"]),
            }
            all
        }
        _ => one_of_null(all),
    }
}

fn one_of_null(all: Keywords) -> Keywords {
    keywords([("oneOf", json!([all, { "type": "null" }]))])
}

/// Returns the object that JSON text of a declaration is. A test parses every declaration.
pub(super) fn parsed(text: &str) -> Keywords {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns a schema of these keywords.
pub(in crate::domain) fn keywords<const N: usize>(all: [(&str, Value); N]) -> Keywords {
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
