//! Certificates that are issued, kept, renewed and answered for.

use super::{Site, browser, connect_to, connect_trusting};
use crate::support::pebble::{Pebble, Ports, VALIDITY_MS};
use crate::support::polling::wait_until;
use crate::support::ports::free_port;
use crate::support::{Response, send};
use coffer::Config;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

/// Sends a plain HTTP request and returns the whole response.
#[track_caller]
pub(super) fn plain_request(port: u16, request: &str) -> String {
    let mut stream = connect_to(port);
    let request = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[track_caller]
fn get(agent: &ureq::Agent, url: &str) -> Response {
    send(agent, "GET", url, &[], "")
}

#[test]
fn certificate_is_issued_and_kept_over_a_restart() {
    let Some((site, pebble)) = Site::with_pebble("HTTPS by ACME") else { return };
    let browser = browser(&pebble);
    let server = site.start();
    site.wait_for_certificate();
    assert_eq!(server.url(), site.url(""));
    let alive = get(&browser, &site.url("/livez")).expect(200);
    assert_eq!(alive.headers["strict-transport-security"], "max-age=31536000");
    let missing = get(&browser, &site.url("/v1/nothing")).expect(404);
    assert_eq!(missing.headers["strict-transport-security"], "max-age=31536000");
    get(&browser, &site.url("/metrics")).expect(404);
    drop(server);

    let path = coffer::acme::folder_path(&site.file());
    assert_eq!(path, site.scratch.path("shop.db.acme"));
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["account.json", "attempts.json", "certificate.json"]);

    let again = site.start();
    get(&browser, &site.url("/livez")).expect(200);
    assert_eq!(pebble.order_count(), 1);
    drop(again);
}

#[test]
fn certificate_is_renewed_when_a_third_of_its_lifetime_is_left() {
    let Some((site, pebble)) = Site::with_pebble("renewal by ACME") else { return };
    drop((site.start(), site.wait_for_certificate()));
    let first = site.certificate_end().unwrap();

    // Too early: the certificate stays.
    let early = site.start_later(VALIDITY_MS / 2);
    assert!(wait_until(|| site.connect_tls("localhost", &[]).is_ok()));
    drop(early);
    assert_eq!((site.certificate_end(), pebble.order_count()), (Some(first), 1));

    let server = site.start_later(VALIDITY_MS * 2 / 3 + 1000);
    // Pebble goes by the real time, so the new certificate is due at once, and the next attempt waits.
    assert!(wait_until(|| site.attempts().problem.is_some()));
    assert_eq!(pebble.order_count(), 2);
    assert!(site.certificate_end().unwrap() >= first);
    let problem = site.attempts().problem.unwrap();
    assert!(problem.starts_with("it ends too soon, at "), "{problem}");
    drop(server);
}

#[test]
fn only_the_domain_gets_the_certificate() {
    let Some((site, pebble)) = Site::with_pebble("server names of TLS") else { return };
    let _server = site.start();
    site.wait_for_certificate();
    let root = pebble.issuing_root();
    connect_trusting(&root, site.connect(), "localhost").unwrap();
    for other in ["other.example", "127.0.0.1"] {
        let refused = connect_trusting(&root, site.connect(), other).unwrap_err();
        assert!(refused.to_string().contains("AccessDenied"), "{refused}");
    }
    // No challenge is in progress.
    site.connect_tls("localhost", &[b"acme-tls/1"]).unwrap_err();
    site.connect_tls("localhost", &[b"h2", b"http/1.1"]).unwrap();
    site.connect_tls("localhost", &[b"h2"]).unwrap_err();
}

#[test]
fn plain_http_on_the_port_for_tls_is_told_so() {
    let ports = Ports::new();
    let Some(mut pebble) = Pebble::start(ports, "plain HTTP beside TLS") else { return };
    pebble = {
        drop(pebble);
        Pebble::stopped(ports)
    };
    let mut site = Site::new(&pebble, ports);
    site.settings.retry_ms_min = 50;
    let _server = site.start();
    let early = plain_request(ports.tls, "GET /livez");
    assert!(early.starts_with("HTTP/1.1 503 "), "{early}");
    assert!(early.contains("has no certificate yet"), "{early}");
    assert!(site.connect_tls("localhost", &[]).is_err(), "there is no certificate");

    // The authority comes back.
    pebble.launch(&[]);
    site.wait_for_certificate();
    let to = format!("location: {}\r\n", site.url("/pay?a=b"));
    for method in ["GET", "HEAD"] {
        let redirect = plain_request(ports.tls, &format!("{method} /pay?a=b"));
        assert!(redirect.starts_with("HTTP/1.1 301 ") && redirect.contains(&to), "{redirect}");
        assert!(!redirect.contains("strict-transport-security"), "{redirect}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "OTHER"] {
        let refused = plain_request(ports.tls, &format!("{method} /v1/invoices"));
        assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    }
}

#[test]
fn challenge_over_http_serves_a_domain_whose_tls_port_is_not_reached() {
    let mut ports = Ports::new();
    let listen = ports.tls;
    // The authority and Coffer itself look at a port where nobody listens.
    ports.tls = free_port();
    let Some(pebble) = Pebble::start(ports, "challenges over HTTP") else { return };
    let mut site = Site::new(&pebble, ports);
    site.settings.http_listen = Some(format!("[::]:{}", ports.http).parse().unwrap());
    let config = Config { listen: format!("[::]:{listen}").parse().unwrap(), ..site.config() };
    let _server = coffer::Server::start(config).unwrap();
    assert!(wait_until(|| site.certificate_end().is_some()), "{:?}", site.attempts());

    let is_redirect =
        || plain_request(ports.http, "GET /a").starts_with("HTTP/1.1 301 Moved Permanently");
    assert!(wait_until(is_redirect));
    let to = format!("location: {}", site.url("/"));
    assert!(plain_request(ports.http, "HEAD /").contains(&to));
    assert!(plain_request(ports.http, "POST /").starts_with("HTTP/1.1 403 "));
    let unknown = plain_request(ports.http, "GET /.well-known/acme-challenge/none");
    assert!(unknown.starts_with("HTTP/1.1 404 "), "{unknown}");
    let away = plain_request(ports.http, "GET //evil.example/%0d%0aa:b?c");
    let to = format!("location: {}\r\n", site.url("//evil.example/%0d%0aa:b?c"));
    assert!(away.contains(&to), "{away}");
}
