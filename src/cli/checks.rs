//! The checks of `coffer doctor` and how they are printed.

use super::output::print_text;
use super::terminal::{Stream, Tone};
use crate::domain::Time;
use crate::service::Error;
use crate::store::doctor::FileProblem;
use serde_json::{Value, json};

/// One check: its name and the problems found.
pub(super) type Check = (String, Vec<FileProblem>);

/// Prints the checks. Returns an error if any of them found a problem.
pub(super) fn print_checks(
    checked: &[Check],
    accepted: Option<Time>,
    as_json: bool,
) -> Result<(), Error> {
    match as_json {
        true => {
            let data: Vec<Value> =
                checked.iter().map(|(about, found)| check_to_json(about, found)).collect();
            print_text(&format!("{}\n", json!({ "clockAccepted": accepted, "data": data })))?;
        }
        false => checked.iter().try_for_each(|(about, found)| print_check(about, found))?,
    }
    let count: usize = checked.iter().map(|(_, complaints)| complaints.len()).sum();
    if count == 0 {
        return Ok(());
    }
    Err(Error::Failed(format!("{count} to look after")))
}

fn check_to_json(about: &str, complaints: &[FileProblem]) -> Value {
    let shown =
        |complaint: &FileProblem| json!({ "about": complaint.about, "mend": complaint.mend });
    let shown: Vec<Value> = complaints.iter().map(shown).collect();
    json!({ "about": about, "ok": complaints.is_empty(), "complaints": shown })
}

/// Prints a check: one "ok" line, or one line for each problem.
fn print_check(about: &str, complaints: &[FileProblem]) -> Result<(), Error> {
    let paint = |tone, word| Stream::Out.paint(tone, word);
    let sanitize = |text| Stream::Out.sanitize(text);
    if complaints.is_empty() {
        print_text(&format!("{} {}\n", paint(Tone::Good, "ok:"), sanitize(about)))?;
    }
    for FileProblem { about, mend } in complaints {
        let (wrong, how) = (paint(Tone::Bad, "wrong:"), paint(Tone::Marked, "mend:"));
        let (about, mend) = (sanitize(about), sanitize(mend));
        print_text(&format!("{wrong} {about}; {how} {mend}\n"))?;
    }
    Ok(())
}
