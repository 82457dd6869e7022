//! Identifies a file: whether it belongs to Coffer, its version, its kind, and differences of its schema.
//!
//! Invariant: identifying a file writes nothing.

use super::connection::READ_ONLY;
use super::integrity::AuditFinding;
use super::migrate::{APPLICATION_ID, MIGRATIONS, Migrations};
use super::paths::{resolve_links, with_suffix};
use super::statement::statements;
use super::{FileKind, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Application id of files from before the first release.
const UNRELEASED_ID: i32 = i32::from_be_bytes(*b"Coff");
/// Last commit that reads files from before the first release.
const UNRELEASED_COMMIT: &str = "dd82ed7e";

statements! {
    fn count_objects(conn) -> (count: i64) = "select count(*) as count from sqlite_schema";

    /// Returns how many columns of the first two versions the table `file` has.
    fn count_known_columns(conn) -> (count: i64) =
        "select count(*) as count from pragma_table_info('file') where name in ('kind', 'checkout_secret')";

    fn file_kind(conn) -> Option<(kind: FileKind)> = "select kind from file where id = 1";

    fn count_references(conn, table: &str) -> (count: i64) =
        "select count(*) as count from pragma_foreign_key_list(:table)";

    fn list_objects(conn) -> Vec<(kind: String, name: String, of: String, statement: String, has_pages: bool)> =
        "select type as kind, name, tbl_name as of, ifnull(sql, '') as statement, rootpage <> 0 as has_pages \
            from sqlite_schema";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileIdentity {
    Empty,
    /// A database of another program.
    Foreign,
    /// A file of Coffer from before the first release.
    Unreleased,
    /// A file of Coffer: its version, and its kind. The kind is `None` for a new file without a row in `file`.
    Ours(usize, Option<FileKind>),
}

/// Finds out whether a file belongs to Coffer, and its version and kind.
///
/// # Errors
/// The error of SQLite if the file cannot be read, or is no database.
pub(super) fn identify(conn: &Connection) -> rusqlite::Result<FileIdentity> {
    let version =
        conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>("user_version"))?;
    let version = usize::try_from(version).unwrap_or_default();
    match application_id(conn)? {
        APPLICATION_ID if version > 0 => Ok(FileIdentity::Ours(version, file_kind(conn)?)),
        UNRELEASED_ID => Ok(FileIdentity::Unreleased),
        0 if version == 0 && count_objects(conn)? == 0 => Ok(FileIdentity::Empty),
        // The first two versions had no application id. They are recognized by the columns of the table `file`.
        0 if version > 0 && count_known_columns(conn)? == 2 => Ok(FileIdentity::Unreleased),
        _ => Ok(FileIdentity::Foreign),
    }
}

fn application_id(conn: &Connection) -> rusqlite::Result<i32> {
    conn.pragma_query_value(None, "application_id", |row| row.get("application_id"))
}

/// Fails if a file is from before the first release. Neither writes the file nor creates files beside it, so it must
/// run before any connection that may do so. Every other problem of the file is left to that connection.
pub fn refuse_unreleased_file(path: &Path) -> Result<(), StoreError> {
    // Opening a pipe would wait for its writer.
    if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let real = resolve_links(path);
    let has_log = || std::fs::metadata(with_suffix(&real, "-wal")).is_ok_and(|log| log.len() > 0);
    let is_unreleased = match find_unreleased(&real, "immutable=1") {
        Ok(Some(found)) => found,
        // `immutable` ignores the log. If the server that created the file was killed before its first checkpoint, only
        // the log has the tables and the application id.
        Ok(None) | Err(_) => {
            has_log() && matches!(find_unreleased(&real, "readonly_shm=1"), Ok(Some(true)))
        }
    };
    if is_unreleased { Err(unreleased_error(path)) } else { Ok(()) }
}

/// Returns whether a file of Coffer is from before the first release; `None` for any other file. Reads the file by a
/// read-only connection with this URI parameter.
fn find_unreleased(path: &Path, parameter: &str) -> rusqlite::Result<Option<bool>> {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' => uri.push('/'),
            // Writing to a text does not fail.
            byte => drop(write!(uri, "%{byte:02x}")),
        }
    }
    let flags = READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(format!("{uri}?{parameter}"), flags)?;
    if application_id(&conn)? == APPLICATION_ID {
        return Ok(Some(false));
    }
    Ok((identify(&conn)? == FileIdentity::Unreleased).then_some(true))
}

pub(super) fn unreleased_error(path: &Path) -> StoreError {
    StoreError::Failed(format!(
        "{} is a file from before the first release of Coffer: open it with commit {UNRELEASED_COMMIT}, the last one \
         that reads it, or name another file",
        path.display()
    ))
}

/// Returns the version and the kind of a file if this program can read it.
///
/// # Errors
/// [`StoreError`] with a message for the operator if this program cannot read it.
pub(super) fn require_coffer_file(
    identity: FileIdentity,
    path: &Path,
    migrations: Migrations,
) -> Result<(usize, Option<FileKind>), StoreError> {
    let refused = |why: &str| Err(StoreError::Failed(format!("{} {why}", path.display())));
    match identity {
        FileIdentity::Empty => refused("is empty, which no file of coffer's is"),
        FileIdentity::Foreign => refused("is a database of another program"),
        FileIdentity::Unreleased => Err(unreleased_error(path)),
        FileIdentity::Ours(version, kind) => {
            migrations.require_known(version).map(|()| (version, kind))
        }
    }
}

/// Objects of a schema, by type and name.
pub(super) type SchemaObjects = BTreeMap<(String, String), SchemaObject>;

/// A table, index, trigger or view of a schema.
#[derive(Debug, PartialEq)]
pub(super) struct SchemaObject {
    table: String,
    sql: String,
    has_pages: bool,
}

/// Returns the differences between the schema of a file and that of a new file of the same version.
///
/// A trigger or view of another program would run with our statements. A changed table could contain invalid rows.
pub(super) fn schema_differences(
    conn: &Connection,
    version: usize,
) -> Result<Vec<AuditFinding>, StoreError> {
    let fresh = Connection::open_in_memory()?;
    MIGRATIONS.create(&fresh, version)?;
    let (mut right, found) = (schema_objects(&fresh)?, schema_objects(conn)?);
    let mut findings = Vec::new();
    let mut find = |(kind, name): &(String, String), is: &str, should: &str| {
        findings.push(AuditFinding {
            rule: 6,
            about: format!("{kind} {name}"),
            is: is.to_owned(),
            should: should.to_owned(),
        });
    };
    for (key, object) in found {
        match right.remove(&key) {
            Some(same) if same == object => {}
            Some(_) => find(&key, "not as coffer made it", "as in a new file"),
            None if is_sqlite_or_litestream_object(conn, &key.0, &object)? => {}
            None => find(&key, "there", "removed: it is not one of coffer's"),
        }
    }
    for key in right.keys() {
        find(key, "not there", "as in a new file");
    }
    Ok(findings)
}

/// Returns `true` if a table or an index belongs to SQLite or Litestream, and does not refer to our tables.
fn is_sqlite_or_litestream_object(
    conn: &Connection,
    kind: &str,
    SchemaObject { table, has_pages, .. }: &SchemaObject,
) -> Result<bool, StoreError> {
    let is_known = table.starts_with("sqlite_") || table.starts_with("_litestream_");
    if !is_known || !has_pages || !(kind == "table" || kind == "index") {
        return Ok(false);
    }
    Ok(count_references(conn, table)? == 0)
}

pub(super) fn schema_objects(conn: &Connection) -> Result<SchemaObjects, StoreError> {
    let found = list_objects(conn)?.into_iter();
    let objects = found.map(|(kind, name, table, sql, has_pages)| {
        ((kind, name), SchemaObject { table, sql, has_pages })
    });
    Ok(objects.collect())
}
