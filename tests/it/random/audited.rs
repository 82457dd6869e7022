//! Random operations on every interface, from several connections in both modes of two accounts. The audit must find
//! nothing, during and after the run.
//!
//! Invariant: the operations of a connection depend on the seed, and on objects that other connections have created.
//! A 5xx response is an error unless its code is in [`BUSY`]. A failure prints seed, connection and operation.
//!
//! The environment may set `COFFER_RANDOM_OPERATIONS`, `COFFER_RANDOM_CONNECTIONS` and `COFFER_RANDOM_SEED`.

mod chain;
mod merchant;
mod operator;
mod scene;
mod transfers;

use crate::support::Response;
use crate::support::audit::assert_audit_clean;
use crate::support::scratch::Scratch;
use scene::{AuditedShop, Caller};
use std::collections::BTreeMap;

/// Default number of operations. The two constants below are the default number of connections and the default seed.
const OPERATIONS: u64 = 3_000;
const CONNECTIONS: u64 = 8;
const SEED: u64 = 1;
/// Maximum number of additional operations, which run until each kind of operation has succeeded.
const MORE_MAX: u64 = 20_000;
/// Number of audits during the run.
const AUDITS: u64 = 3;

/// A kind of operation, chosen at random by its weight.
struct RandomOperation {
    /// Name in a failure message.
    name: &'static str,
    /// Frequency relative to the other operations.
    weight: usize,
    /// Runs the operation. Returns its last response, or `None` if no suitable object exists.
    run: fn(&mut Caller) -> Option<Response>,
}

const fn new_operation(
    name: &'static str,
    weight: usize,
    run: fn(&mut Caller) -> Option<Response>,
) -> RandomOperation {
    RandomOperation { name, weight, run }
}

/// Returns all kinds of operations.
fn operations() -> impl Iterator<Item = &'static RandomOperation> + Clone {
    let ours = merchant::OPERATIONS.iter().chain(&chain::OPERATIONS);
    ours.chain(&transfers::OPERATIONS).chain(&operator::OPERATIONS)
}

/// Number of successes and number of attempts of each operation.
type OperationCounts = BTreeMap<&'static str, (u64, u64)>;

/// Returns the name of an operation that has not succeeded yet, if there is one.
fn first_unsuccessful_operation(counts: &OperationCounts) -> Option<&'static str> {
    let done = |name: &str| counts.get(name).is_some_and(|count| count.0 > 0);
    operations().map(|operation| operation.name).find(|name| !done(name))
}

/// Reads a number from the environment.
#[track_caller]
fn env_number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().unwrap())
}

/// Codes of the 5xx errors that are allowed.
const BUSY: [&str; 2] = ["maintenance", "pool_refilling"];

/// Runs one operation, chosen by weight.
fn run_random_operation(caller: &mut Caller, counts: &mut OperationCounts) {
    let weights = operations().map(|operation| operation.weight).sum();
    let mut at = caller.dice.roll(weights);
    let chosen = operations().find(|operation| {
        let is_it = at < operation.weight;
        at = at.saturating_sub(operation.weight);
        is_it
    });
    let chosen = chosen.unwrap();
    caller.set_operation_name(chosen.name);
    let count = counts.entry(chosen.name).or_default();
    count.1 += 1;
    if let Some(answer) = (chosen.run)(caller) {
        let is_fine = answer.status < 500
            || BUSY.contains(&answer.json()["error"].as_str().unwrap_or_default());
        assert!(is_fine, "{}: {}", answer.status, answer.text);
        count.0 += u64::from(answer.status < 300);
    }
}

/// Runs `share` random operations on one connection.
fn run_connection(scene: &AuditedShop, seed: u64, number: u64, share: u64) -> OperationCounts {
    let mut caller = Caller::new(scene, seed, number);
    let mut counts = OperationCounts::new();
    for done in 0..share {
        run_random_operation(&mut caller, &mut counts);
        if number == 0 && done % (share / (AUDITS + 1)).max(1) == 0 {
            caller.set_operation_name("audit");
            assert_audit_clean(scene.shop.file());
        }
    }
    counts
}

/// Runs more operations until each kind has succeeded.
fn run_until_all_succeeded(
    scene: &AuditedShop,
    seed: u64,
    number: u64,
    counts: &mut OperationCounts,
) {
    let mut caller = Caller::new(scene, seed, number);
    for _ in 0..MORE_MAX {
        if first_unsuccessful_operation(counts).is_none() {
            return;
        }
        run_random_operation(&mut caller, counts);
    }
}

#[test]
fn audit_accepts_every_random_history() {
    let total = env_number("COFFER_RANDOM_OPERATIONS", OPERATIONS);
    let connections = env_number("COFFER_RANDOM_CONNECTIONS", CONNECTIONS).max(1);
    let seed = env_number("COFFER_RANDOM_SEED", SEED);
    let scratch = Scratch::new();
    let file = scratch.path("random.db");
    let scene = AuditedShop::open(&file);
    let mut counts = OperationCounts::new();
    std::thread::scope(|scope| {
        let one = |number| {
            let (scene, share) = (&scene, total.div_ceil(connections));
            scope.spawn(move || run_connection(scene, seed, number, share))
        };
        let all: Vec<_> = (0..connections).map(one).collect();
        for (name, (done, tried)) in all.into_iter().flat_map(|one| one.join().unwrap()) {
            let count = counts.entry(name).or_default();
            *count = (count.0 + done, count.1 + tried);
        }
    });
    run_until_all_succeeded(&scene, seed, connections, &mut counts);
    assert_eq!(first_unsuccessful_operation(&counts), None, "{counts:?}");
    assert_audit_clean(&file);
    // All deadlines and deliveries fall due within these 30 days.
    scene.shop.advance("30d");
    assert_audit_clean(&file);
    drop(scene);
    assert_audit_clean(&file);
}
