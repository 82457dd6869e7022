//! What many invoices cost: memory, and the time of a get and a list.
//!
//! What always holds: the small file and the large one are measured in turn, each by a server of its own.

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
/// Connections that ask.
const CONNECTIONS: usize = 64;
/// Invoices that one transaction of filling writes.
const FILL: usize = 20_000;

/// What many invoices cost.
pub struct Growth {
    /// A server that has just started and answered once.
    pub idle: Memory,
    /// The same after it made the plan's invoices.
    pub after: Memory,
    /// What a get costs in the large file, where it costs 1 in the small one.
    pub get: Range,
    /// What a list costs likewise.
    pub list: Range,
    /// A server on the large file, after that.
    pub large: Memory,
    /// The large file's size.
    pub large_bytes: u64,
}

/// Measures it.
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

/// Memory of a fresh server, and after the plan's invoices.
fn memory(plan: &Plan, place: &Place) -> Result<(Memory, Memory), Failure> {
    place.remove(MEMORY);
    let server = place.coffer(Some(MEMORY))?;
    crate::wire::ask(
        server.address,
        &crate::wire::request("GET", "/v1/merchant", ""),
    )?;
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

/// Makes a file with so many invoices, without a server; ids from all over it.
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
