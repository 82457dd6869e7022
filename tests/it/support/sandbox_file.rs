//! Sandboxes on a named file, and rows that are read straight from the file.

use crate::support::process::{Process, start_sandbox};
use crate::support::{Response, agent, send};
use rusqlite::Connection;
use serde_json::Value;
use std::path::Path;

/// Returns the first column of a query, as texts.
#[track_caller]
pub fn text_column(file: &Path, statement: &str) -> Vec<String> {
    let conn = Connection::open(file).unwrap();
    let mut rows = conn.prepare(statement).unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Starts a sandbox on this file, and returns its URL.
#[track_caller]
pub fn start_on_file(file: &Path) -> (Process, String) {
    start_sandbox("127.0.0.1:0", &["--file", file.to_str().unwrap()])
}

#[track_caller]
pub fn call(url: &str, method: &str, path: &str, key: &str, body: &Value) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let path = format!("{url}{path}");
    send(&agent(), method, &path, &[("X-API-Key", key)], &body)
}
