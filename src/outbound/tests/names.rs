//! Tests name lookup: a connection goes to a looked-up address, and never to a refused one.

use super::super::GuardedResolver;
use super::{
    Guard, LONG_MS, OutboundClient, Server, assert_answer, no_response, response_with_body,
    sandbox_client,
};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// A resolver that returns a different list of addresses at each lookup, beginning with the last list.
#[derive(Debug)]
struct ListResolver(Mutex<Vec<Vec<IpAddr>>>);

impl ListResolver {
    fn new(lookups: &[&[&str]]) -> Self {
        let lookups =
            lookups.iter().rev().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect());
        Self(Mutex::new(lookups.collect()))
    }
}

impl Resolver for ListResolver {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut found = self.empty();
        for ip in self.0.lock().unwrap().pop().ok_or(Error::HostNotFound)? {
            found.push(SocketAddr::new(ip, uri.port_u16().unwrap()));
        }
        Ok(found)
    }
}

#[test]
fn address_of_a_name_is_checked_at_each_lookup() {
    let server = Server::start_with_answer(&response_with_body("200 OK", "ok"));
    let names = ListResolver::new(&[
        &["127.0.0.1"],
        &["10.0.0.1"],
        &["::ffff:169.254.169.254", "::"],
        &["127.0.0.1"],
    ]);
    let outbound = OutboundClient::with_resolver(Guard::new(true, Vec::new()), LONG_MS, names);
    let url = format!("http://shop.example:{}/", server.address.port());
    let refused = no_response("address not allowed", false);
    assert_answer(outbound.post(&url, &[], b"{}"), 200, "ok");
    assert_eq!(outbound.post(&url, &[], b"{}"), refused);
    assert_eq!(outbound.post(&url, &[], b"{}"), refused);
    assert_answer(outbound.post(&url, &[], b"{}"), 200, "ok");
    assert_eq!(outbound.post(&url, &[], b"{}"), no_response("dns: the name has no address", false));
}

#[test]
fn only_the_permitted_addresses_of_a_name_are_connected_to() {
    let names =
        ListResolver::new(&[&["127.0.0.1", "10.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"]]);
    let resolver = GuardedResolver {
        names,
        guard: Arc::new(Guard::new(false, vec!["10.0.0.0/8".parse().unwrap()])),
    };
    let uri: Uri = "https://shop.example:443/".parse().unwrap();
    let found = resolver.resolve(&uri, &Config::default(), NextTimeout::default()).unwrap();
    let found: Vec<String> = found.iter().map(|address| address.ip().to_string()).collect();
    assert_eq!(found, ["10.0.0.1", "8.8.8.8", "2606:4700::1111"]);
}

#[test]
fn unusual_notations_and_looked_up_names_are_guarded() {
    let server = Server::start_with_answer(&response_with_body("200 OK", "ok"));
    let port = server.address.port();
    let production = OutboundClient::new(Guard::new(false, Vec::new()), LONG_MS);
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0.0.0.0",
    ] {
        for scheme in ["http", "https"] {
            let error =
                production.post(&format!("{scheme}://{host}:{port}/"), &[], b"{}").unwrap_err();
            assert_eq!(error.reason, "address not allowed", "{scheme}://{host}");
        }
    }
    for host in ["[::1]", "[::]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]"] {
        let error = production.post(&format!("https://{host}:{port}/"), &[], b"{}").unwrap_err();
        assert_eq!(error.reason, "address not allowed", "{host}");
    }
    for host in ["127.0.0.1.", "localhost.", "user:pass@localhost"] {
        assert!(production.post(&format!("https://{host}:{port}/"), &[], b"{}").is_err(), "{host}");
    }
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn unknown_name_returns_a_dns_reason() {
    let error = sandbox_client(LONG_MS).post("https://shop.invalid/", &[], b"{}").unwrap_err();
    assert!(error.reason.starts_with("dns: ") && !error.was_sent, "{error:?}");
}
