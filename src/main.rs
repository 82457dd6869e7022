//! The `coffer` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    coffer::cli::main(std::env::args_os())
}
