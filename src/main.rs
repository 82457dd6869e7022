//! argv in, one command run, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    coffer::cli::main(std::env::args_os())
}
