//! Connections over TLS: event streams, handshakes that hang, and their places.

use super::{Site, TEST_TIMEOUT, browser, now};
use crate::support::send;
use coffer::http::ConnectionLimits;
use coffer::store::FileKind;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Returns the data of the next event of a stream.
#[track_caller]
fn next_event(lines: &mut impl BufRead) -> Value {
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[test]
fn event_stream_works_over_tls() {
    let Some((mut site, pebble)) = Site::with_pebble("event streams over TLS") else { return };
    site.kind = FileKind::Sandbox;
    let (server, browser) = (site.start(), browser(&pebble));
    site.wait_for_certificate();
    let post = |path: &str, body: Value| {
        let headers = [("X-API-Key", "sk_test_sandbox")];
        send(&browser, "POST", &site.url(path), &headers, &body.to_string())
    };
    let invoice = post("/v1/invoices", json!({ "amount": "20.00", "currency": "EUR" }));
    let invoice = invoice.expect(201).json();
    let url = invoice["checkoutUrl"].as_str().unwrap();
    assert!(url.starts_with(&site.url("/")), "{url}");
    let (_, token) = url.split_once("?token=").unwrap();
    let id = invoice["id"].as_str().unwrap();
    let mut stream = site.connect_tls("localhost", &[b"http/1.1"]).unwrap();
    let path = format!("/v1/public/checkouts/{id}/events?token={token}");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", site.ports.tls).unwrap();
    let mut lines = BufReader::new(stream);
    assert_eq!(next_event(&mut lines)["status"], "created");
    let selected = post(&format!("/v1/invoices/{id}/select"), json!({ "asset": "LTC" }));
    selected.expect(200);
    assert_eq!(next_event(&mut lines)["status"], "awaiting_payment");
    // The stop ends the stream.
    drop(server);
    let mut rest = Vec::new();
    let ended = lines.read_to_end(&mut rest);
    assert!(ended.is_ok() || !rest.is_empty(), "{ended:?}");
}

/// Sends the first byte of a handshake, and no more.
#[track_caller]
fn begin_handshake(site: &Site) -> TcpStream {
    let mut stream = site.connect();
    stream.write_all(&[22]).unwrap();
    stream
}

#[test]
fn handshake_that_hangs_gives_up_its_place() {
    let Some((mut site, pebble)) = Site::with_pebble("handshakes that hang") else { return };
    site.limits.connections_max = 16;
    let (_server, browser) = (site.start(), browser(&pebble));
    site.wait_for_certificate();
    let hanging: Vec<TcpStream> = (0..64).map(|_| begin_handshake(&site)).collect();
    send(&browser, "GET", &site.url("/livez"), &[], "").expect(200);
    let ended = hanging.iter().filter(|stream| is_closed(stream)).count();
    assert!(ended >= 48, "{ended} of 64 were closed for new ones");
}

/// Returns `true` if the server has closed the connection. Does not wait.
fn is_closed(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = (&*stream).read(&mut [0; 64]);
    !matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn handshakes_of_one_client_have_a_quarter_of_the_places() {
    let Some((mut site, _pebble)) = Site::with_pebble("handshakes of one client") else { return };
    site.limits.connections_max = 16;
    site.limits.loopback_is_limited = true;
    let _server = site.start();
    site.wait_for_certificate();
    let hanging: Vec<TcpStream> = (0..8).map(|_| begin_handshake(&site)).collect();
    // A ninth one is accepted after the eighth, so the closed ones are known.
    let mut ninth = site.connect_tls("localhost", &[]).unwrap();
    ninth.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(ninth.read(&mut [0; 64]).unwrap() > 0);
    let open = hanging.iter().filter(|stream| !is_closed(stream)).count();
    assert_eq!(open, 3, "a quarter of 16 places, one of them for the ninth");
}

#[test]
fn handshake_has_ten_seconds() {
    let Some((mut site, _pebble)) = Site::with_pebble("the time of a handshake") else { return };
    let hour_ms = 3_600_000;
    site.limits = ConnectionLimits { header_timeout_ms: hour_ms, ..site.limits };
    let _server = site.start();
    site.wait_for_certificate();
    let begun = now();
    let mut begun_one = begin_handshake(&site);
    let mut silent = site.connect();
    for stream in [&mut begun_one, &mut silent] {
        let read = stream.read(&mut [0; 64]);
        assert!(matches!(read, Ok(0)) || read.is_err(), "{read:?}");
    }
    let took_ms = now().since_ms(begun);
    let most_ms = i64::try_from(TEST_TIMEOUT.as_millis()).unwrap();
    assert!((9_500..most_ms).contains(&took_ms), "{took_ms}");
}
