//! What a file is: Coffer's or another program's, its version, the kind of server that made it, and whether its
//! tables are those that the migrations make.
//!
//! What always holds: finding this out writes nothing.

use super::audit::Finding;
use super::statement::values;
use super::{Kind, StoreError, migrate};
use rusqlite::{Connection, named_params};
use std::collections::BTreeMap;
use std::path::Path;

/// What the header of every file says since version 3: the letters "Coff".
const APPLICATION_ID: i64 = 0x436f_6666;

values! {
    COUNT_OBJECTS(count: i64) = "select count(*) as count from sqlite_schema";
    COUNT_COLUMNS(count: i64) =
        "select count(*) as count from pragma_table_info('file') where name in ('kind', 'checkout_secret')";
    KIND(kind: Kind) = "select kind from file where id = 1";
    COUNT_REFERENCES(count: i64) = "select count(*) as count from pragma_foreign_key_list(:table)";
    OBJECTS(kind: String, name: String, of: String, statement: String, has_pages: bool) =
        "select type as kind, name, tbl_name as of, ifnull(sql, '') as statement, rootpage <> 0 as has_pages \
        from sqlite_schema";
}

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// Nothing was ever put into it.
    Empty,
    /// A database of another program.
    Foreign,
    /// One of ours: its version, and what made it, unless it has not been begun.
    Ours(usize, Option<Kind>),
}

/// Looks what a file is.
///
/// # Errors
/// SQLite's where it cannot be read, or is no database.
pub(super) fn identify(conn: &Connection) -> rusqlite::Result<Identity> {
    let application = conn.pragma_query_value(None, "application_id", |row| {
        row.get::<_, i64>("application_id")
    })?;
    let version = conn.pragma_query_value(None, "user_version", |row| {
        row.get::<_, i64>("user_version")
    })?;
    let version = usize::try_from(version).unwrap_or_default();
    let is_ours = match application {
        APPLICATION_ID => true,
        0 if version == 0 && COUNT_OBJECTS.first_on(conn, &[])? == Some(0) => {
            return Ok(Identity::Empty);
        }
        // Files of the first versions have no name of ours in the header, but this table.
        0 => COUNT_COLUMNS.first_on(conn, &[])? == Some(2),
        _ => false,
    };
    if !is_ours || version == 0 {
        return Ok(Identity::Foreign);
    }
    Ok(Identity::Ours(version, KIND.first_on(conn, &[])?))
}

/// The version and the kind of a file of ours that this program can read.
///
/// # Errors
/// [`StoreError`] with a text for a person where it is none.
pub(super) fn require_ours(
    identity: Identity,
    path: &Path,
) -> Result<(usize, Option<Kind>), StoreError> {
    let refused = |why: &str| Err(StoreError::Failed(format!("{} {why}", path.display())));
    match identity {
        Identity::Empty => refused("is empty, which no file of coffer's is"),
        Identity::Foreign => refused("is a database of another program"),
        Identity::Ours(version, kind) => migrate::require_known(version).map(|()| (version, kind)),
    }
}

/// An object of a schema: its type and name; its table, its statement, and whether it has pages of its own.
type Objects = BTreeMap<(String, String), (String, String, bool)>;

/// What is in a file's schema that the migrations up to its version did not put there, and the other way round: a
/// trigger or view would run with every write or read, and a changed table would hold what it must not.
pub(super) fn strangers(conn: &Connection, version: usize) -> Result<Vec<Finding>, StoreError> {
    let fresh = Connection::open_in_memory()?;
    migrate::replay(&fresh, version)?;
    let (mut right, found) = (objects(&fresh)?, objects(conn)?);
    let mut findings = Vec::new();
    let mut find = |(kind, name): &(String, String), is: &str, should: &str| {
        findings.push(Finding {
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
            None if is_anothers_bookkeeping(conn, &key, &object)? => {}
            None => find(&key, "there", "removed: it is not one of coffer's"),
        }
    }
    for key in right.keys() {
        find(key, "not there", "as in a new file");
    }
    Ok(findings)
}

/// Is it a table, or an index of a table, that SQLite or Litestream keeps for itself, and that nothing of ours hangs on?
fn is_anothers_bookkeeping(
    conn: &Connection,
    (kind, _): &(String, String),
    (table, _, has_pages): &(String, String, bool),
) -> Result<bool, StoreError> {
    let is_known = table.starts_with("sqlite_") || table.starts_with("_litestream_");
    if !is_known || !has_pages || !(kind == "table" || kind == "index") {
        return Ok(false);
    }
    let count = COUNT_REFERENCES.first_on(conn, named_params! { ":table": table })?;
    Ok(count == Some(0))
}

fn objects(conn: &Connection) -> Result<Objects, StoreError> {
    let found = OBJECTS.all_on(conn, &[])?.into_iter();
    let objects =
        found.map(|(kind, name, table, sql, has_pages)| ((kind, name), (table, sql, has_pages)));
    Ok(objects.collect())
}
