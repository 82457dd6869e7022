//! Bare hyper with one prepared statement in its handler: the least that a read of rows from a file costs.
//!
//! Invariant: it reads the same rows of the same file as Coffer, and sends every column.

use crate::rows::open;
use crate::{Failure, bare};
use hyper::body::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Argument that starts this server, followed by the file.
pub const COMMAND: &str = "--raw-reads";
/// Path of an invoice, before its id. Another path requests the newest invoices.
const INVOICE: &str = "/v1/invoices/";

/// Serves until the process is killed.
pub fn serve(file: &Path) -> Result<(), Failure> {
    let reads = RawReads { file: file.to_owned(), idle: Mutex::default() };
    bare::listen(move |request| {
        let body = reads.answer(request.uri().path()).map(Bytes::from);
        std::future::ready(bare::json_or_error(body))
    })
}

/// The file, with one connection for each thread of the server.
struct RawReads {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl RawReads {
    /// Reads the invoice of a path, or the newest 25 invoices.
    fn answer(&self, path: &str) -> rusqlite::Result<Vec<u8>> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle().pop();
        let conn = match found {
            Some(conn) => conn,
            None => {
                let conn = Connection::open(&self.file)?;
                open::prepare(&conn, "full")?;
                conn
            }
        };
        let body = match path.strip_prefix(INVOICE) {
            Some(id) => read(&conn, "select * from invoices where id = ?", [id]),
            None => read(&conn, "select * from invoices order by seq desc limit 25", []),
        };
        idle().push(conn);
        body
    }
}

/// Returns all columns of all rows of a query as text.
fn read(conn: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<Vec<u8>> {
    let mut statement = conn.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params)?;
    let mut body = Vec::with_capacity(1024);
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => body.extend_from_slice(b"null"),
                ValueRef::Integer(number) => body.extend_from_slice(number.to_string().as_bytes()),
                ValueRef::Real(number) => body.extend_from_slice(number.to_string().as_bytes()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => body.extend_from_slice(bytes),
            }
            body.push(b',');
        }
    }
    if body.is_empty() { Err(rusqlite::Error::QueryReturnedNoRows) } else { Ok(body) }
}
