//! Measurements by round, and the ratios between them.
//!
//! Invariant: a ratio compares two values of one round, which ran under the same conditions.

use serde::Serialize;
use std::collections::BTreeMap;

/// A measured operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    BareHyper,
    RawGet,
    RawList,
    RawGrouped,
    RawSingle,
    Naive,
    Create,
    CreatePicked,
    GetHot,
    GetSpread,
    List,
    Simulate,
    Webhook,
}

impl Subject {
    /// Returns the name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Subject::BareHyper => "bare hyper, 900 bytes",
            Subject::RawGet => "bare hyper, a row read",
            Subject::RawList => "bare hyper, 25 rows read",
            Subject::RawGrouped => "raw SQLite, 256 a commit",
            Subject::RawSingle => "raw SQLite, 1 a commit",
            Subject::Naive => "naive create",
            Subject::Create => "create",
            Subject::CreatePicked => "create, coin picked",
            Subject::GetHot => "get, the same, kept",
            Subject::GetSpread => "get, of many, not kept",
            Subject::List => "list of 25",
            Subject::Simulate => "simulate",
            Subject::Webhook => "webhook, made and sent",
        }
    }
}

/// Results of one measurement window.
#[derive(Clone, Copy)]
pub struct Measured {
    /// Operations per second.
    pub per_second: f64,
    /// Median latency.
    pub p50_ms: Option<f64>,
    /// 99th percentile of the latency.
    pub p99_ms: Option<f64>,
    /// CPU time of the server per operation.
    pub cpu_us: Option<f64>,
    /// Unsuccessful responses.
    pub failed: usize,
}

impl Measured {
    /// Builds a result with a rate only.
    pub fn rate(per_second: f64) -> Measured {
        Measured { per_second, p50_ms: None, p99_ms: None, cpu_us: None, failed: 0 }
    }
}

/// An operation, and the number of connections that request it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load(pub Subject, pub usize);

/// All results by load, one per round.
#[derive(Default)]
pub struct Book {
    cells: BTreeMap<Load, Vec<Measured>>,
}

impl Book {
    /// Adds the results of a round.
    pub fn enter(&mut self, subject: Subject, connections: usize, measured: Measured) {
        let cell = self.cells.entry(Load(subject, connections)).or_default();
        cell.push(measured);
    }

    /// Returns all results.
    pub fn cells(&self) -> impl Iterator<Item = (Subject, usize, &[Measured])> {
        let cells = self.cells.iter();
        cells.map(|(Load(subject, connections), cell)| (*subject, *connections, cell.as_slice()))
    }

    /// Returns the ratio of two rates for each round.
    pub fn ratio(&self, one: Load, other: Load) -> Option<Range> {
        let rates = |load| self.cells.get(&load).into_iter().flatten();
        let pairs = rates(one).zip(rates(other));
        Range::of(pairs.map(|(one, other)| one.per_second / other.per_second))
    }
}

/// Median and range of some numbers.
#[derive(Clone, Copy, Serialize)]
pub struct Range {
    /// Median.
    pub median: f64,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
}

impl Range {
    /// Returns `None` for an empty list.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Option<Range> {
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Range {
            median: quantile(&sorted, 0.5)?,
            low: *sorted.first()?,
            high: *sorted.last()?,
        })
    }
}

/// Returns the quantile of sorted numbers.
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = sorted.len() as f64 * part;
    sorted.get(place as usize).or(sorted.last()).copied()
}
