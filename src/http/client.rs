//! Finds the address of the client that sent a request, even through proxies.
//!
//! Invariant: an entry of `X-Forwarded-For` is used only if a trusted proxy wrote the entry.

use hyper::HeaderMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A function that returns `true` for the address of a trusted proxy.
pub type TrustedProxyCheck = Box<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Mask that keeps the first 64 bits of an IPv6 address, which identify a subnet. The owner of the subnet can choose
/// the remaining 64 bits freely.
const SUBNET_MASK: u128 = u128::MAX << 64;

/// Returns the client's address: the address nearest to the server that does not belong to a trusted proxy. The
/// nearest address is the peer, followed by the entries of `X-Forwarded-For`, the last entry first.
pub(super) fn client_address(
    peer: IpAddr,
    headers: &HeaderMap,
    is_trusted: &TrustedProxyCheck,
) -> IpAddr {
    let lines = headers.get_all("x-forwarded-for").iter();
    // The search starts at the last entry. It ends at an unreadable entry: the client may have forged this entry and
    // all earlier entries.
    let said: Vec<&[u8]> =
        lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b',')).collect();
    let mut client = peer.to_canonical();
    for text in said.into_iter().rev() {
        if !is_trusted(client) {
            break;
        }
        let text = std::str::from_utf8(text).unwrap_or_default();
        match text.trim().parse::<IpAddr>() {
            Ok(before) => client = before.to_canonical(),
            Err(_) => break,
        }
    }
    client
}

/// Returns the address by which a client is counted: an IPv4 address in full, an IPv6 address without its last 64
/// bits.
pub(super) fn subnet_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & SUBNET_MASK).into(),
    }
}

/// Returns the networks that contain a client, from the narrowest to the widest. Invoices created through payment
/// links are counted for each network.
pub(super) fn enclosing_networks(address: IpAddr) -> [String; 3] {
    match address.to_canonical() {
        IpAddr::V4(address) => [32_u32, 24, 16].map(|bits| {
            let mask = u32::MAX.unbounded_shl(32_u32.saturating_sub(bits));
            format!("{}/{bits}", Ipv4Addr::from_bits(address.to_bits() & mask))
        }),
        IpAddr::V6(address) => [64_u32, 48, 32].map(|bits| {
            let mask = u128::MAX.unbounded_shl(128_u32.saturating_sub(bits));
            format!("{}/{bits}", Ipv6Addr::from_bits(address.to_bits() & mask))
        }),
    }
}

pub(super) fn limit_key(address: IpAddr) -> String {
    subnet_prefix(address).to_string()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{TrustedProxyCheck, client_address, enclosing_networks, limit_key};
    use hyper::HeaderMap;
    use hyper::header::HeaderValue;

    #[track_caller]
    fn resolved_client(peer: &str, lines: &[impl AsRef<[u8]>]) -> String {
        let proxies: TrustedProxyCheck = Box::new(|address| address.to_string().starts_with("10."));
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(line.as_ref()).unwrap());
        }
        client_address(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn forwarded_header_counts_only_from_trusted_proxies() {
        for (peer, lines, expected) in [
            ("1.1.1.1", &["2.2.2.2"][..], "1.1.1.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["2.2.2.2"], "2.2.2.2"),
            ("::ffff:10.0.0.1", &["2.2.2.2"], "2.2.2.2"),
            ("10.0.0.1", &["3.3.3.3, 2.2.2.2"], "2.2.2.2"),
            ("10.0.0.1", &["3.3.3.3", "2.2.2.2, 10.0.0.2"], "2.2.2.2"),
            ("10.0.0.1", &["10.0.0.3,10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["3.3.3.3, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["2001:db8::1"], "2001:db8::1"),
        ] {
            assert_eq!(resolved_client(peer, lines), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn entries_before_unreadable_entry_are_ignored() {
        for (lines, expected) in [
            (&[&b"9.9.9.9"[..], b"\xff, 2.2.2.2"][..], "2.2.2.2"),
            (&[b"9.9.9.9", b"2.2.2.2\xff"], "10.0.0.1"),
            (&[b"9.9.9.9", b"\xff"], "10.0.0.1"),
            (&[b"9.9.9.9, \xff", b"10.0.0.2"], "10.0.0.2"),
            (&[b"9.9.9.9", b"\xff, 2.2.2.2, 10.0.0.2"], "2.2.2.2"),
        ] {
            assert_eq!(resolved_client("10.0.0.1", lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn each_network_contains_the_narrower_one() {
        let of = |text: &str| enclosing_networks(text.parse().unwrap());
        for (address, expected) in [
            ("198.51.100.7", ["198.51.100.7/32", "198.51.100.0/24", "198.51.0.0/16"]),
            ("::ffff:198.51.100.7", ["198.51.100.7/32", "198.51.100.0/24", "198.51.0.0/16"]),
            ("2001:db8:1:2:3:4:5:6", ["2001:db8:1:2::/64", "2001:db8:1::/48", "2001:db8::/32"]),
            ("::1", ["::/64", "::/48", "::/32"]),
        ] {
            assert_eq!(of(address), expected, "{address}");
        }
    }

    #[test]
    fn addresses_of_one_subnet_share_a_limit_key() {
        let key = |text: &str| limit_key(text.parse().unwrap());
        assert_eq!(key("2001:db8:1:2:3::4"), key("2001:db8:1:2::"));
        assert_ne!(key("2001:db8:1:3::"), key("2001:db8:1:2::"));
        assert_ne!(key("1.1.1.1"), key("1.1.1.2"));
    }
}
