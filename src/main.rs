//! The `coffer` binary.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use std::process::ExitCode;

fn main() -> ExitCode {
    coffer::cli::main(std::env::args_os())
}
