//! Settings of the mail server: what is refused at the start, and what the doctor finds.

use super::FROM;
use crate::support::installation::Installation;
use crate::support::smtpd::Smtpd;
use std::process::Command;

/// Runs a command with these settings. Returns its output on both streams.
#[track_caller]
fn run(served: &Installation, command: &str, settings: &[(&str, &str)]) -> String {
    let mut coffer = Command::new(env!("CARGO_BIN_EXE_coffer"));
    coffer.arg(command).arg("--file").arg(&served.file);
    if command == "serve" {
        coffer.args(["--listen", "127.0.0.1:0"]);
    }
    coffer.env("COFFER_RATES", crate::support::installation::NO_RATES);
    coffer.envs(settings.iter().copied());
    let output = coffer.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

#[test]
fn unsafe_settings_are_refused_at_the_start() {
    let served = Installation::new();
    for (url, from, part) in [
        ("smtp://u:hunter2@mail.example", FROM, "--smtp reaches mail.example without TLS"),
        ("smtp://192.168.1.1", FROM, "--smtp reaches 192.168.1.1 without TLS"),
        ("mail.example:25", FROM, "--smtp must be smtps://"),
        ("smtps://mail.example", "", "--smtp needs --smtp-from"),
        ("smtps://mail.example", "Shop\r\nBcc: eve@evil.example", "--smtp-from must be an address"),
        ("", FROM, "--smtp-from and --smtp-ca need --smtp"),
    ] {
        let said = run(&served, "serve", &[("COFFER_SMTP", url), ("COFFER_SMTP_FROM", from)]);
        assert!(said.contains(part) && !said.contains("hunter2"), "{url}: {said}");
    }
}

#[test]
fn doctor_finds_a_mail_server_that_cannot_be_used() {
    let Some(mut smtpd) = Smtpd::start("the doctor's check of the mail server") else { return };
    let served = Installation::new();
    let url = smtpd.url();
    let settings = [("COFFER_SMTP", url.as_str()), ("COFFER_SMTP_FROM", FROM)];
    let place = format!("mail server 127.0.0.1:{}", smtpd.port);
    let said = run(&served, "doctor", &settings);
    assert!(said.contains(&format!("ok: {place}\n")) && said.contains("ok: e-mail\n"), "{said}");
    assert!(smtpd.messages().is_empty());
    smtpd.set_mode("busy");
    let said = run(&served, "doctor", &settings);
    assert!(said.contains("the sender is refused: 421 too busy; mend: "), "{said}");
    smtpd.stop();
    let said = run(&served, "doctor", &settings);
    assert!(said.contains("connection refused; mend: correct --smtp"), "{said}");
    assert!(!run(&served, "doctor", &[]).contains("mail server"));
    super::queue_messages(&served, 1..=2);
    let said = run(&served, "doctor", &[]);
    assert!(said.contains("2 e-mails wait, and no mail server is set"), "{said}");
}
