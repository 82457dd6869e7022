//! Other versions of SQLite: the `sqlite3` of the distribution reads and copies the file.

use crate::file::audit::shop_with_every_feature;
use crate::support::audit::assert_audit_clean;
use crate::support::database::copy_database;
use crate::support::scratch::Scratch;
use crate::support::tools;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Name under which this test is reported as skipped if the machine has no `sqlite3`.
const SKIPPED_TEST_NAME: &str = "the file in an older SQLite";

/// Runs statements in the distribution's `sqlite3`. Returns `None` if it is not installed.
#[track_caller]
fn run_sqlite3(file: &Path, statements: &str) -> Option<String> {
    let mut command = Command::new("sqlite3");
    let command = command.args(["-batch", "-nullvalue", "null"]).arg(file);
    let output = tools::run_tool(command.arg(statements), SKIPPED_TEST_NAME)?;
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Creates a file with rows in most tables.
#[track_caller]
fn create_populated_file(scratch: &Scratch) -> PathBuf {
    let (shop, file) = (shop_with_every_feature(), scratch.path("shop.db"));
    copy_database(shop.file(), &file);
    file
}

/// Removes the comments of SQL statements.
fn strip_comments(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the expression of each CHECK of a table.
fn check_expressions(sql: &str) -> Vec<String> {
    let sql = strip_comments(sql);
    let places = sql.match_indices("check (").map(|(at, found)| at + found.len());
    let expression = |from: usize| {
        let (mut depth, mut is_quoted) = (1_usize, false);
        let end = sql[from..].find(|one: char| {
            match one {
                '\'' => is_quoted = !is_quoted,
                '(' if !is_quoted => depth += 1,
                ')' if !is_quoted => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        sql[from..from + end.unwrap()].to_owned()
    };
    places.map(expression).collect()
}

/// Returns table and expression of each CHECK, with a query that evaluates the expression with NULL in every nullable
/// column.
#[track_caller]
fn null_check_queries(file: &Path) -> Vec<(String, String, String)> {
    let conn = Connection::open(file).unwrap();
    let mut tables = conn
        .prepare("select name, sql from sqlite_schema where type = 'table' order by name")
        .unwrap();
    let tables = tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let tables: Vec<(String, String)> = tables.unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for (table, sql) in tables {
        let columns: String = conn
            .query_row(
                "select group_concat(iif(\"notnull\", 'cast('''' as ' || type || ')', 'null') || ' as \"' || name || '\"', ', ')
                 from pragma_table_xinfo(?1)",
                [&table],
                |row| row.get(0),
            )
            .unwrap();
        for check in check_expressions(&sql) {
            let query = format!("select cast({check} as text) as answer from (select {columns});");
            found.push((table.clone(), check, query));
        }
    }
    found
}

#[test]
fn check_constraints_treat_null_like_older_sqlite() {
    let scratch = Scratch::new();
    let file = create_populated_file(&scratch);
    let checks = null_check_queries(&file);
    assert!(checks.len() > 100, "{}", checks.len());
    let queries: String = checks.iter().map(|(_, _, query)| query.as_str()).collect();
    // The queries are too long for one command-line argument.
    let script = scratch.path("queries.sql");
    std::fs::write(&script, queries).unwrap();
    let read = format!(".read {}", script.display());
    let Some(older) = run_sqlite3(Path::new(":memory:"), &read) else {
        return;
    };
    let conn = Connection::open_in_memory().unwrap();
    let answer = |query: &str| -> Option<String> {
        conn.query_row(query, [], |row| row.get("answer")).unwrap()
    };
    let differ: Vec<_> = checks
        .iter()
        .zip(older.lines())
        .map(|((table, check, query), older)| {
            let ours = answer(query).unwrap_or_else(|| "null".to_owned());
            (table, check, ours, older)
        })
        .filter(|(_, _, ours, older)| ours != older)
        .collect();
    assert!(differ.is_empty(), "{differ:#?}");
    assert_eq!(older.lines().count(), checks.len());
}

/// Returns the number of rows of each table.
fn row_counts(file: &Path) -> Vec<(String, i64)> {
    let conn = Connection::open(file).unwrap();
    let mut tables =
        conn.prepare("select name from sqlite_schema where type = 'table' order by name").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let count = |table: String| {
        let query = format!("select count(*) from {table}");
        let rows = conn.query_row(&query, [], |row| row.get(0)).unwrap();
        (table, rows)
    };
    tables.map(|table| count(table.unwrap())).collect()
}

#[test]
fn older_sqlite_checks_and_copies_a_populated_file() {
    let scratch = Scratch::new();
    let (file, copy) = (create_populated_file(&scratch), scratch.path("copy.db"));
    let Some(found) = run_sqlite3(&file, "pragma integrity_check") else {
        return;
    };
    assert_eq!(found, "ok\n");
    // Runs the equivalent of `sqlite3 shop.db .dump | sqlite3 copy.db` in a shell.
    let mut dump = Command::new("sqlite3");
    let dump = dump.arg(&file).arg(".dump").stdout(Stdio::piped());
    let mut dump = dump.spawn().unwrap();
    let mut load = Command::new("sqlite3");
    let load = load.arg(&copy).stdin(dump.stdout.take().unwrap());
    let loaded = load.output().unwrap();
    assert!(dump.wait().unwrap().success());
    assert!(loaded.status.success() && loaded.stderr.is_empty(), "{loaded:?}");
    assert_eq!(run_sqlite3(&copy, "pragma integrity_check").unwrap(), "ok\n");
    let kept = row_counts(&file);
    assert!(kept.iter().any(|(table, rows)| table == "event_rows" && *rows > 0));
    assert_eq!(row_counts(&copy), kept);
    // A dump omits these two pragmas.
    let conn = Connection::open(&file).unwrap();
    let number = |name: &str| -> i64 {
        let number = conn.pragma_query_value(None, name, |row| row.get(0));
        number.unwrap()
    };
    let target = Connection::open(&copy).unwrap();
    for name in ["application_id", "user_version"] {
        target.pragma_update(None, name, number(name)).unwrap();
    }
    drop(target);
    assert_audit_clean(&copy);
}
