//! Limits on open files: the real binary under different system limits.

use crate::http::connections::{assert_connection_works, connect_to_url};
use crate::support::process::Process;
use crate::support::scratch::Scratch;
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Builds a `coffer` command that runs under these system limits.
fn coffer_with_limits(limits: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]);
    command.arg(env!("CARGO_BIN_EXE_coffer")).args(arguments);
    command
}

const SANDBOX_ARGS: &[&str] =
    &["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent", "--log", "warn"];

#[test]
fn start_raises_the_open_file_limit() {
    let process = Process::start(&mut coffer_with_limits("ulimit -Sn 64", SANDBOX_ARGS));
    let url = process.wait_for_url();
    let mut open: Vec<TcpStream> = (0..100).map(|_| connect_to_url(&url)).collect();
    open.iter_mut().for_each(assert_connection_works);
    open.iter_mut().for_each(assert_connection_works);
}

#[test]
fn start_warns_about_a_low_open_file_limit() {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let errors: Stdio = std::fs::File::create(&log).unwrap().into();
    let mut process =
        Process::start_with_stderr(&mut coffer_with_limits("ulimit -n 200", SANDBOX_ARGS), errors);
    let url = process.wait_for_url();
    let mut open: Vec<TcpStream> = (0..300).map(|_| connect_to_url(&url)).collect();
    assert_connection_works(open.last_mut().unwrap());
    assert_connection_works(&mut connect_to_url(&url));
    assert!(process.close_input_and_wait());
    let logged = std::fs::read_to_string(&log).unwrap();
    let words = "connections limited by open files: open_files=200 connections=100 configured=4096";
    assert!(logged.contains(words), "{logged}");
    assert!(!logged.contains("connection not accepted"), "{logged}");
    let file = scratch.path("none.db");
    let arguments = ["doctor", "--file", file.to_str().unwrap()];
    let doctor = coffer_with_limits("ulimit -n 200", &arguments).output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    let words =
        "wrong: at most 200 files may be open: room for 100 connections, not for 4096; mend:";
    assert!(said.contains(words), "{said}");
}

#[test]
fn connection_limit_is_configurable() {
    for wrong in ["15", "0", "many", "1000001"] {
        let arguments = ["sandbox", "--connections-max", wrong];
        let refused = coffer_with_limits("true", &arguments).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success());
        let words = format!("--connections-max {wrong}: must be a whole number from 16 to 1000000");
        assert!(said.contains(&words), "{said}");
    }
}
