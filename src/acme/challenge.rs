//! The certificates that connections use: that of the domain, and those that answer challenges (RFC 8737).
//!
//! Invariant: only connections to the domain get a certificate, and only the protocol `acme-tls/1` gets that of a
//! challenge.

use super::IssuedCertificate;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) const CHALLENGE_PROTOCOL: &[u8] = b"acme-tls/1";

/// Certificates and answers to challenges of one domain, shared by all connections.
#[derive(Debug)]
pub struct Certificates {
    domain: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Arc<CertifiedKey>>,
    /// Certificate of the challenge in progress.
    challenge: Option<Arc<CertifiedKey>>,
    /// Token and answer of the HTTP challenge in progress.
    http_challenge: Option<(String, String)>,
}

/// A challenge in progress. Dropping the value ends the answers to the challenge.
pub(super) struct ActiveChallenge(Arc<Certificates>);

impl Certificates {
    /// Creates the certificates of a domain, without any.
    pub fn new(domain: &str) -> Arc<Certificates> {
        Arc::new(Certificates { domain: domain.to_owned(), state: Mutex::default() })
    }

    /// Sets the certificate of new connections.
    pub fn set_current(&self, issued: &IssuedCertificate) {
        self.state().current = Some(Arc::clone(&issued.key));
    }

    /// Returns `true` if there is a certificate.
    pub fn has_current(&self) -> bool {
        self.state().current.is_some()
    }

    /// Returns the answer to an HTTP challenge.
    pub fn http_answer(&self, token: &str) -> Option<String> {
        let state = self.state();
        let (own, answer) = state.http_challenge.as_ref()?;
        (own == token).then(|| answer.clone())
    }

    /// Starts to answer the TLS challenge with this digest. Returns the guard and the certificate that answers.
    pub(super) fn answer_tls(
        self: &Arc<Self>,
        digest: &[u8; 32],
    ) -> Result<(ActiveChallenge, Vec<u8>), String> {
        let key = challenge_certificate(&self.domain, digest)?;
        let certificate = key.cert.first().map(|own| own.to_vec()).unwrap_or_default();
        self.state().challenge = Some(Arc::new(key));
        Ok((ActiveChallenge(Arc::clone(self)), certificate))
    }

    pub(super) fn answer_http(self: &Arc<Self>, token: &str, answer: &str) -> ActiveChallenge {
        self.state().http_challenge = Some((token.to_owned(), answer.to_owned()));
        ActiveChallenge(Arc::clone(self))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ActiveChallenge {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.challenge, state.http_challenge) = (None, None);
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if !hello.server_name()?.eq_ignore_ascii_case(&self.domain) {
            return None;
        }
        let protocols: Vec<&[u8]> = hello.alpn().into_iter().flatten().collect();
        let state = self.state();
        match protocols == [CHALLENGE_PROTOCOL] {
            true => state.challenge.clone(),
            false => state.current.clone(),
        }
    }
}

/// Returns the TLS configuration of a listener that uses these certificates.
///
/// # Errors
/// A message if the cryptography offers no protocol version.
pub fn server_config(certificates: Arc<Certificates>) -> Result<Arc<ServerConfig>, String> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"http/1.1".to_vec(), CHALLENGE_PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

fn challenge_certificate(domain: &str, digest: &[u8; 32]) -> Result<CertifiedKey, String> {
    let create = || {
        let mut params = CertificateParams::new(vec![domain.to_owned()])?;
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
        let key = KeyPair::generate()?;
        params.self_signed(&key).map(|certificate| (certificate, key))
    };
    let (certificate, key) = create().map_err(|error: rcgen::Error| error.to_string())?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    // `CertifiedKey::from_der` refuses the extension of a challenge, which is critical.
    let key = default_provider().key_provider.load_private_key(key);
    let key = key.map_err(|error| error.to_string())?;
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}
