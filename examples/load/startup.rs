//! How long a server takes from its start to its first answer.
//!
//! What always holds: the kinds of start take turns, the answer that counts needs a key and the file, where there is
//! one, and no start finds what the one before left: one that is killed leaves its file, and the next writes to memory
//! that is new to the machine.

use crate::book::Range;
use crate::plan::Plan;
use crate::process::{Place, Server};
use crate::{Failure, bare, wire};
use std::time::Instant;

const FILE: &str = "start.db";

/// Milliseconds to the first answer.
pub struct Starts {
    /// A server without a database.
    pub bare: Range,
    /// `coffer sandbox`: a file that is thrown away.
    pub throwaway: Range,
    /// `coffer sandbox --file`, which is made and synced to the disk.
    pub fresh: Range,
    /// `coffer sandbox --file`, which is there.
    pub existing: Range,
    /// How much later the throwaway one was than the server without a database of the same turn.
    pub throwaway_later: Range,
    /// The same of the one that is made and synced.
    pub fresh_later: Range,
}

/// Starts each kind in turn.
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

/// From before the process is there to its first answer.
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
