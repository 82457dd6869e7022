//! A certificate with its private key, ready for connections.

use super::der::CertificateFields;
use crate::domain::Validity;
use rustls::client::verify_server_name;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use std::sync::Arc;

/// A certificate with its private key.
#[derive(Clone, Debug)]
pub struct IssuedCertificate {
    pub(super) key: Arc<CertifiedKey>,
    pub(super) fields: CertificateFields,
}

impl IssuedCertificate {
    /// Reads a certificate, with the certificates between it and its authority, and its key.
    pub(super) fn from_pem(
        domain: &str,
        chain: &str,
        key: &str,
    ) -> Result<IssuedCertificate, String> {
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(chain.as_bytes()).collect();
        let chain = chain.map_err(|error| format!("the certificate is not PEM: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| format!("the key is not PEM: {error}"))?;
        let own = chain.first().ok_or("the certificate is empty")?;
        let fields = CertificateFields::parse(own).ok_or("the certificate is malformed")?;
        let parsed = ParsedCertificate::try_from(own).map_err(|error| error.to_string())?;
        let name = ServerName::try_from(domain).map_err(|error| error.to_string())?;
        verify_server_name(&parsed, &name)
            .map_err(|_| format!("the certificate is not for {domain}"))?;
        let key = CertifiedKey::from_der(chain, key, &default_provider())
            .map_err(|error| format!("the key does not fit the certificate: {error}"))?;
        Ok(IssuedCertificate { key: Arc::new(key), fields })
    }

    /// Returns the period of validity.
    pub fn validity(&self) -> Validity {
        self.fields.validity
    }
}
