//! External programs that some tests need.
//!
//! If the program of a test is missing, the test prints that it is skipped. If `COFFER_NEED_TOOLS` is set, as in CI,
//! the test fails instead. A program that an environment variable names, such as bitcoind, may be missing in CI.

use std::ffi::OsString;
use std::process::{Command, Output};

/// Runs a program to its end. Returns `None` if it is not installed.
#[track_caller]
pub fn run_tool(command: &mut Command, untested: &str) -> Option<Output> {
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            report_missing(&command.get_program().to_string_lossy(), untested);
            None
        }
        output => Some(output.unwrap()),
    }
}

/// Returns the output of a program. Returns `None` if it is not installed or exits with an error.
#[track_caller]
pub fn tool_output(tool: &str, arguments: &[&str], untested: &str) -> Option<String> {
    let output = run_tool(Command::new(tool).args(arguments), untested)?;
    if !output.status.success() {
        report_missing(&format!("{tool} {}", arguments.join(" ")), untested);
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// Returns the program that the environment variable `variable` names, or else the program `tool`. No package
/// contains the program, so it may be missing in CI.
#[track_caller]
pub fn find_program(variable: &str, tool: &str, untested: &str) -> Option<OsString> {
    let named = std::env::var_os(variable).filter(|program| !program.is_empty());
    let program = named.clone().unwrap_or_else(|| tool.into());
    // Without `-nosettings`, bitcoind would write settings into the home folder.
    match Command::new(&program).args(["-version", "-nosettings"]).output() {
        Ok(said) => {
            assert!(said.status.success(), "{program:?}: {said:?}");
            Some(program)
        }
        Err(error) => {
            assert!(named.is_none(), "{variable} names {program:?}: {error}");
            print_untested(tool, untested);
            None
        }
    }
}

/// Prints that a program is missing and what is not tested. Panics if `COFFER_NEED_TOOLS` is set.
#[track_caller]
pub fn report_missing(missing: &str, untested: &str) {
    let needed = std::env::var_os("COFFER_NEED_TOOLS").is_some();
    assert!(!needed, "{missing} is not on this machine and is needed");
    print_untested(missing, untested);
}

/// Prints that the system lacks something that no package installs, and what is not tested.
pub fn report_unavailable(lacking: &str, untested: &str) {
    print_untested(lacking, untested);
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests is told what was not tested")]
fn print_untested(missing: &str, untested: &str) {
    eprintln!("{missing} is not on this machine: {untested} is not tested");
}
