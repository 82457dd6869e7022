//! HTTPS by certificates of ACME, with the real Pebble.

mod connections;
mod failures;
mod issue;
mod settings;

use crate::support::pebble::{Pebble, Ports, trusting_agent};
use crate::support::polling::wait_until;
use crate::support::scratch::Scratch;
use coffer::acme::{AcmeSettings, Attempts, Folder, folder_path};
use coffer::clock::{ManualTime, TimeSource};
use coffer::domain::Time;
use coffer::domain::time::MINUTE_MS;
use coffer::http::ConnectionLimits;
use coffer::store::FileKind;
use coffer::{Config, Server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timeout of the tests, far longer than any step should take.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A file, and the settings of servers that use it one after the other.
struct Site {
    scratch: Scratch,
    ports: Ports,
    settings: AcmeSettings,
    kind: FileKind,
    limits: ConnectionLimits,
}

/// A TLS connection of a client.
type TlsClient = StreamOwned<ClientConnection, TcpStream>;

impl Site {
    /// Starts a Pebble, and prepares a site whose authority it is; `None` where the machine has no Pebble.
    #[track_caller]
    fn with_pebble(untested: &str) -> Option<(Site, Pebble)> {
        let ports = Ports::new();
        let pebble = Pebble::start(ports, untested)?;
        Some((Site::new(&pebble, ports), pebble))
    }

    /// Prepares a site whose authority is this Pebble.
    fn new(pebble: &Pebble, ports: Ports) -> Site {
        let settings = AcmeSettings {
            domain: "localhost".to_owned(),
            http_listen: None,
            https_port: ports.tls,
            http_port: ports.http,
            directory: pebble.directory(),
            directory_roots: Some(std::fs::read(pebble.ca_file()).unwrap()),
            terms_agreed: true,
            retry_ms_min: MINUTE_MS,
        };
        let (kind, limits) = (FileKind::Production, ConnectionLimits::default());
        Site { scratch: Scratch::new(), ports, settings, kind, limits }
    }

    fn file(&self) -> PathBuf {
        self.scratch.path("shop.db")
    }

    fn config(&self) -> Config {
        Config {
            kind: self.kind,
            file: Some(self.file()),
            listen: format!("[::]:{}", self.ports.tls).parse().unwrap(),
            allow_remote: true,
            limits: self.limits,
            acme: Some(self.settings.clone()),
            ..Config::sandbox()
        }
    }

    #[track_caller]
    fn start(&self) -> Server {
        Server::start(self.config()).unwrap()
    }

    /// Starts a server whose clock is this much ahead.
    #[track_caller]
    fn start_later(&self, ms: i64) -> Server {
        let time = TimeSource::Manual(Arc::new(ManualTime::new(now().plus_ms(ms))));
        Server::start(Config { time, ..self.config() }).unwrap()
    }

    fn folder(&self) -> Folder {
        let settings = &self.settings;
        Folder::new(folder_path(&self.file()), &settings.domain, &settings.directory)
    }

    fn attempts(&self) -> Attempts {
        self.folder().attempts().unwrap()
    }

    /// Returns the end of the stored certificate.
    fn certificate_end(&self) -> Option<Time> {
        Some(self.folder().certificate().unwrap()?.validity().not_after)
    }

    /// Waits for the first certificate.
    #[track_caller]
    fn wait_for_certificate(&self) {
        assert!(wait_until(|| self.certificate_end().is_some()), "{:?}", self.attempts());
        let served = wait_until(|| self.connect_tls("localhost", &[b"http/1.1"]).is_ok());
        assert!(served, "the certificate is stored and not served");
    }

    /// Waits for the message of a failure, and returns it.
    #[track_caller]
    fn wait_for_problem(&self) -> String {
        assert!(wait_until(|| self.attempts().problem.is_some()));
        self.attempts().problem.unwrap()
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.ports.tls)
    }

    /// Connects to the port for TLS.
    #[track_caller]
    fn connect(&self) -> TcpStream {
        connect_to(self.ports.tls)
    }

    /// Performs a handshake that accepts every certificate.
    fn connect_tls(&self, domain: &str, protocols: &[&[u8]]) -> std::io::Result<TlsClient> {
        coffer::acme::connect_unverified(self.connect(), domain, protocols)
    }
}

/// Connects to a port of this machine, with timeouts.
#[track_caller]
fn connect_to(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream
}

/// Performs a handshake as a browser that trusts only this root.
fn connect_trusting(root: &str, stream: TcpStream, domain: &str) -> std::io::Result<TlsClient> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(root.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(domain.to_owned()).unwrap();
    let mut stream = stream;
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(connection, stream))
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time(i64::try_from(since.as_millis()).unwrap())
}

/// Returns a client that trusts the certificates of this Pebble.
fn browser(pebble: &Pebble) -> ureq::Agent {
    trusting_agent(&pebble.issuing_root())
}
