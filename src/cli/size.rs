//! The size check of `coffer doctor`: the size of the file, its growth, and the time until the disk is full.

use super::checks::Check;
use crate::domain::Time;
use crate::domain::time::DAY_MS;
use crate::service::Error;
use crate::store::doctor::{FileProblem, FileUsage, file_usage};
use crate::store::paths::with_suffix;
use crate::store::{Reader, room};
use std::path::Path;

/// Time over which the growth is measured, in milliseconds. A week includes slow and busy days.
const MEASURED_MS: i64 = 7 * DAY_MS;
/// Number of days until the disk is full, below which the growth is a problem.
const DAYS_LEFT_WARNED: u64 = 14;
/// Number of days until the disk is full, above which the number is not printed.
const DAYS_LEFT_PRINTED: u64 = 3650;

/// Reports the size of the file, its growth, and the time until the disk is full.
pub(super) fn check_size(db: &Reader<'_>, path: &Path, now: Time) -> Result<Check, Error> {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    let stored = bytes(path).saturating_add(bytes(&with_suffix(path, "-wal")));
    let usage = file_usage(db, now.plus_ms(MEASURED_MS.saturating_neg()))?;
    let free = room::free_bytes(path).map(|free| free.saturating_add(usage.free_bytes));
    Ok(describe_size(stored, free, bytes_per_day(&usage, now)))
}

/// Returns the number of bytes by which the file grows in a day: its bytes for each event, times the events of a day.
/// `None` if the file has events of less than a day.
fn bytes_per_day(usage: &FileUsage, now: Time) -> Option<u64> {
    let age_ms = now.0.saturating_sub(usage.first_event_at?.0);
    let span_ms = u64::try_from(age_ms.clamp(0, MEASURED_MS)).ok()?;
    let day_ms = DAY_MS.unsigned_abs();
    if span_ms < day_ms {
        return None;
    }
    let product = [usage.grown_bytes, usage.recent_events, day_ms].into_iter();
    let product = product.fold(1, |product: u128, factor| product.saturating_mul(factor.into()));
    let divisor = u128::from(usage.events).saturating_mul(u128::from(span_ms));
    product.checked_div(divisor).and_then(|bytes| u64::try_from(bytes).ok())
}

/// Returns the check for a file of `stored` bytes. `free` is the space that is left, in bytes, if it is known.
fn describe_size(stored: u64, free: Option<u64>, per_day: Option<u64>) -> Check {
    let size = bytes_text(stored);
    let about = match (per_day, free) {
        (None, _) => format!("size: {size}, growth unknown until the file has a day of events"),
        (Some(0), _) => format!("size: {size}, no growth in the last 7 days"),
        (Some(per_day), None) => {
            format!("size: {size}, grows {} a day, free space unknown", bytes_text(per_day))
        }
        (Some(per_day), Some(free)) => {
            let grows = format!("grows {} a day", bytes_text(per_day));
            let days = free.checked_div(per_day).unwrap_or(u64::MAX);
            let left = match days {
                0 => "within a day".to_owned(),
                1 => "in about 1 day".to_owned(),
                2..=DAYS_LEFT_PRINTED => format!("in about {days} days"),
                _ => "in more than 10 years".to_owned(),
            };
            if days < DAYS_LEFT_WARNED {
                let complaint = FileProblem {
                    about: format!("the file has {size} and {grows}: the disk is full {left}"),
                    mend: "free space on that disk, or move the file to a larger one".to_owned(),
                };
                return ("size".to_owned(), vec![complaint]);
            }
            format!("size: {size}, {grows}, disk full {left}")
        }
    };
    (about, Vec::new())
}

/// Returns a number of bytes as text, with one decimal place below 10.
fn bytes_text(bytes: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    for (unit, size) in UNITS {
        let tenths = bytes.checked_div(size / 10).unwrap_or_default();
        if tenths >= 100 {
            return format!("{} {unit}", tenths / 10);
        }
        if tenths >= 10 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::{FileUsage, bytes_per_day, bytes_text, describe_size};
    use crate::domain::Time;
    use crate::domain::time::{DAY_MS, HOUR_MS};

    #[test]
    fn growth_is_bytes_for_each_event_times_events_of_a_day() {
        let now = Time(1000 * DAY_MS);
        let usage = |bytes, events, recent_events, age_ms: i64| FileUsage {
            grown_bytes: bytes,
            free_bytes: 0,
            events,
            recent_events,
            first_event_at: Some(now.plus_ms(-age_ms)),
        };
        for (found, expected) in [
            // 100 bytes for each event, 70 events in a week.
            (usage(100_000, 1000, 70, 500 * DAY_MS), Some(1000)),
            (usage(100_000, 1000, 0, 500 * DAY_MS), Some(0)),
            // Two days old.
            (usage(100_000, 1000, 1000, 2 * DAY_MS), Some(50_000)),
            (usage(100_000, 1000, 1000, DAY_MS), Some(100_000)),
            (usage(100_000, 1000, 1000, 23 * HOUR_MS), None),
            // The clock was set back.
            (usage(100_000, 1000, 1000, -DAY_MS), None),
            (FileUsage { first_event_at: None, ..usage(0, 0, 0, 0) }, None),
            (usage(0, 10, 10, 9 * DAY_MS), Some(0)),
            (usage(u64::MAX, 1, u64::MAX, DAY_MS), None),
        ] {
            assert_eq!(bytes_per_day(&found, now), expected, "{found:?}");
        }
    }

    #[test]
    fn disk_that_is_soon_full_is_a_problem() {
        let (mega, giga) = (1_000_000, 1_000_000_000);
        for (free, per_day, expected) in [
            (Some(giga), None, "size: 684 MB, growth unknown until the file has a day of events"),
            (Some(giga), Some(0), "size: 684 MB, no growth in the last 7 days"),
            (None, Some(mega), "size: 684 MB, grows 1.0 MB a day, free space unknown"),
            (
                Some(giga),
                Some(2 * mega),
                "size: 684 MB, grows 2.0 MB a day, disk full in about 500 days",
            ),
            (Some(giga), Some(1), "size: 684 MB, grows 1 B a day, disk full in more than 10 years"),
            (
                Some(14 * mega),
                Some(mega),
                "size: 684 MB, grows 1.0 MB a day, disk full in about 14 days",
            ),
        ] {
            assert_eq!(describe_size(684 * mega, free, per_day), (expected.to_owned(), Vec::new()));
        }
        for (free, left) in [
            (13 * mega, "in about 13 days"),
            (mega, "in about 1 day"),
            (1, "within a day"),
            (0, "within a day"),
        ] {
            let (about, problems) = describe_size(684 * mega, Some(free), Some(mega));
            assert_eq!(about, "size");
            let expected =
                format!("the file has 684 MB and grows 1.0 MB a day: the disk is full {left}");
            assert_eq!(problems.len(), 1);
            assert!(problems.iter().all(|problem| problem.about == expected), "{problems:?}");
        }
    }

    #[test]
    fn bytes_have_a_unit() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_999, "9.9 kB"),
            (10_000, "10 kB"),
            (999_999, "999 kB"),
            (1_250_000_000, "1.2 GB"),
            (684_000_000, "684 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes_text(bytes), expected);
        }
    }
}
