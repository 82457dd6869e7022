//! Standard output: results, lists, documents.
//!
//! What always holds: it has the command's result and nothing else. A document of `--json` is written once it is whole;
//! somebody who stops reading a list has read enough, and somebody who stops reading what was done is an error.

use super::progress;
use crate::config::Values;
use crate::service::Error;
use clap::ArgMatches;
use std::io::{ErrorKind, Write};

/// Is the result to be one JSON document? Nothing is shown of how far the command is then.
pub(super) fn wants_json(command: &'static str, matches: &ArgMatches) -> Result<bool, Error> {
    // Settings may stand before or after the verb: its matches have both.
    let matches = matches.subcommand().map_or(matches, |(_, of_verb)| of_verb);
    let wants = Values::new(command, matches).switch("json");
    let wants = wants.map_err(Error::Failed)?;
    if wants {
        progress::off();
    }
    Ok(wants)
}

/// Writes what was done, on a line of its own, to standard output; nothing else stands at the bottom of the terminal then.
pub(super) fn print(line: &str) -> Result<(), Error> {
    progress::end();
    write(&format!("{line}\n")).map_err(failed)
}

/// Writes what was only read. Is there somebody yet who reads it?
pub(super) fn show(text: &str) -> Result<bool, Error> {
    match progress::beside(|| write(text)) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true).map_err(failed),
    }
}

/// Lists these, each of them JSON: one on each line, or all of them in one document.
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
