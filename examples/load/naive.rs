//! The usual design for comparison: a pool of connections that all write, with one commit per request.

use crate::rows::{Rows, open};
use crate::{Failure, bare};
use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::TransactionBehavior;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// Argument that starts this server, followed by the file.
pub const COMMAND: &str = "--naive-server";
/// Number of connections that write.
const WRITERS: u32 = 16;

/// State of a request.
struct Naive {
    pool: r2d2::Pool<SqliteConnectionManager>,
    rows: Rows,
}

/// Serves until the process is killed.
pub fn serve(file: &Path) -> Result<(), Failure> {
    let manager = SqliteConnectionManager::file(file).with_init(|conn| open::prepare(conn, "full"));
    let naive = Arc::new(Naive {
        pool: r2d2::Pool::builder().max_size(WRITERS).build(manager)?,
        rows: Rows::read(file)?,
    });
    bare::listen(move |request| {
        let naive = Arc::clone(&naive);
        async move { bare::json_or_error(create(naive, request).await) }
    })
}

/// Reads the body, inserts the three rows and responds.
async fn create(naive: Arc<Naive>, request: Request<Incoming>) -> Result<Bytes, Failure> {
    let body = request.into_body().collect().await?.to_bytes();
    let fields: Map<String, Value> = serde_json::from_slice(&body)?;
    let order = fields.get("orderId").and_then(Value::as_str);
    let order = order.ok_or("an orderId is needed")?.to_owned();
    let written = tokio::task::spawn_blocking(move || {
        let copy = naive.rows.copy(&order);
        let mut conn = naive.pool.get()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        copy.insert(&naive.rows, &tx)?;
        tx.commit()?;
        Ok::<_, Failure>(copy.answer())
    });
    Ok(Bytes::from(written.await??))
}
