//! `Host` headers that a sandbox accepts, as a defense against DNS rebinding by pages of other sites.
//!
//! Invariant: a name that a stranger can register in DNS is accepted only if the operator configured the name. An IP
//! address is accepted only in its standard notation.

use crate::domain::{Authority, Host, Refusal, RefusalCode, SiteUrl};
use hyper::header::HOST;
use hyper::{HeaderMap, Uri};
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::OnceLock;

/// Endings of host names that do not exist in public DNS.
const PRIVATE_ENDINGS: [&str; 2] = [".localhost", ".internal"];

pub(super) const HOST_REFUSED: &str = "Host must be loopback, the listening address, the public url's, a name without a dot, \
                                   under .localhost or .internal, or one that --allow-host names";

/// A host that the sandbox accepts because of its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KnownHost {
    Address(IpAddr),
    Name(String),
}

impl KnownHost {
    fn new(host: Host<'_>) -> KnownHost {
        match host {
            Host::Address(address) => KnownHost::Address(address.to_canonical()),
            Host::Name(name) => KnownHost::Name(name.to_ascii_lowercase()),
        }
    }

    fn matches(&self, host: Host<'_>) -> bool {
        match (self, host) {
            (KnownHost::Address(known), Host::Address(address)) => *known == address.to_canonical(),
            (KnownHost::Name(known), Host::Name(name)) => known.eq_ignore_ascii_case(name),
            (KnownHost::Address(_), Host::Name(_)) | (KnownHost::Name(_), Host::Address(_)) => {
                false
            }
        }
    }
}

/// Returns the part of a name before this ending, `None` if the name has another ending. Treats upper and lower case
/// alike.
fn strip_ending<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let (before, last) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
    last.eq_ignore_ascii_case(end).then_some(before)
}

/// A host that the operator added with `--allow-host`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    host: KnownHost,
    with_subdomains: bool,
}

impl FromStr for AllowedHost {
    type Err = String;

    /// Parses a name or an address without a port. A leading dot includes all subdomains.
    fn from_str(text: &str) -> Result<AllowedHost, String> {
        let problem = || "must be a host like dev.example.com, or .example.com".to_owned();
        let under = text.strip_prefix('.');
        let name = under.unwrap_or(text);
        let host = match name.parse::<IpAddr>() {
            Ok(address) => KnownHost::Address(address.to_canonical()),
            Err(_) => KnownHost::new(Host::parse(name).map_err(|_| problem())?),
        };
        if under.is_some() && matches!(host, KnownHost::Address(_)) {
            return Err(problem());
        }
        Ok(AllowedHost { host, with_subdomains: under.is_some() })
    }
}

impl AllowedHost {
    fn covers(&self, host: Host<'_>) -> bool {
        let is_under = match (&self.host, host) {
            (KnownHost::Name(parent), Host::Name(name)) => {
                strip_ending(name, parent).is_some_and(|before| before.ends_with('.'))
            }
            _ => false,
        };
        self.host.matches(host) || (self.with_subdomains && is_under)
    }
}

pub(super) struct AcceptedHosts {
    own: Vec<KnownHost>,
    allowed: Vec<AllowedHost>,
    any_address: bool,
    /// Cache of the first accepted `Host` header. Most callers send the same header in every request.
    usual: OnceLock<Box<str>>,
}

impl AcceptedHosts {
    /// Collects the hosts of a sandbox with these listening addresses and this public URL. If `any_address` is
    /// `true`, every IP address is accepted. An attack by DNS rebinding needs a host
    /// name.
    pub(super) fn new(
        listen: &[IpAddr],
        public_url: &str,
        allowed: Vec<AllowedHost>,
        any_address: bool,
    ) -> AcceptedHosts {
        let public = SiteUrl::parse(public_url).ok();
        let public = public.map(|site| KnownHost::new(site.authority().host));
        let listen = listen.iter().map(|ip| KnownHost::Address(ip.to_canonical()));
        AcceptedHosts {
            own: listen.chain(public).collect(),
            allowed,
            any_address,
            usual: OnceLock::new(),
        }
    }

    /// Accepts a request that has exactly one `Host` header with an accepted host. If the request target contains a
    /// host, that host must be accepted as well.
    ///
    /// # Errors
    /// `forbidden`.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut lines = headers.get_all(HOST).iter();
        let line = lines.next().and_then(|line| line.to_str().ok());
        let is_one = line.is_some_and(|line| self.accepts(line)) && lines.next().is_none();
        let target = uri.authority();
        if is_one && target.is_none_or(|target| self.accepts(target.as_str())) {
            return Ok(());
        }
        Err(Refusal::new(RefusalCode::Forbidden, HOST_REFUSED))
    }

    fn accepts(&self, text: &str) -> bool {
        if self.usual.get().is_some_and(|usual| **usual == *text) {
            return true;
        }
        let has = self.is_accepted_uncached(text);
        if has {
            self.usual.get_or_init(|| text.into());
        }
        has
    }

    fn is_accepted_uncached(&self, text: &str) -> bool {
        // A trailing colon without a port is valid.
        let text = text.strip_suffix(':').unwrap_or(text);
        let Ok(Authority { host, .. }) = Authority::parse(text) else {
            return false;
        };
        let is_private = match host {
            Host::Address(address) => self.any_address || address.to_canonical().is_loopback(),
            Host::Name(name) => {
                let mut endings = PRIVATE_ENDINGS.iter();
                !name.contains('.') || endings.any(|end| strip_ending(name, end).is_some())
            }
        };
        is_private
            || self.own.iter().any(|own| own.matches(host))
            || self.allowed.iter().any(|allowed| allowed.covers(host))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{AcceptedHosts, AllowedHost};

    fn hosts(any_address: bool) -> AcceptedHosts {
        let allowed = ["Dev.Example.com", ".tunnel.example", "10.0.0.7", "fd00::7"];
        let allowed = allowed.map(|text| text.parse().unwrap()).to_vec();
        let listen = ["127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap()];
        let url = "https://Pay.Example.com:8443/shop";
        AcceptedHosts::new(&listen, url, allowed, any_address)
    }

    #[test]
    fn local_and_configured_hosts_are_accepted() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "localhost.",
            "127.0.0.1:41234",
            "127.9.9.9",
            "127.0.0.1.",
            "[::1]:80",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "10.0.0.1:1",
            "pay.example.com",
            "PAY.example.COM.:1",
            "coffer:8080",
            "coffer_1",
            "app.localhost",
            "host.docker.internal:80",
            "a.b.Internal.",
            "dev.example.com",
            "tunnel.example",
            "a.b.tunnel.example:1",
            "10.0.0.7",
            "[fd00::7]:1",
            "localhost:",
        ] {
            assert!(hosts(false).accepts(host), "{host}");
        }
    }

    #[test]
    fn foreign_and_malformed_hosts_are_refused() {
        for host in [
            "",
            ".",
            ":80",
            "..",
            ".localhost",
            ".internal",
            "a..localhost",
            "localhost..",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:80",
            "eviltunnel.example",
            "a.dev.example.com",
            "evilinternal.example",
            "internal.evil.example",
            "user@localhost",
            "localhost@evil.example",
            "localhost:80@evil.example",
            "localhost:80:80",
            "localhost:x",
            "localhost/evil.example",
            "localhost evil.example",
            "localhost,evil.example",
            "localhost%2eevil.example",
            "l\u{f6}calhost",
            "10.0.0.2",
            "0.0.0.0",
            "[::]",
            "[::2]",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]:x",
            "[localhost]",
            "[::1%25lo]",
        ] {
            assert!(!hosts(false).accepts(host), "{host:?}");
        }
    }

    #[test]
    fn numeric_host_is_accepted_only_as_dotted_ipv4() {
        for host in [
            "2130706433",
            "3232235777",
            "0",
            "0x7f000001",
            "0x7f.1",
            "0X7F.1",
            "0x",
            "1.0x",
            "127.1",
            "0177.0.0.1",
            "127.0.0.01",
            "017700000001",
            "a.1",
            "localhost.1",
            "1.2.3.4.5",
            "256.0.0.1",
            "2130706433.",
        ] {
            assert!(!hosts(false).accepts(host), "{host}");
            assert!(!hosts(true).accepts(host), "{host}");
        }
        for address in ["10.0.0.2", "192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0"] {
            assert!(!hosts(false).accepts(address), "{address}");
            assert!(hosts(true).accepts(address), "{address}");
        }
        assert!(!hosts(true).accepts("evil.example"));
    }

    #[test]
    fn allowed_host_must_be_a_name_or_an_address() {
        for wrong in [
            "",
            ".",
            "*",
            "*.example.com",
            "example.com:80",
            "https://example.com",
            "..example.com",
            ".10.0.0.1",
            "1",
            "a b",
            "[::1]",
        ] {
            assert!(wrong.parse::<AllowedHost>().is_err(), "{wrong:?}");
        }
    }
}
