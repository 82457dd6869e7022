//! Benchmark: operations per second of Coffer, compared with its components on the same machine.
//!
//!     cargo build --release && cargo run --release --example load [-- --quick] [--json]
//!
//! Absolute numbers depend on other load of the machine. Therefore operations are measured in turn, in several rounds.
//! The result is the median and the range of the ratios within a round.
//!
//! Invariant: Coffer runs as the real binary in a separate process, on a file whose commits are synced to the disk.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its output is the table; how far it has come goes to standard error"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "counters of a run that takes minutes do not overflow"
)]

mod bare;
mod blocks;
mod book;
mod chains;
mod client;
mod electrum;
mod growth;
mod litecoind;
mod machine;
mod naive;
mod pages;
mod plan;
mod process;
mod raw_reads;
mod report;
mod rounds;
mod rows;
mod solana;
mod startup;
mod webhooks;
mod wire;

use plan::Plan;
use process::Place;
use std::process::ExitCode;

/// Any error that ends the benchmark.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const HELP: &str = "\
usage: cargo run --release --example load [-- --quick] [--json | --chains]
  --quick  the same table from shorter and fewer rounds, in less than a minute
  --json   as one JSON object
  --chains what live chains cost instead: minutes, as a million addresses are derived";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [bare::COMMAND] => bare::serve(),
        [naive::COMMAND, file] => naive::serve(file.as_ref()),
        [raw_reads::COMMAND, file] => raw_reads::serve(file.as_ref()),
        ["--chains"] => of_chains(false),
        ["--chains", "--quick"] | ["--quick", "--chains"] => of_chains(true),
        flags if flags.iter().all(|flag| ["--quick", "--json"].contains(flag)) => {
            measure(flags.contains(&"--quick"), flags.contains(&"--json"))
        }
        _ => Err(HELP.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("load: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the cost of live chains and prints it.
fn of_chains(quick: bool) -> Result<(), Failure> {
    chains::measure(&Place::make()?, quick)
}

/// Measures everything and prints it.
fn measure(quick: bool, as_json: bool) -> Result<(), Failure> {
    let plan = if quick { Plan::quick() } else { Plan::full() };
    let place = Place::make()?;
    let rows = rows::Rows::from_coffer(&place)?;
    // Start times come first, because later rounds cause disk writes that would delay a start.
    eprintln!("how fast it starts …");
    let starts = startup::measure(&plan, &place)?;
    let (book, busy) = rounds::run(&plan, &place, &rows)?;
    let growth = growth::measure(&plan, &place, &rows.delivered())?;
    eprintln!("how soon pages are told …");
    let pages = pages::measure(&plan, &place)?;
    let report = report::Report { plan, book, busy, starts, growth, pages };
    if as_json {
        println!("{}", report.json());
    } else {
        print!("{}", report.text());
    }
    Ok(())
}
