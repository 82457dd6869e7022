//! Commands of the binary on a file.

use std::path::Path;
use std::process::Command;

/// Runs a command that must succeed on a file, and returns its standard output.
#[track_caller]
pub fn run_coffer(file: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    let output = command.args(args).arg("--file").arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}
