//! Cost of many invoices: memory, and the time of a get and of a list.
//!
//! Invariant: the small and the large file are measured in turn, each by a separate server.

use crate::Failure;
use crate::book::Range;
use crate::client::load;
use crate::machine::Memory;
use crate::plan::Plan;
use crate::process::{Place, Server};
use crate::rounds::{SPREAD, creations, gets, lists};
use crate::rows::{Rows, open};
use rusqlite::Connection;

const MEMORY: &str = "memory.db";
const SMALL: &str = "small.db";
const LARGE: &str = "large.db";
/// Number of connections.
const CONNECTIONS: usize = 64;
/// Invoices inserted in one transaction.
const FILL: usize = 20_000;

/// Cost of many invoices.
pub struct Growth {
    /// Memory of a server after its start and one response.
    pub idle: Memory,
    /// Memory after creating the plan's invoices.
    pub after: Memory,
    /// Cost of a get in the large file, relative to the small one.
    pub get: Range,
    /// Cost of a list in the large file, relative to the small one.
    pub list: Range,
    /// Memory of a server on the large file after the measurement.
    pub large: Memory,
    /// Size of the large file, in bytes.
    pub large_bytes: u64,
}

/// Runs the measurement.
pub fn measure(plan: &Plan, place: &Place, rows: &Rows) -> Result<Growth, Failure> {
    eprintln!("how much memory it takes …");
    let (idle, after) = memory(plan, place)?;
    eprintln!("how it grows …");
    let [small, large] = plan.sizes;
    let small_ids = fill(place, rows, SMALL, small)?;
    let large_ids = fill(place, rows, LARGE, large)?;
    let servers = [place.coffer(Some(SMALL))?, place.coffer(Some(LARGE))?];
    let (mut get, mut list) = (Vec::new(), Vec::new());
    for _ in 0..plan.size_rounds {
        let [small, large] = &servers;
        let cost = |server: &Server, requests| -> Result<f64, Failure> {
            let outcome = load(plan, server, CONNECTIONS, requests, false)?;
            Ok(outcome.measured.per_second.recip())
        };
        let in_small = cost(small, gets(small_ids.iter()))?;
        get.push(cost(large, gets(large_ids.iter()))? / in_small);
        let in_small = cost(small, lists())?;
        list.push(cost(large, lists())? / in_small);
    }
    let [_, server] = &servers;
    let large = server.memory()?;
    let large_bytes = std::fs::metadata(place.file(LARGE))?.len();
    drop(servers);
    place.remove(SMALL);
    place.remove(LARGE);
    Ok(Growth {
        idle,
        after,
        get: Range::of(get.into_iter()).ok_or("nothing was measured")?,
        list: Range::of(list.into_iter()).ok_or("nothing was measured")?,
        large,
        large_bytes,
    })
}

/// Returns the memory of a new server, and after creating the plan's invoices.
fn memory(plan: &Plan, place: &Place) -> Result<(Memory, Memory), Failure> {
    place.remove(MEMORY);
    let server = place.coffer(Some(MEMORY))?;
    crate::wire::ask(server.address, &crate::wire::request("GET", "/v1/merchant", ""))?;
    let idle = server.memory()?;
    let mut made = 0;
    while made < plan.memory_invoices {
        made += load(plan, &server, CONNECTIONS, creations(made), false)?.sent;
    }
    let after = server.memory()?;
    drop(server);
    place.remove(MEMORY);
    Ok((idle, after))
}

/// Inserts invoices into a file without a server. Returns ids spread over the file.
fn fill(place: &Place, rows: &Rows, name: &str, count: usize) -> Result<Vec<String>, Failure> {
    Rows::file(place, name)?;
    let mut conn = Connection::open(place.file(name))?;
    open::prepare(&conn, "off")?;
    let (mut made, mut ids) = (0, Vec::new());
    let stride = (count / SPREAD).max(1);
    while made < count {
        let tx = conn.transaction()?;
        for _ in 0..FILL.min(count - made) {
            let copy = rows.copy(&format!("order-{made:09}"));
            copy.insert(rows, &tx)?;
            if made % stride == 0 {
                ids.push(copy.id().to_owned());
            }
            made += 1;
        }
        tx.commit()?;
    }
    conn.execute_batch("pragma wal_checkpoint(truncate)")?;
    Ok(ids)
}
