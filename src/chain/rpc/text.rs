//! Deserializes a value from a JSON string, without a copy of the string.

use serde::Deserializer;
use serde::de::{Error, Visitor};
use std::fmt;

/// Parses a value from a JSON string. The error message names the expected value.
pub(in crate::chain) fn deserialize_str<'de, D: Deserializer<'de>, T>(
    from: D,
    expected: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, D::Error> {
    from.deserialize_str(StrVisitor(expected, parse))
}

struct StrVisitor<F>(&'static str, F);

impl<F: Fn(&str) -> Option<T>, T> Visitor<'_> for StrVisitor<F> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.1)(text).ok_or_else(|| E::custom(format_args!("expected {}", self.0)))
    }
}
