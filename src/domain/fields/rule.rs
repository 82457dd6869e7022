//! Rules for the fields of request bodies. A rule reads a field, and describes it in the OpenAPI document.

use super::json_schema::schema_from_keywords;
use super::schema::{FieldSchema, Keywords, Schema};
use super::{Fields, Object};
use crate::domain::asset::Asset;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::TextEnum;
use serde_json::{Map, Value, json};
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// A rule for a field of a request body.
pub trait Rule {
    /// Type of the value that is read.
    type Value;

    /// Reads a field; `None` if it is absent or null.
    ///
    /// # Errors
    /// `invalid_request` that names the field and the valid values.
    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal>;

    /// Returns the JSON Schema of the field, without its description.
    fn json_schema(&self) -> Keywords;
}

impl<R: Rule + Sync> FieldSchema for R {
    fn schema(&self) -> Keywords {
        self.json_schema()
    }
}

/// Returns the rule unchanged. The call compiles only if the rule reads values of type `T`.
pub const fn rule_for<T, R: Rule<Value = T>>(rule: R) -> R {
    rule
}

/// Rule for a text of an enumeration.
pub struct ChoiceRule<T> {
    problem_if_absent: Option<&'static str>,
    is_one_of: bool,
    kind: PhantomData<T>,
}

/// Returns the rule for a text of an enumeration.
pub const fn choice<T: TextEnum>() -> ChoiceRule<T> {
    ChoiceRule { problem_if_absent: None, is_one_of: false, kind: PhantomData }
}

impl<T> ChoiceRule<T> {
    /// Makes the field required. `problem` is the message for an absent field.
    pub const fn required_or(mut self, problem: &'static str) -> ChoiceRule<T> {
        self.problem_if_absent = Some(problem);
        self
    }

    /// Describes the field by `oneOf` instead of `enum` alone.
    pub const fn described_by_one_of(mut self) -> ChoiceRule<T> {
        self.is_one_of = true;
        self
    }
}

impl<T: TextEnum> Rule for ChoiceRule<T> {
    type Value = T;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<T>, Refusal> {
        match (fields.choice(name)?, self.problem_if_absent) {
            (None, Some(problem)) => Err(Refusal::field(name, problem)),
            (value, _) => Ok(value),
        }
    }

    fn json_schema(&self) -> Keywords {
        let one = schema_from_keywords([("type", json!("string")), ("enum", json!(T::TEXTS))]);
        if self.is_one_of { schema_from_keywords([("oneOf", json!([one]))]) } else { one }
    }
}

/// A rule whose schema also allows null.
pub struct OrNull<R>(pub R);

impl<R: Rule> Rule for OrNull<R> {
    type Value = R::Value;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<R::Value>, Refusal> {
        self.0.read(fields, name)
    }

    fn json_schema(&self) -> Keywords {
        let mut all = self.0.json_schema();
        match all.get_mut("type") {
            Some(Value::Array(kinds)) => kinds.push(json!("null")),
            Some(kind) => *kind = json!([kind, "null"]),
            None => {}
        }
        if let Some(Value::Array(texts)) = all.get_mut("enum") {
            texts.push(Value::Null);
        }
        all
    }
}

/// Rule for a required coin id. The value is the text, which may be an unknown id.
pub struct RequiredAssetIdRule;

impl Rule for RequiredAssetIdRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let asset = fields.text(name, 1..=40)?;
        let problem = "must be given: an asset id of the currencies list";
        let asset = asset.ok_or_else(|| Refusal::field(name, problem))?;
        Ok(Some(asset.to_owned()))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("string")), ("examples", json!(Asset::ids()))])
    }
}

/// Rule for a JSON object that another `input!` declares.
pub struct ObjectRule<T> {
    read: fn(&Map<String, Value>) -> Result<T, Refusal>,
    object: &'static Object,
}

/// Returns the rule for an object that another `input!` declares, with its reader and declaration. An error inside
/// the object names the outer field.
pub const fn object<T>(
    read: fn(&Map<String, Value>) -> Result<T, Refusal>,
    object: &'static Object,
) -> ObjectRule<T> {
    ObjectRule { read, object }
}

impl<T> Rule for ObjectRule<T> {
    type Value = T;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<T>, Refusal> {
        let inside = |refusal: Refusal| Refusal {
            message: format!("{name}: {}", refusal.message),
            param: Some(name.to_owned()),
            ..refusal
        };
        let value = fields.object(name)?;
        value.map(self.read).transpose().map_err(inside)
    }

    fn json_schema(&self) -> Keywords {
        self.object.json_schema()
    }
}

/// Rule for the id of a supported coin. The value is the coin.
pub struct CoinRule;

impl Rule for CoinRule {
    type Value = &'static Asset;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<&'static Asset>, Refusal> {
        let Some(id) = fields.text(name, 1..=40)? else {
            return Ok(None);
        };
        let problem = || format!("must be one of {}", Asset::ids().join(", "));
        let asset = Asset::find(id).ok_or_else(|| Refusal::field(name, problem()))?;
        Ok(Some(asset))
    }

    fn json_schema(&self) -> Keywords {
        Schema::ASSET.json_schema()
    }
}

/// A rule whose schema is replaced by another schema.
pub struct DescribedRule<R>(R, Schema);

/// Returns a rule that reads a field like `rule`, but has this schema.
pub const fn described<R: Rule>(rule: R, schema: Schema) -> DescribedRule<R> {
    DescribedRule(rule, schema)
}

impl<R: Rule> Rule for DescribedRule<R> {
    type Value = R::Value;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<R::Value>, Refusal> {
        self.0.read(fields, name)
    }

    fn json_schema(&self) -> Keywords {
        self.1.json_schema()
    }
}

/// Rule for a list of texts of an enumeration.
pub struct ChoicesRule<T> {
    problem: &'static str,
    kind: PhantomData<T>,
}

/// Returns the rule for a list of texts of an enumeration. `problem` is the message for an item that is not a string.
pub const fn choices<T: TextEnum>(problem: &'static str) -> ChoicesRule<T> {
    ChoicesRule { problem, kind: PhantomData }
}

impl<T: TextEnum> Rule for ChoicesRule<T> {
    type Value = Vec<T>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<T>>, Refusal> {
        let read = |item: &Value| {
            let text = item.as_str();
            let text = text.ok_or_else(|| Refusal::field(name, self.problem))?;
            let known = text.parse::<T>();
            known.map_err(|problem| Refusal::field(name, problem))
        };
        let list = fields.list(name)?;
        list.map(|list| list.iter().map(read).collect()).transpose()
    }

    fn json_schema(&self) -> Keywords {
        Schema::List(&Schema::Choice(T::TEXTS)).json_schema()
    }
}

/// Rule for any JSON object. The operation checks the entries.
pub struct MapRule;

impl Rule for MapRule {
    type Value = Map<String, Value>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal> {
        Ok(fields.object(name)?.cloned())
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("object"))])
    }
}

/// Rule for any JSON array. The operation checks the items.
pub struct ListRule;

impl Rule for ListRule {
    type Value = Vec<Value>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal> {
        Ok(fields.list(name)?.cloned())
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("array"))])
    }
}

/// Rule for a boolean.
pub struct FlagRule;

impl Rule for FlagRule {
    type Value = bool;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<bool>, Refusal> {
        fields.flag(name)
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("boolean"))])
    }
}

/// Rule for a boolean that is false if the field is absent.
pub struct FlagOrFalseRule;

impl Rule for FlagOrFalseRule {
    type Value = bool;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<bool>, Refusal> {
        Ok(Some(fields.flag(name)?.unwrap_or(false)))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("boolean"))])
    }
}

/// Rule for a whole number in a range.
pub struct IntegerRule(RangeInclusive<i64>);

/// Returns the rule for a whole number in this range.
pub const fn integer(range: RangeInclusive<i64>) -> IntegerRule {
    IntegerRule(range)
}

impl Rule for IntegerRule {
    type Value = i64;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<i64>, Refusal> {
        fields.integer(name, self.0.clone())
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("integer")),
            ("minimum", json!(self.0.start())),
            ("maximum", json!(self.0.end())),
        ])
    }
}
