//! Tests the guard with every range and every notation of an address.

mod urls;

use super::{Cidr, Guard};
use std::net::IpAddr;

/// At least one address of each IPv4 range that is not public, for most ranges the first and the last one.
const NOT_PUBLIC_V4: [&str; 38] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "168.63.129.16",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.88.99.0",
    "192.88.99.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "224.0.0.1",
    "232.1.2.3",
    "239.255.255.255",
    "240.0.0.0",
    "247.1.2.3",
    "250.1.2.3",
    "255.255.255.254",
    "255.255.255.255",
];

/// Public addresses just outside the ranges of [`NOT_PUBLIC_V4`].
const PUBLIC_V4: [&str; 23] = [
    "1.0.0.0",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.101.0",
    "203.0.112.255",
    "223.255.255.255",
];

const NOT_PUBLIC_V6: [&str; 36] = [
    "::",
    "::1",
    "::2",
    "::ffff:0:0:1",
    "64:ff9b:1::",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "100::",
    "100::ffff:ffff:ffff:ffff",
    "2001::",
    "2001:0:ffff::1",
    "2001:2::1",
    "2001:10::",
    "2001:1f:ffff::",
    "2001:20::",
    "2001:2f:ffff::",
    "2001:db8::",
    "2001:db8:ffff::1",
    "2002::",
    "2002:ffff::1",
    "3fff::",
    "3fff:fff:ffff::1",
    "4000::1",
    "5f00::",
    "5f00:ffff::1",
    "fc00::",
    "fd00:ec2::254",
    "fdff:ffff::1",
    "fe80::",
    "fe80::1",
    "febf:ffff::1",
    "fec0::1",
    "feff:ffff::1",
    "ff00::",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

const PUBLIC_V6: [&str; 8] = [
    "2000::1",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "3fff:1000::1",
];

#[track_caller]
fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[track_caller]
fn guard(sandbox: bool, allowed: &[&str]) -> Guard {
    Guard::new(sandbox, allowed.iter().map(|text| text.parse().unwrap()).collect())
}

/// Returns every known IPv6 notation of an IPv4 address.
fn ipv6_notations(v4: &str) -> Vec<String> {
    let [a, b, c, d] = v4.parse::<std::net::Ipv4Addr>().unwrap().octets();
    let hex = format!("{a:02x}{b:02x}:{c:02x}{d:02x}");
    let xored = format!("{:02x}{:02x}:{:02x}{:02x}", !a, !b, !c, !d);
    vec![
        format!("::ffff:{v4}"),                                  // mapped
        format!("::{v4}"),                                       // compatible
        format!("::ffff:0:{v4}"),                                // translated (SIIT)
        format!("64:ff9b::{v4}"),                                // NAT64
        format!("64:ff9b:1::{v4}"),                              // NAT64, a network's own
        format!("64:ff9b:1:{a:02x}{b:02x}:{c:02x}:{d:02x}00::"), // the same, by /48
        format!("2002:{hex}::1"),                                // 6to4
        format!("2001:0:808:808:0:0:{xored}"),                   // Teredo, the client
        format!("2001:0:{hex}:0:0:f7f7:f7f7"),                   // Teredo, the server
        format!("fe80::5efe:{v4}"),                              // ISATAP
        format!("2606:4700::5efe:{v4}"),                         // ISATAP in a public network
        format!("2606:4700::200:5efe:{v4}"),                     // the same, globally unique
    ]
}

#[test]
fn only_public_addresses_are_permitted_and_only_over_https() {
    let production = guard(false, &[]);
    for text in NOT_PUBLIC_V4.iter().chain(&NOT_PUBLIC_V6) {
        assert!(!production.permits(true, ip(text)), "https to {text}");
        assert!(!production.permits(false, ip(text)), "http to {text}");
    }
    for text in PUBLIC_V4.iter().chain(&PUBLIC_V6) {
        assert!(production.permits(true, ip(text)), "https to {text}");
        assert!(!production.permits(false, ip(text)), "http to {text}");
    }
}

#[test]
fn ipv6_notation_makes_no_address_public() {
    let production = guard(false, &[]);
    for v4 in NOT_PUBLIC_V4 {
        for text in ipv6_notations(v4) {
            assert!(!production.permits(true, ip(&text)), "{text}");
            assert!(!production.permits(false, ip(&text)), "{text}");
        }
    }
}

#[test]
fn mapped_and_nat64_notations_of_public_addresses_are_permitted() {
    let production = guard(false, &[]);
    for v4 in PUBLIC_V4 {
        for text in ipv6_notations(v4) {
            let answers = text == format!("::ffff:{v4}") || text == format!("64:ff9b::{v4}");
            assert_eq!(production.permits(true, ip(&text)), answers, "{text}");
            assert!(!production.permits(false, ip(&text)), "{text}");
        }
    }
}

#[test]
fn sandbox_reaches_loopback_but_no_private_network() {
    let sandbox = guard(true, &[]);
    for text in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
        assert!(sandbox.permits(false, ip(text)), "{text}");
        assert!(sandbox.permits(true, ip(text)), "{text}");
    }
    let loopback = |text: &str| text.starts_with("127.") || text == "::1";
    for text in NOT_PUBLIC_V4.iter().chain(&NOT_PUBLIC_V6).filter(|text| !loopback(text)) {
        assert!(!sandbox.permits(true, ip(text)), "{text}");
        assert!(!sandbox.permits(false, ip(text)), "{text}");
    }
    for text in ["::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::1"] {
        assert!(!sandbox.permits(true, ip(text)), "{text}");
    }
    assert!(sandbox.permits(true, ip("8.8.8.8")));
    assert!(!sandbox.permits(false, ip("8.8.8.8")));
}

#[test]
fn allowed_range_includes_its_ipv6_notations() {
    let opened = guard(false, &["10.0.0.0/8", "192.168.1.20", "fd00::/8"]);
    for text in [
        "10.0.0.1",
        "10.255.255.255",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "192.168.1.20",
        "fd00::1",
    ] {
        assert!(opened.permits(false, ip(text)), "http to {text}");
        assert!(opened.permits(true, ip(text)), "https to {text}");
    }
    for text in [
        "11.0.0.0",
        "127.0.0.1",
        "192.168.1.21",
        "::ffff:192.168.1.21",
        "fc00::1",
        "::1",
        "8.8.8.8",
    ] {
        assert!(!opened.permits(false, ip(text)), "http to {text}");
    }
    // These addresses contain 10.0.0.1, but connections to them do not reach 10.0.0.1.
    for text in ["::10.0.0.1", "2002:a00:1::1", "fe80::5efe:10.0.0.1"] {
        assert!(!opened.permits(true, ip(text)), "https to {text}");
    }
    // An allowed range may also be written in IPv6 notation.
    assert!(guard(false, &["::ffff:10.0.0.0/104"]).permits(false, ip("::ffff:10.1.1.1")));
    assert!(guard(false, &["64:ff9b::/96"]).permits(false, ip("64:ff9b::10.1.1.1")));
}

#[test]
fn range_contains_its_addresses_only() {
    for (range, inside, outside) in [
        ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"),
        ("10.1.2.3/8", "10.0.0.0", "9.255.255.255"),
        ("192.168.1.128/25", "192.168.1.128", "192.168.1.127"),
        ("192.168.1.7/32", "192.168.1.7", "192.168.1.6"),
        ("192.168.1.7", "192.168.1.7", "192.168.1.8"),
        ("0.0.0.0/0", "255.255.255.255", "::"),
        ("fd00::/8", "fdff:ffff::1", "fe00::"),
        ("2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"),
        ("::1/128", "::1", "::2"),
        ("::1", "::1", "::"),
        ("::/0", "ffff::", "0.0.0.0"),
    ] {
        let range: Cidr = range.parse().unwrap();
        assert!(range.contains(ip(inside)), "{inside} in {range:?}");
        assert!(!range.contains(ip(outside)), "{outside} in {range:?}");
    }
}

#[test]
fn invalid_range_is_rejected_with_the_reason() {
    for text in [
        "",
        "/",
        "/8",
        "10/8",
        "10.0.0/8",
        "10.0.0.0.0/8",
        "shop.lan",
        "localhost/8",
        "[::1]/128",
        " 10.0.0.0/8",
        "fe80::1%eth0",
    ] {
        let error = text.parse::<Cidr>().unwrap_err();
        assert!(error.contains("is not an address range"), "{text}: {error}");
    }
    for text in [
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/x",
        "10.0.0.0/8/8",
        "10.0.0.0/255.0.0.0",
    ] {
        let error = text.parse::<Cidr>().unwrap_err();
        assert!(error.ends_with("must be a number from 0 to 32"), "{text}: {error}");
    }
    for text in ["fd00::/129", "fd00::/", "fd00::/300"] {
        let error = text.parse::<Cidr>().unwrap_err();
        assert!(error.ends_with("must be a number from 0 to 128"), "{text}: {error}");
    }
}
