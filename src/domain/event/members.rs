//! The difference between two JSON objects, by their members.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Name of a member. Without this type, serde would copy each name.
#[derive(PartialEq, Deserialize, Serialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Members of a JSON object in their order. Each value is the text between the commas.
struct Members<'a>(Vec<(Name<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'a>, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Returns the members of `object` whose values differ from those in `first`, as a JSON object. `None` if the two do not
/// have the same names in the same order, or are no JSON objects.
pub fn changed_members(first: &str, object: &str) -> Option<String> {
    let Members(first) = serde_json::from_str(first).ok()?;
    let Members(mut members) = serde_json::from_str(object).ok()?;
    if !first.iter().map(|(name, _)| name).eq(members.iter().map(|(name, _)| name)) {
        return None;
    }
    let mut before = first.iter().map(|(_, value)| value.get());
    members.retain(|(_, value)| before.next() != Some(value.get()));
    serde_json::to_string(&Members(members)).ok()
}

#[cfg(test)]
mod tests {
    use super::changed_members;

    #[test]
    fn only_changed_members_are_returned() {
        let first = r#"{"id":"1","a":1.0,"b":{"c":[1]},"d":null}"#;
        for (object, changed) in [
            (first, Some("{}")),
            (
                r#"{"id":"1","a":1.00,"b":{"c":[1]},"d":"\u0041"}"#,
                Some(r#"{"a":1.00,"d":"\u0041"}"#),
            ),
            (r#"{"id":"1","a":1.0,"b":{"c":[2]},"d":null}"#, Some(r#"{"b":{"c":[2]}}"#)),
            (r#"{"id":"1","a":1.0,"d":null,"b":{"c":[1]}}"#, None),
            (r#"{"id":"1","a":1.0,"b":{"c":[1]}}"#, None),
            (r#"{"id":"1","a":1.0,"b":{"c":[1]},"d":null,"e":0}"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(changed_members(first, object).as_deref(), changed, "{object}");
        }
        assert_eq!(changed_members("", first), None);
    }
}
