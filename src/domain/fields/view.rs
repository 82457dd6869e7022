//! Macro `view!`, which declares the JSON of a resource.

use super::schema::{Schema, schema};
use crate::domain::money::{Cents, Total};
use crate::domain::text_enum::TextEnum;
use crate::domain::time::Time;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A type that a field of a response can have.
pub trait ViewField {
    /// `true` if every response has the field.
    const IS_REQUIRED: bool = true;

    /// JSON Schema of the field, without its description.
    const SCHEMA: Schema;

    /// Returns `true` if the response omits the field.
    fn is_absent(&self) -> bool {
        false
    }
}

macro_rules! shown {
    ($($type:ty = $schema:expr;)+) => {
        $(impl ViewField for $type {
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

/// A JSON object that is already rendered, or that a merchant sent.
impl ViewField for &RawValue {
    const SCHEMA: Schema = schema!({ "type": "object", "additionalProperties": true });
}

impl ViewField for Map<String, Value> {
    const SCHEMA: Schema = <&RawValue>::SCHEMA;
}

impl<T: ViewField> ViewField for &BTreeMap<String, T> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

impl ViewField for Cow<'_, str> {
    const SCHEMA: Schema = Schema::STRING;
}

impl<T: TextEnum> ViewField for T {
    const SCHEMA: Schema = Schema::Choice(T::TEXTS);
}

/// `None` is rendered as `null`.
impl<T: ViewField> ViewField for Option<T> {
    const SCHEMA: Schema = Schema::Nullable(&T::SCHEMA);
}

impl<T: ViewField> ViewField for &[T] {
    const SCHEMA: Schema = Schema::List(&T::SCHEMA);
}

impl<T: ViewField> ViewField for Vec<T> {
    const SCHEMA: Schema = Schema::List(&T::SCHEMA);
}

impl<K, T: ViewField> ViewField for BTreeMap<K, T> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

/// A field that the response omits if it has no value.
#[derive(Clone, Copy, Debug)]
pub struct OmittedIfNone<T>(pub Option<T>);

impl<T: ViewField> ViewField for OmittedIfNone<T> {
    const IS_REQUIRED: bool = false;

    const SCHEMA: Schema = T::SCHEMA;

    fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

impl<T: Serialize> Serialize for OmittedIfNone<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(out)
    }
}

/// Declares a resource: a struct, its JSON and its schema. Each field is written once.
///
/// The documentation of a field is its description. The JSON after `=` is the value of the field in the example. The
/// schema follows from the type, unless brackets after the type contain another schema.
///
/// A resource may begin with the field `object`, which names the kind of the resource. A `[flatten]` field is
/// replaced by the fields of its value.
///
/// A resource without a name in the OpenAPI document is described in each place that uses it. The struct derives
/// `Serialize` and the listed traits.
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
                #[serde(skip_serializing_if = "crate::domain::fields::ViewField::is_absent")]
                $vis $field: $type,
            )+
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Schema and example of the resource, for the OpenAPI document.
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
                        is_required: <$type as $crate::domain::fields::ViewField>::IS_REQUIRED,
                        is_flattened: $crate::domain::fields::view!(@is_flattened $($flatten)?),
                        example: $crate::domain::fields::input!(@example $($example)?),
                    }),+
                ],
                besides: "{}",
                differs: $crate::domain::fields::view!(@differs $($differs)?),
            };

            $crate::domain::fields::view!(@component $vis $name $($title)?);
        }

        impl $(<$life>)? $crate::domain::fields::ViewField for $name $(<$life>)? {
            const SCHEMA: $crate::domain::fields::Schema = $crate::domain::fields::view!(@of $name $($title)?);
        }

        impl<$($life)?> $crate::domain::fields::ViewField for &$name $(<$life>)? {
            const SCHEMA: $crate::domain::fields::Schema = $crate::domain::fields::view!(@of $name $($title)?);
        }
    };
    (@component $vis:vis $name:ident $title:literal) => {
        /// Named component of the resource, for the OpenAPI document.
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
    (@schema $type:ty,) => { <$type as $crate::domain::fields::ViewField>::SCHEMA };
    (@schema $type:ty, $schema:expr) => { $schema };
}

pub(crate) use view;
