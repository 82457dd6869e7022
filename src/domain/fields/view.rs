//! `view!`: declares the JSON of a resource, each field once.

use super::schema::{Schema, schema};
use crate::domain::money::{Cents, Total};
use crate::domain::text_enum::TextEnum;
use crate::domain::time::Time;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A type that a field of an answer can have.
pub trait Shown {
    /// Whether every answer has the field.
    const IS_REQUIRED: bool = true;

    /// JSON Schema of the field, without its description.
    const SCHEMA: Schema;

    /// Returns `true` if the answer leaves the field out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Says the schema of types.
macro_rules! shown {
    ($($type:ty = $schema:expr;)+) => {
        $(impl Shown for $type {
            const SCHEMA: Schema = $schema;
        })+
    };
}

shown! {
    &str = Schema::STRING;
    String = Schema::STRING;
    bool = schema!({ "type": "boolean" });
    i32 = schema!({ "type": "integer" });
    i64 = schema!({ "type": "integer" });
    u8 = Schema::COUNT;
    u16 = Schema::COUNT;
    u32 = Schema::COUNT;
    u64 = Schema::COUNT;
    usize = Schema::COUNT;
    Time = Schema::MOMENT;
    Cents = schema!({ "type": "string", "pattern": "^-?[0-9]+\\.[0-9]{2}$" });
    Total = Cents::SCHEMA;
    Value = schema!({});
}

/// A JSON object of somebody else's.
impl Shown for &RawValue {
    const SCHEMA: Schema = schema!({ "type": "object", "additionalProperties": true });
}

impl Shown for Map<String, Value> {
    const SCHEMA: Schema = <&RawValue>::SCHEMA;
}

impl<T: Shown> Shown for &BTreeMap<String, T> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

impl Shown for Cow<'_, str> {
    const SCHEMA: Schema = Schema::STRING;
}

impl<T: TextEnum> Shown for T {
    const SCHEMA: Schema = Schema::Choice(T::TEXTS);
}

/// `null` for `None`.
impl<T: Shown> Shown for Option<T> {
    const SCHEMA: Schema = Schema::Nullable(&T::SCHEMA);
}

impl<T: Shown> Shown for &[T] {
    const SCHEMA: Schema = Schema::List(&T::SCHEMA);
}

impl<T: Shown> Shown for Vec<T> {
    const SCHEMA: Schema = Schema::List(&T::SCHEMA);
}

impl<K, T: Shown> Shown for BTreeMap<K, T> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

/// A field that an answer leaves out where it has no value.
#[derive(Clone, Copy, Debug)]
pub struct Sometimes<T>(pub Option<T>);

impl<T: Shown> Shown for Sometimes<T> {
    const IS_REQUIRED: bool = false;

    const SCHEMA: Schema = T::SCHEMA;

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for Sometimes<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

/// Declares a resource: a struct, its JSON and its schema.
///
/// The documentation of a field is its description; the JSON after its type is in the example. Its schema follows from
/// its type, unless brackets give another. A resource may have `object`, its kind, before all fields. The fields of
/// another view take the place of a `[flatten]` field. A view without a name in the document is described where it is
/// used. Its struct derives `Serialize`, and what is said.
macro_rules! view {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),+)])?
        $vis:vis $name:ident $(<$life:lifetime>)? $(as $title:literal)? $(, object $object:literal)? {
            $(
                $(#[doc = $field_about:literal])*
                $([$flatten:ident])? $field:ident: $type:ty $([$schema:expr])? $(= $example:tt)?;
            )+
        }
        $(example differs $differs:tt)?
    ) => {
        $(#[doc = $about])*
        #[derive($($($derived,)+)? serde::Serialize)]
        $(#[serde(tag = "object", rename = $object)])?
        #[serde(rename_all = "camelCase")]
        $vis struct $name $(<$life>)? {
            $(
                $(#[doc = $field_about])*
                $(#[serde($flatten)])?
                #[serde(skip_serializing_if = "crate::domain::fields::Shown::is_absent")]
                $vis $field: $type,
            )+
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Object of the documents.
            $vis const OBJECT: $crate::domain::fields::Object = $crate::domain::fields::Object {
                about: concat!($($about),*),
                is_open: false,
                properties: &[
                    $($crate::domain::fields::Property {
                        name: "object",
                        about: concat!("Always ", $object, "."),
                        schema: $crate::domain::fields::Schema::Text(
                            concat!(r#"{"type":"string","const":""#, $object, r#""}"#)
                        ),
                        is_required: true,
                        is_flattened: false,
                        example: Some(concat!("\"", $object, "\"")),
                    },)?
                    $($crate::domain::fields::Property {
                        name: $crate::domain::fields::input!(@name $field),
                        about: concat!($($field_about),*),
                        schema: $crate::domain::fields::view!(@schema $type, $($schema)?),
                        is_required: <$type as $crate::domain::fields::Shown>::IS_REQUIRED,
                        is_flattened: $crate::domain::fields::view!(@is_flattened $($flatten)?),
                        example: $crate::domain::fields::input!(@example $($example)?),
                    }),+
                ],
                besides: "{}",
                differs: $crate::domain::fields::view!(@differs $($differs)?),
            };

            $crate::domain::fields::view!(@component $vis $name $($title)?);
        }

        impl $(<$life>)? $crate::domain::fields::Shown for $name $(<$life>)? {
            const SCHEMA: $crate::domain::fields::Schema = $crate::domain::fields::view!(@of $name $($title)?);
        }

        impl<$($life)?> $crate::domain::fields::Shown for &$name $(<$life>)? {
            const SCHEMA: $crate::domain::fields::Schema = $crate::domain::fields::view!(@of $name $($title)?);
        }
    };
    (@component $vis:vis $name:ident $title:literal) => {
        /// Component of the documents.
        $vis const COMPONENT: $crate::domain::fields::Component = $crate::domain::fields::Component::Object {
            name: $title,
            object: &$name::OBJECT,
        };
    };
    (@component $vis:vis $name:ident) => {};
    (@of $name:ident $title:literal) => { $crate::domain::fields::Schema::Component(&$name::COMPONENT) };
    (@of $name:ident) => { $crate::domain::fields::Schema::Object(&$name::OBJECT) };
    (@is_flattened) => { false };
    (@is_flattened flatten) => { true };
    (@differs) => { "{}" };
    (@differs $differs:tt) => { stringify!($differs) };
    (@schema $type:ty,) => { <$type as $crate::domain::fields::Shown>::SCHEMA };
    (@schema $type:ty, $schema:expr) => { $schema };
}

pub(crate) use view;
