//! Public ids of objects.
//!
//! Invariant: an id is a UUID of version 7 (RFC 9562). Newer ids sort after older ids, which keeps database indexes
//! compact. No code relies on the order of ids.

use super::time::Time;
use uuid::{NoContext, Timestamp, Uuid};

/// Returns a new id that contains this time.
pub fn new(now: Time) -> Uuid {
    let seconds = u64::try_from(now.unix_seconds()).unwrap_or(0);
    let nanos = u32::try_from(now.0.rem_euclid(1000).saturating_mul(1_000_000)).unwrap_or(0);
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, nanos))
}

/// Returns a new event id: `evt_` and 32 hex digits, which contain `number`.
///
/// `number` grows with each event, so that ids of one millisecond sort in the order of the events. Receivers learn
/// the order only from the ids.
pub fn new_event(now: Time, number: i64) -> String {
    let number = u128::try_from(number).unwrap_or(0);
    let (high, low) = ((number >> 30) & 0xfff, number & 0x3fff_ffff);
    let random = new(now).as_u128() & !(0xfff << 64) & !(0x3fff_ffff << 32);
    let id = Uuid::from_u128(random | (high << 64) | (low << 32));
    format!("evt_{}", id.simple())
}

/// Returns the number in an event id; `None` if the text is not an event id.
pub fn event_number(id: &str) -> Option<i64> {
    let id = Uuid::try_parse(id.strip_prefix("evt_")?).ok()?.as_u128();
    let (high, low) = ((id >> 64) & 0xfff, (id >> 32) & 0x3fff_ffff);
    i64::try_from(high << 30 | low).ok()
}

/// Returns the id in its stored form; `None` if the text is not a hyphenated UUID.
pub fn parse(text: &str) -> Option<String> {
    // The parser also accepts UUIDs without hyphens, which have another length.
    let is_one = text.len() == 36 && Uuid::try_parse(text).is_ok();
    is_one.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Time, event_number, new, new_event, parse};

    #[test]
    fn id_contains_its_time_and_version() {
        let id = new(Time(1_795_253_400_007));
        assert_eq!(id.get_version_num(), 7);
        assert_eq!(id.get_timestamp().map(|at| at.to_unix()), Some((1_795_253_400, 7_000_000)));
        assert_eq!(parse(&id.to_string().to_uppercase()), Some(id.to_string()));
        for wrong in ["", "x", "evt_0", &id.simple().to_string(), &format!("{{{id}}}")] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn event_id_has_prefix_and_32_hex_digits() {
        let id = new_event(Time(0), 1);
        assert!(id.starts_with("evt_") && id.len() == 36, "{id}");
        assert_eq!(event_number(&id), Some(1));
        for wrong in ["", "evt_", "evt_1", &id[4..]] {
            assert_eq!(event_number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn event_ids_of_one_millisecond_sort_by_number() {
        let numbers = [0, 1, 2, 1 << 29, 1 << 30, (1 << 30) + 1, (1 << 42) - 1];
        let ids = numbers.map(|number| new_event(Time(1_795_253_400_007), number));
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids.each_ref().map(|id| event_number(id)), numbers.map(Some));
        for id in &ids {
            let id = uuid::Uuid::try_parse(&id[4..]).unwrap();
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
            assert_eq!(id.get_timestamp(), new(Time(1_795_253_400_007)).get_timestamp());
        }
        let next_moment = new_event(Time(1_795_253_400_008), 0);
        assert!(ids.iter().all(|id| *id < next_moment));
    }
}
