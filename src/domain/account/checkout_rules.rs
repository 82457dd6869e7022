//! Rules for the settings of an account that its checkout pages show: favorite coins and address lines.

use crate::domain::asset::{ASSETS, Asset};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, schema_from_keywords};
use crate::domain::refusal::Refusal;
use serde_json::{Value, json};

const LINES_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 100;

/// Rule for a list of coins without duplicates.
pub(super) struct FavoriteCoinsRule;

impl Rule for FavoriteCoinsRule {
    type Value = Vec<&'static Asset>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal> {
        let Some(list) = fields.list(name)? else {
            return Ok(None);
        };
        let mut coins: Vec<&'static Asset> = Vec::new();
        for item in list {
            let asset = item.as_str().and_then(Asset::find).ok_or_else(|| {
                let problem = format!("must be a list of {}", Asset::ids().join(", "));
                Refusal::field(name, problem)
            })?;
            if coins.contains(&asset) {
                return Err(Refusal::field(name, format!("must list {} only once", asset.id)));
            }
            coins.push(asset);
        }
        Ok(Some(coins))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("array")),
            ("maxItems", json!(ASSETS.len())),
            ("uniqueItems", json!(true)),
            ("items", Value::Object(Schema::ASSET.json_schema())),
        ])
    }
}

/// Rule for lines of text. Spaces at the ends of a line are removed, and empty lines are omitted.
pub(super) struct AddressLinesRule;

impl Rule for AddressLinesRule {
    type Value = Vec<String>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let Some(list) = fields.list(name)? else {
            return Ok(None);
        };
        let lines = list.iter().map(|item| read_line(name, item));
        let mut lines = lines.collect::<Result<Vec<_>, _>>()?;
        lines.retain(|line| !line.is_empty());
        if lines.len() > LINES_MAX {
            return Err(Refusal::field(name, format!("must have at most {LINES_MAX} lines")));
        }
        Ok(Some(lines))
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("array")),
            ("maxItems", json!(LINES_MAX)),
            ("items", json!({ "type": "string", "maxLength": LINE_CHARS_MAX })),
        ])
    }
}

fn read_line(name: &str, item: &Value) -> Result<String, Refusal> {
    let line = item.as_str().map(str::trim);
    let is_line =
        |line: &&str| line.chars().count() <= LINE_CHARS_MAX && !line.contains(char::is_control);
    line.filter(is_line).map(str::to_owned).ok_or_else(|| {
        let problem = format!(
            "must be a list of lines with at most {LINE_CHARS_MAX} characters, without control characters"
        );
        Refusal::field(name, problem)
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{AddressLinesRule, FavoriteCoinsRule, LINES_MAX};
    use crate::domain::fields::{Fields, Rule};
    use serde_json::{Value, json};

    fn read<R: Rule>(rule: R, value: Value) -> Result<R::Value, String> {
        let body = json!({ "field": value });
        let found = rule.read(Fields::new(body.as_object().unwrap()), "field");
        found.map(Option::unwrap).map_err(|refusal| refusal.message)
    }

    #[test]
    fn favorite_coins_are_known_and_listed_once() {
        let ids = |value| -> Result<Vec<&str>, String> {
            let coins = read(FavoriteCoinsRule, value)?;
            Ok(coins.iter().map(|asset| asset.id).collect())
        };
        assert_eq!(ids(json!(["USDC-BASE", "BTC"])), Ok(vec!["USDC-BASE", "BTC"]));
        assert_eq!(ids(json!([])), Ok(Vec::new()));
        let twice = Err("field must list BTC only once".to_owned());
        assert_eq!(ids(json!(["BTC", "BTC"])), twice);
        for wrong in [json!("BTC"), json!(["btc"]), json!([1]), json!([null]), json!([["BTC"]])] {
            assert!(read(FavoriteCoinsRule, wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn address_lines_are_trimmed_and_bounded() {
        let lines = |value| read(AddressLinesRule, value);
        let trimmed = lines(json!([" 1 Example Street ", "", "<b>10115</b> Berlin"]));
        let expected = vec!["1 Example Street".to_owned(), "<b>10115</b> Berlin".to_owned()];
        assert_eq!(trimmed, Ok(expected));
        assert_eq!(lines(json!(vec!["é".repeat(100); LINES_MAX])).map(|all| all.len()), Ok(8));
        let wrong = [
            json!("one line"),
            json!(["a\nb"]),
            json!(["a\u{7}b"]),
            json!(["x".repeat(101)]),
            json!(vec!["x"; LINES_MAX + 1]),
            json!([1]),
        ];
        for wrong in wrong {
            assert!(lines(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
