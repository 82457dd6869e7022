//! Times and durations: milliseconds since 1970 in UTC, their RFC 3339 text, and the duration notation of the
//! sandbox.
//!
//! Invariant: a time prints as `2026-11-21T09:30:00.000Z`, and reading this text returns the same time.

use std::str::FromStr;
use time::UtcDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

/// One second in milliseconds.
pub const SECOND_MS: i64 = 1_000;
/// One minute in milliseconds.
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
/// One hour in milliseconds.
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// One day in milliseconds.
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// Longest accepted duration, in milliseconds: ten years.
const SPAN_MS_MAX: i64 = 3650 * DAY_MS;

/// A time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Last millisecond of the year 9999, the latest time in RFC 3339.
    pub const MAX: Time = Time(253_402_300_799_999);

    /// Returns the time `span_ms` later (earlier if negative), clamped to the years 1970 to 9999.
    pub fn plus_ms(self, span_ms: i64) -> Time {
        Time(self.0.saturating_add(span_ms).clamp(0, Self::MAX.0))
    }

    /// Returns the milliseconds since `earlier`; negative if `earlier` is in fact later.
    pub fn since_ms(self, earlier: Time) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the whole seconds since 1970.
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(SECOND_MS)
    }

    /// Formats the time for a header of HTTP (RFC 9110): `Sat, 21 Nov 2026 09:30:00 GMT`.
    pub fn http_date(self) -> String {
        let at = UtcDateTime::from_unix_timestamp(self.unix_seconds())
            .unwrap_or(UtcDateTime::UNIX_EPOCH);
        at.format(&Rfc2822).unwrap_or_default().replace("+0000", "GMT")
    }
}

/// Formats a duration in whole seconds, minutes, hours or, for at least two days, days: `42 s`, `5 min`, `3 h`, `2
/// days`. Rounds down.
pub fn duration_text(span_ms: i64) -> String {
    for (unit_ms, name) in [(2 * DAY_MS, "days"), (HOUR_MS, "h"), (MINUTE_MS, "min")] {
        if span_ms >= unit_ms {
            let unit_ms = unit_ms.min(DAY_MS);
            return format!("{} {name}", span_ms.checked_div(unit_ms).unwrap_or(0));
        }
    }
    format!("{} s", span_ms.max(0) / SECOND_MS)
}

impl Time {
    /// Formats the time as RFC 3339 with milliseconds.
    fn rfc3339(self) -> [u8; 24] {
        let at = UtcDateTime::from_unix_timestamp(self.unix_seconds())
            .unwrap_or(UtcDateTime::UNIX_EPOCH);
        let (hour, minute, second) = at.as_hms();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        // Each pair is a number and the end of its digits in the text. A list of invoices contains dozens of
        // timestamps, so a general formatter is too slow here.
        for (number, end) in [
            (i64::from(at.year()), 4),
            (i64::from(u8::from(at.month())), 7),
            (i64::from(at.day()), 10),
            (i64::from(hour), 13),
            (i64::from(minute), 16),
            (i64::from(second), 19),
            (self.0.rem_euclid(SECOND_MS), 23),
        ] {
            put_digits(text.get_mut(..end).unwrap_or_default(), number);
        }
        text
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(str::from_utf8(&self.rfc3339()).unwrap_or_default())
    }
}

/// Writes the decimal digits of a number at the end of `text`.
fn put_digits(text: &mut [u8], mut number: i64) {
    let digits = text.iter_mut().rev().take_while(|byte| byte.is_ascii_digit());
    for digit in digits {
        *digit = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0));
        number /= 10;
    }
}

impl FromStr for Time {
    type Err = String;

    /// Reads an RFC 3339 text from 1970 to 9999 and truncates the time to milliseconds.
    fn from_str(text: &str) -> Result<Time, String> {
        let wrong = || "must be an RFC 3339 time like 2026-11-21T09:30:00.000Z".to_owned();
        let at = time::OffsetDateTime::parse(text, &Rfc3339).map_err(|_| wrong())?;
        let seconds = at.unix_timestamp().checked_mul(SECOND_MS).ok_or_else(wrong)?;
        let at = Time(seconds.saturating_add(i64::from(at.millisecond())));
        if (Time(0)..=Time::MAX).contains(&at) { Ok(at) } else { Err(wrong()) }
    }
}

impl serde::Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(str::from_utf8(&self.rfc3339()).unwrap_or_default())
    }
}

/// Reads a duration and returns milliseconds. The form is `[Nd][Nh][Nm][Ns]`, in that order, with at least one part.
///
/// # Errors
/// A text that names the expected form, also for a duration over 3650 days.
pub fn parse_duration_ms(text: &str) -> Result<i64, String> {
    const UNITS: [(char, i64); 4] =
        [('d', DAY_MS), ('h', HOUR_MS), ('m', MINUTE_MS), ('s', SECOND_MS)];
    let wrong = || {
        "must be a span like \"20m\" or \"1d12h\", in the order d, h, m, s, at most 3650d"
            .to_owned()
    };
    let mut rest = text;
    let mut total: i64 = 0;
    for (unit, ms) in UNITS {
        let Some((number, after)) = rest.split_once(unit) else {
            continue;
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let part = number
            .parse::<i64>()
            .ok()
            .and_then(|number| number.checked_mul(ms))
            .ok_or_else(wrong)?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = after;
    }
    let whole = rest.is_empty() && !text.is_empty() && total <= SPAN_MS_MAX;
    if whole { Ok(total) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, HOUR_MS, MINUTE_MS, Time, parse_duration_ms};

    #[test]
    fn time_round_trips_through_text() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_253_400_007, "2026-11-21T09:30:00.007Z"),
            (Time::MAX.0, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Time(ms).to_string(), text);
            assert_eq!(text.parse(), Ok(Time(ms)));
        }
        assert_eq!("2026-11-21T10:30:00+01:00".parse(), Ok(Time(1_795_253_400_000)));
        for wrong in [
            "",
            "now",
            "2026-11-21",
            "2026-11-21T09:30:00",
            "1969-12-31T23:59:59Z",
            "2026-02-30T00:00:00Z",
        ] {
            assert!(wrong.parse::<Time>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn header_has_the_fixed_form_of_http() {
        assert_eq!(Time(1_795_253_400_007).http_date(), "Sat, 21 Nov 2026 09:30:00 GMT");
        assert_eq!(Time(0).http_date(), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn arithmetic_is_clamped_to_the_valid_range() {
        assert_eq!(Time(0).plus_ms(i64::MAX), Time::MAX);
        assert_eq!(Time(5).plus_ms(-10), Time(0));
    }

    #[test]
    fn duration_parts_must_be_in_order() {
        for (text, ms) in [
            ("20m", 20 * MINUTE_MS),
            ("1d12h", DAY_MS + 12 * HOUR_MS),
            ("0s", 0),
            ("1h1s", HOUR_MS + 1000),
        ] {
            assert_eq!(parse_duration_ms(text), Ok(ms), "{text}");
        }
        for wrong in
            ["", "20", "m", "-1m", "1m1h", "1.5h", "1w", "99999999999999999999d", "4000d", "1m 1s"]
        {
            assert!(parse_duration_ms(wrong).is_err(), "{wrong}");
        }
    }
}
