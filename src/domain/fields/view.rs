//! `view!`: declares the JSON of a resource, each field once.

use super::component::Keywords;
use super::rule::keywords;
use crate::domain::text_enum::TextEnum;
use crate::domain::time::Time;
use serde::{Serialize, Serializer};
use serde_json::json;

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

impl Shown for Time {
    fn keywords() -> Keywords {
        keywords([("type", json!("string")), ("format", json!("date-time"))])
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
        let mut all = T::keywords();
        if let Some(kind) = all.get_mut("type") {
            *kind = json!([kind, "null"]);
        }
        all
    }
}

/// An id of a row, a UUID.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct UuidView<'a>(pub &'a str);

impl Shown for UuidView<'_> {
    fn keywords() -> Keywords {
        keywords([("type", json!("string")), ("format", json!("uuid"))])
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

/// Returns the keywords of the field `object`, which names the kind of a resource.
pub fn object_keywords(object: &str) -> Keywords {
    keywords([("type", json!("string")), ("const", json!(object))])
}

/// Declares a resource: a struct, its JSON and its schema.
///
/// The documentation of a field is its description; the value after its type is in the example. A resource has `object`,
/// its kind, first. One that extends another has the other's fields first.
macro_rules! view {
    (
        $(#[doc = $about:literal])+
        $vis:vis $name:ident<'a>, object $object:literal {
            $($(#[doc = $field_about:literal])+ $field:ident: $type:ty = $example:expr;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(serde::Serialize)]
        #[serde(tag = "object", rename = $object, rename_all = "camelCase")]
        $vis struct $name<'a> {
            $(
                $(#[doc = $field_about])+
                #[serde(skip_serializing_if = "crate::domain::fields::Shown::is_absent")]
                $vis $field: $type,
            )+
        }

        impl<'a> $name<'a> {
            $crate::domain::fields::view!(@component $vis $name $($about),+);

            fn properties() -> Vec<$crate::domain::fields::Property> {
                let mut all = vec![$crate::domain::fields::Property {
                    name: "object",
                    about: &[concat!("Always ", $object, ".")],
                    keywords: $crate::domain::fields::object_keywords($object),
                    is_required: true,
                    example: Some(serde_json::json!($object)),
                }];
                all.extend([
                    $($crate::domain::fields::view!(@property $field $type, $example, $($field_about),+)),+
                ]);
                all
            }
        }
    };
    (
        $(#[doc = $about:literal])+
        $vis:vis $name:ident<'a>, extends $base:ident {
            $($(#[doc = $field_about:literal])+ $field:ident: $type:ty $(= $example:expr)?;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        $vis struct $name<'a> {
            /// The fields that both have.
            #[serde(flatten)]
            $vis base: $base<'a>,
            $(
                $(#[doc = $field_about])+
                #[serde(skip_serializing_if = "crate::domain::fields::Shown::is_absent")]
                $vis $field: $type,
            )+
        }

        impl<'a> $name<'a> {
            $crate::domain::fields::view!(@component $vis $name $($about),+);

            fn properties() -> Vec<$crate::domain::fields::Property> {
                let mut all = $base::properties();
                all.extend([
                    $($crate::domain::fields::view!(@property $field $type, $($example)?, $($field_about),+)),+
                ]);
                all
            }
        }
    };
    (@component $vis:vis $name:ident $($about:literal),+) => {
        /// Schema of the resource.
        $vis const COMPONENT: $crate::domain::fields::Component = $crate::domain::fields::Component {
            name: stringify!($name),
            kind: $crate::domain::fields::ComponentKind::Object {
                schema: || $crate::domain::fields::object_schema(&[$($about),+], $name::properties()),
                example: || $crate::domain::fields::object_example($name::properties()),
            },
        };
    };
    (@property $field:ident $type:ty, $($example:expr)?, $($about:literal),+) => {
        $crate::domain::fields::Property {
            name: $crate::domain::fields::input!(@name $field),
            about: &[$($about),+],
            keywords: <$type as $crate::domain::fields::Shown>::keywords(),
            is_required: <$type as $crate::domain::fields::Shown>::IS_REQUIRED,
            example: $crate::domain::fields::input!(@example $($example)?),
        }
    };
}

pub(crate) use view;
