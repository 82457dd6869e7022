//! Checks before the first order that the domain leads to this server: Coffer requests a challenge of its own.
//!
//! The addresses of the domain are those that this machine resolves. A check that gets no answer decides nothing,
//! because many networks cannot reach their own public address.

use super::Certificates;
use super::challenge::CHALLENGE_PROTOCOL;
use super::client::run_on_thread;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

const STEP_MAX: Duration = Duration::from_secs(5);
const ADDRESSES_MAX: usize = 8;
/// Largest HTTP response that is read, in bytes.
const RESPONSE_BYTES_MAX: u64 = 4096;

/// Kind of challenge by which the authority reaches this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// TLS on the port for HTTPS.
    Tls,
    /// Plain HTTP.
    Http,
}

enum Answer {
    Own,
    /// No server answered.
    None(String),
    /// Message about a refusal, or about the answer of another server.
    Wrong(String),
}

impl Reach {
    pub(super) fn challenge(self) -> &'static str {
        match self {
            Reach::Tls => "tls-alpn-01",
            Reach::Http => "http-01",
        }
    }
}

/// Requests a challenge through the domain. `random` makes the challenge unique.
///
/// # Errors
/// A message for the operator if the domain does not lead to this server.
pub async fn check_reach(
    certificates: &Arc<Certificates>,
    reach: Reach,
    domain: &str,
    port: u16,
    random: [u8; 32],
) -> Result<(), String> {
    let token = crate::domain::signature::hex(&random);
    let (_active, certificate) = match reach {
        Reach::Tls => certificates.answer_tls(&random)?,
        Reach::Http => (certificates.answer_http(&token, &token), Vec::new()),
    };
    let domain = domain.to_owned();
    let check = move || {
        let request = |address| match reach {
            Reach::Tls => request_tls(address, &domain, &certificate),
            Reach::Http => request_http(address, &domain, &token),
        };
        check_addresses(&domain, &resolve(&domain, port)?, request)
    };
    run_on_thread(check).await
}

fn resolve(domain: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let found = (domain, port).to_socket_addrs();
    let found = found.map_err(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
        format!("{domain} has no address in DNS ({text}): let it name this machine")
    })?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.dedup();
    addresses.truncate(ADDRESSES_MAX);
    Ok(addresses)
}

/// Checks every address, because the authority may use any of them.
fn check_addresses(
    domain: &str,
    addresses: &[SocketAddr],
    request: impl Fn(SocketAddr) -> Answer,
) -> Result<(), String> {
    for address in addresses {
        match request(*address) {
            Answer::Own => log::info!("challenge reached: domain={domain} address={address}"),
            Answer::None(problem) => log::warn!(
                "challenge not checked, the certificate authority may reach it: domain={domain} \
                 address={address} error={problem}"
            ),
            Answer::Wrong(problem) => {
                return Err(format!("{domain} leads to {address}: {problem}"));
            }
        }
    }
    Ok(())
}

fn connect(address: SocketAddr) -> Result<TcpStream, Answer> {
    let connected = TcpStream::connect_timeout(&address, STEP_MAX).and_then(|stream| {
        stream.set_read_timeout(Some(STEP_MAX))?;
        stream.set_write_timeout(Some(STEP_MAX))?;
        Ok(stream)
    });
    connected.map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => Answer::Wrong(
            "the connection is refused: open the port, and check that the address is of this machine"
                .to_owned(),
        ),
        _ => Answer::None(error.to_string()),
    })
}

fn another_server(why: impl std::fmt::Display) -> Answer {
    Answer::Wrong(format!(
        "another server answers ({why}): correct the DNS, or what stands in front of coffer"
    ))
}

/// Requests the TLS challenge. The answer is our own if the server shows this certificate.
fn request_tls(address: SocketAddr, domain: &str, certificate: &[u8]) -> Answer {
    let stream = match connect(address) {
        Ok(stream) => stream,
        Err(answer) => return answer,
    };
    match connect_unverified(stream, domain, &[CHALLENGE_PROTOCOL]) {
        Ok(stream) => {
            let shown = stream.conn.peer_certificates().and_then(|shown| shown.first());
            match shown.is_some_and(|shown| shown.as_ref() == certificate) {
                true => Answer::Own,
                false => another_server("with another certificate"),
            }
        }
        Err(error) if is_timeout(&error) => Answer::None(error.to_string()),
        Err(error) => another_server(error),
    }
}

/// Requests the HTTP challenge. The answer is our own if it ends with the token.
fn request_http(address: SocketAddr, domain: &str, token: &str) -> Answer {
    let mut stream = match connect(address) {
        Ok(stream) => stream,
        Err(answer) => return answer,
    };
    let request = format!(
        "GET /.well-known/acme-challenge/{token} HTTP/1.1\r\nHost: {domain}\r\nConnection: close\r\n\r\n"
    );
    let mut response = Vec::new();
    let talked = stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.take(RESPONSE_BYTES_MAX).read_to_end(&mut response));
    match talked {
        Err(error) if is_timeout(&error) && response.is_empty() => Answer::None(error.to_string()),
        Err(error) if response.is_empty() => another_server(error),
        _ if response.ends_with(token.as_bytes()) && response.starts_with(b"HTTP/1.1 200 ") => {
            Answer::Own
        }
        _ => another_server("over HTTP"),
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

/// Performs a TLS handshake that accepts every certificate. The caller compares the certificate, or sends no secret.
pub fn connect_unverified(
    mut stream: TcpStream,
    domain: &str,
    protocols: &[&[u8]],
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let provider = Arc::new(default_provider());
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = ServerName::try_from(domain.to_owned()).map_err(std::io::Error::other)?;
    let mut connection =
        ClientConnection::new(Arc::new(config), name).map_err(std::io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(connection, stream))
}

/// Accepts every certificate. Its signature is not checked either: the check refuses the certificate of a challenge.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
