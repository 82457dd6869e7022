//! Tests of commands that answer, hang, fail, answer wrongly, write too much or are killed.

use super::{Command, CommandResult, Program};
use crate::domain::Time;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokio::sync::watch;

/// Returns a program that runs a shell script with sh.
fn shell_script(text: &str) -> Program {
    let words = json!(["/bin/sh", "-c", text]).to_string();
    Program::parse(&words).unwrap()
}

/// Runs a script with `{"id":"1"}` as its input.
async fn run_script(text: &str, timeout_ms: u64) -> CommandResult {
    let (_stop, hears) = watch::channel(false);
    let command = Command {
        program: shell_script(text),
        timeout: Duration::from_millis(timeout_ms),
        stop: hears,
        stop_grace: Duration::ZERO,
    };
    command.run("order 1", &json!({ "id": "1" })).await
}

#[track_caller]
fn to_fields(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn command_reads_and_writes_json() {
    let answered = run_script("read line; echo \"{\\\"got\\\": $line}\"", 60_000).await;
    assert_eq!(answered, Ok(to_fields(json!({ "got": { "id": "1" } }))));
    let deaf = run_script("exec <&-; echo '  {}  '", 60_000).await;
    assert_eq!(deaf, Ok(Map::new()));
    let loud = run_script("head -c 300000 /dev/zero >&2; echo {}", 60_000).await;
    assert_eq!(loud, Ok(Map::new()));
}

#[tokio::test]
async fn command_runs_in_the_root_with_an_empty_environment() {
    let script = "printf '{\"environ\": \"%s\", \"at\": \"%s\"}' \"$(cat /proc/$$/environ | tr '\\0' ' ')\" \"$(pwd)\"";
    let answered = run_script(script, 60_000).await;
    assert_eq!(answered, Ok(to_fields(json!({ "environ": "", "at": "/" }))));
}

#[tokio::test]
async fn command_gets_only_the_three_standard_descriptors() {
    let listed = "for one in /proc/$$/fd/*; do [ -e $one ] && all=\"$all ${one##*/}\"; done; echo \"{\\\"has\\\":\\\"$all\\\"}\"";
    // Simulates a descriptor that the process inherited, or that a C library has opened.
    let handed_down = std::fs::File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&handed_down, rustix::io::FdFlags::empty()).unwrap();
    let answered = run_script(listed, 60_000).await;
    assert_eq!(answered, Ok(to_fields(json!({ "has": " 0 1 2" }))));
    drop(handed_down);
}

#[tokio::test]
async fn failed_exit_or_invalid_answer_is_an_error() {
    for (script, why) in [
        ("echo '{}'; exit 1", "exit status: 1"),
        ("echo '{}'; kill -9 $$", "signal: 9"),
        ("echo '{}'; kill -15 $$", "signal: 15"),
        ("exit 0", "no JSON object"),
        ("echo rubbish", "no JSON object"),
        ("echo '[]'", "no JSON object"),
        ("echo '{} {}'", "no JSON object"),
        ("printf '\\377{}'", "no JSON object"),
        ("printf '{\"a\": \"'; head -c 70000 /dev/zero", "over 65536 bytes"),
        ("yes", "over 65536 bytes"),
    ] {
        let why_not = run_script(script, 60_000).await.unwrap_err();
        assert!(why_not.contains(why), "{script}: {why_not}");
    }
}

/// A named pipe. Its reader sees the end of the file only when no process has the pipe open for writing.
struct Fifo {
    path: PathBuf,
    end: Receiver<Vec<u8>>,
}

impl Fifo {
    #[expect(clippy::disallowed_methods, reason = "starts a process")]
    fn new() -> Fifo {
        let name = format!("coffer-command-{}", crate::domain::id::new(Time(0)));
        let path = std::env::temp_dir().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (told, end) = channel();
        let fifo = path.clone();
        std::thread::spawn(move || told.send(std::fs::read(fifo).unwrap()));
        Fifo { path, end }
    }

    /// Asserts that every process that had the pipe open has exited without writing to it.
    #[track_caller]
    fn assert_closed_by_all_processes(&self, by: &str) {
        let read = self.end.recv_timeout(Duration::from_secs(60));
        assert_eq!(read, Ok(Vec::new()), "{by}");
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).unwrap();
    }
}

#[tokio::test]
async fn remaining_child_processes_are_killed_at_the_end() {
    // A background process holds the pipe open after the command itself has ended.
    let quiet = "exec 3>FIFO; (sleep 1000 & wait) <&3 >&3 2>&3 & exec 3>&-;";
    for (script, outcome) in [
        ("echo '{}'", Ok(())),
        ("echo '{}'; exit 3", Err("exit status: 3")),
        ("echo '{}'; kill -9 $$", Err("signal: 9")),
        ("yes", Err("over 65536 bytes")),
        ("wait", Err("longer than 500 ms")),
        // A background process keeps stdout open after the command has exited.
        ("echo '{}'; sleep 1000 2>/dev/null &", Err("longer than 500 ms")),
    ] {
        let fifo = Fifo::new();
        let quiet = quiet.replace("FIFO", &fifo.path.display().to_string());
        let timeout_ms = if outcome == Err("longer than 500 ms") { 500 } else { 60_000 };
        let answered = run_script(&format!("{quiet} {script}"), timeout_ms).await;
        match (answered, outcome) {
            (Ok(answer), Ok(())) => assert_eq!(answer, Map::new(), "{script}"),
            (Err(why_not), Err(why)) => assert!(why_not.contains(why), "{script}: {why_not}"),
            (answered, _) => unreachable!("{script}: {answered:?}"),
        }
        fifo.assert_closed_by_all_processes(script);
    }
}

#[tokio::test]
async fn dropping_the_future_kills_the_command_and_its_children() {
    let fifo = Fifo::new();
    let text = format!("exec 3>{}; (sleep 1000 & wait) & wait", fifo.path.display());
    let given_up =
        tokio::time::timeout(Duration::from_millis(500), run_script(&text, 60_000)).await;
    assert!(given_up.is_err(), "{given_up:?}");
    fifo.assert_closed_by_all_processes(&text);
}

#[tokio::test]
async fn missing_program_is_reported_as_not_started() {
    let (_stop, hears) = watch::channel(false);
    let command = Command {
        program: Program { path: "/nowhere/at/all".into(), arguments: Vec::new() },
        timeout: Duration::from_secs(60),
        stop: hears,
        stop_grace: Duration::ZERO,
    };
    let why_not = command.run("order 1", &json!({})).await.unwrap_err();
    assert!(why_not.contains("did not start"), "{why_not}");
}

#[test]
fn program_setting_is_a_path_or_a_json_array() {
    let plain = Program::parse("/bin/sh").unwrap();
    assert_eq!(plain, Program::parse("[\"/bin/sh\"]").unwrap());
    let more = Program::parse("[\"/bin/sh\", \"-c\", \"a b\"]").unwrap();
    assert_eq!(more.arguments, ["-c", "a b"]);
    for (text, why) in [
        ("sh", "absolute"),
        ("./sign", "absolute"),
        ("[]", "name a program"),
        ("[\"/bin/sh\", 1]", "JSON array of texts"),
        ("[\"/bin/sh\"", "JSON array of texts"),
        ("/nowhere/at/all", "No such file"),
        ("/etc/passwd", "executable"),
        ("/bin", "executable"),
        ("/bin/sh -c", "No such file"),
    ] {
        let problem = Program::parse(text).unwrap_err();
        assert!(problem.contains(why), "{text}: {problem}");
    }
}
