//! Hash chains over the ledger and the audit log. Rows of the audit log also contain hashes of changed values.
//!
//! Each row stores the SHA-256 of its named fields and of the previous row's link. Editing, adding or removing a row
//! changes all later links.

use super::export::Cell;
use super::signature::hex;
use super::text_enum::text_enum;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::Write as _;
use std::str::FromStr;

/// Version of the format of the text that is hashed. A link of the hash chain begins with this number, for example
/// `1:9f86…`.
pub const VERSION: u8 = 1;

text_enum! {
    /// A table whose rows form a hash chain.
    pub enum ChainedLog {
        /// Ledger entries.
        Ledger = "ledger",
        /// Audit log.
        AuditLog = "audit_log",
    }
}

/// A link of a hash chain: a hash, and the version of the format of the text that is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashLink {
    /// Version of the format of the text that is hashed.
    pub version: u8,
    /// SHA-256 of the row and of the previous link.
    pub hash: [u8; 32],
}

impl HashLink {
    fn new(header: &str, form: &HashedFields) -> HashLink {
        let hash = Sha256::new().chain_update(header).chain_update(&form.0).finalize();
        HashLink { version: VERSION, hash: hash.into() }
    }

    /// Returns the link before the first row of a log.
    pub fn before_first_row(log: ChainedLog) -> HashLink {
        HashLink::new(&format!("coffer {log} {VERSION} start\n"), &HashedFields::default())
    }

    /// Returns the link of `row`, which follows the row of this link.
    pub fn next_link(self, log: ChainedLog, row: &HashedFields) -> HashLink {
        HashLink::new(&format!("coffer {log} {VERSION}\n{}\n", hex(&self.hash)), row)
    }

    /// Returns the hash of a value that consists of named fields. The audit log records the hash when the value
    /// changes.
    pub fn hash_value(name: &str, fields: &HashedFields) -> HashLink {
        HashLink::new(&format!("coffer value {VERSION}\n{name}\n"), fields)
    }
}

impl fmt::Display for HashLink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.version, hex(&self.hash))
    }
}

/// Value of a hashed field.
#[derive(Clone, Copy, Debug)]
pub enum HashedValue<'a> {
    /// SQL `NULL`.
    Nothing,
    /// An integer.
    Number(i64),
    /// Text.
    Text(&'a [u8]),
}

impl<'a> From<&'a Cell> for HashedValue<'a> {
    fn from(cell: &'a Cell) -> HashedValue<'a> {
        match cell {
            Cell::Nothing => HashedValue::Nothing,
            Cell::Number(number) => HashedValue::Number(*number),
            Cell::Text(text) => HashedValue::Text(text.as_bytes()),
        }
    }
}

/// Text that is hashed: the name, kind and value of each field. The length of a text value precedes the value.
#[derive(Clone, Debug, Default)]
pub struct HashedFields(Vec<u8>);

impl HashedFields {
    /// Adds a field.
    pub fn add(&mut self, name: &str, value: HashedValue<'_>) {
        let HashedFields(form) = self;
        form.extend_from_slice(name.as_bytes());
        // Writing to a `Vec` cannot fail.
        let _ = match value {
            HashedValue::Nothing => form.write_all(b" null"),
            HashedValue::Number(number) => write!(form, " {number}"),
            HashedValue::Text(text) => {
                write!(form, " text {} ", text.len()).and_then(|()| form.write_all(text))
            }
        };
        form.push(b'\n');
    }
}

/// Link of the newest row of a log at one moment.
///
/// With a copy of the link, anybody can check later that all rows up to this row are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHead {
    /// The log.
    pub log: ChainedLog,
    /// `seq` of the last row; 0 if the log is empty.
    pub seq: i64,
    /// Link of the last row.
    pub link: HashLink,
}

impl fmt::Display for LogHead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.log, self.seq, self.link)
    }
}

/// Error: the text cannot be parsed as a [`LogHead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedLogHead;

impl fmt::Display for MalformedLogHead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "a head looks like ledger:120:1:9f86…, as `coffer audit` and `coffer backup` print it",
        )
    }
}

impl std::error::Error for MalformedLogHead {}

impl FromStr for LogHead {
    type Err = MalformedLogHead;

    fn from_str(text: &str) -> Result<LogHead, MalformedLogHead> {
        let mut parts = text.trim().split(':');
        let mut part = || parts.next().ok_or(MalformedLogHead);
        let log = part()?.parse().map_err(|_| MalformedLogHead)?;
        let seq = part()?.parse().map_err(|_| MalformedLogHead)?;
        let version = part()?.parse().map_err(|_| MalformedLogHead)?;
        let hash = parse_hash(part()?).ok_or(MalformedLogHead)?;
        let link = HashLink { version, hash };
        match parts.next() {
            None => Ok(LogHead { log, seq, link }),
            Some(_) => Err(MalformedLogHead),
        }
    }
}

/// Parses 64 hex digits.
fn parse_hash(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    let length = base16ct::mixed::decode(text, &mut hash).ok()?.len();
    (length == hash.len()).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::{ChainedLog, HashLink, HashedFields, HashedValue, LogHead};

    fn row_with_memo(memo: HashedValue<'_>) -> HashedFields {
        let mut form = HashedFields::default();
        form.add("seq", HashedValue::Number(1));
        form.add("memo", memo);
        form
    }

    #[test]
    fn link_depends_on_the_fields_and_the_previous_link() {
        let first = HashLink::before_first_row(ChainedLog::Ledger);
        let link = first.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Text(b"a")));
        assert_eq!(
            link,
            first.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Text(b"a")))
        );
        for other in [
            first.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Text(b"b"))),
            first.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Nothing)),
            first.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Number(1))),
            first.next_link(ChainedLog::AuditLog, &row_with_memo(HashedValue::Text(b"a"))),
            link.next_link(ChainedLog::Ledger, &row_with_memo(HashedValue::Text(b"a"))),
        ] {
            assert_ne!(other, link);
        }
        // The expected hash was computed with `sha256sum`, as the guide describes.
        assert_eq!(
            HashLink::before_first_row(ChainedLog::Ledger).to_string(),
            "1:a859d1184422bee02cb0ee21a0f42793b08c31402d1e4d475a3b63fcab9a3b2f"
        );
    }

    #[test]
    fn log_head_round_trips_through_text() {
        let link = HashLink::before_first_row(ChainedLog::AuditLog);
        let head = LogHead { log: ChainedLog::AuditLog, seq: 12, link };
        assert_eq!(head.to_string().parse(), Ok(head));
        for wrong in ["", "ledger", "ledger:1:1:00", "nothing:1:1:", "ledger:1:1:zz"] {
            assert!(wrong.parse::<LogHead>().is_err(), "{wrong}");
        }
        let text = format!("{head}:1");
        assert!(text.parse::<LogHead>().is_err());
    }
}
