//! `view!`: declares the JSON of a resource, each field once.

use super::component::Keywords;
use super::rule::keywords;
use crate::domain::money::Cents;
use crate::domain::text_enum::TextEnum;
use crate::domain::time::Time;
use serde::{Serialize, Serializer};
use serde_json::json;
use serde_json::value::RawValue;

/// A type that a field of an answer can have.
pub trait Shown {
    /// Whether every answer has the field.
    const IS_REQUIRED: bool = true;

    /// Returns the JSON Schema of the field, without its description.
    fn keywords() -> Keywords;

    /// Returns `true` if the answer leaves the field out.
    fn is_absent(&self) -> bool {
        false
    }
}

impl Shown for &str {
    fn keywords() -> Keywords {
        keywords([("type", json!("string"))])
    }
}

impl Shown for String {
    fn keywords() -> Keywords {
        <&str>::keywords()
    }
}

impl Shown for bool {
    fn keywords() -> Keywords {
        keywords([("type", json!("boolean"))])
    }
}

impl Shown for Time {
    fn keywords() -> Keywords {
        keywords([("type", json!("string")), ("format", json!("date-time"))])
    }
}

impl Shown for Cents {
    fn keywords() -> Keywords {
        of_form("^-?[0-9]+\\.[0-9]{2}$")
    }
}

/// A JSON object of somebody else's.
impl Shown for &RawValue {
    fn keywords() -> Keywords {
        keywords([
            ("type", json!("object")),
            ("additionalProperties", json!(true)),
        ])
    }
}

impl<T: TextEnum> Shown for T {
    fn keywords() -> Keywords {
        keywords([("type", json!("string")), ("enum", json!(T::TEXTS))])
    }
}

/// `null` for `None`.
impl<T: Shown> Shown for Option<T> {
    fn keywords() -> Keywords {
        nullable(T::keywords())
    }
}

/// A field that an answer leaves out where it has no value.
#[derive(Clone, Copy, Debug)]
pub struct Sometimes<T>(pub Option<T>);

impl<T: Shown> Shown for Sometimes<T> {
    const IS_REQUIRED: bool = false;

    fn keywords() -> Keywords {
        T::keywords()
    }

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for Sometimes<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

impl<T: Shown> Shown for &[T] {
    fn keywords() -> Keywords {
        keywords([("type", json!("array")), ("items", json!(T::keywords()))])
    }
}

/// Returns the schema of a value that may be null.
pub fn nullable(mut all: Keywords) -> Keywords {
    if let Some(kind) = all.get_mut("type") {
        *kind = json!([kind, "null"]);
    }
    all
}

/// Returns the schema of a text that is always the same, like the `object` of a resource.
pub fn constant(text: &str) -> Keywords {
    keywords([("type", json!("string")), ("const", json!(text))])
}

/// Returns the schema of an id.
pub fn uuid() -> Keywords {
    keywords([("type", json!("string")), ("format", json!("uuid"))])
}

/// Returns the schema of a URL.
pub fn url() -> Keywords {
    keywords([("type", json!("string")), ("format", json!("uri"))])
}

/// Returns the schema of an amount in whole coins, or of a rate.
pub fn coins() -> Keywords {
    of_form("^[0-9]+(\\.[0-9]+)?$")
}

/// Returns the schema of a text that matches a regular expression.
pub fn of_form(pattern: &str) -> Keywords {
    keywords([("type", json!("string")), ("pattern", json!(pattern))])
}

/// Declares a resource: a struct, its JSON and its schema.
///
/// The documentation of a field is its description; the value after its type is in the example. Its schema follows from
/// its type, unless brackets give another. A resource may have `object`, its kind, before all fields, or extend another,
/// whose fields then come first.
macro_rules! view {
    (
        $(#[doc = $about:literal])+
        $vis:vis $name:ident<'a> as $title:literal $(, object $object:literal)? $(, extends $base:ident)? {
            $($(#[doc = $field_about:literal])+ $field:ident: $type:ty $([$keywords:expr])? $(= $example:expr)?;)+
        }
        $(example differs $differs:expr)?
    ) => {
        $(#[doc = $about])+
        #[derive(serde::Serialize)]
        $(#[serde(tag = "object", rename = $object)])?
        #[serde(rename_all = "camelCase")]
        $vis struct $name<'a> {
            $(
                /// The fields that both have.
                #[serde(flatten)]
                $vis base: $base<'a>,
            )?
            $(
                $(#[doc = $field_about])+
                #[serde(skip_serializing_if = "crate::domain::fields::Shown::is_absent")]
                $vis $field: $type,
            )+
        }

        impl<'a> $name<'a> {
            const PROPERTIES: &'static [$crate::domain::fields::Property] = &[
                $($crate::domain::fields::Property {
                    name: "object",
                    about: &[concat!("Always ", $object, ".")],
                    keywords: || $crate::domain::fields::view::constant($object),
                    is_required: true,
                    example: || Some(serde_json::json!($object)),
                },)?
                $($crate::domain::fields::Property {
                    name: $crate::domain::fields::input!(@name $field),
                    about: &[$($field_about),+],
                    keywords: || $crate::domain::fields::view!(@keywords $type, $($keywords)?),
                    is_required: <$type as $crate::domain::fields::Shown>::IS_REQUIRED,
                    example: || $crate::domain::fields::input!(@example $($example)?),
                }),+
            ];

            /// Schema of the resource.
            $vis const COMPONENT: $crate::domain::fields::Component = $crate::domain::fields::Component {
                name: $title,
                kind: $crate::domain::fields::ComponentKind::Object {
                    about: &[$($about),+],
                    is_open: false,
                    properties: &[$($base::PROPERTIES,)? $name::PROPERTIES],
                    differs: || $crate::domain::fields::view!(@differs $($differs)?),
                },
            };
        }
    };
    (@differs) => { serde_json::Value::Null };
    (@differs $differs:expr) => { $differs };
    (@keywords $type:ty,) => { <$type as $crate::domain::fields::Shown>::keywords() };
    (@keywords $type:ty, $keywords:expr) => { $keywords };
}

pub(crate) use view;
