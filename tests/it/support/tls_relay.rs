//! Adds TLS to a server without it: a Python process with a certificate of its own.

use super::process::Process;
use super::scratch::Scratch;
use rcgen::{CertificateParams, KeyPair};
use sha2::{Digest, Sha256};
use std::process::{Command, Stdio};

pub struct TlsRelay {
    /// SHA-256 of the certificate, in hexadecimal digits.
    pub pin: String,
    pub port: u16,
    _process: Process,
    _scratch: Scratch,
}

impl TlsRelay {
    /// Starts a relay to a local port, with a new certificate. `own_port` is 0 for a free port.
    #[track_caller]
    pub fn start(to: u16, own_port: u16) -> TlsRelay {
        let scratch = Scratch::new();
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned()];
        let own = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
        let (certificate, secret) = (scratch.path("own.pem"), scratch.path("own.key"));
        std::fs::write(&certificate, own.pem()).unwrap();
        std::fs::write(&secret, key.serialize_pem()).unwrap();
        let mut python = Command::new("python3");
        python.args(["-c", include_str!("tls_relay.py")]).args([&certificate, &secret]);
        python.args([to.to_string(), own_port.to_string()]);
        let process = Process::start_with_stderr(&mut python, Stdio::inherit());
        let port = process.read_line().trim().parse().unwrap();
        let pin = Sha256::digest(own.der()).iter().map(|byte| format!("{byte:02x}")).collect();
        TlsRelay { pin, port, _process: process, _scratch: scratch }
    }

    /// Returns the url of an Electrum server behind the relay, with the pinned certificate.
    pub fn electrum_url(&self) -> String {
        format!("electrums://127.0.0.1:{}#sha256={}", self.port, self.pin)
    }
}
