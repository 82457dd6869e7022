//! Text of a response in the golden files. Values that differ between runs are replaced.

use crate::support::Response;
use coffer::domain::Time;
use rusqlite::Connection;
use std::fmt::Write;

/// Maximum length of a body that is stored completely. A longer body is stored as its start, length and checksum.
const BODY_BYTES_MAX: usize = 1500;
/// 2098-01-01, in Unix milliseconds. Earlier times come from the real clock.
const SANDBOX_TIMES_START: Time = Time(4_039_372_800_000);
/// Length of an RFC 3339 time with milliseconds.
const TIME_BYTES: usize = 24;
/// Headers that golden files omit, because they do not depend on the operation.
const OMITTED_HEADERS: [&str; 4] = ["date", "content-length", "connection", "keep-alive"];

/// Returns status, headers and body of a response, and the audit log rows that the request wrote.
pub fn describe_response(answer: &Response, audit: &[String]) -> String {
    let mut text = format!("{}\n", answer.status);
    for (name, value) in &answer.headers {
        if !OMITTED_HEADERS.contains(&name.as_str()) {
            writeln!(text, "   {name}: {}", normalize(value)).unwrap();
        }
    }
    let body = normalize(&answer.text);
    if body.len() > BODY_BYTES_MAX {
        let end = body.floor_char_boundary(BODY_BYTES_MAX);
        let sum = checksum(&body);
        writeln!(text, "   {}… ({} bytes, {sum:08x})", body[..end].trim_end(), body.len()).unwrap();
    } else if !body.is_empty() {
        writeln!(text, "   {}", body.trim_end().replace('\n', "\n   ")).unwrap();
    }
    for row in audit {
        writeln!(text, "   audit: {}", normalize(row)).unwrap();
    }
    text
}

/// Returns the sequence number of the last audit log row.
pub fn last_audit_seq(file: &Connection) -> i64 {
    let sql = "select coalesce(max(seq), 0) from audit_log";
    file.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns a number that changes when another connection commits to the file.
pub fn data_version(file: &Connection) -> i64 {
    file.query_row("pragma data_version", [], |row| row.get(0)).unwrap()
}

/// Returns the audit log rows after this sequence number.
pub fn audit_rows(file: &Connection, after: i64) -> Vec<String> {
    let sql =
        "select concat_ws(' ', actor, action, 'account', account, object_id, detail) from audit_log
        where seq > ?1 order by seq";
    let mut rows = file.prepare_cached(sql).unwrap();
    let rows = rows.query_map([after], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Replaces random values: ids, keys, tokens, secrets and the last characters of keys.
fn normalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = replace_real_times(text);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let is_inside =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let end = rest.find(|letter| !is_inside(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(&replace_random(word));
        let next = after.find(is_inside).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    for begin in ["\"last4\":\"", "\"latencyMs\":", "127.0.0.1:"] {
        out = mask_after(&out, begin, is_word);
    }
    for begin in ["whsec_", "\"legacy_"] {
        out = mask_after(&out, begin, |letter| letter != '"');
    }
    // The headers of a delivery contain the real time and a signature.
    out = mask_after(&out, "\"headers\":{", |letter| letter != '}');
    // The SVG path of a QR code, which starts with `M`, encodes a secret.
    mask_after(&out, "\"path\":\"M", |letter| letter != '"')
}

/// Replaces each time that comes from the real clock, which is before 2098. The sandbox clock is in 2099.
fn replace_real_times(text: &str) -> String {
    let parts = text.split_inclusive('Z').map(|part| {
        let at = part.len().saturating_sub(TIME_BYTES);
        let time = part.get(at..).and_then(|time| time.parse::<Time>().ok());
        match time.filter(|time| *time < SANDBOX_TIMES_START) {
            Some(_) => format!("{}<time>", &part[..at]),
            None => part.to_owned(),
        }
    });
    parts.collect()
}

/// Replaces the letters after each occurrence of `begin` by `*`, as long as `is_inside` accepts them.
fn mask_after(text: &str, begin: &str, is_inside: fn(char) -> bool) -> String {
    let mut parts = text.split(begin);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(begin);
        out.push('*');
        out.push_str(part.trim_start_matches(is_inside));
    }
    out
}

/// Number of characters of a second factor's secret in base32, which may have no digit.
const BASE32_SECRET_CHARS: usize = 32;

/// Replaces a word of 20 or more characters with letters and digits by a placeholder, because such a word is random.
fn replace_random(word: &str) -> String {
    let has = |is: fn(&char) -> bool| word.chars().any(|letter| is(&letter));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let is_secret =
        word.len() == BASE32_SECRET_CHARS && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if word.len() < 20 || !is_mixed && !is_secret {
        return word.to_owned();
    }
    let is_id = word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4;
    let prefix = word.rfind('_').filter(|at| *at < 10);
    match prefix {
        _ if is_id => "<id>".to_owned(),
        Some(at) => format!("{}<random>", &word[..=at]),
        None => "<random>".to_owned(),
    }
}

/// Returns the 32-bit FNV-1a checksum of a text.
fn checksum(text: &str) -> u32 {
    let step = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}
