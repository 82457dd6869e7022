//! Certificates by ACME (RFC 8555): the account, orders and challenges, and the certificate that connections use.
//!
//! Invariant: a private key leaves memory only for the folder of the certificate, which only its owner can read.

mod challenge;
mod client;
mod der;
mod folder;
mod issued;
mod order;
mod reach;

pub use challenge::{Certificates, server_config};
pub use client::{check_roots, read_terms};
pub use folder::{Attempts, Folder};
pub use issued::IssuedCertificate;
pub use order::{OrderOutcome, order_certificate, suggested_renewal};
pub use reach::{Reach, check_reach, connect_unverified};

use std::net::SocketAddr;
use std::path::PathBuf;

/// Settings of certificates by ACME.
#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// Domain of the certificate, in lower case.
    pub domain: String,
    /// Address for plain HTTP: challenges and redirects. `None`: no such listener.
    pub http_listen: Option<SocketAddr>,
    /// Port of the domain at which clients reach the listener with TLS.
    pub https_port: u16,
    /// Port of the domain at which clients reach the listener for plain HTTP.
    pub http_port: u16,
    /// URL of the authority's directory.
    pub directory: String,
    /// Certificates that the authority's own server must have one of, in PEM. `None`: the public authorities.
    pub directory_roots: Option<Vec<u8>>,
    /// `true` if the operator agrees to the terms of the authority.
    pub terms_agreed: bool,
    /// Wait after the first failure, in milliseconds. It doubles with each further failure, to a day at most.
    pub retry_ms_min: i64,
}

impl AcmeSettings {
    /// Returns the origin of the HTTPS URLs, without a trailing slash.
    pub fn origin(&self) -> String {
        match self.https_port {
            443 => format!("https://{}", self.domain),
            port => format!("https://{}:{port}", self.domain),
        }
    }
}

/// Returns the folder with the state of certificates: beside the database, with the suffix `.acme`.
pub fn folder_path(database: &std::path::Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".acme");
    PathBuf::from(name)
}
