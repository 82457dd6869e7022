//! JSON Schemas as data, so that a declared field adds no code to the program.

use crate::domain::asset::{Asset, Chain};
use serde_json::{Map, Value};

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
}

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
}
