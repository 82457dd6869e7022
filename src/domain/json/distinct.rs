//! Builds a JSON value in one pass, and refuses an object that has a field twice.

use super::JsonProblem;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// Name under which `serde_json` hands over a number that does not fit into 64 bits, as the text of the number.
const NUMBER: &str = "$serde_json::private::Number";

/// Parses a text. A field is repeated if one object has it twice, whatever its values are.
pub(super) fn parse(text: &[u8]) -> Result<Value, JsonProblem> {
    let repeated = RefCell::new(None);
    let mut json = serde_json::Deserializer::from_slice(text);
    let parsed = DistinctValue { repeated: &repeated }.deserialize(&mut json);
    let parsed = parsed.and_then(|value| json.end().map(|()| value));
    parsed.map_err(|error| match repeated.into_inner() {
        Some(path) => JsonProblem::RepeatedField(path),
        None => JsonProblem::Syntax(error.to_string()),
    })
}

/// Builds one value of a text.
#[derive(Clone, Copy)]
struct DistinctValue<'a> {
    /// Path of the repeated field, seen from this value. Each value around it adds its part while the error returns.
    repeated: &'a RefCell<Option<String>>,
}

impl DistinctValue<'_> {
    /// Adds a name before the path of a repeated field, if that is the error that returns.
    fn prepend_name(self, name: &str) {
        if let Some(path) = &mut *self.repeated.borrow_mut() {
            let dot = if path.starts_with('[') { "" } else { "." };
            *path = format!("{name}{dot}{path}");
        }
    }

    /// Adds a position in an array before the path of a repeated field, if that is the error that returns.
    fn prepend_position(self, at: usize) {
        if let Some(path) = &mut *self.repeated.borrow_mut() {
            let dot = if path.starts_with('[') { "" } else { "." };
            *path = format!("[{at}]{dot}{path}");
        }
    }
}

impl<'de> DeserializeSeed<'de> for DistinctValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DistinctValue<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(self).inspect_err(|_| self.prepend_position(list.len()))?
        {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key_seed(FieldName)? {
            let Some(name) = name else {
                let number: Number =
                    fields.next_value::<String>()?.parse().map_err(Error::custom)?;
                return Ok(Value::Number(number));
            };
            let value = fields.next_value_seed(self).inspect_err(|_| self.prepend_name(&name))?;
            match object.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(earlier) => {
                    *self.repeated.borrow_mut() = Some(earlier.key().clone());
                    return Err(Error::custom("a field is repeated"));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// Reads the name of a field. Its value is `None` for [`NUMBER`], which a text of a caller cannot contain.
struct FieldName;

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<String>, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName {
    type Value = Option<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string key")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<String>, E> {
        Ok((name != NUMBER).then(|| name.to_owned()))
    }

    fn visit_string<E>(self, name: String) -> Result<Option<String>, E> {
        Ok((name != NUMBER).then_some(name))
    }
}
