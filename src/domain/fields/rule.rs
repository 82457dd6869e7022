//! Rules for the fields of bodies: each reads a field and describes it in the document.

use super::Fields;
use super::component::Keywords;
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::TextEnum;
use serde_json::json;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// A rule for a field.
pub trait Rule {
    /// Type of the value that is read.
    type Value;

    /// Reads a field, `None` if it is absent or null.
    ///
    /// # Errors
    /// `invalid_request` that names the field and says what would be right.
    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal>;

    /// Returns the JSON Schema of the field, without its description.
    fn keywords(&self) -> Keywords;
}

/// Returns the JSON Schema of a field of this type by its rule.
pub fn keywords_of<T>(rule: &impl Rule<Value = T>) -> Keywords {
    rule.keywords()
}

/// One of an enumeration's texts.
pub struct ChoiceRule<T>(PhantomData<T>);

/// Returns the rule for one of an enumeration's texts.
pub const fn choice<T: TextEnum>() -> ChoiceRule<T> {
    ChoiceRule(PhantomData)
}

impl<T: TextEnum> Rule for ChoiceRule<T> {
    type Value = T;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<T>, Refusal> {
        fields.choice(name)
    }

    fn keywords(&self) -> Keywords {
        keywords([("type", json!("string")), ("enum", json!(T::TEXTS))])
    }
}

/// A text.
pub struct TextRule {
    chars: RangeInclusive<usize>,
    form: Option<(usize, &'static str)>,
}

/// Returns the rule for a text of so many characters.
pub const fn text(chars: RangeInclusive<usize>) -> TextRule {
    TextRule { chars, form: None }
}

impl TextRule {
    /// Describes the form that the operation checks: the length of the shortest text, and a regular expression.
    pub const fn of_form(mut self, chars_min: usize, pattern: &'static str) -> TextRule {
        self.form = Some((chars_min, pattern));
        self
    }
}

impl Rule for TextRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let text = fields.text(name, self.chars.clone())?;
        Ok(text.map(str::to_owned))
    }

    fn keywords(&self) -> Keywords {
        let chars_min = self
            .form
            .map_or(*self.chars.start(), |(chars_min, _)| chars_min);
        let mut all = keywords([
            ("type", json!("string")),
            ("minLength", json!(chars_min)),
            ("maxLength", json!(self.chars.end())),
        ]);
        if let Some((_, pattern)) = self.form {
            all.insert("pattern".to_owned(), json!(pattern));
        }
        all
    }
}

/// A whole number.
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

    fn keywords(&self) -> Keywords {
        keywords([
            ("type", json!("integer")),
            ("minimum", json!(self.0.start())),
            ("maximum", json!(self.0.end())),
        ])
    }
}

/// Returns a schema of these keywords.
pub(super) fn keywords<const N: usize>(all: [(&str, serde_json::Value); N]) -> Keywords {
    all.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
