//! Programs of other people's that some tests need.
//!
//! What always holds: where one is not on the machine, the test is told so and says so, unless `COFFER_NEED_TOOLS` is
//! set, as CI does: then it fails. One that a variable of its own names, and no package has, may be missing there, too.

use std::ffi::OsString;
use std::process::{Command, Output};

/// Runs a program to its end; nothing where the machine has none of that name, and `untested` is passed over.
#[track_caller]
pub fn output(command: &mut Command, untested: &str) -> Option<Output> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            passed_over(&command.get_program().to_string_lossy(), untested);
            None
        }
        output => Some(output.unwrap()),
    }
}

/// What a program says of itself, in one run; nothing where it, or what it was asked for, is not on the machine.
#[track_caller]
pub fn says(tool: &str, arguments: &[&str], untested: &str) -> Option<String> {
    let output = output(Command::new(tool).args(arguments), untested)?;
    if !output.status.success() {
        passed_over(&format!("{tool} {}", arguments.join(" ")), untested);
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// The program that a variable names, or else the one of this name: no package has it, so it may be missing in CI, too.
#[track_caller]
pub fn named(variable: &str, tool: &str, untested: &str) -> Option<OsString> {
    let named = std::env::var_os(variable).filter(|program| !program.is_empty());
    let program = named.clone().unwrap_or_else(|| tool.into());
    // Without the second, bitcoind writes settings into the home folder before it says anything.
    match Command::new(&program)
        .args(["-version", "-nosettings"])
        .output()
    {
        Ok(said) => {
            assert!(said.status.success(), "{program:?}: {said:?}");
            Some(program)
        }
        Err(error) => {
            assert!(named.is_none(), "{variable} names {program:?}: {error}");
            not_tested(tool, untested);
            None
        }
    }
}

/// Says that something is not on the machine, and what is not tested without it; fails where it is needed.
#[track_caller]
pub fn passed_over(missing: &str, untested: &str) {
    let needed = std::env::var_os("COFFER_NEED_TOOLS").is_some();
    assert!(!needed, "{missing} is not on this machine and is needed");
    not_tested(missing, untested);
}

#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests is told what was not tested"
)]
fn not_tested(missing: &str, untested: &str) {
    eprintln!("{missing} is not on this machine: {untested} is not tested");
}
