//! JSON Schemas of declared fields, as constants.

use crate::domain::asset::{Asset, Chain};
use serde_json::{Map, Value};

/// Keywords of a JSON Schema with their values, for example `type` and `pattern`.
pub type Keywords = Map<String, Value>;

/// Source of the JSON Schema of a field. Unlike `Rule`, the trait does not depend on the type of the field's value.
pub trait FieldSchema: Sync {
    /// Returns the JSON Schema of the field.
    fn schema(&self) -> Keywords;
}

/// A JSON Schema.
#[derive(Clone, Copy)]
pub enum Schema {
    /// A schema, as JSON text.
    Text(&'static str),
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A text from a list that may grow. The examples are the current texts.
    Example(fn() -> Vec<&'static str>),
    /// A value or null.
    Nullable(&'static Schema),
    /// A value or null, as two alternatives of `oneOf`.
    OrNull(&'static Schema),
    /// A list of values of this schema.
    List(&'static Schema),
    /// A list with at most this number of items.
    ListUpTo(u32, &'static Schema),
    /// An object with any field names, in which each value has this schema.
    Map(&'static Schema),
    /// An object. Its schema is included, not referred to by name.
    Object(&'static Object),
    /// A reference to a component.
    Component(&'static Component),
    /// The schema of a rule.
    Rule(&'static dyn FieldSchema),
    /// A value, with a default for an absent field.
    Default(&'static Schema, fn() -> Value),
    /// One of several components. The first gives the example.
    OneOf(&'static [&'static Component]),
}

macro_rules! schema {
    ($json:tt) => {
        $crate::domain::fields::Schema::Text(stringify!($json))
    };
}

pub(crate) use schema;

impl Schema {
    /// Any text.
    pub const STRING: Schema = schema!({ "type": "string" });
    /// An id in the form of a UUID.
    pub const UUID: Schema = schema!({ "type": "string", "format": "uuid" });
    /// A URL of any scheme.
    pub const URL: Schema = schema!({ "type": "string", "format": "uri" });
    /// A time in UTC.
    pub const MOMENT: Schema = schema!({ "type": "string", "format": "date-time" });
    /// A whole number that is not negative, like a count or a height.
    pub const COUNT: Schema = schema!({ "type": "integer", "minimum": 0 });
    /// The id of a coin.
    pub const ASSET: Schema = Schema::Example(Asset::ids);
    /// The name of a chain.
    pub const CHAIN: Schema = Schema::Example(|| Chain::TEXTS.to_vec());
    /// An amount in whole coins, or a rate, as a decimal text.
    pub const COINS: Schema = schema!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$" });
    /// An amount of fiat money that is not negative, with two decimals.
    pub const PRICE: Schema = schema!({ "type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$" });
}

/// Declaration of a JSON object, from which its schema and example are built.
pub struct Object {
    /// Description, from the documentation comment.
    pub about: &'static str,
    /// `true` if the object may have other fields.
    pub is_open: bool,
    /// Fields of the object.
    pub properties: &'static [Property],
    /// Further keywords of the schema, as JSON text.
    pub besides: &'static str,
    /// JSON text of fields that replace examples of the properties in the object's example.
    pub differs: &'static str,
}

/// A field of an object, or an object whose fields become fields of the outer object.
pub struct Property {
    /// Name in JSON.
    pub name: &'static str,
    /// Description, from the documentation comment.
    pub about: &'static str,
    /// Schema of the value.
    pub schema: Schema,
    /// `true` if the object always has the field.
    pub is_required: bool,
    /// `true` if the fields of the value are part of the outer object.
    pub is_flattened: bool,
    /// JSON text of the field in the object's example; `None` to use the example of the field's schema.
    pub example: Option<&'static str>,
}

/// A schema to which operations refer by its name.
pub enum Component {
    /// An object with a name.
    Object {
        /// Name in the OpenAPI document.
        name: &'static str,
        /// Fields of the object.
        object: &'static Object,
    },
    /// An object whose only field `data` is a complete list.
    List {
        /// Name in the OpenAPI document.
        name: &'static str,
        /// Schema of an item.
        item: &'static Component,
        /// Description of the list; empty for none.
        about: &'static str,
        /// Description of `data`, with the order of the items; empty for none.
        about_data: &'static str,
    },
    /// A page of a list, with the fields `data`, `hasMore` and `nextBefore`.
    Page {
        /// Name in the OpenAPI document.
        name: &'static str,
        /// Schema of an item.
        item: &'static Component,
        /// Descriptions of the page, of `data`, of `hasMore` and of `nextBefore`; empty for none.
        about: [&'static str; 4],
        /// Schema of `nextBefore` if it is not null.
        before: &'static Schema,
    },
    /// A component with the schema of another component, but a different example.
    Exemplified {
        /// Component that has the schema.
        component: &'static Component,
        /// JSON text of fields that replace fields of the component's example.
        differs: &'static str,
    },
    /// An object without a name. Its schema is repeated in each place that uses it.
    Inline(&'static Object),
    /// One of several components.
    OneOf {
        /// Name in the OpenAPI document.
        name: &'static str,
        /// Description of the component.
        about: &'static str,
        /// The alternatives. Components without a name are described inside this component. The first alternative
        /// gives the example.
        choices: &'static [&'static Component],
    },
    /// A schema that cannot be described by the other variants.
    Other {
        /// Name in the OpenAPI document.
        name: &'static str,
        /// Schema of the component.
        schema: Schema,
        /// JSON text of the example.
        example: &'static str,
        /// Components to which the schema refers.
        parts: &'static [&'static Component],
    },
}

impl Component {
    /// Returns the name in the OpenAPI document.
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
}
