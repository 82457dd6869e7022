//! Macro `input!`, which declares the body of a request.

/// Declares the body of a request: a struct, its reader and its schema. Each field is written once.
///
/// The kind of a field decides what an absent field means. `required`: the body is refused. `filled`: the rule
/// supplies a value. `optional`: the value is `None`. `expected`: the value is `None`, and the operation refuses the
/// body. `or(…)`: the value is the default in the parentheses. `change`: the value is `None`, and for null
/// `Some(None)`.
///
/// The documentation of a field is its description. The rule of a field is a value that implements
/// [`Rule`](super::rule::Rule). The JSON after the rule, if any, is the value of the field in the example of the
/// body.
///
/// The schema lists the fields in the order of their declaration. `checked` lists the fields in the order in which
/// they are read. Unknown fields are refused (`refused`), ignored (`ignored`), or ignored and returned by the
/// function `unknown_fields` (`named`).
macro_rules! input {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),+)])?
        $vis:vis $name:ident, checked $($checked:ident),+; unknown $unknown:ident $(, besides $besides:tt)? {
            $(
                $(#[doc = $field_about:literal])*
                $kind:ident $(($default:expr))? $field:ident: $type:ty = $rule:expr $(, $example:tt)?;
            )+
        }
    ) => {
        $(#[doc = $about])*
        #[doc = "\n\nAn object that is sent."]
        $(#[derive($($derived),+)])?
        $vis struct $name {
            $($(#[doc = $field_about])* $vis $field: $crate::domain::fields::input!(@type $kind $type),)+
        }

        impl $name {
            /// Schema and example of the body, for the OpenAPI document.
            $vis const OBJECT: $crate::domain::fields::Object = $crate::domain::fields::Object {
                about: concat!($($about),*),
                is_open: $crate::domain::fields::input!(@is_open $unknown),
                properties: &[$($crate::domain::fields::Property {
                    name: $crate::domain::fields::input!(@name $field),
                    about: concat!($($field_about),*),
                    schema: $crate::domain::fields::input!(@schema $type, $rule $(, $default)?),
                    is_required: $crate::domain::fields::input!(@is_required $kind),
                    is_flattened: false,
                    example: $crate::domain::fields::input!(@example $($example)?),
                }),+],
                besides: $crate::domain::fields::input!(@besides $($besides)?),
                differs: "{}",
            };

            /// Named component of the body, for the OpenAPI document.
            $vis const COMPONENT: $crate::domain::fields::Component = $crate::domain::fields::Component::Object {
                name: stringify!($name),
                object: &$name::OBJECT,
            };

            $crate::domain::fields::input!(@names $unknown $vis, [$($field),+]);

            $crate::domain::fields::input!(@unknown_fields $unknown $name $vis);

            /// Reads a body.
            ///
            /// # Errors
            /// `invalid_request` that names the first wrong field or the first unknown field.
            $vis fn read(
                body: &serde_json::Map<String, serde_json::Value>,
            ) -> Result<$name, $crate::domain::refusal::Refusal> {
                let fields = $crate::domain::fields::Fields::new(body);
                $crate::domain::fields::input!(@unknown $unknown fields, $name)?;
                $(let $checked = $name::$checked(fields)?;)+
                Ok($name { $($field),+ })
            }

            $(
                /// Reads only this field.
                ///
                /// # Errors
                ///
                /// `invalid_request` that names this field.
                $vis fn $field(
                    fields: $crate::domain::fields::Fields<'_>,
                ) -> Result<$crate::domain::fields::input!(@type $kind $type), $crate::domain::refusal::Refusal> {
                    let name = $crate::domain::fields::input!(@name $field);
                    let value: Option<$type> = $crate::domain::fields::Rule::read(&$rule, fields, name)?;
                    $crate::domain::fields::input!(@value $kind $(($default))? fields, name, value)
                }
            )+
        }
    };
    (@is_open refused) => { false };
    (@is_open $other:ident) => { true };
    (@unknown refused $fields:ident, $name:ident) => { $fields.refuse_unknown($name::NAMES) };
    (@unknown $other:ident $fields:ident, $name:ident) => { Ok::<(), $crate::domain::refusal::Refusal>(()) };
    (@names ignored $vis:vis, $fields:tt) => {};
    (@names $other:ident $vis:vis, [$($field:ident),+]) => {
        /// Names of the fields in JSON.
        $vis const NAMES: &'static [&'static str] = &[$($crate::domain::fields::input!(@name $field)),+];
    };
    (@unknown_fields named $name:ident $vis:vis) => {
        /// Returns the names in a body that are not fields of this type.
        $vis fn unknown_fields(body: &serde_json::Map<String, serde_json::Value>) -> Vec<&str> {
            $crate::domain::fields::Fields::new(body).unknown_names($name::NAMES)
        }
    };
    (@unknown_fields $other:ident $name:ident $vis:vis) => {};
    (@type required $type:ty) => { $type };
    (@type or $type:ty) => { $type };
    (@type filled $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type expected $type:ty) => { Option<$type> };
    (@type change $type:ty) => { Option<Option<$type>> };
    (@is_required required) => { true };
    (@is_required expected) => { true };
    (@is_required $kind:ident) => { false };
    (@value required $fields:ident, $name:ident, $value:ident) => {
        $value.ok_or_else(|| $crate::domain::refusal::Refusal::field($name, "must be given"))
    };
    (@value filled $fields:ident, $name:ident, $value:ident) => {
        $value.ok_or_else(|| $crate::domain::refusal::Refusal::field($name, "must be given"))
    };
    (@value or ($default:expr) $fields:ident, $name:ident, $value:ident) => { Ok($value.unwrap_or($default)) };
    (@value optional $fields:ident, $name:ident, $value:ident) => { Ok($value) };
    (@value expected $fields:ident, $name:ident, $value:ident) => { Ok($value) };
    (@value change $fields:ident, $name:ident, $value:ident) => { Ok($fields.contains($name).then_some($value)) };
    (@schema $type:ty, $rule:expr) => {
        $crate::domain::fields::Schema::Rule({
            const RULE: &dyn $crate::domain::fields::FieldSchema = &$crate::domain::fields::rule_for::<$type, _>($rule);
            RULE
        })
    };
    (@schema $type:ty, $rule:expr, $default:expr) => {
        $crate::domain::fields::Schema::Default(
            &$crate::domain::fields::input!(@schema $type, $rule), || serde_json::json!($default)
        )
    };
    (@example $example:tt) => { Some(stringify!($example)) };
    (@example) => { None };
    (@besides $besides:tt) => { stringify!($besides) };
    (@besides) => { "{}" };
    (@name $field:ident) => {{
        const NAME: $crate::domain::fields::CamelCase = $crate::domain::fields::CamelCase::from_snake_case(stringify!($field));
        const TEXT: &str = NAME.as_str();
        TEXT
    }};
}

pub(crate) use input;
