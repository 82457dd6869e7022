//! Macro for enumerations whose values have a text in the API, in the database and in the API description.
//!
//! Invariant: `ALL`, `as_str` and `from_str` come from the same list, so none of them can omit a value.

use std::str::FromStr;

/// Error for a text that is not a value of the enumeration. [`Display`](std::fmt::Display) lists the valid texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownText {
    /// All valid texts of the enumeration.
    pub known: &'static [&'static str],
}

impl std::fmt::Display for UnknownText {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "must be one of {}", self.known.join(", "))
    }
}

impl std::error::Error for UnknownText {}

/// An enumeration with one text for each value.
pub trait TextEnum: FromStr<Err = UnknownText> + 'static {
    /// Text of every value, in the order of the documentation.
    const TEXTS: &'static [&'static str];
}

/// Declares an enumeration with one text for each value.
macro_rules! text_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$about:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[$about])* $value),+ }

        impl $name {
            /// All values, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$value),+];
            /// Texts of all values, in the order of `ALL`.
            pub const TEXTS: &'static [&'static str] = &[$($text),+];

            /// Returns the value's text in the API and in the database.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$value => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::text_enum::UnknownText;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok($name::$value),)+
                    _ => Err($crate::domain::text_enum::UnknownText { known: Self::TEXTS }),
                }
            }
        }

        impl $crate::domain::text_enum::TextEnum for $name {
            const TEXTS: &'static [&'static str] = $name::TEXTS;
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use text_enum;
