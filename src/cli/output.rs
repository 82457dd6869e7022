//! Writes results, lists and JSON documents to standard output.
//!
//! Invariant: a `--json` document is written only when complete. If the reader closes the pipe, a list ends without
//! an error, but a command that reports a change fails.

use super::progress;
use crate::service::Error;
use std::io::{ErrorKind, Write};

/// Removes the progress line, and prints a line that reports a change.
pub(super) fn print_line(line: &str) -> Result<(), Error> {
    progress::remove_progress_line();
    write_stdout(&format!("{line}\n")).map_err(output_error)
}

/// Prints the result of a command that changes nothing. Returns `false` if the reader has closed the pipe.
pub(super) fn print_text(text: &str) -> Result<bool, Error> {
    match progress::with_progress_line_hidden(|| write_stdout(text)) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true).map_err(output_error),
    }
}

/// Prints JSON items, one on each line or all in one document.
pub(super) fn print_list(
    all: impl Iterator<Item = Result<String, Error>>,
    as_json: bool,
) -> Result<(), Error> {
    if as_json {
        let all: Vec<String> = all.collect::<Result<_, _>>()?;
        return print_text(&format!("{{\"data\":[{}]}}\n", all.join(","))).map(drop);
    }
    for one in all {
        if !print_text(&format!("{}\n", one?))? {
            break;
        }
    }
    Ok(())
}

fn write_stdout(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn output_error(error: std::io::Error) -> Error {
    Error::Failed(format!("standard output: {error}"))
}
