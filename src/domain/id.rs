//! How things are named outside the file.
//!
//! What lives here: making and reading ids. What always holds: an id is a UUID of version 7 (RFC 9562), so ids
//! made later sort later, which keeps the file's indexes short; order is nevertheless never read from an id.

use super::time::Time;
use uuid::{NoContext, Timestamp, Uuid};

/// A fresh id that carries this moment.
pub fn new(now: Time) -> Uuid {
    let seconds = u64::try_from(now.unix_seconds()).unwrap_or(0);
    let nanos = u32::try_from(now.0.rem_euclid(1000).saturating_mul(1_000_000)).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, nanos))
}

/// A fresh event id: `evt_` and 32 hex digits.
pub fn new_event(now: Time) -> String {
    format!("evt_{}", new(now).simple())
}

/// The id in the form it is stored in, or nothing where the text is no UUID in its usual, hyphenated form.
pub fn parse(text: &str) -> Option<String> {
    (text.len() == 36)
        .then(|| {
            Uuid::try_parse(text)
                .ok()
                .map(|id| id.hyphenated().to_string())
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{Time, new, new_event, parse};

    #[test]
    fn an_id_carries_its_moment_and_its_version() {
        let id = new(Time(1_795_253_400_007));
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(
            id.get_timestamp().map(|at| at.to_unix()),
            Some((1_795_253_400, 7_000_000))
        );
        assert_eq!(parse(&id.to_string().to_uppercase()), Some(id.to_string()));
        for wrong in [
            "",
            "x",
            "evt_0",
            &id.simple().to_string(),
            &format!("{{{id}}}"),
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_event_id_has_its_form() {
        let id = new_event(Time(0));
        assert!(id.starts_with("evt_") && id.len() == 36, "{id}");
    }
}
