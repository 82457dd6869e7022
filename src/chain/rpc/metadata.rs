//! Addresses that a node entered on the page may not have: link-local ones, and the metadata services of clouds.
//!
//! Invariant: every notation of such an address is found, because the resolved address is checked, not its text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

pub(in crate::chain) const REFUSED: &str = "its address is link-local or of a metadata service";

const HOSTS: [&str; 5] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Metadata services at addresses that are not link-local: Alibaba, Azure and Oracle.
const V4_METADATA: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// Metadata services of AWS, Google and Scaleway.
const V6_METADATA: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Returns `true` if no stored node may have this host, which is a name or an address without brackets.
pub(in crate::chain) fn is_refused_host(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    HOSTS.contains(&name.as_str()) || host.parse().is_ok_and(is_refused_address)
}

/// Returns `true` if no stored node may have this address.
pub(in crate::chain) fn is_refused_address(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(v4) => is_refused_v4(v4),
        IpAddr::V6(v6) => {
            let is_link_local = v6.is_unicast_link_local() || v6.is_multicast();
            is_link_local || V6_METADATA.contains(&v6) || embedded_v4(v6).is_some_and(is_refused_v4)
        }
    }
}

fn is_refused_v4(ip: Ipv4Addr) -> bool {
    ip.is_link_local() || ip.is_multicast() || ip.is_broadcast() || V4_METADATA.contains(&ip)
}

/// Returns the IPv4 address inside an IPv6 address: NAT64 (RFC 6052, RFC 8215), 6to4, ISATAP, or IPv4-compatible.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = ip.octets();
    let last = Ipv4Addr::new(a, b, c, d);
    match ip.segments() {
        [0x64, 0xff9b, ..] | [_, _, _, _, 0 | 0x100 | 0x200 | 0x300, 0x5efe, _, _] => Some(last),
        [0x2002, high, low, ..] => {
            Some(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)))
        }
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => Some(last),
        _ => None,
    }
}

/// A resolver that fails if a name has a refused address, so that no request is sent to it.
#[derive(Debug, Default)]
pub(in crate::chain) struct NodeResolver(DefaultResolver);

impl Resolver for NodeResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        check_addresses(found.iter())?;
        Ok(found)
    }
}

pub(in crate::chain) fn check_addresses<'a>(
    addresses: impl IntoIterator<Item = &'a SocketAddr>,
) -> std::io::Result<()> {
    let mut addresses = addresses.into_iter();
    match addresses.any(|address| is_refused_address(address.ip())) {
        true => Err(std::io::Error::other(REFUSED)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_refused_address, is_refused_host};

    #[test]
    fn link_local_and_metadata_hosts_are_refused() {
        for host in [
            "169.254.169.254",
            "169.254.0.1",
            "::ffff:169.254.169.254",
            "::ffff:a9fe:a9fe",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "2001:db8::5efe:a9fe:a9fe",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "224.0.0.1",
            "255.255.255.255",
            "ff02::1",
            "metadata.google.internal",
            "Metadata.Google.Internal.",
            "metadata",
        ] {
            assert!(is_refused_host(host), "{host}");
        }
    }

    #[test]
    fn loopback_private_and_public_hosts_are_accepted() {
        for host in [
            "127.0.0.1",
            "::1",
            "0.0.0.0",
            "10.0.0.1",
            "192.168.1.20",
            "172.16.0.1",
            "fd12::1",
            "8.8.8.8",
            "2606:4700::1",
            "64:ff9b::808:808",
            "node.example",
            "localhost",
        ] {
            assert!(!is_refused_host(host), "{host}");
        }
        assert!(!is_refused_address([100, 64, 0, 1].into()));
    }
}
