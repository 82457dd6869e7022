//! What was measured, round by round, and what it comes to.
//!
//! What always holds: a ratio is taken within a round, where both sides met the same machine.

use serde::Serialize;
use std::collections::BTreeMap;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    BareHyper,
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
    /// What it is called in the table.
    pub fn name(self) -> &'static str {
        match self {
            Subject::BareHyper => "bare hyper, 900 bytes",
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

/// The numbers of one window.
#[derive(Clone, Copy)]
pub struct Measured {
    /// How many in a second.
    pub per_second: f64,
    /// Half were faster.
    pub p50_ms: Option<f64>,
    /// One in a hundred was slower.
    pub p99_ms: Option<f64>,
    /// CPU time of the server for each.
    pub cpu_us: Option<f64>,
    /// Answers that were no success.
    pub failed: usize,
}

impl Measured {
    /// A rate alone.
    pub fn rate(per_second: f64) -> Measured {
        Measured {
            per_second,
            p50_ms: None,
            p99_ms: None,
            cpu_us: None,
            failed: 0,
        }
    }
}

/// Everything that was measured: by what and by connections, one entry a round.
#[derive(Default)]
pub struct Book {
    cells: BTreeMap<(Subject, usize), Vec<Measured>>,
}

impl Book {
    /// Enters what this round gave.
    pub fn enter(&mut self, subject: Subject, connections: usize, measured: Measured) {
        let cell = self.cells.entry((subject, connections)).or_default();
        cell.push(measured);
    }

    /// Everything in it.
    pub fn cells(&self) -> impl Iterator<Item = (Subject, usize, &[Measured])> {
        let cells = self.cells.iter();
        cells.map(|((subject, connections), cell)| (*subject, *connections, cell.as_slice()))
    }

    /// The rate of one thing as a part of another's, round by round.
    pub fn ratio(&self, one: (Subject, usize), other: (Subject, usize)) -> Option<Range> {
        let rates = |key| self.cells.get(&key).into_iter().flatten();
        let pairs = rates(one).zip(rates(other));
        Range::of(pairs.map(|(one, other)| one.per_second / other.per_second))
    }
}

/// The median of some numbers and the range they lie in.
#[derive(Clone, Copy, Serialize)]
pub struct Range {
    /// As many are above as below.
    pub median: f64,
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

impl Range {
    /// Of these numbers; nothing where there are none.
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

/// The number below which this part of the sorted numbers lies.
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = sorted.len() as f64 * part;
    sorted.get(place as usize).or(sorted.last()).copied()
}
