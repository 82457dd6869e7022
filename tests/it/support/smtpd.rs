//! A real mail server for tests: Debian's aiosmtpd, run by `smtpd.py`.

use super::scratch::Scratch;
use super::{polling, tools};
use crate::support::process::Process;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;
use std::process::{Command, Stdio};

/// The Python that sees Debian's packages.
const PYTHON: &str = "/usr/bin/python3";

/// A mail server and the messages that it accepted.
pub struct Smtpd {
    scratch: Scratch,
    process: Option<Process>,
    pub port: u16,
}

/// TLS of a mail server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SmtpdTls {
    None,
    FromStart,
    StartTls,
}

/// A message that the mail server accepted.
#[derive(Clone, Debug)]
pub struct AcceptedMail {
    pub from: String,
    pub to: Vec<String>,
    /// Headers and body, with line feeds.
    pub text: String,
}

impl AcceptedMail {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> &str {
        let head = self.text.split("\n\n").next().unwrap_or_default();
        let start = format!("{name}: ");
        head.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default()
    }
}

impl Smtpd {
    /// Starts a mail server without TLS. Returns `None` if aiosmtpd is not installed.
    #[track_caller]
    pub fn start(untested: &str) -> Option<Smtpd> {
        Smtpd::start_with(SmtpdTls::None, untested)
    }

    /// Starts a mail server. With TLS it requires a login.
    #[track_caller]
    pub fn start_with(tls: SmtpdTls, untested: &str) -> Option<Smtpd> {
        tools::tool_output(PYTHON, &["-c", "import aiosmtpd"], untested)?;
        let scratch = Scratch::new();
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let own = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        std::fs::write(scratch.path("own.pem"), own.pem()).unwrap();
        std::fs::write(scratch.path("own.key"), key.serialize_pem()).unwrap();
        std::fs::write(scratch.path("messages"), "").unwrap();
        let mut smtpd = Smtpd { scratch, process: None, port: 0 };
        smtpd.set_mode("accept");
        smtpd.launch(tls);
        Some(smtpd)
    }

    /// Starts the server again on its port, or for the first time on a free one.
    #[track_caller]
    pub fn launch(&mut self, tls: SmtpdTls) {
        let mut python = Command::new(PYTHON);
        python.args(["-c", include_str!("smtpd.py")]).arg(self.scratch.path(""));
        python.arg(self.port.to_string());
        if tls != SmtpdTls::None {
            python.args([self.scratch.path("own.pem"), self.scratch.path("own.key")]);
            python.arg(if tls == SmtpdTls::StartTls { "starttls" } else { "smtps" });
        }
        let process = Process::start_with_stderr(&mut python, Stdio::null());
        self.port = process.read_line().parse().unwrap();
        self.process = Some(process);
    }

    /// Stops the server.
    pub fn stop(&mut self) {
        self.process = None;
    }

    /// Changes how the server answers. The modes are those of `smtpd.py`.
    #[track_caller]
    pub fn set_mode(&self, mode: &str) {
        // The server reads the file at any time, so it never sees half of it.
        let (new, place) = (self.scratch.path("mode-new"), self.scratch.path("mode"));
        std::fs::write(&new, mode).unwrap();
        std::fs::rename(new, place).unwrap();
    }

    /// Returns the path of the certificate, which is its own authority.
    pub fn certificate(&self) -> String {
        self.scratch.path("own.pem").to_str().unwrap().to_owned()
    }

    /// Returns the URL of the server without TLS.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Returns the accepted messages, oldest first.
    #[track_caller]
    pub fn messages(&self) -> Vec<AcceptedMail> {
        let text = std::fs::read_to_string(self.scratch.path("messages")).unwrap();
        let read = |line: &str| {
            let mail: Value = serde_json::from_str(line).ok()?;
            let to = mail["to"].as_array()?.iter().map(|to| to.as_str().unwrap().to_owned());
            Some(AcceptedMail {
                from: mail["from"].as_str()?.to_owned(),
                to: to.collect(),
                text: mail["text"].as_str()?.replace("\r\n", "\n"),
            })
        };
        text.lines().filter_map(read).collect()
    }

    /// Waits until the server has accepted this many messages, and returns them.
    #[track_caller]
    pub fn wait_for_messages(&self, count: usize) -> Vec<AcceptedMail> {
        assert!(polling::wait_until(|| self.messages().len() >= count), "{:?}", self.messages());
        self.messages()
    }
}
