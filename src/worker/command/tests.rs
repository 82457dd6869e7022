//! Commands that answer, and commands that hang, fail, lie, shout or die.

use super::{Answered, Command, Program};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// A shell script as a command: sh is the program here, as any other would be.
fn script(text: &str) -> Program {
    let words = json!(["/bin/sh", "-c", text]).to_string();
    Program::parse(&words).unwrap()
}

/// Runs a script with `{"id":"1"}` as its input.
async fn run(text: &str, timeout_ms: u64) -> Answered {
    let (_stop, hears) = watch::channel(false);
    let command = Command {
        program: script(text),
        timeout: Duration::from_millis(timeout_ms),
        stop: hears,
    };
    command.run("order 1", &json!({ "id": "1" })).await
}

#[track_caller]
fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn it_reads_json_and_answers_json() {
    let answered = run("read line; echo \"{\\\"got\\\": $line}\"", 60_000).await;
    assert_eq!(answered, Ok(object(json!({ "got": { "id": "1" } }))));
    let deaf = run("exec <&-; echo '  {}  '", 60_000).await;
    assert_eq!(deaf, Ok(Map::new()));
    let loud = run("head -c 300000 /dev/zero >&2; echo {}", 60_000).await;
    assert_eq!(loud, Ok(Map::new()));
}

#[tokio::test]
async fn its_environment_is_empty_and_it_stands_in_the_root() {
    let script = "printf '{\"environ\": \"%s\", \"at\": \"%s\"}' \"$(cat /proc/$$/environ | tr '\\0' ' ')\" \"$(pwd)\"";
    let answered = run(script, 60_000).await;
    assert_eq!(answered, Ok(object(json!({ "environ": "", "at": "/" }))));
}

#[tokio::test]
async fn it_holds_no_file_of_the_server() {
    let path = std::env::temp_dir().join(format!("coffer-held-{}", std::process::id()));
    let held = std::fs::File::create(&path).unwrap();
    let held_here = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    assert!(
        held_here
            .map(|entry| std::fs::read_link(entry.path()))
            .any(|target| target.is_ok_and(|target| target == path))
    );
    let answered = run(
        "echo \"{\\\"held\\\": $(ls -l /proc/$$/fd | grep -c coffer-held)}\"",
        60_000,
    )
    .await;
    assert_eq!(answered, Ok(object(json!({ "held": 0 }))));
    drop(held);
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn what_it_did_is_not_known_unless_it_says_so_and_ends_well() {
    for (script, why) in [
        ("echo '{}'; exit 1", "exit status: 1"),
        ("echo '{}'; kill -9 $$", "signal: 9"),
        ("echo '{}'; kill -15 $$", "signal: 15"),
        ("exit 0", "no JSON object"),
        ("echo rubbish", "no JSON object"),
        ("echo '[]'", "no JSON object"),
        ("echo '{} {}'", "no JSON object"),
        ("printf '\\377{}'", "no JSON object"),
        (
            "printf '{\"a\": \"'; head -c 70000 /dev/zero",
            "over 65536 bytes",
        ),
        ("yes", "over 65536 bytes"),
    ] {
        let why_not = run(script, 60_000).await.unwrap_err();
        assert!(why_not.contains(why), "{script}: {why_not}");
    }
}

#[tokio::test]
async fn one_that_hangs_is_killed_with_all_it_started() {
    let fifo = std::env::temp_dir().join(format!("coffer-command-{}", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let path = fifo.display();
    // The child of the child holds the pipe open for writing: who reads it sees its end when all of them are gone.
    let text = format!("(sleep 1000 & wait) >{path} & wait");
    let reader = {
        let fifo = fifo.clone();
        std::thread::spawn(move || std::fs::read(fifo).unwrap())
    };
    let why_not = run(&text, 500).await.unwrap_err();
    assert!(why_not.contains("longer than 500 ms"), "{why_not}");
    assert_eq!(reader.join().unwrap(), b"");
    std::fs::remove_file(fifo).unwrap();
}

#[tokio::test]
async fn one_that_is_not_there_did_nothing_that_is_known() {
    let (_stop, hears) = watch::channel(false);
    let command = Command {
        program: Program {
            path: "/nowhere/at/all".into(),
            arguments: Vec::new(),
        },
        timeout: Duration::from_secs(60),
        stop: hears,
    };
    let why_not = command.run("order 1", &json!({})).await.unwrap_err();
    assert!(why_not.contains("did not start"), "{why_not}");
}

#[test]
fn a_setting_is_a_path_or_a_list() {
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
