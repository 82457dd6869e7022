//! Writes results, lists and JSON documents to standard output.
//!
//! Invariant: a `--json` document is written only when complete. A closed pipe ends a list without an error, but fails
//! a command that reports a change.

use super::progress;
use crate::config::Values;
use crate::service::Error;
use clap::ArgMatches;
use std::io::{ErrorKind, Write};

/// Returns `true` if the result must be one JSON document. The progress line is switched off in that case.
pub(super) fn wants_json(command: &'static str, matches: &ArgMatches) -> Result<bool, Error> {
    // Settings may come before or after the subcommand. The subcommand's matches include both.
    let matches = matches.subcommand().map_or(matches, |(_, of_verb)| of_verb);
    let wants = Values::new(command, matches).switch("json");
    let wants = wants.map_err(Error::Failed)?;
    if wants {
        progress::disable();
    }
    Ok(wants)
}

/// Removes the progress line, and prints a line that reports a change.
pub(super) fn print(line: &str) -> Result<(), Error> {
    progress::end();
    write(&format!("{line}\n")).map_err(failed)
}

/// Prints the result of a command that changes nothing. Returns `false` if the reader has closed the pipe.
pub(super) fn show(text: &str) -> Result<bool, Error> {
    match progress::with_line_hidden(|| write(text)) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true).map_err(failed),
    }
}

/// Prints JSON items, one on each line or all in one document.
pub(super) fn list(
    all: impl Iterator<Item = Result<String, Error>>,
    as_json: bool,
) -> Result<(), Error> {
    if as_json {
        let all: Vec<String> = all.collect::<Result<_, _>>()?;
        return show(&format!("{{\"data\":[{}]}}\n", all.join(","))).map(drop);
    }
    for one in all {
        if !show(&format!("{}\n", one?))? {
            break;
        }
    }
    Ok(())
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn failed(error: std::io::Error) -> Error {
    Error::Failed(format!("standard output: {error}"))
}
