//! Time from the start of a server to its first response.
//!
//! Invariant: the kinds of start alternate, the response needs a key and the file, and no start reuses state of the
//! previous one. A killed server leaves its file, and the next one writes to new memory.

use crate::book::Range;
use crate::plan::Plan;
use crate::process::{Place, Server};
use crate::{Failure, bare, wire};
use std::time::Instant;

const FILE: &str = "start.db";

/// Milliseconds to the first response, by kind of start.
pub struct Starts {
    /// Server without a database.
    pub bare: Range,
    /// `coffer sandbox` with a temporary file.
    pub throwaway: Range,
    /// `coffer sandbox --file` with a new file, which is synced to the disk.
    pub fresh: Range,
    /// `coffer sandbox --file` with an existing file.
    pub existing: Range,
    /// Extra time of the temporary file compared with the server without a database in the same turn.
    pub throwaway_later: Range,
    /// Extra time of the new file that is synced.
    pub fresh_later: Range,
}

/// Measures each kind of start in turn.
pub fn measure(plan: &Plan, place: &Place) -> Result<Starts, Failure> {
    let [mut bare, mut throwaway, mut fresh, mut existing] = [const { Vec::new() }; 4];
    for _ in 0..plan.starts {
        bare.push(first_answer(|| place.own(&[bare::COMMAND.as_ref()]), drop)?);
        throwaway.push(first_answer(|| place.coffer(None), Server::end)?);
        place.remove(FILE);
        fresh.push(first_answer(|| place.coffer(Some(FILE)), Server::end)?);
        existing.push(first_answer(|| place.coffer(Some(FILE)), Server::end)?);
    }
    place.remove(FILE);
    let range = |times: &[f64]| Range::of(times.iter().copied()).ok_or("nothing was started");
    let later = |times: &[f64]| {
        let turns = times.iter().zip(&bare);
        Range::of(turns.map(|(time, bare)| time - bare)).ok_or("nothing was started")
    };
    Ok(Starts {
        throwaway_later: later(&throwaway)?,
        fresh_later: later(&fresh)?,
        bare: range(&bare)?,
        throwaway: range(&throwaway)?,
        fresh: range(&fresh)?,
        existing: range(&existing)?,
    })
}

/// Returns the time from before the process exists to its first response.
fn first_answer(
    start: impl FnOnce() -> Result<Server, Failure>,
    end: impl FnOnce(Server),
) -> Result<f64, Failure> {
    let begun = Instant::now();
    let server = start()?;
    wire::ask(server.address, &wire::request("GET", "/v1/merchant", ""))?;
    let elapsed = begun.elapsed();
    end(server);
    Ok(elapsed.as_secs_f64() * 1e3)
}
