//! The rounds of the benchmark.
//!
//! Invariant: compared operations are measured within seconds, and every round starts with new files.

use crate::book::{Book, Measured, Subject};
use crate::client::{self, Requests, cycle, each, load};
use crate::plan::{CONNECTIONS, Plan};
use crate::process::{Place, Server};
use crate::rows::{Copy, Rows, bodies, bodies_with_coin, open, silent_receiver};
use crate::webhooks::{self, Receiver};
use crate::{Failure, bare, machine, naive, raw_reads, wire};
use rusqlite::Connection;
use std::time::{Duration, Instant};

const COFFER: &str = "coffer.db";
const RAW: &str = "raw.db";
const NAIVE: &str = "naive.db";
/// Number of invoices read in turn. It exceeds Coffer's cache of 4096 rendered invoices, so that each is read from the
/// file.
pub const SPREAD: usize = 20_000;
/// Invoices inserted in one commit of the grouped inserts.
const GROUP: usize = 256;
/// Creations prepared before the first of them is inserted.
const PREPARED: usize = 2048;

/// Runs all rounds. Also returns the CPU share of other processes in each round.
pub fn run(plan: &Plan, place: &Place, rows: &Rows) -> Result<(Book, Vec<f64>), Failure> {
    let receiver = Receiver::start()?;
    let (mut book, mut busy) = (Book::default(), Vec::new());
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {} …", plan.rounds);
        let before = machine::cpu()?;
        round(plan, place, rows, &mut book)?;
        webhooks::round(plan, place, &receiver, &mut book)?;
        busy.push(machine::cpu()?.used_by_others(before));
    }
    Ok((book, busy))
}

/// Runs one round: writes, payments, then reads.
fn round(plan: &Plan, place: &Place, rows: &Rows, book: &mut Book) -> Result<(), Failure> {
    let (_receiver, url) = silent_receiver()?;
    place.remove(COFFER);
    let coffer = place.coffer(Some(COFFER))?;
    coffer.tell(&url)?;
    let ids = writes(plan, place, rows, &coffer, book)?;
    payments(plan, &coffer, &ids, book)?;
    reads(plan, place, &coffer, &ids, book)?;
    drop(coffer);
    place.remove(COFFER);
    Ok(())
}

/// Measures raw inserts, the naive server and Coffer. Returns the ids of Coffer's invoices.
fn writes(
    plan: &Plan,
    place: &Place,
    rows: &Rows,
    coffer: &Server,
    book: &mut Book,
) -> Result<Vec<String>, Failure> {
    let single = raw(plan, place, rows, 1)?;
    book.enter(Subject::RawSingle, 0, single);
    let grouped = raw(plan, place, rows, GROUP)?;
    book.enter(Subject::RawGrouped, 0, grouped);
    Rows::file(place, NAIVE)?;
    let file = place.file(NAIVE);
    let naive = place.own(&[naive::COMMAND.as_ref(), file.as_os_str()])?;
    let (mut ids, mut sent, mut sent_naive) = (Vec::new(), 0, 0);
    // The largest number of connections comes first, directly after the raw inserts that it is compared with.
    for connections in CONNECTIONS.into_iter().rev() {
        let made = load(plan, coffer, connections, creations(sent), true)?;
        book.enter(Subject::Create, connections, made.measured);
        ids.extend(made.ids);
        sent += made.sent;
        let made = load(plan, coffer, connections, picked(sent), false)?;
        book.enter(Subject::CreatePicked, connections, made.measured);
        sent += made.sent;
        let made = load(plan, &naive, connections, creations(sent_naive), false)?;
        book.enter(Subject::Naive, connections, made.measured);
        sent_naive += made.sent;
    }
    drop(naive);
    place.remove(NAIVE);
    Ok(ids)
}

/// Measures simulated payments, one per invoice.
fn payments(plan: &Plan, coffer: &Server, ids: &[String], book: &mut Book) -> Result<(), Failure> {
    let pay = |id: &str| wire::request("POST", &format!("/v1/invoices/{id}/simulate"), "");
    let mut unpaid = ids.to_vec();
    for connections in CONNECTIONS.into_iter().rev() {
        let requests = each(unpaid.clone(), pay);
        let done = load(plan, coffer, connections, requests, false)?;
        book.enter(Subject::Simulate, connections, done.measured);
        unpaid.drain(..done.sent.min(unpaid.len()));
    }
    Ok(())
}

/// Measures bare hyper, one invoice, many invoices, and lists, with and without Coffer.
fn reads(
    plan: &Plan,
    place: &Place,
    coffer: &Server,
    ids: &[String],
    book: &mut Book,
) -> Result<(), Failure> {
    let bare = place.own(&[bare::COMMAND.as_ref()])?;
    let file = place.file(COFFER);
    let raw = place.own(&[raw_reads::COMMAND.as_ref(), file.as_os_str()])?;
    for connections in CONNECTIONS {
        let hot = gets(ids.iter().take(1));
        for (subject, server, requests) in [
            (Subject::BareHyper, &bare, gets(ids.iter().take(1))),
            (Subject::GetHot, coffer, hot),
            (Subject::RawGet, &raw, gets(ids.iter().take(SPREAD))),
            (Subject::GetSpread, coffer, gets(ids.iter().take(SPREAD))),
            (Subject::RawList, &raw, lists()),
            (Subject::List, coffer, lists()),
        ] {
            let done = load(plan, server, connections, requests, false)?;
            book.enter(subject, connections, done.measured);
        }
    }
    Ok(())
}

/// Returns requests for invoices with order numbers from this one.
pub fn creations(from: usize) -> Requests {
    posts(from, bodies())
}

/// Returns requests for invoices with a selected coin.
fn picked(from: usize) -> Requests {
    posts(from, bodies_with_coin())
}

fn posts(from: usize, body: impl Fn(usize) -> String + Send + Sync + 'static) -> Requests {
    client::numbered(move |number| wire::request("POST", "/v1/invoices", &body(from + number)))
}

/// Returns requests that read these invoices in turn.
pub fn gets<'a>(ids: impl Iterator<Item = &'a String>) -> Requests {
    let get = |id| wire::request("GET", &format!("/v1/invoices/{id}"), "");
    cycle(ids.map(get).collect())
}

/// Returns the request for the newest 25 invoices.
pub fn lists() -> Requests {
    cycle(vec![wire::request("GET", "/v1/invoices?limit=25", "")])
}

/// Measures inserts without a server, with this many creations per commit. Preparing the values is not timed.
fn raw(plan: &Plan, place: &Place, rows: &Rows, group: usize) -> Result<Measured, Failure> {
    Rows::file(place, RAW)?;
    let mut conn = Connection::open(place.file(RAW))?;
    open::prepare(&conn, "full")?;
    let (mut spent, mut count, mut number) = (Duration::ZERO, 0, 0);
    while spent < plan.warm_up + plan.window {
        let mut copies: Vec<Copy> = Vec::with_capacity(PREPARED);
        for _ in 0..PREPARED {
            copies.push(rows.copy(&format!("order-{number:09}")));
            number += 1;
        }
        for copies in copies.chunks(group) {
            let begun = Instant::now();
            let tx = conn.transaction()?;
            for copy in copies {
                copy.insert(rows, &tx)?;
            }
            tx.commit()?;
            spent += begun.elapsed();
            if spent > plan.warm_up {
                count += copies.len();
            }
            if spent > plan.warm_up + plan.window {
                break;
            }
        }
    }
    drop(conn);
    place.remove(RAW);
    let window = spent.saturating_sub(plan.warm_up);
    Ok(Measured::rate(count as f64 / window.as_secs_f64()))
}
