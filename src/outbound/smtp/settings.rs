//! Settings of the mail server: its URL, the sender, and the authorities to trust.

use crate::domain::{Authority, Host};
use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp::extension::ClientId;
use percent_encoding::percent_decode_str;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Port of SMTP with TLS from the start (RFC 8314).
const SMTPS: u16 = 465;
/// Port of SMTP for submission, with STARTTLS.
const SUBMISSION: u16 = 587;
/// Port of plain SMTP.
const SMTP: u16 = 25;
/// Time limit of each reply, in milliseconds.
pub const TIMEOUT_MS: u64 = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    /// Without TLS, which only loopback may use.
    Plain,
    /// TLS after STARTTLS, which the server must offer.
    StartTls,
    /// TLS from the start.
    Tls,
}

/// Settings of the mail server.
#[derive(Clone)]
pub struct SmtpSettings {
    host: String,
    port: u16,
    security: Security,
    login: Option<(String, String)>,
    from: Mailbox,
    tls: Option<Arc<ClientConfig>>,
    client_name: Option<String>,
    timeout: Duration,
}

impl fmt::Debug for SmtpSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SmtpSettings({}:{})", self.host, self.port)
    }
}

impl SmtpSettings {
    /// Reads the settings: the URL of `--smtp`, the sender of `--smtp-from`, and the PEM file of `--smtp-ca`.
    ///
    /// # Errors
    /// A message that names the setting. It contains neither the URL nor its password.
    pub fn read(
        url: &str,
        from: Option<&str>,
        roots: Option<&[u8]>,
    ) -> Result<SmtpSettings, String> {
        let (server, query) = url.split_once('?').unwrap_or((url, ""));
        let (scheme, rest) = server.split_once("://").unwrap_or((server, ""));
        let security = match (scheme.to_ascii_lowercase().as_str(), query) {
            ("smtps", "") => Security::Tls,
            ("smtp", "") => Security::Plain,
            ("smtp", "tls=required") => Security::StartTls,
            _ => return Err(format!("--smtp {SHAPE}")),
        };
        let (login, place) = match rest.trim_end_matches('/').rsplit_once('@') {
            Some((login, place)) => (Some(read_login(login)?), place),
            None => (None, rest.trim_end_matches('/')),
        };
        let authority = Authority::parse(place).map_err(|_| format!("--smtp {SHAPE}"))?;
        let (host, is_loopback) = match authority.host {
            Host::Address(address) => (address.to_string(), address.is_loopback()),
            Host::Name(name) => (name.to_owned(), name.eq_ignore_ascii_case("localhost")),
        };
        if security == Security::Plain && !is_loopback {
            return Err(format!(
                "--smtp reaches {host} without TLS, which is allowed for loopback only. Use smtps://, or \
                 smtp://…?tls=required for STARTTLS"
            ));
        }
        let port = authority.port.unwrap_or(match security {
            Security::Tls => SMTPS,
            Security::StartTls => SUBMISSION,
            Security::Plain => SMTP,
        });
        let from = from.filter(|from| !from.is_empty());
        let from = from
            .ok_or("--smtp needs --smtp-from, the address of the sender, like pay@shop.example")?;
        let wrong = |_| {
            "--smtp-from must be an address like pay@shop.example, or Shop <pay@shop.example>"
                .to_owned()
        };
        let from: Mailbox = match from.contains(char::is_control) {
            true => Err(wrong(())),
            false => from.parse().map_err(|_| wrong(())),
        }?;
        let tls = match security {
            Security::Plain => None,
            Security::StartTls | Security::Tls => Some(client_config(roots)?),
        };
        let timeout = Duration::from_millis(TIMEOUT_MS);
        Ok(SmtpSettings { host, port, security, login, from, tls, client_name: None, timeout })
    }

    /// Sets the name by which this server introduces itself: the host of its public URL.
    #[must_use]
    pub fn with_client_name(self, name: &str) -> SmtpSettings {
        let is_name = matches!(Host::parse(name), Ok(Host::Name(name)) if name.contains('.'));
        SmtpSettings { client_name: is_name.then(|| name.to_owned()), ..self }
    }

    /// Sets the time limit of each reply.
    #[must_use]
    pub fn with_timeout_ms(self, timeout_ms: u64) -> SmtpSettings {
        SmtpSettings { timeout: Duration::from_millis(timeout_ms), ..self }
    }

    /// Returns host and port, for the log and for `coffer doctor`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns the domain of the sender's address.
    pub fn sender_domain(&self) -> &str {
        self.from.email.domain()
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn from(&self) -> &Mailbox {
        &self.from
    }

    pub(super) fn sender(&self) -> &Address {
        &self.from.email
    }

    pub(super) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.security != Security::Plain
    }

    pub(super) fn has_tls_from_start(&self) -> bool {
        self.security == Security::Tls
    }

    pub(super) fn needs_starttls(&self) -> bool {
        self.security == Security::StartTls
    }

    /// Returns the parameter of EHLO. Without a name it is an address literal (RFC 5321, section 4.1.3).
    pub(super) fn client_id(&self) -> ClientId {
        match &self.client_name {
            Some(name) => ClientId::Domain(name.clone()),
            None => ClientId::Domain("[127.0.0.1]".to_owned()),
        }
    }

    /// Returns the configuration of TLS, and the name that the certificate must have.
    pub(super) fn tls(&self) -> Result<(&Arc<ClientConfig>, ServerName<'static>), String> {
        let config = self.tls.as_ref().ok_or("TLS is not configured")?;
        let name = match self.host.parse::<IpAddr>() {
            Ok(address) => ServerName::from(address),
            Err(_) => ServerName::try_from(self.host.clone())
                .map_err(|_| format!("{} cannot be the name of a certificate", self.host))?,
        };
        Ok((config, name))
    }
}

const SHAPE: &str = "must be smtps://user:password@host, smtp://user:password@host?tls=required for STARTTLS, or \
                     smtp://localhost";

/// Reads the user and the password of a URL. Special characters in them are written as %XX.
fn read_login(text: &str) -> Result<(String, String), String> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let decode = |part: &str| {
        let decoded = percent_decode_str(part).decode_utf8().ok()?.into_owned();
        let is_plain = !decoded.is_empty() && !decoded.contains(char::is_control);
        is_plain.then_some(decoded)
    };
    let login = decode(user).zip(decode(password));
    login.ok_or_else(|| {
        "--smtp must have a user and a password before the @, with special characters as %XX"
            .to_owned()
    })
}

/// Returns a configuration of TLS that trusts the public authorities, or only those of a PEM file.
fn client_config(roots: Option<&[u8]>) -> Result<Arc<ClientConfig>, String> {
    let mut trusted = RootCertStore::empty();
    match roots {
        None => trusted.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| format!("--smtp-ca: {error}"))?;
                trusted.add(certificate).map_err(|error| format!("--smtp-ca: {error}"))?;
            }
            if trusted.is_empty() {
                return Err("--smtp-ca has no certificate in PEM".to_owned());
            }
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("--smtp: {error}"))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
