//! Url of an Electrum server, such as `electrums://host:50002#sha256=…`.
//!
//! Invariant: an error message repeats no part of the url.

use super::hex;
use std::fmt;

/// Url schemes for TCP and TLS.
pub const SCHEMES: [&str; 2] = ["electrum", "electrums"];
const SAMPLE: &str = "must be a url like electrum://127.0.0.1:50001 or electrums://host:50002";

/// Address of an Electrum server.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    /// Host name or IP address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_tls: bool,
    /// SHA-256 of the only accepted certificate. `None` if a certificate authority must have signed the certificate.
    pub(super) pin: Option<[u8; 32]>,
}

impl ServerUrl {
    /// Parses a url.
    ///
    /// # Errors
    /// A message that says what would be valid.
    pub fn parse(text: &str) -> Result<ServerUrl, String> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(SAMPLE)?;
        let is_tls = match SCHEMES.iter().position(|known| scheme.eq_ignore_ascii_case(known)) {
            Some(place) => place == 1,
            None => return Err(SAMPLE.to_owned()),
        };
        let (site, pin) = match rest.split_once('#') {
            Some((site, pin)) => (site, Some(pin)),
            None => (rest, None),
        };
        let site = site.strip_suffix('/').unwrap_or(site);
        let (host, port) =
            site.rsplit_once(':').ok_or("must have a port, like electrum://127.0.0.1:50001")?;
        let port = port.parse::<u16>().ok().filter(|port| *port > 0);
        let port = port.ok_or("must have a port from 1 to 65535")?;
        let host = match host.strip_prefix('[') {
            Some(inner) => inner.strip_suffix(']').ok_or(SAMPLE)?,
            None => host,
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_plain) {
            return Err(SAMPLE.to_owned());
        }
        let pin = pin.map(parse_pin).transpose()?;
        if pin.is_some() && !is_tls {
            return Err("must be electrums:// where it names a certificate".to_owned());
        }
        Ok(ServerUrl { host: host.to_owned(), port, is_tls, pin })
    }

    /// Returns scheme, host and port.
    pub fn label(&self) -> String {
        let scheme = if self.is_tls { "electrums" } else { "electrum" };
        if self.host.contains(':') {
            format!("{scheme}://[{}]:{}", self.host, self.port)
        } else {
            format!("{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ServerUrl({})", self.label())
    }
}

fn parse_pin(text: &str) -> Result<[u8; 32], String> {
    let digits = text.strip_prefix("sha256=").map(str::to_ascii_lowercase);
    let bytes = digits.and_then(|digits| hex::parse_bytes(&digits));
    let pin = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let wrong = "must name the certificate by #sha256= and 64 hexadecimal digits";
    pin.ok_or_else(|| wrong.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::ServerUrl;

    #[test]
    fn url_has_scheme_host_port_and_optional_pin() {
        let pin = "0f".repeat(32);
        for (text, shown, is_pinned) in [
            ("electrum://127.0.0.1:1", "electrum://127.0.0.1:1", false),
            ("Electrums://a.example:50002/", "electrums://a.example:50002", false),
            (&format!("electrums://[::1]:2#sha256={pin}"), "electrums://[::1]:2", true),
            (&format!("electrums://a:2#sha256={}", pin.to_uppercase()), "electrums://a:2", true),
        ] {
            let read = ServerUrl::parse(text).unwrap();
            assert_eq!(read.label(), shown);
            assert_eq!(read.pin, is_pinned.then_some([15; 32]));
        }
    }

    #[test]
    fn invalid_url_is_rejected_without_repeating_it() {
        for wrong in [
            "secret",
            "electrum://secret",
            "electrum://secret:0",
            "electrum://secret:65536",
            "electrum://user@secret:1",
            "electrum://:1",
            "electrum://secret:1/path",
            "electrums://secret:1#sha256=00",
            "electrums://secret:1#pin",
            &format!("electrum://secret:1#sha256={}", "0f".repeat(32)),
        ] {
            let problem = ServerUrl::parse(wrong).unwrap_err();
            assert!(problem.starts_with("must "), "{wrong}: {problem}");
            assert!(!problem.contains("secret"), "{wrong}: {problem}");
        }
    }
}
