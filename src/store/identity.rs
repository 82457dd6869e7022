//! Identifies a file: whether it belongs to Coffer, its version, its kind, and differences of its schema.
//!
//! Invariant: identifying a file writes nothing.

use super::integrity::AuditFinding;
use super::statement::values;
use super::{FileKind, StoreError, migrate};
use rusqlite::{Connection, named_params};
use std::collections::BTreeMap;
use std::path::Path;

/// Application id in the header of every file since version 3: the letters "Coff".
const APPLICATION_ID: i64 = 0x436f_6666;

values! {
    COUNT_OBJECTS(count: i64) = "select count(*) as count from sqlite_schema";
    COUNT_COLUMNS(count: i64) =
        "select count(*) as count from pragma_table_info('file') where name in ('kind', 'checkout_secret')";
    KIND(kind: FileKind) = "select kind from file where id = 1";
    COUNT_REFERENCES(count: i64) = "select count(*) as count from pragma_foreign_key_list(:table)";
    OBJECTS(kind: String, name: String, of: String, statement: String, has_pages: bool) =
        "select type as kind, name, tbl_name as of, ifnull(sql, '') as statement, rootpage <> 0 as has_pages \
        from sqlite_schema";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileIdentity {
    /// An empty database.
    Empty,
    /// A database of another program.
    Foreign,
    /// A file of Coffer: its version, and its kind. The kind is `None` for a new file without a row in `file`.
    Ours(usize, Option<FileKind>),
}

/// Finds out whether a file belongs to Coffer, and its version and kind.
///
/// # Errors
/// The error of SQLite if the file cannot be read, or is no database.
pub(super) fn identify(conn: &Connection) -> rusqlite::Result<FileIdentity> {
    let application =
        conn.pragma_query_value(None, "application_id", |row| row.get::<_, i64>("application_id"))?;
    let version =
        conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>("user_version"))?;
    let version = usize::try_from(version).unwrap_or_default();
    let is_ours = match application {
        APPLICATION_ID => true,
        0 if version == 0 && COUNT_OBJECTS.first_on_conn(conn, &[])? == Some(0) => {
            return Ok(FileIdentity::Empty);
        }
        // Files of versions 1 and 2 have no application id. They are recognized by the columns of the table `file`.
        0 => COUNT_COLUMNS.first_on_conn(conn, &[])? == Some(2),
        _ => false,
    };
    if !is_ours || version == 0 {
        return Ok(FileIdentity::Foreign);
    }
    Ok(FileIdentity::Ours(version, KIND.first_on_conn(conn, &[])?))
}

/// Returns the version and the kind of a file if this program can read it.
///
/// # Errors
/// [`StoreError`] with a message for the operator if this program cannot read it.
pub(super) fn require_coffer_file(
    identity: FileIdentity,
    path: &Path,
) -> Result<(usize, Option<FileKind>), StoreError> {
    let refused = |why: &str| Err(StoreError::Failed(format!("{} {why}", path.display())));
    match identity {
        FileIdentity::Empty => refused("is empty, which no file of coffer's is"),
        FileIdentity::Foreign => refused("is a database of another program"),
        FileIdentity::Ours(version, kind) => {
            migrate::require_known_version(version).map(|()| (version, kind))
        }
    }
}

/// Objects of a schema, by type and name. Each value has the table, the SQL text, and whether the object has its own
/// pages.
type SchemaObjects = BTreeMap<(String, String), (String, String, bool)>;

/// Returns the differences between the schema of a file and that of a new file of the same version.
///
/// A trigger or view of another program would run with our statements. A changed table could contain invalid rows.
pub(super) fn schema_differences(
    conn: &Connection,
    version: usize,
) -> Result<Vec<AuditFinding>, StoreError> {
    let fresh = Connection::open_in_memory()?;
    migrate::create_schema(&fresh, version)?;
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
            None if is_sqlite_or_litestream_object(conn, &key, &object)? => {}
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
    (kind, _): &(String, String),
    (table, _, has_pages): &(String, String, bool),
) -> Result<bool, StoreError> {
    let is_known = table.starts_with("sqlite_") || table.starts_with("_litestream_");
    if !is_known || !has_pages || !(kind == "table" || kind == "index") {
        return Ok(false);
    }
    let count = COUNT_REFERENCES.first_on_conn(conn, named_params! { ":table": table })?;
    Ok(count == Some(0))
}

fn schema_objects(conn: &Connection) -> Result<SchemaObjects, StoreError> {
    let found = OBJECTS.all_on_conn(conn, &[])?.into_iter();
    let objects =
        found.map(|(kind, name, table, sql, has_pages)| ((kind, name), (table, sql, has_pages)));
    Ok(objects.collect())
}
