//! Guard against server-side request forgery: decides which urls and addresses webhooks may reach.
//!
//! Invariant: webhooks reach only public addresses over https, addresses allowed by `--webhook-allow`, and loopback
//! in the sandbox. This includes every notation of an address.

use crate::domain::{Host, SiteUrl, UrlProblem};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use ureq::http::Uri;

/// Rules for the urls and addresses of webhooks.
#[derive(Debug, Clone)]
pub struct Guard {
    sandbox: bool,
    allowed: Vec<Cidr>,
}

impl Guard {
    /// Creates the rules. In a sandbox, loopback is allowed, even over http. `allowed` contains the ranges of
    /// `--webhook-allow`.
    pub fn new(sandbox: bool, allowed: Vec<Cidr>) -> Self {
        Self { sandbox, allowed }
    }

    /// Checks the text of a webhook url. The error says which form is valid.
    ///
    /// Host names are looked up later, at each request. [`Guard::permits`] checks the addresses that the lookup
    /// returns.
    pub fn check_url(&self, url: &str) -> Result<(), String> {
        let site = parse_webhook_url(url)?;
        let (https, host) = (site.is_https(), site.host_text());
        let acceptable = match literal_address(site.authority().host) {
            Some(ip) => self.permits(https, ip),
            None => https || !self.allowed.is_empty(),
        };
        match (acceptable, https) {
            (true, _) => Ok(()),
            (false, true) => Err(format!(
                "{host} is not a public address; webhooks are sent to public addresses only.{}",
                self.opening_advice(site.authority().host, host)
            )),
            (false, false) => Err(format!(
                "{}{}",
                self.https_required_message(),
                self.opening_advice(site.authority().host, host)
            )),
        }
    }

    /// Returns the sentence that says how the operator opens the network of a host to webhooks. Returns an empty text
    /// for an address of no private network, and outside the sandbox for a name that may be public.
    fn opening_advice(&self, parsed: Host<'_>, host: &str) -> String {
        let command = if self.sandbox { "coffer sandbox" } else { "coffer serve" };
        match literal_address(parsed) {
            Some(ip) if is_private_network(ip) => {
                format!(" To open it, the operator starts {command} --webhook-allow {ip}")
            }
            Some(_) => String::new(),
            None if self.sandbox || !host.trim_end_matches('.').contains('.') => format!(
                " To open the network of {host}, the operator starts {command} --webhook-allow with its \
                 range, for example {command} --webhook-allow 172.16.0.0/12"
            ),
            None => String::new(),
        }
    }

    /// Returns `true` if a connection to this address is allowed. Pass the address of the connection, not the address
    /// in the url.
    pub fn permits(&self, scheme_is_https: bool, ip: IpAddr) -> bool {
        let reached = connection_address(ip);
        let opened = self.allowed.iter().any(|range| range.contains(ip) || range.contains(reached));
        let own_machine = self.sandbox && ip.to_canonical().is_loopback();
        opened || own_machine || (scheme_is_https && is_public(reached))
    }

    fn https_required_message(&self) -> &'static str {
        match (self.sandbox, self.allowed.is_empty()) {
            (true, _) => {
                "The url must start with https://; in the sandbox, http:// may go to localhost."
            }
            (false, true) => "The url must start with https://.",
            (false, false) => {
                "The url must start with https://; http:// may go only to addresses that the operator has opened."
            }
        }
    }
}

/// A range of addresses, such as `10.0.0.0/8` or `fd00::/8`. A single address is a range too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr {
    network: IpAddr,
    prefix_bits: u8,
}

impl Cidr {
    /// Returns `true` if the address is in the range. An IPv4 range contains no IPv6 address, so callers convert
    /// IPv4-mapped addresses first.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let common_bits = match (self.network, ip) {
            (IpAddr::V4(network), IpAddr::V4(ip)) => {
                (network.to_bits() ^ ip.to_bits()).leading_zeros()
            }
            (IpAddr::V6(network), IpAddr::V6(ip)) => {
                (network.to_bits() ^ ip.to_bits()).leading_zeros()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        common_bits >= u32::from(self.prefix_bits)
    }

    const fn v4(octets: [u8; 4], prefix_bits: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { network: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix_bits }
    }

    const fn v6(first: u16, second: u16, prefix_bits: u8) -> Self {
        Self { network: IpAddr::V6(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)), prefix_bits }
    }
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (network, prefix) = match text.split_once('/') {
            Some((network, prefix)) => (network, Some(prefix)),
            None => (text, None),
        };
        let network: IpAddr = network.parse().map_err(|_| {
            format!("\"{text}\" is not an address range like 10.0.0.0/8, 192.168.1.20 or fd00::/8")
        })?;
        let bits_max = if network.is_ipv4() { 32 } else { 128 };
        let prefix_bits =
            prefix.map_or(Ok(bits_max), str::parse).ok().filter(|bits| *bits <= bits_max);
        match prefix_bits {
            Some(prefix_bits) => Ok(Self { network, prefix_bits }),
            None => {
                Err(format!("\"{text}\": what follows the / must be a number from 0 to {bits_max}"))
            }
        }
    }
}

fn parse_webhook_url(url: &str) -> Result<SiteUrl<'_>, &'static str> {
    const SHAPE: &str = "The url must be like https://shop.example/webhooks.";
    let site = SiteUrl::parse(url).map_err(|fault| match fault {
        UrlProblem::NotPlain => {
            "The url must be plain ASCII without spaces: a space is written %20, a host name in punycode."
        }
        UrlProblem::Shape => SHAPE,
        UrlProblem::Scheme => "The url must start with https://.",
        UrlProblem::Credentials => "The url must not carry a user name or password.",
        UrlProblem::Host => {
            "The url must name a host: a domain, an IPv4 address, or an IPv6 address in brackets."
        }
        UrlProblem::Port => "The port in the url must be a number from 1 to 65535.",
    })?;
    // The HTTP client has its own parser. A url that the two parsers read differently is rejected.
    let uri: Uri = url.parse().map_err(|_| SHAPE)?;
    let is_same = uri.host() == Some(site.host_text())
        && uri.port_u16() == site.authority().port
        && uri.scheme_str() == Some(if site.is_https() { "https" } else { "http" });
    is_same.then_some(site).ok_or(SHAPE)
}

/// Returns the address of a host that needs no lookup. `localhost` is always loopback (RFC 6761).
fn literal_address(host: Host<'_>) -> Option<IpAddr> {
    match host {
        Host::Address(address) => Some(address),
        Host::Name(name) if name.eq_ignore_ascii_case("localhost") => {
            Some(IpAddr::V4(Ipv4Addr::LOCALHOST))
        }
        Host::Name(_) => None,
    }
}

/// Returns `true` for an address of a private network, such as one of Docker, but not for loopback or link-local.
fn is_private_network(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private(),
        // fd00:ec2::/32 has the metadata service of a cloud provider.
        IpAddr::V6(ip) => ip.is_unique_local() && !matches!(ip.segments(), [0xfd00, 0xec2, ..]),
    }
}

/// Returns the address that a connection reaches. The kernel converts IPv4-mapped addresses. A NAT64 gateway
/// translates NAT64 addresses, by which an IPv6-only network reaches IPv4 hosts.
///
/// Other IPv6 addresses that contain an IPv4 address are obsolete and never public.
fn connection_address(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(v6) if NAT64.contains(ip) => {
            let [.., a, b, c, d] = v6.octets();
            IpAddr::from([a, b, c, d])
        }
        canonical => canonical,
    }
}

fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(_) => !V4_NOT_PUBLIC.iter().any(|range| range.contains(ip)),
        IpAddr::V6(v6) => {
            V6_GLOBAL_UNICAST.contains(ip)
                && !V6_NOT_PUBLIC.iter().any(|range| range.contains(ip))
                && !is_isatap(v6)
        }
    }
}

/// Returns `true` for an ISATAP address: its second half is `5efe` and an IPv4 address, under any prefix.
fn is_isatap(ip: Ipv6Addr) -> bool {
    matches!(ip.segments(), [_, _, _, _, 0 | 0x100 | 0x200 | 0x300, 0x5efe, _, _])
}

/// IPv4 ranges that are not public (RFC 6890 and the IANA registry of special-purpose addresses).
const V4_NOT_PUBLIC: [Cidr; 15] = [
    Cidr::v4([0, 0, 0, 0], 8),     // this network; 0.0.0.0 connects to loopback
    Cidr::v4([10, 0, 0, 0], 8),    // private
    Cidr::v4([100, 64, 0, 0], 10), // shared by carriers; Alibaba's metadata
    Cidr::v4([127, 0, 0, 0], 8),   // loopback
    Cidr::v4([168, 63, 129, 16], 32), // Azure's host, seen from its guests
    Cidr::v4([169, 254, 0, 0], 16), // link-local; the clouds' metadata
    Cidr::v4([172, 16, 0, 0], 12), // private
    Cidr::v4([192, 0, 0, 0], 24),  // protocol assignments; Oracle's metadata
    Cidr::v4([192, 0, 2, 0], 24),  // documentation
    Cidr::v4([192, 88, 99, 0], 24), // 6to4 relays
    Cidr::v4([192, 168, 0, 0], 16), // private
    Cidr::v4([198, 18, 0, 0], 15), // benchmarks
    Cidr::v4([198, 51, 100, 0], 24), // documentation
    Cidr::v4([203, 0, 113, 0], 24), // documentation
    Cidr::v4([224, 0, 0, 0], 3),   // multicast, reserved, broadcast
];

/// The range of all public IPv6 addresses. It excludes loopback, unique local, link-local, site-local, multicast,
/// discard, SRv6, IPv4-compatible and local NAT64 addresses.
const V6_GLOBAL_UNICAST: Cidr = Cidr::v6(0x2000, 0, 3);

/// Ranges inside [`V6_GLOBAL_UNICAST`] that are not public.
const V6_NOT_PUBLIC: [Cidr; 4] = [
    Cidr::v6(0x2001, 0, 23), // protocol assignments: Teredo, benchmarks, ORCHID
    Cidr::v6(0x2001, 0x0db8, 32), // documentation
    Cidr::v6(0x2002, 0, 16), // 6to4
    Cidr::v6(0x3fff, 0, 20), // documentation
];

/// Well-known NAT64 prefix (RFC 6052).
const NAT64: Cidr = Cidr::v6(0x0064, 0xff9b, 96);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests;
