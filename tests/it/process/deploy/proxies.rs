//! nginx and Caddy in front of Coffer with the example configurations: TLS, streams, body sizes and client addresses.

use super::example_with_changes;
use crate::support::installation::{Installation, NO_RATES};
use crate::support::process::Process;
use crate::support::receiver::Receiver;
use crate::support::scratch::Scratch;
use crate::support::{polling, tools};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SKIPPED_TEST_NAME: &str = "a proxy in front of Coffer";
const SITE_URL: &str = "https://pay.example.com";
const NGINX_CONFIG: &str = "daemon off; master_process off; pid nginx.pid; error_log error.log;
    events {}
    http {
        client_body_temp_path bodies; proxy_temp_path answers;
        fastcgi_temp_path a; uwsgi_temp_path b; scgi_temp_path c;
        include coffer.conf;
    }";

/// A program that ends TLS in front of Coffer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ProxyKind {
    Nginx,
    Caddy,
}

const KINDS: [ProxyKind; 2] = [ProxyKind::Nginx, ProxyKind::Caddy];

/// A running proxy, stopped on drop.
struct Proxy {
    kind: ProxyKind,
    process: Process,
    scratch: Scratch,
    https: String,
    http: String,
    /// Certificate of the authority that the client trusts.
    authority: PathBuf,
}

impl Proxy {
    /// Starts a proxy in front of this address. Returns `None` if the proxy is not installed.
    #[track_caller]
    fn start_with_upstream(kind: ProxyKind, upstream: &str) -> Option<Proxy> {
        tools::tool_output("curl", &["--version"], SKIPPED_TEST_NAME)?;
        let scratch = Scratch::new();
        let (https, http) =
            (Receiver::unused_address().to_string(), Receiver::unused_address().to_string());
        let (mut command, authority) = match kind {
            ProxyKind::Nginx => nginx_command(&scratch, upstream, &https, &http)?,
            ProxyKind::Caddy => caddy_command(&scratch, upstream, &https, &http)?,
        };
        let process = Process::start(&mut command);
        let mut proxy = Proxy { kind, process, scratch, https, http, authority };
        // The proxy answers this path itself.
        let metrics = format!("{SITE_URL}/metrics");
        let is_up = || {
            assert!(!proxy.process.has_ended(), "{kind:?}");
            proxy.client_command("127.0.0.1", &metrics).output().unwrap().status.success()
        };
        assert!(polling::wait_until(is_up), "{kind:?}");
        Some(proxy)
    }

    /// Builds a `curl` command that connects from the local address `from` to nginx, and uses the server's public
    /// name.
    fn client_command(&self, from: &str, url: &str) -> Command {
        let mut command = Command::new("curl");
        for (port, address) in [("443", &self.https), ("80", &self.http)] {
            let to = format!("pay.example.com:{port}:{address}");
            command.args(["--connect-to", &to]);
        }
        command.arg("--cacert").arg(&self.authority);
        command.args(["--silent", "--show-error", "--interface", from]);
        command.args(["--max-time", "60", url]);
        command
    }

    /// Sends a request and returns status and body.
    #[track_caller]
    fn request(&self, from: &str, url: &str, arguments: &[&str]) -> (u16, String) {
        let mut command = self.client_command(from, url);
        let output = command
            .args(["--include", "--write-out", "\n%{http_code}"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (answer, status) = text.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), answer.to_owned())
    }
}

/// Returns the command of nginx with the example configuration, and the certificate that it shows.
#[track_caller]
fn nginx_command(
    scratch: &Scratch,
    upstream: &str,
    https: &str,
    http: &str,
) -> Option<(Command, PathBuf)> {
    tools::tool_output("nginx", &["-v"], SKIPPED_TEST_NAME)?;
    let folder = scratch.path("");
    let mut certificate = Command::new("openssl");
    certificate.args(["req", "-x509", "-newkey", "ec", "-pkeyopt"]);
    certificate.args(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]);
    certificate.args(["-keyout", "key.pem", "-out", "certificate.pem", "-subj"]);
    certificate.args(["/CN=pay.example.com", "-addext", "subjectAltName=DNS:pay.example.com"]);
    let made = tools::run_tool(certificate.current_dir(&folder), SKIPPED_TEST_NAME)?;
    assert!(made.status.success(), "{made:?}");
    let settings = example_with_changes(
        "nginx.conf",
        &[
            ("127.0.0.1:8080", upstream),
            ("listen 443 ", &format!("listen {https} ")),
            ("listen 80;", &format!("listen {http};")),
            // The IPv6 lines are removed, because the machine may have no IPv6 addresses.
            ("listen [::]:443 ssl http2;", ""),
            ("listen [::]:80;", ""),
            ("/etc/letsencrypt/live/pay.example.com/fullchain.pem", "certificate.pem"),
            ("/etc/letsencrypt/live/pay.example.com/privkey.pem", "key.pem"),
            ("/var/log/nginx/coffer.log", "coffer.log"),
        ],
    );
    std::fs::write(scratch.path("coffer.conf"), settings).unwrap();
    std::fs::write(scratch.path("main.conf"), NGINX_CONFIG).unwrap();
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&folder).args(["-c", "main.conf", "-e", "error.log"]);
    Some((command, scratch.path("certificate.pem")))
}

/// Returns the command of Caddy with the example configuration, and the certificate of its own authority.
#[track_caller]
fn caddy_command(
    scratch: &Scratch,
    upstream: &str,
    https: &str,
    http: &str,
) -> Option<(Command, PathBuf)> {
    tools::tool_output("caddy", &["version"], SKIPPED_TEST_NAME)?;
    let host = |address: &str| address.split(':').next().unwrap().to_owned();
    let port = |address: &str| address.rsplit(':').next().unwrap().to_owned();
    let options = format!(
        "{{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tdefault_bind {}\n\thttp_port {}\n\thttps_port {}\n}}\n",
        // On all addresses, the port could be that of another test.
        host(http),
        port(http),
        port(https)
    );
    let settings = example_with_changes("Caddyfile", &[("127.0.0.1:8080", upstream)]);
    std::fs::write(scratch.path("Caddyfile"), options + &settings).unwrap();
    let mut command = Command::new("caddy");
    command.arg("run").args(["--adapter", "caddyfile", "--config"]).arg(scratch.path("Caddyfile"));
    command.env("XDG_DATA_HOME", scratch.path("")).env("XDG_CONFIG_HOME", scratch.path(""));
    Some((command, scratch.path("caddy/pki/authorities/local/root.crt")))
}

/// Starts Coffer with the settings that the configurations require. Returns the address on which it listens.
#[track_caller]
fn start_coffer(served: &Installation) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "off"]);
    command.args(["--public-url", SITE_URL, "--trusted-proxy", "127.0.0.1/32"]);
    command.args(["--exit-with-parent", "--rates", NO_RATES, "--file"]);
    let process = Process::start(command.arg(&served.file));
    let line = process.read_line();
    let (_, rest) = line.split_once(" listen=").unwrap();
    let address = rest.split(' ').next().unwrap().to_owned();
    (process, address)
}

#[test]
fn proxy_forwards_api_and_checkout() {
    KINDS.into_iter().for_each(assert_proxy_forwards_api_and_checkout);
}

#[track_caller]
fn assert_proxy_forwards_api_and_checkout(kind: ProxyKind) {
    let served = Installation::new();
    let (_coffer, address) = start_coffer(&served);
    let Some(proxy) = Proxy::start_with_upstream(kind, &address) else { return };
    let here = "127.0.0.1";
    let (key, invoices) = (format!("X-API-Key: {}", served.key), format!("{SITE_URL}/v1/invoices"));
    let body = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    let (status, made) = proxy.request(here, &invoices, &["-H", &key, "-d", &body]);
    assert_eq!(status, 201, "{made}");
    assert!(made.to_lowercase().contains("strict-transport-security: max-age="), "{made}");
    let json = made.split("\r\n\r\n").last().unwrap();
    let checkout: Value = serde_json::from_str(json).unwrap();
    let checkout = checkout["checkoutUrl"].as_str().unwrap();
    let (status, page) = proxy.request(here, checkout, &[]);
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("20.00") && page.contains("</html>"), "{page}");
    // The log does not contain the checkout token.
    if proxy.kind == ProxyKind::Nginx {
        let log = || std::fs::read_to_string(proxy.scratch.path("coffer.log")).unwrap();
        assert!(polling::wait_until(|| log().contains("\"GET /checkout/")), "{}", log());
        assert!(!log().contains("token"), "{}", log());
    }
    for path in ["/metrics", "//metrics", "/%6detrics", "/x/../metrics"] {
        let (status, answer) = proxy.request(here, &format!("{SITE_URL}{path}"), &["--path-as-is"]);
        assert_eq!((status, answer.contains("coffer_")), (404, false), "{path}: {answer}");
    }
    let plain = checkout.replace("https://", "http://");
    let (status, answer) = proxy.request(here, &plain, &[]);
    assert_eq!(status, 301, "{answer}");
    assert!(answer.contains(&format!("Location: {checkout}\r\n")), "{answer}");
    let (status, _) =
        proxy.request(here, &invoices.replace("https", "http"), &["-H", &key, "-d", &body]);
    assert_eq!(status, 403);
}

#[test]
fn proxy_accepts_bodies_up_to_coffers_limit() {
    KINDS.into_iter().for_each(assert_proxy_accepts_bodies_up_to_coffers_limit);
}

#[track_caller]
fn assert_proxy_accepts_bodies_up_to_coffers_limit(kind: ProxyKind) {
    let served = Installation::new();
    let (_coffer, address) = start_coffer(&served);
    let Some(proxy) = Proxy::start_with_upstream(kind, &address) else { return };
    let invoices = format!("{SITE_URL}/v1/invoices");
    let file = proxy.scratch.path("body");
    let (known, unknown) = (served.key.as_str(), "sk_live_unknown");
    let data = format!("@{}", file.display());
    for (bytes, key, status, code) in [
        (64 * 1024, known, 201, "unknown_field"),
        (64 * 1024, unknown, 401, "unauthorized"),
        (64 * 1024 + 1, known, 413, "payload_too_large"),
        (10 * 1024 * 1024, unknown, 413, "payload_too_large"),
    ] {
        // Coffer may close the connection before Caddy, which has no limit of its own, has sent a larger body.
        if kind == ProxyKind::Caddy && bytes > 64 * 1024 {
            continue;
        }
        let start = r#"{"amount": 1, "currency": "EUR", "unknown_field": ""#;
        let rest = "x".repeat(bytes - start.len() - 2);
        std::fs::write(&file, format!("{start}{rest}\"}}")).unwrap();
        let key = format!("X-API-Key: {key}");
        let (found, answer) =
            proxy.request("127.0.0.1", &invoices, &["-H", &key, "--data-binary", &data]);
        assert_eq!((found, answer.contains(code)), (status, true), "{answer}");
    }
}

#[test]
fn proxy_forwards_the_client_address() {
    KINDS.into_iter().for_each(assert_proxy_forwards_the_client_address);
}

#[track_caller]
fn assert_proxy_forwards_the_client_address(kind: ProxyKind) {
    let served = Installation::new();
    let (_coffer, address) = start_coffer(&served);
    let Some(proxy) = Proxy::start_with_upstream(kind, &address) else { return };
    let session = format!("{SITE_URL}/dashboard/api/session");
    let wrong = json!({ "email": "operator@shop.test", "password": "a guess" }).to_string();
    let guess = |from: &str, says: &str| {
        let says = format!("X-Forwarded-For: {says}");
        proxy.request(from, &session, &["-H", &says, "-d", &wrong]).0
    };
    // After six guesses the client is limited, whatever `X-Forwarded-For` it sends. Another client is not limited.
    let guesses = (1..=8).map(|n| guess("127.0.0.2", &format!("192.0.2.{n}")));
    let guesses: Vec<u16> = guesses.collect();
    assert_eq!(guesses, [401, 401, 401, 401, 401, 401, 429, 429]);
    assert_eq!(guess("127.0.0.3", "127.0.0.2"), 401);
}

#[test]
fn proxy_does_not_buffer_streams() {
    KINDS.into_iter().for_each(assert_proxy_does_not_buffer_streams);
}

#[track_caller]
fn assert_proxy_does_not_buffer_streams(kind: ProxyKind) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let Some(proxy) = Proxy::start_with_upstream(kind, &address) else { return };
    let mut command = proxy.client_command("127.0.0.1", &format!("{SITE_URL}/stream"));
    command.arg("--no-buffer");
    let client = Process::start_with_stderr(&mut command, Stdio::inherit());
    let (mut stream, _) = listener.accept().unwrap();
    let mut asked = [0; 4096];
    let count = stream.read(&mut asked).unwrap();
    let asked = String::from_utf8_lossy(&asked[..count]).to_lowercase();
    assert!(asked.contains("\r\nx-forwarded-for: 127.0.0.1\r\n"), "{asked}");
    assert!(asked.contains("\r\nhost: pay.example.com\r\n"), "{asked}");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // Each event is sent only after the client has received the previous one.
    for event in ["one", "two", "three"] {
        let text = format!("data: {event}\n\n");
        stream.write_all(text.as_bytes()).unwrap();
        assert_eq!(client.read_line(), format!("data: {event}"));
        assert_eq!(client.read_line(), "");
    }
}
