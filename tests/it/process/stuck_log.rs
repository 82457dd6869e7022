//! Standard error that is not read: log lines are dropped, and the server does not block.

use crate::support::process::Process;
use crate::support::{agent, send};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Bytes in one request path. A pipe holds 64 KiB, and the server buffers 1 MiB more.
const PATH_BYTES: usize = 8_000;

/// Starts a sandbox that logs every request into a pipe. Returns the process, its URL, and the read end of the pipe.
fn start_with_piped_log() -> (Process, String, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--log", "debug", "--exit-with-parent"]);
    let process =
        Process::start_with_stderr(command.args(["--listen", "127.0.0.1:0"]), Stdio::from(writer));
    // Closes the copy of the pipe's write end that this process holds.
    drop(command);
    let url = process.wait_for_url();
    (process, url, reader)
}

/// Makes the sandbox log this many long lines.
fn send_logged_requests(url: &str, lines: usize) {
    let agent = agent();
    let path = format!("{url}/{}", "x".repeat(PATH_BYTES));
    for _ in 0..lines {
        send(&agent, "GET", &path, &[], "").expect(404);
    }
}

#[test]
fn unread_log_does_not_block_requests_or_exit() {
    let (mut process, url, reader) = start_with_piped_log();
    send_logged_requests(&url, 300);
    let body = r#"{"amount": "20.00", "currency": "EUR"}"#;
    let key = [("X-API-Key", "sk_test_sandbox")];
    send(&agent(), "POST", &format!("{url}/v1/invoices"), &key, body).expect(201);
    assert!(process.close_input_and_wait());
    drop(reader);
}

#[test]
fn dropped_log_lines_are_counted_and_reported() {
    let (mut process, url, reader) = start_with_piped_log();
    send_logged_requests(&url, 300);
    let mut lines = BufReader::new(reader).lines();
    let said = lines.by_ref().map(Result::unwrap);
    let mut written = 0;
    let mut dropped: Option<usize> = None;
    for line in said {
        if line.contains(" GET /xxx") {
            written += 1;
        }
        if let Some((_, count)) =
            line.split_once("] log lines dropped, standard error was not read: count=")
        {
            dropped = count.parse().ok();
            break;
        }
    }
    assert!(dropped.is_some_and(|dropped| dropped > 0 && written + dropped <= 310));
    // The server also logs a request that arrives shortly before the exit.
    send_logged_requests(&url, 1);
    assert!(process.close_input_and_wait());
    let mut rest = String::new();
    for line in lines {
        rest.push_str(&line.unwrap());
    }
    assert!(rest.contains(" GET /xxx"));
}

#[test]
fn sandbox_logs_nothing_before_its_first_request() {
    let (mut process, url, reader) = start_with_piped_log();
    send_logged_requests(&url, 1);
    assert!(process.close_input_and_wait());
    let log = std::io::read_to_string(reader).unwrap();
    let first = log.lines().next().unwrap_or_default();
    assert!(first.contains(" GET /xxx"), "{log}");
}
