//! Command line of the sandbox, as a CI job uses it.

use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{TEST, agent, polling, send};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Builds a command of the binary with these arguments.
fn coffer_command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(args);
    command
}

#[test]
fn sandbox_prints_one_ready_line_and_removes_its_files() {
    let scratch = Scratch::new();
    let ready = scratch.path("ready");
    for signal in ["-TERM", "-INT", "-HUP"] {
        // The test runner may ignore some signals, and a child process inherits this setting.
        let mut command = Command::new("env");
        command.args([
            "--default-signal",
            env!("CARGO_BIN_EXE_coffer"),
            "sandbox",
            "--listen",
            "127.0.0.1:0",
            "--ready-file",
            ready.to_str().unwrap(),
        ]);
        // A temporary sandbox ignores `COFFER_FILE`.
        command.env("COFFER_FILE", scratch.path("never.db"));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(polling::wait_until(|| ready.exists()));
        let line = std::fs::read_to_string(&ready).unwrap();
        let (url, rest) = line
            .trim_end()
            .strip_prefix("coffer ready url=")
            .unwrap()
            .split_once(" listen=")
            .unwrap();
        let (listen, file) = rest.split_once(" file=").unwrap();
        assert_eq!(url, format!("http://{listen}"));
        assert!(Path::new(file).exists());
        send(&agent(), "GET", &format!("{url}/v1/merchant"), &[("X-API-Key", TEST)], "")
            .expect(200);
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stdout).unwrap()),
            (Some(0), line.clone())
        );
        for suffix in ["", "-wal", "-shm", "-lock"] {
            assert!(!Path::new(&format!("{file}{suffix}")).exists(), "{file}{suffix}");
        }
        std::fs::remove_file(&ready).unwrap();
    }
    assert!(!scratch.path("never.db").exists());
}

#[test]
fn sandbox_under_nohup_ignores_sighup() {
    let mut nohup = Command::new("nohup");
    let binary = env!("CARGO_BIN_EXE_coffer");
    let mut server = Process::start(nohup.args([binary, "sandbox", "--listen", "127.0.0.1:0"]));
    server.wait_for_url();
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    assert_eq!(ignored & 1, 1, "SIGHUP");
    assert!(server.interrupt_and_wait());
}

#[test]
fn json_output_contains_every_credential() {
    let process = Process::start(&mut coffer_command(&[
        "sandbox",
        "--listen",
        "127.0.0.1:0",
        "--json",
        "--exit-with-parent",
    ]));
    let line: Value = serde_json::from_str(&process.read_line()).unwrap();
    let keys = serde_json::json!({
        "secretTest": "sk_test_sandbox", "secretLive": "sk_live_sandbox", "publicTest": "pk_test_sandbox",
        "publicLive": "pk_live_sandbox", "legacy": "sandbox.sandbox",
    });
    assert_eq!(line["keys"], keys);
    assert_eq!(line["webhookSecret"], "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh");
    assert_eq!(line["legacySecret"], "legacy_sandbox");
    let listen = line["listen"].as_str().unwrap();
    assert!(listen.starts_with("127.0.0.1:"), "{listen}");
    assert_eq!(line["url"], format!("http://{listen}"));
    assert!(Path::new(line["file"].as_str().unwrap()).exists());
}

#[test]
fn urls_start_with_the_public_url() {
    let args = ["sandbox", "--listen", "127.0.0.1:0", "--public-url", "HTTPS://pay.example.com/"];
    let mut command = coffer_command(&args);
    let scratch = Scratch::new();
    let ready = scratch.path("ready");
    let process = Process::start(command.arg("--exit-with-parent").arg("--ready-file").arg(&ready));
    let line = process.read_line();
    let rest = line.strip_prefix("coffer ready url=https://pay.example.com listen=").unwrap();
    let (listen, _) = rest.split_once(" file=").unwrap();
    let url = format!("http://{listen}/livez");
    send(&agent(), "GET", &url, &[], "").expect(200);
}

/// The ready line ends with the file path, because the path may contain spaces.
#[test]
fn ready_line_can_be_parsed_by_scripts() {
    let scratch = Scratch::new();
    let file = scratch.path("a shop url=x listen=y file=z.db");
    let mut command = coffer_command(&["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"]);
    let process = Process::start(command.arg("--file").arg(&file));
    let line = process.read_line();
    let words: Vec<&str> = line.splitn(5, ' ').collect();
    let url = words[2].strip_prefix("url=").unwrap();
    assert_eq!(words[..2], ["coffer", "ready"]);
    assert_eq!(words[3], format!("listen={}", &url["http://".len()..]));
    assert_eq!(words[4], format!("file={}", file.display()));
    let (_, after) = line.split_once(" file=").unwrap();
    assert_eq!(Path::new(after), file);
}

#[test]
fn help_describes_each_command() {
    let help = |command: &str| {
        let output = coffer_command(&[command, "--help"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (sandbox, serve) = (help("sandbox"), help("serve"));
    assert!(!sandbox.contains("COFFER_FILE"), "{sandbox}");
    assert!(sandbox.contains("COFFER_LISTEN") && serve.contains("COFFER_FILE"));
    for setting in coffer::config::SETTINGS {
        let named = setting.env_name().map(|name| format!("[env: {name}]"));
        for command in setting.commands {
            let help = help(command);
            assert!(help.contains(&format!("--{}", setting.flag)), "{command}");
            let is_named = named.as_ref().is_none_or(|name| help.contains(name));
            assert!(is_named, "{command} --help: {named:?}");
        }
    }
}

#[test]
fn invalid_arguments_are_rejected_with_reason() {
    for (args, code, words) in [
        (&["sandbox", "--listen", "nowhere"][..], 1, "must be an address like"),
        (&["sandbox", "--listen", "0.0.0.0:0"], 1, "--allow-remote"),
        (&["sandbox", "--public-url", "pay.example.com"], 1, "must be a url like"),
        (&["sandbox", "--webhook-allow", "10.0.0.0/99"], 1, "--webhook-allow"),
        (&["sandbox", "--trusted-proxy", "10.0.0.1,proxy"], 1, "--trusted-proxy"),
        (
            &["serve", "--rate-limit", "many", "--file", "/nonexistent/x.db"],
            1,
            "must be a whole number",
        ),
        (
            &["serve", "--file", "/nonexistent/x.db", "--listen", "127.0.0.1:0"],
            1,
            "/nonexistent/x.db",
        ),
        (&["sandbox", "--speed", "11"], 2, "--speed"),
        (&["fly"], 2, "fly"),
        (&["key", "create", "--mode", "test"], 2, "ACCOUNT"),
    ] {
        let output = coffer_command(args).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains(words) && output.stdout.is_empty(), "{args:?}: {message}");
    }
}

#[test]
fn document_and_help_are_printed() {
    let output = coffer_command(&["openapi"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(
        document["paths"]["/v1/invoices"].is_object() && document["paths"]["/sandbox"].is_null()
    );
    let changelog = coffer_command(&["changelog"]).output().unwrap();
    let changelog = String::from_utf8(changelog.stdout).unwrap();
    let version = concat!("\n## ", env!("CARGO_PKG_VERSION"), " - ");
    assert!(changelog.starts_with("# Changelog\n") && changelog.contains(version), "{changelog}");
    let help = coffer_command(&["sandbox", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("COFFER_LISTEN") && help.contains("[default: 127.0.0.1:8080]"), "{help}");
}
