//! A real certificate authority for tests: Pebble, in a folder of its own.
//!
//! Its certificates are valid for 120 s, and it reaches challenges at the ports that the test names.

use super::ports::free_port;
use super::scratch::Scratch;
use super::{agent, polling, tools};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Validity of the certificates, in milliseconds.
pub const VALIDITY_MS: i64 = 120_000;

/// A running Pebble.
pub struct Pebble {
    scratch: Scratch,
    ports: Ports,
    child: Option<Child>,
}

/// Ports of a Pebble: its own, and those of challenges.
#[derive(Clone, Copy)]
pub struct Ports {
    pub directory: u16,
    management: u16,
    pub tls: u16,
    pub http: u16,
}

impl Ports {
    #[track_caller]
    pub fn new() -> Ports {
        let [directory, management, tls, http] = std::array::from_fn(|_| free_port());
        Ports { directory, management, tls, http }
    }
}

impl Pebble {
    /// Starts Pebble. Returns `None` if it is not installed.
    #[track_caller]
    pub fn start(ports: Ports, untested: &str) -> Option<Pebble> {
        Pebble::start_with(ports, &[], untested)
    }

    /// Starts Pebble with further arguments.
    #[track_caller]
    pub fn start_with(ports: Ports, more: &[&str], untested: &str) -> Option<Pebble> {
        let mut pebble = Pebble::stopped(ports);
        tools::run_tool(Command::new("pebble").arg("-h"), untested)?;
        pebble.launch(more);
        Some(pebble)
    }

    /// Prepares the folder of a Pebble that does not run yet.
    #[track_caller]
    pub fn stopped(ports: Ports) -> Pebble {
        let scratch = Scratch::new();
        let key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = authority.self_signed(&key).unwrap();
        let issuer = Issuer::new(authority, key);
        let own_key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let own = own.signed_by(&own_key, &issuer).unwrap();
        std::fs::write(scratch.path("root.pem"), root.pem()).unwrap();
        std::fs::write(scratch.path("own.pem"), own.pem()).unwrap();
        std::fs::write(scratch.path("own.key"), own_key.serialize_pem()).unwrap();
        let settings = serde_json::json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{}", ports.directory),
            "managementListenAddress": format!("127.0.0.1:{}", ports.management),
            "certificate": "own.pem", "privateKey": "own.key",
            "httpPort": ports.http, "tlsPort": ports.tls,
            "certificateValidityPeriod": VALIDITY_MS / 1000,
        } });
        std::fs::write(scratch.path("settings.json"), settings.to_string()).unwrap();
        std::fs::write(scratch.path("log"), "").unwrap();
        Pebble { scratch, ports, child: None }
    }

    /// Starts the prepared Pebble, and waits until it answers.
    #[track_caller]
    pub fn launch(&mut self, more: &[&str]) {
        let log = std::fs::File::create(self.scratch.path("log")).unwrap();
        let mut command = Command::new("pebble");
        command.args(["-config", "settings.json"]).args(more);
        command.current_dir(self.scratch.path(""));
        // A refused nonce repeats its request, and the tests count requests.
        let settings = [("VA_NOSLEEP", "1"), ("AUTHZREUSE", "0"), ("WFE_NONCEREJECT", "0")];
        command.envs(settings.map(|(name, value)| (format!("PEBBLE_{name}"), value)));
        let child = command.stdout(log).stderr(Stdio::null()).spawn().unwrap();
        self.child = Some(child);
        // Pebble writes its last line before it listens.
        let listens = |port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
        let ports = [self.ports.directory, self.ports.management];
        assert!(polling::wait_until(|| ports.iter().all(|port| listens(*port))));
    }

    /// Returns the URL of the directory.
    pub fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.ports.directory)
    }

    /// Returns the path of the certificate that the directory's server is checked against.
    pub fn ca_file(&self) -> std::path::PathBuf {
        self.scratch.path("root.pem")
    }

    /// Returns the number of orders so far.
    pub fn order_count(&self) -> usize {
        self.log().matches("POST /order-plz ->").count()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.scratch.path("log")).unwrap()
    }

    /// Returns the root of the issued certificates, in PEM.
    #[track_caller]
    pub fn issuing_root(&self) -> String {
        let url = format!("https://127.0.0.1:{}/roots/0", self.ports.management);
        let agent = trusting_agent(&std::fs::read_to_string(self.ca_file()).unwrap());
        agent.get(&url).call().unwrap().body_mut().read_to_string().unwrap()
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // The kill fails if the process has already exited.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns an HTTP client that trusts only this root, and follows no redirect.
pub fn trusting_agent(root: &str) -> ureq::Agent {
    let root = Certificate::from_pem(root.as_bytes()).unwrap();
    let roots = RootCerts::new_with_certs(&[root]);
    let config = agent().config().clone();
    let config = ureq::config::Config::builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .http_status_as_error(config.http_status_as_error())
        .max_redirects(0)
        .proxy(None);
    config.build().into()
}
