//! Commands of the binary on a file, which run to their end.

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit code and output of a command that has ended.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    /// Text on standard output.
    pub printed: String,
    /// Text on standard error.
    pub errors: String,
}

impl CommandOutput {
    /// Returns standard output, followed by standard error.
    pub fn all_text(&self) -> String {
        format!("{}{}", self.printed, self.errors)
    }

    /// Asserts success, and parses standard output, which has one JSON object per line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self.printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs a command that must succeed on a file, and returns its standard output.
#[track_caller]
pub fn run_coffer(file: &Path, args: &[&str]) -> String {
    let output = coffer_output(file, args);
    assert_eq!(output.code, Some(0), "{args:?}: {}", output.all_text());
    output.printed
}

/// Runs a command that must succeed on a file, and parses its standard output, which is one JSON document.
#[track_caller]
pub fn run_coffer_json(file: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&run_coffer(file, args)).unwrap()
}

/// Runs a command that must fail with exit code 1 on a file, and returns both outputs.
#[track_caller]
pub fn run_coffer_failing(file: &Path, args: &[&str]) -> String {
    let output = coffer_output(file, args);
    assert_eq!(output.code, Some(1), "{args:?}: {}", output.all_text());
    output.all_text()
}

/// Runs a command on a file, and returns its exit code and output.
#[track_caller]
pub fn coffer_output(file: &Path, args: &[&str]) -> CommandOutput {
    coffer_output_with_input(file, args, "")
}

/// Runs a command on a file with this standard input, and returns its exit code and output.
#[track_caller]
pub fn coffer_output_with_input(file: &Path, args: &[&str], input: &str) -> CommandOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(args).arg("--file").arg(file);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // A command that rejects its arguments exits without reading standard input, and this write may fail.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    CommandOutput {
        code: output.status.code(),
        printed: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}
