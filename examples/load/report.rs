//! The result as a table and as JSON.

use crate::book::{Book, Load, Measured, Range, Subject};
use crate::growth::Growth;
use crate::machine::load_average;
use crate::pages::Pages;
use crate::plan::{CONNECTIONS, Plan};
use crate::startup::Starts;
use serde_json::{Value, json};
use std::fmt::Write;

/// All results of a benchmark.
pub struct Report {
    /// Size of the benchmark.
    pub plan: Plan,
    /// Measurements.
    pub book: Book,
    /// Share of the CPU that other processes used in each round, in percent.
    pub busy: Vec<f64>,
    /// Start times.
    pub starts: Starts,
    /// Cost of many invoices.
    pub growth: Growth,
    /// Live updates of pages.
    pub pages: Pages,
}

/// A target and its result.
struct Target {
    about: &'static str,
    goal: &'static str,
    value: Range,
    met: bool,
}

impl Target {
    fn at_least(about: &'static str, goal: &'static str, value: Range, least: f64) -> Target {
        let met = value.median >= least;
        Target { about, goal, value, met }
    }

    fn at_most(about: &'static str, goal: &'static str, value: Range, most: f64) -> Target {
        let met = value.median <= most;
        Target { about, goal, value, met }
    }
}

/// Builds the result of a value that was measured once.
fn single(number: f64) -> Range {
    Range { median: number, low: number, high: number }
}

fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

impl Report {
    /// Returns all targets with their results.
    fn targets(&self) -> Vec<Target> {
        let ratio = |one, other| self.book.ratio(one, other).unwrap_or(single(f64::NAN));
        let bare = Load(Subject::BareHyper, 64);
        let starts = &self.starts;
        let mut targets = self.write_targets();
        targets.extend([
            Target::at_least(
                "get of 20 000 in turn / bare and a read, 64",
                "≥ 0.60",
                ratio(Load(Subject::GetSpread, 64), Load(Subject::RawGet, 64)),
                0.60,
            ),
            Target::at_least(
                "get of the same, kept / bare hyper, 64",
                "≥ 0.80",
                ratio(Load(Subject::GetHot, 64), bare),
                0.80,
            ),
            Target::at_least(
                "list of 25 / bare and a read of 25, 64",
                "≥ 0.60",
                ratio(Load(Subject::List, 64), Load(Subject::RawList, 64)),
                0.60,
            ),
            Target::at_most(
                "cost of a get, large file / small file",
                "≤ 1.5",
                self.growth.get,
                1.5,
            ),
            Target::at_most(
                "first answer, ms after the bare server's",
                "≤ 2.5",
                starts.throwaway_later,
                2.5,
            ),
            Target::at_most(
                "the same with a file made and synced",
                "≤ 3.5",
                starts.fresh_later,
                3.5,
            ),
            Target::at_most(
                "anonymous memory when idle, MB",
                "≤ 2",
                single(megabytes(self.growth.idle.anonymous_kb)),
                2.0,
            ),
            Target::at_most(
                "anonymous memory for a page that listens, KB",
                "≤ 12",
                single(self.pages.memory_kb()),
                12.0,
            ),
            Target::at_most(
                "such pages that were not told",
                "0",
                single(self.pages.lost() as f64),
                0.0,
            ),
        ]);
        targets
    }

    /// Returns the targets of write operations.
    fn write_targets(&self) -> Vec<Target> {
        let ratio = |one, other| self.book.ratio(one, other).unwrap_or(single(f64::NAN));
        vec![
            Target::at_least(
                "create / raw grouped, 256 connections",
                "≥ 0.55",
                ratio(Load(Subject::Create, 256), Load(Subject::RawGrouped, 0)),
                0.55,
            ),
            Target::at_least(
                "create with its coin picked / create, 64",
                "≥ 0.70",
                ratio(Load(Subject::CreatePicked, 64), Load(Subject::Create, 64)),
                0.70,
            ),
            Target::at_least(
                "simulate / create, 64 connections",
                "≥ 0.35",
                ratio(Load(Subject::Simulate, 64), Load(Subject::Create, 64)),
                0.35,
            ),
            Target::at_least(
                "webhook, made and sent / create, 256",
                "≥ 0.50",
                ratio(Load(Subject::Webhook, 256), Load(Subject::Create, 256)),
                0.50,
            ),
            Target::at_least(
                "create / naive create, 256 connections",
                "≥ 5",
                ratio(Load(Subject::Create, 256), Load(Subject::Naive, 256)),
                5.0,
            ),
        ]
    }

    /// Returns the reported ratios, by connections.
    fn ratios(&self) -> Vec<(String, Range)> {
        let mut found = Vec::new();
        let mut add = |one: Load, other: Load| {
            let name = format!("{} / {}, {}", one.0.name(), other.0.name(), one.1);
            found.extend(self.book.ratio(one, other).map(|range| (name, range)));
        };
        for connections in CONNECTIONS {
            let at = |subject| Load(subject, connections);
            add(at(Subject::Create), Load(Subject::RawGrouped, 0));
            add(at(Subject::Create), at(Subject::Naive));
            for read in [Subject::GetHot, Subject::GetSpread, Subject::List] {
                add(at(read), at(Subject::BareHyper));
            }
            add(at(Subject::GetSpread), at(Subject::RawGet));
            add(at(Subject::List), at(Subject::RawList));
            add(at(Subject::CreatePicked), at(Subject::Create));
            add(at(Subject::Simulate), at(Subject::Create));
            add(at(Subject::Webhook), at(Subject::Create));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// Returns the table.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        self.write_machine(out)?;
        self.write_rates(out)?;
        writeln!(out, "\nratios within a round, and connections: median (range)")?;
        for (name, range) in self.ratios() {
            writeln!(out, "  {name:<52} {}", text_of(range))?;
        }
        self.write_starts(out)?;
        self.write_growth(out)?;
        self.pages.write(out)?;
        writeln!(out, "\ntargets")?;
        for target in self.targets() {
            let verdict = if target.met { "met" } else { "MISSED" };
            let (about, value) = (target.about, text_of(target.value));
            writeln!(out, "  {about:<46} {value:<22} {:<7} {verdict}", target.goal)?;
        }
        Ok(())
    }

    fn write_machine(&self, out: &mut String) -> std::fmt::Result {
        let plan = &self.plan;
        let kind = if plan.is_quick { "quick: " } else { "" };
        writeln!(
            out,
            "{kind}{} rounds of {} ms windows; {}",
            plan.rounds,
            plan.window.as_millis(),
            load_average()
        )?;
        let busy = Range::of(self.busy.iter().copied()).unwrap_or(single(f64::NAN));
        writeln!(
            out,
            "others used {:.0} % of the CPU ({:.0} to {:.0} % over the rounds)",
            busy.median, busy.low, busy.high
        )
    }

    fn write_rates(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "\n{:<26}{:>5}{:>10}  {:<20}{:>9}{:>9}{:>9}",
            "median over the rounds", "conn", "a second", "range", "p50 ms", "p99 ms", "µs CPU"
        )?;
        for (subject, connections, cell) in self.book.cells() {
            let rate = column(cell, |one| Some(one.per_second));
            let rate = rate.unwrap_or(single(f64::NAN));
            let range = format!("{:.0} to {:.0}", rate.low, rate.high);
            let number = |of: fn(&Measured) -> Option<f64>, places: usize| {
                column(cell, of)
                    .map_or("-".to_owned(), |range| format!("{:.places$}", range.median))
            };
            let connections = match connections {
                0 => "-".to_owned(),
                some => some.to_string(),
            };
            write!(
                out,
                "{:<26}{connections:>5}{:>10.0}  {range:<20}{:>9}{:>9}{:>9}",
                subject.name(),
                rate.median,
                number(|one| one.p50_ms, 2),
                number(|one| one.p99_ms, 2),
                number(|one| one.cpu_us, 1),
            )?;
            match failed(cell) {
                0 => writeln!(out)?,
                failed => writeln!(out, "  {failed} FAILED")?,
            }
        }
        Ok(())
    }

    fn write_starts(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\nexec to first answer, ms: median (range) of {}", self.plan.starts)?;
        let starts = &self.starts;
        for (name, range) in [
            ("a server without a database", starts.bare),
            ("coffer sandbox", starts.throwaway),
            ("coffer sandbox --file, made and synced", starts.fresh),
            ("coffer sandbox --file, there already", starts.existing),
        ] {
            writeln!(out, "  {name:<46} {}", text_of(range))?;
        }
        Ok(())
    }

    fn write_growth(&self, out: &mut String) -> std::fmt::Result {
        let (plan, growth) = (&self.plan, &self.growth);
        let [small, large] = plan.sizes;
        writeln!(out, "\nmemory, MB: anonymous, and resident with pages of files")?;
        for (name, memory) in [
            ("idle".to_owned(), growth.idle),
            (format!("after {} invoices were made", plan.memory_invoices), growth.after),
            (format!("reading in a file of {large}"), growth.large),
        ] {
            let [anonymous, resident] = [memory.anonymous_kb, memory.resident_kb].map(megabytes);
            writeln!(out, "  {name:<46} {anonymous:.1}, {resident:.1}")?;
        }
        let megabytes = growth.large_bytes / 1024 / 1024;
        writeln!(
            out,
            "\ncost with {large} invoices ({megabytes} MB), where it is 1 with {small}: median (range)"
        )?;
        writeln!(out, "  {:<46} {}", "get, of many", text_of(growth.get))?;
        writeln!(out, "  {:<46} {}", "list of 25", text_of(growth.list))
    }

    /// Returns the result as JSON.
    pub fn json(&self) -> Value {
        let cells = self.book.cells().map(|(subject, connections, cell)| {
            json!({
                "subject": subject.name(),
                "connections": connections,
                "perSecond": column(cell, |one| Some(one.per_second)),
                "p50Ms": column(cell, |one| one.p50_ms),
                "p99Ms": column(cell, |one| one.p99_ms),
                "cpuUs": column(cell, |one| one.cpu_us),
                "failed": failed(cell),
            })
        });
        let targets = self.targets().into_iter().map(|target| {
            json!({ "about": target.about, "goal": target.goal, "value": target.value, "met": target.met })
        });
        let ratios = self.ratios().into_iter();
        let (starts, growth) = (&self.starts, &self.growth);
        json!({
            "quick": self.plan.is_quick,
            "rounds": self.plan.rounds,
            "machine": load_average(),
            "othersCpuPercent": self.busy,
            "measured": cells.collect::<Vec<_>>(),
            "ratios": ratios.map(|(name, range)| json!({ "name": name, "value": range })).collect::<Vec<_>>(),
            "firstAnswerMs": {
                "bare": starts.bare, "throwaway": starts.throwaway, "fresh": starts.fresh, "existing": starts.existing,
            },
            "memory": {
                "idle": growth.idle, "invoices": self.plan.memory_invoices, "after": growth.after, "large": growth.large,
            },
            "growth": { "sizes": self.plan.sizes, "get": growth.get, "list": growth.list },
            "pages": self.pages.json(),
            "targets": targets.collect::<Vec<_>>(),
        })
    }
}

/// Returns one value of every round.
fn column(cell: &[Measured], of: fn(&Measured) -> Option<f64>) -> Option<Range> {
    Range::of(cell.iter().filter_map(of))
}

/// Returns the number of unsuccessful responses over all rounds.
fn failed(cell: &[Measured]) -> usize {
    cell.iter().map(|one| one.failed).sum()
}

fn text_of(range: Range) -> String {
    let Range { median, low, high } = range;
    if low < high { format!("{median:.2} ({low:.2} to {high:.2})") } else { format!("{median:.2}") }
}
