//! A TCP or TLS stream to a server. Every operation has a deadline.

use super::url::ServerUrl;
use crate::chain::NodeError;
use crate::chain::rpc::Limits;
use crate::chain::rpc::metadata::check_addresses;
use crate::clock::Stopwatch;
use base16ct::lower::encode_string;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use sha2::{Digest, Sha256};
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(super) enum Stream {
    Plain(DeadlineSocket),
    Tls(Box<StreamOwned<ClientConnection, DeadlineSocket>>),
}

pub(super) struct DeadlineSocket {
    socket: TcpStream,
    since: Stopwatch,
    ms_max: u64,
}

impl DeadlineSocket {
    fn time_left(&self) -> std::io::Result<Duration> {
        let passed = u64::try_from(self.since.elapsed_ms()).unwrap_or(u64::MAX);
        match self.ms_max.checked_sub(passed) {
            Some(left) if left > 0 => Ok(Duration::from_millis(left)),
            _ => Err(Error::from(ErrorKind::TimedOut)),
        }
    }
}

impl Read for DeadlineSocket {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.socket.set_read_timeout(Some(self.time_left()?))?;
        self.socket.read(into)
    }
}

impl Write for DeadlineSocket {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.socket.set_write_timeout(Some(self.time_left()?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.socket.flush()
    }
}

impl Stream {
    /// Connects to the server. For TLS, also returns the SHA-256 of the certificate.
    pub(super) fn connect(
        url: &ServerUrl,
        limits: Limits,
    ) -> Result<(Stream, Option<[u8; 32]>), NodeError> {
        let ms_max = limits.connect_timeout_ms;
        let socket = connect_tcp(url, limits).map_err(|error| io_error(&error))?;
        let mut timed = DeadlineSocket { socket, since: Stopwatch::start(), ms_max };
        if !url.is_tls {
            return Ok((Stream::Plain(timed), None));
        }
        let verifier = Arc::new(CertificateVerifier::new(url.pin)?);
        let name = ServerName::try_from(url.host.clone());
        let name = name.map_err(|_| NodeError::Wrong("its name is none for TLS".to_owned()))?;
        let config = ClientConfig::builder_with_provider(Arc::clone(&verifier.provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| NodeError::Wrong(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        let mut connection = ClientConnection::new(Arc::new(config), name)
            .map_err(|error| NodeError::Wrong(error.to_string()))?;
        while connection.is_handshaking() {
            if let Err(error) = connection.complete_io(&mut timed) {
                return Err(verifier.rejection_error().unwrap_or_else(|| io_error(&error)));
            }
        }
        let seen = verifier.certificate_fingerprint();
        let stream = StreamOwned::new(connection, timed);
        Ok((Stream::Tls(Box::new(stream)), seen))
    }

    /// Sets the deadline of the following reads and writes, in milliseconds from now.
    pub(super) fn set_deadline(&mut self, ms_max: u64) {
        let timed = match self {
            Stream::Plain(timed) => timed,
            Stream::Tls(stream) => &mut stream.sock,
        };
        timed.since = Stopwatch::start();
        timed.ms_max = ms_max;
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(into),
            Stream::Tls(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.flush(),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}

/// Connects to the first address of the host that accepts the connection.
fn connect_tcp(url: &ServerUrl, limits: Limits) -> std::io::Result<TcpStream> {
    let within = Duration::from_millis(limits.connect_timeout_ms);
    let addresses = (url.host.as_str(), url.port).to_socket_addrs();
    let addresses = addresses.map_err(|_| Error::other("its name has no address"))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    if limits.refuses_metadata {
        check_addresses(&addresses)?;
    }
    let mut last = Error::new(ErrorKind::NotFound, "its name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, within) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

pub(super) fn io_error(error: &Error) -> NodeError {
    NodeError::Unreachable(match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer in time".to_owned(),
        ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
        kind if error.raw_os_error().is_some() => kind.to_string(),
        _ => error.to_string(),
    })
}

/// Returns the certificate authorities of the system. Returns the built-in authorities if the system has none, as in
/// a container.
fn root_certificates() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// Certificate verifier. With a pin, accepts only the pinned certificate. Without a pin, accepts any certificate that
/// an authority signed.
#[derive(Debug)]
struct CertificateVerifier {
    provider: Arc<CryptoProvider>,
    authorities: Arc<WebPkiServerVerifier>,
    pin: Option<[u8; 32]>,
    /// SHA-256 of the server's certificate, and the reason for rejecting the certificate, if it was rejected.
    shown: Mutex<Option<([u8; 32], Option<String>)>>,
}

impl CertificateVerifier {
    fn new(pin: Option<[u8; 32]>) -> Result<CertificateVerifier, NodeError> {
        let provider = Arc::new(ring::default_provider());
        let authorities = WebPkiServerVerifier::builder_with_provider(
            Arc::new(root_certificates()),
            Arc::clone(&provider),
        );
        let authorities = authorities.build();
        Ok(CertificateVerifier {
            provider,
            authorities: authorities.map_err(|error| NodeError::Wrong(error.to_string()))?,
            pin,
            shown: Mutex::new(None),
        })
    }

    fn certificate_fingerprint(&self) -> Option<[u8; 32]> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.as_ref().map(|(seen, _)| *seen)
    }

    fn rejection_error(&self) -> Option<NodeError> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, why) = shown.as_ref()?;
        let (seen, why) = (encode_string(seen), why.as_ref()?);
        Some(NodeError::Wrong(match &self.pin {
            Some(pin) => format!(
                "its certificate has the fingerprint sha256={seen}, and the url names sha256={}",
                encode_string(pin)
            ),
            None => format!(
                "no authority vouches for its certificate ({why}). Where the server's operator confirms the fingerprint, add \
                 it to the url: #sha256={seen}"
            ),
        }))
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let seen: [u8; 32] = Sha256::digest(certificate.as_ref()).into();
        let verified = match &self.pin {
            Some(pin) if *pin == seen => Ok(ServerCertVerified::assertion()),
            Some(_) => Err(rustls::Error::General("another certificate".to_owned())),
            None => {
                let authorities = &self.authorities;
                authorities.verify_server_cert(certificate, intermediates, name, ocsp, now)
            }
        };
        let why = verified.as_ref().err().map(ToString::to_string);
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = Some((seen, why));
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}
