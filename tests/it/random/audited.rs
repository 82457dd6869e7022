//! Anything, by many at once: random operations over every interface from several connections, in both modes of two
//! accounts; then the audit finds nothing, beside the running server and after it has ended.
//!
//! What always holds: what a connection tries depends on the seed and on what the others made, no answer is a 5xx that
//! the document does not name, and a failure says the seed, the connection and the operation.
//!
//! Set by `COFFER_RANDOM_OPERATIONS`, `COFFER_RANDOM_CONNECTIONS` and `COFFER_RANDOM_SEED`.

mod chain;
mod merchant;
mod operator;
mod scene;
mod transfers;

use crate::file::audit::findings;
use crate::support::Response;
use crate::support::scratch::Scratch;
use scene::{Caller, Scene};
use std::collections::BTreeMap;
use std::path::Path;

/// Operations, connections and seed where nothing else is asked for.
const OPERATIONS: u64 = 3_000;
const CONNECTIONS: u64 = 8;
const SEED: u64 = 1;
/// How many more there may be until each kind of operation was done at least once: chance may leave one out.
const MORE_MAX: u64 = 20_000;
/// How often the file is audited while everybody works.
const AUDITS: u64 = 3;

/// Something that can be done.
struct Operation {
    /// What it is called where it fails.
    name: &'static str,
    /// How often it is done, against the others.
    weight: usize,
    /// Does it; the answer to its last request, or nothing where there is nothing to do it to yet.
    run: fn(&mut Caller) -> Option<Response>,
}

/// An entry of a table of operations.
const fn operation(
    name: &'static str,
    weight: usize,
    run: fn(&mut Caller) -> Option<Response>,
) -> Operation {
    Operation { name, weight, run }
}

/// Everything that can be done.
fn operations() -> impl Iterator<Item = &'static Operation> + Clone {
    let ours = merchant::OPERATIONS.iter().chain(&chain::OPERATIONS);
    ours.chain(&transfers::OPERATIONS)
        .chain(&operator::OPERATIONS)
}

/// How often each operation was done, and how often it was tried.
type Counts = BTreeMap<&'static str, (u64, u64)>;

/// An operation that has not succeeded yet.
fn never_done(counts: &Counts) -> Option<&'static str> {
    let done = |name: &str| counts.get(name).is_some_and(|count| count.0 > 0);
    operations()
        .map(|operation| operation.name)
        .find(|name| !done(name))
}

/// A number of the environment.
#[track_caller]
fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().unwrap())
}

/// Codes of 5xx answers that are a rule, not a failure.
const BUSY: [&str; 2] = ["maintenance", "pool_refilling"];

/// One operation, chosen by weight.
fn step(caller: &mut Caller, counts: &mut Counts) {
    let weights = operations().map(|operation| operation.weight).sum();
    let mut at = caller.dice.roll(weights);
    let chosen = operations().find(|operation| {
        let is_it = at < operation.weight;
        at = at.saturating_sub(operation.weight);
        is_it
    });
    let chosen = chosen.unwrap();
    caller.begin(chosen.name);
    let count = counts.entry(chosen.name).or_default();
    count.1 += 1;
    if let Some(answer) = (chosen.run)(caller) {
        let is_fine = answer.status < 500
            || BUSY.contains(&answer.json()["error"].as_str().unwrap_or_default());
        assert!(is_fine, "{}: {}", answer.status, answer.text);
        count.0 += u64::from(answer.status < 300);
    }
}

/// One connection: its share of the operations.
fn connection(scene: &Scene, seed: u64, number: u64, share: u64) -> Counts {
    let mut caller = Caller::new(scene, seed, number);
    let mut counts = Counts::new();
    for done in 0..share {
        step(&mut caller, &mut counts);
        if number == 0 && done % (share / (AUDITS + 1)).max(1) == 0 {
            caller.begin("audit");
            is_right(scene.shop.file());
        }
    }
    counts
}

/// One more connection, which goes on until each kind of operation was done.
fn until_all_were_done(scene: &Scene, seed: u64, number: u64, counts: &mut Counts) {
    let mut caller = Caller::new(scene, seed, number);
    for _ in 0..MORE_MAX {
        if never_done(counts).is_none() {
            return;
        }
        step(&mut caller, counts);
    }
}

#[track_caller]
fn is_right(file: &Path) {
    assert_eq!(findings(file), Vec::<String>::new());
}

#[test]
fn audit_accepts_every_random_history() {
    let total = number("COFFER_RANDOM_OPERATIONS", OPERATIONS);
    let connections = number("COFFER_RANDOM_CONNECTIONS", CONNECTIONS).max(1);
    let seed = number("COFFER_RANDOM_SEED", SEED);
    let scratch = Scratch::new();
    let file = scratch.path("random.db");
    let scene = Scene::open(&file);
    let mut counts = Counts::new();
    std::thread::scope(|scope| {
        let one = |number| {
            let (scene, share) = (&scene, total.div_ceil(connections));
            scope.spawn(move || connection(scene, seed, number, share))
        };
        let all: Vec<_> = (0..connections).map(one).collect();
        for (name, (done, tried)) in all.into_iter().flat_map(|one| one.join().unwrap()) {
            let count = counts.entry(name).or_default();
            *count = (count.0 + done, count.1 + tried);
        }
    });
    until_all_were_done(&scene, seed, connections, &mut counts);
    assert_eq!(never_done(&counts), None, "{counts:?}");
    is_right(&file);
    // Everything that is still to come, comes.
    scene.shop.advance("30d");
    is_right(&file);
    drop(scene);
    is_right(&file);
}
