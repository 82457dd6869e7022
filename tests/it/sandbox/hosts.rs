//! Host header check: a sandbox accepts only known hosts on every route, which prevents DNS rebinding.

use crate::support::installation::Installation;
use crate::support::process::start_sandbox;
use crate::support::{Response, Shop, TEST, agent, send};
use coffer::Config;
use coffer::http::routes;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

const FOREIGN_HOST: (&str, &str) = ("Host", "evil.example");

/// Sends these lines unchanged as a request, and returns the response status.
#[track_caller]
fn send_lines(shop: &Shop, lines: &[&str]) -> u16 {
    let address = shop.url().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Sends `GET /livez` with this host.
fn request_livez(url: &str, host: &str) -> Response {
    send(&agent(), "GET", &format!("{url}/livez"), &[("Host", host)], "")
}

#[test]
fn foreign_host_reaches_only_the_inbox() {
    let shop = Shop::open();
    for route in routes(true) {
        let path = route.path.replace("{id}", "x").replace("{name}", "x");
        let headers = [FOREIGN_HOST, ("X-API-Key", TEST), ("Cookie", "coffer_session=x")];
        let answer = shop.send(route.method, &path, &headers, "");
        let wanted = if route.operation == "inboxReceive" { 200 } else { 403 };
        assert_eq!(answer.status, wanted, "{} {path}", route.method);
        assert!(answer.headers.contains_key("x-request-id"), "{path}");
    }
    for (method, path) in [
        ("GET", "/nowhere"),
        ("PATCH", "/v1/invoices"),
        ("OPTIONS", "/v1/public/config"),
        ("PATCH", "/sandbox/inbox/x"),
        ("GET", "/sandbox/inbox/x"),
    ] {
        let answer = shop.send(method, path, &[FOREIGN_HOST], "");
        answer.assert_error(403, "forbidden", None);
    }
}

#[test]
fn dns_rebinding_page_reads_and_changes_nothing() {
    let shop = Shop::open();
    shop.create_invoice("20.00", json!({ "orderId": "secret-order" }));
    let faults = json!({ "status": 500, "times": 1 }).to_string();
    shop.send("POST", "/sandbox/faults", &[], &faults).expect(200);
    let rebound = [FOREIGN_HOST, ("Sec-Fetch-Site", "same-origin"), ("X-API-Key", TEST)];
    for path in ["/v1/events", "/v1/invoices", "/sandbox/webhooks", "/metrics"] {
        let answer = shop.send("GET", path, &rebound, "");
        answer.assert_error(403, "forbidden", None);
        assert!(!answer.text.contains("secret-order"));
    }
    let order = json!({ "amount": "1.00", "currency": "EUR" }).to_string();
    shop.send("POST", "/v1/invoices", &rebound, &order).assert_error(403, "forbidden", None);
    let body = json!({ "email": "operator@sandbox.test", "password": "sandbox" }).to_string();
    let refused = shop.send("POST", "/dashboard/api/session", &rebound, &body);
    refused.assert_error(403, "forbidden", None);
    assert!(!refused.headers.contains_key("set-cookie"));
    // The rejected request did not consume the fault.
    assert_eq!(shop.get("/v1/invoices", Some(TEST)).status, 500);
    let listed = shop.get("/v1/invoices", Some(TEST)).expect(200).json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

#[test]
fn local_host_names_are_accepted() {
    let shop = Shop::open();
    for host in [
        "LocalHost",
        "localhost.:80",
        "[::1]:1",
        "coffer:8080",
        "shop.localhost",
        "host.docker.INTERNAL",
    ] {
        request_livez(shop.url(), host).expect(200);
    }
    for host in [
        "localhost.evil.example",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "127.1",
        "192.0.2.1",
        "0.0.0.0",
        "[2001:db8::1]",
        "localhost@evil.example",
        "user@localhost",
        ".localhost",
    ] {
        request_livez(shop.url(), host).assert_error(403, "forbidden", None);
    }
}

#[test]
fn request_requires_exactly_one_host() {
    let shop = Shop::open();
    for (lines, wanted) in [
        (&["GET /livez HTTP/1.1", "Host: localhost"][..], 200),
        (&["GET /livez HTTP/1.0", "Host: localhost"], 200),
        (&["GET /livez HTTP/1.1"], 403),
        (&["GET /livez HTTP/1.0"], 403),
        (&["GET /livez HTTP/1.1", "Host:"], 403),
        (&["GET /livez HTTP/1.1", "Host: localhost", "Host: localhost"], 403),
        (&["GET /livez HTTP/1.1", "Host: localhost", "Host: evil.example"], 403),
        (&["GET /livez HTTP/1.1", "Host: evil.example", "Host: localhost"], 403),
        (&["GET http://localhost:1/livez HTTP/1.1", "Host: localhost"], 200),
        (&["GET http://evil.example/livez HTTP/1.1", "Host: localhost"], 403),
        (&["GET http://localhost/livez HTTP/1.1", "Host: evil.example"], 403),
        (&["GET http://localhost@evil.example/livez HTTP/1.1", "Host: localhost"], 403),
        (&["GET http://localhost/livez HTTP/1.1"], 403),
    ] {
        assert_eq!(send_lines(&shop, lines), wanted, "{lines:?}");
    }
}

#[test]
fn public_url_and_settings_allow_more_hosts() {
    let arguments = ["--public-url", "https://Pay.Example.com/x"];
    let (_process, line) = start_with_environment(&arguments, Some(".dev.example, 192.0.2.7"));
    for host in ["pay.example.com", "dev.example", "a.dev.example:1", "192.0.2.7"] {
        request_livez(&line, host).expect(200);
    }
    for host in ["example.com", "evildev.example", "192.0.2.8"] {
        request_livez(&line, host).assert_error(403, "forbidden", None);
    }
    let (_process, line) =
        start_with_environment(&["--allow-host", "one.example"], Some("two.example"));
    request_livez(&line, "ONE.example.").expect(200);
    request_livez(&line, "two.example").assert_error(403, "forbidden", None);
    request_livez(&line, "a.one.example").assert_error(403, "forbidden", None);
    for wrong in ["*", "a.example:80", "https://a.example", "a.example,b c"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        let output = command.args(["sandbox", "--allow-host", wrong]);
        let output = output.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{wrong}");
        assert!(said.contains("must be a host like dev.example.com"), "{said}");
    }
}

/// Starts a sandbox of the real binary with these environment variables. Returns its listening address as a URL.
#[track_caller]
fn start_with_environment(
    more: &[&str],
    allowed: Option<&str>,
) -> (crate::support::process::Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--log", "warn", "--exit-with-parent"]);
    command.args(["--listen", "127.0.0.1:0"]).args(more);
    if let Some(allowed) = allowed {
        command.env("COFFER_ALLOW_HOST", allowed);
    }
    let process = crate::support::process::Process::start(&mut command);
    let line = process.read_line();
    let (_, rest) = line.split_once(" listen=").unwrap();
    let (listen, _) = rest.split_once(' ').unwrap();
    (process, format!("http://{listen}"))
}

#[test]
fn non_loopback_sandbox_accepts_addresses_but_no_names() {
    let shop = Shop::with_config(Config {
        listen: SocketAddr::from(([0, 0, 0, 0], 0)),
        allow_remote: true,
        ..Config::sandbox()
    });
    for host in ["192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0", "coffer:8080"] {
        request_livez(shop.url(), host).expect(200);
    }
    for host in ["evil.example", "3221225985", "192.0.2.1.evil.example"] {
        request_livez(shop.url(), host).assert_error(403, "forbidden", None);
    }
}

#[test]
fn production_server_accepts_every_host() {
    let (_served, running) = Installation::start_new(&[]);
    request_livez(&running.url, "pay.example.com").expect(200);
    let (_process, url) = start_sandbox("127.0.0.1:0", &[]);
    request_livez(&url, "pay.example.com").assert_error(403, "forbidden", None);
}
