//! The settings of `--acme`, `coffer doctor`, and the capability to open port 443, with the real binary.

use super::{Site, now};
use crate::support::installation::{Installation, NO_RATES, TOKEN};
use crate::support::pebble::{Pebble, Ports};
use crate::support::polling::wait_until;
use crate::support::process::Process;
use crate::support::scratch::{Scratch, path_text};
use crate::support::tools::{report_missing, run_tool};
use crate::support::{agent, send};
use coffer::domain::time::DAY_MS;
use serde_json::{Value, json};
use std::process::{Command, Output};

fn coffer(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coffer")).args(args).output().unwrap()
}

/// Runs `coffer serve`, which must refuse its settings, and returns the error.
#[track_caller]
fn refusal(file: &str, args: &[&str]) -> String {
    let output = coffer(&[&["serve", "--file", file], args].concat());
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let scratch = Scratch::new();
    let (file, text) = (scratch.path("shop.db"), scratch.path("text"));
    std::fs::write(&text, "no certificate").unwrap();
    let refused = |args: &[&str], expected: &str| {
        let error = refusal(path_text(&file), args);
        assert!(error.contains(expected), "{args:?}: {error}");
    };
    for domain in
        ["https://pay.example.com", "127.0.0.1", "*.example.com", "a_b.example", "-a.b", "a.b."]
    {
        let given = format!("--acme={domain}");
        refused(&[&given], &format!("--acme {domain}: must be a domain like "));
    }
    let acme = ["--acme", "pay.example.com", "--acme-agree"];
    let with = |more: &[&'static str]| [&acme[..], more].concat();
    for url in
        ["https://shop.example.com", "http://pay.example.com", "https://pay.example.com.evil"]
    {
        refused(&with(&["--public-url", url]), "the domain of --acme, or be left out");
    }
    refused(&with(&["--acme-directory", "http://ca.example/dir"]), "--acme-directory http://ca.e");
    refused(&with(&["--acme-http-listen", "127.0.0.1:80"]), "needs --acme-http");
    refused(&with(&["--acme-http", "--acme-http-listen", "here"]), "--acme-http-listen here: must");
    refused(&["--acme-http"], "need --acme with a domain");
    refused(&["--acme-agree"], "need --acme with a domain");
    let missing = [&acme[..], &["--acme-ca", path_text(&file)]].concat();
    refused(&missing, "--acme-ca ");
    let unreadable = [&acme[..], &["--acme-ca", path_text(&text)]].concat();
    refused(&unreadable, "has no certificate in PEM");
    assert!(!file.exists());
}

#[test]
fn terms_must_be_agreed_to() {
    let ports = Ports::new();
    let Some(pebble) = Pebble::start(ports, "terms of an authority") else { return };
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (directory, ca) = (pebble.directory(), pebble.ca_file());
    let args = ["--acme", "localhost", "--acme-directory", &directory, "--acme-ca", path_text(&ca)];
    let error = refusal(path_text(&file), &[&args[..], &["--listen", "[::]:0"]].concat());
    let expected = "--acme needs --acme-agree; read the terms of the certificate authority: data:text/plain,Do";
    assert!(error.contains(expected), "{error}");
    assert!(!file.exists() && !scratch.path("shop.db.acme").exists());
    assert_eq!(pebble.order_count(), 0);
    let away = ["--acme", "localhost", "--acme-directory", "https://127.0.0.1:1/dir"];
    let error = refusal(path_text(&file), &[&away[..], &["--listen", "[::]:0"]].concat());
    assert!(error.contains("the terms of the certificate authority were not read: "), "{error}");
}

/// Starts the real binary for this site, and returns the process.
#[track_caller]
fn serve(site: &Site, pebble: &Pebble, more: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["serve", "--acme", "LOCALHOST", "--acme-agree", "--exit-with-parent"]);
    command.args(["--acme-directory", &pebble.directory(), "--log", "warn", "--acme-ca"]);
    command.arg(pebble.ca_file()).arg("--file").arg(site.file());
    command.args(["--listen", &format!("[::]:{}", site.ports.tls), "--public-url", &site.url("")]);
    command.env("COFFER_RATES", NO_RATES);
    let process = Process::start(command.args(more));
    assert_eq!(process.wait_for_url(), site.url(""));
    process
}

/// Returns the problems that doctor finds in its check of the certificate.
#[track_caller]
fn certificate_complaints(site: &Site) -> Vec<Value> {
    let file = site.file();
    let directory = &site.settings.directory;
    let args = ["doctor", "--json", "--file", path_text(&file), "--acme", "localhost"];
    let rates = ["--rates", NO_RATES];
    let output = coffer(&[&args[..], &["--acme-directory", directory], &rates].concat());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = told["data"].as_array().unwrap();
    let check = checks.iter().find(|check| check["about"] == "certificate of localhost");
    check.unwrap()["complaints"].as_array().unwrap().clone()
}

#[test]
fn doctor_says_what_is_wrong_and_whether_the_server_is_ready() {
    let Some((site, pebble)) = Site::with_pebble("doctor with ACME") else { return };
    let listen = format!("[::]:{}", site.ports.tls);
    let live = || {
        coffer(&["doctor", "--live", "--acme", "localhost", "--listen", &listen]).status.success()
    };
    assert!(!live());
    let server = serve(&site, &pebble, &["--metrics-token", "secret"]);
    site.wait_for_certificate();
    assert!(wait_until(live));
    assert_eq!(certificate_complaints(&site), [] as [Value; 0]);
    let browser = super::browser(&pebble);
    let metrics = |token: &str| {
        let headers = [("Authorization", token)];
        send(&browser, "GET", &site.url("/metrics"), &headers, "")
    };
    metrics("Bearer wrong").expect(401);
    let page = metrics("Bearer secret").expect(200).text;
    let end_s = site.certificate_end().unwrap().unix_seconds();
    assert!(page.contains(&format!("\ncoffer_certificate_end_seconds {end_s}\n")), "{page}");
    assert!(page.contains("\ncoffer_certificate_warning 0\n"), "{page}");
    drop(server);

    // A failure of a day ago.
    let mut attempts = site.attempts();
    attempts.begin(now().plus_ms(-DAY_MS));
    attempts.problem = Some("the authority is away".to_owned());
    site.folder().store_attempts(&attempts).unwrap();
    let complaints = certificate_complaints(&site);
    let about = complaints[0]["about"].as_str().unwrap();
    assert!(about.starts_with("the certificate of localhost end"), "{about}");
    assert!(about.ends_with(": the authority is away"), "{about}");
    std::fs::remove_dir_all(site.folder().path()).unwrap();
    let complaints = certificate_complaints(&site);
    assert_eq!(complaints[0]["about"], "localhost has no certificate yet");
}

/// Returns a line of a process's status in /proc.
fn status_line(status: &str, name: &str) -> u64 {
    let found = status.lines().find_map(|line| line.strip_prefix(name));
    u64::from_str_radix(found.unwrap().trim(), 16).unwrap()
}

#[test]
fn programs_do_not_inherit_the_capability_to_open_port_443() {
    let untested = "capabilities of a provisioner";
    let id = run_tool(Command::new("id").arg("-u"), untested).unwrap();
    if id.stdout != b"0\n" {
        return report_missing("root", untested);
    }
    if run_tool(Command::new("setpriv").arg("--version"), untested).is_none() {
        return;
    }
    let shop = Installation::new();
    let status = shop.path("status");
    let script = format!("cat /proc/self/status > {0}.new; mv {0}.new {0}", status.display());
    let program = shop.write_program("provisioner", &script);
    let folder = shop.file.parent().unwrap();
    let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(folder).status();
    assert!(owned.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.args(["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"]);
    command.arg(env!("CARGO_BIN_EXE_coffer")).args(["serve", "--listen", "127.0.0.1:0"]);
    command.args(["--log", "warn", "--exit-with-parent", "--provisioner", &program, "--file"]);
    command.env("COFFER_RATES", NO_RATES);
    let process = Process::start(command.arg(&shop.file));
    let url = process.wait_for_url();
    let own = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let bind = 1 << 10;
    assert_eq!(status_line(&own, "CapEff:") & bind, bind, "the server may open the port");
    let order = json!({ "type": "kvm", "hostname": "web-1.example.com", "cpu": 2, "ramMb": 2048, "diskGb": 20 });
    let token = format!("Bearer {TOKEN}");
    let (path, headers) = (format!("{url}/reseller/servers"), [("Authorization", token.as_str())]);
    send(&agent(), "POST", &path, &headers, &order.to_string()).expect(201);
    assert!(wait_until(|| status.exists()));
    let inherited = std::fs::read_to_string(&status).unwrap();
    for set in ["CapAmb:", "CapEff:", "CapPrm:"] {
        assert_eq!(status_line(&inherited, set), 0, "{set}");
    }
}
