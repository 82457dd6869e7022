//! HTTP limits, tested on raw connections: sizes, timeouts, methods and the end of a connection.

use crate::support::{Shop, TEST};
use coffer::Config;
use coffer::http::ConnectionLimits;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

fn connect(shop: &Shop) -> TcpStream {
    TcpStream::connect(shop.url().strip_prefix("http://").unwrap()).unwrap()
}

/// Sends bytes unchanged and reads until the server closes the connection.
fn send_bytes(shop: &Shop, request: &[u8]) -> String {
    let mut stream = connect(shop);
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // An early rejection may reset the connection. The test uses only the data before the reset.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// Returns a POST request with this body and `Connection: close`.
fn post_bytes(head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /v1/invoices HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {TEST}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{head}\r\n{body}"
    )
    .into_bytes()
}

/// Asserts status and request id and returns the JSON body.
#[track_caller]
fn assert_refused(answer: &str, status: u16, code: &str) -> Value {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["error"], code);
    let id = format!("x-request-id: {}", body["requestId"].as_str().unwrap());
    assert!(head.contains(&id), "{head} has another id than {id}");
    body
}

#[test]
fn body_is_limited_to_64_kib() {
    let shop = Shop::open();
    let body = |length: usize| format!("{{\"x\":\"{}\"}}", "a".repeat(length - 8));
    assert_refused(&send_bytes(&shop, &post_bytes("", &body(65_536))), 400, "invalid_request");
    let over = send_bytes(&shop, &post_bytes("", &body(65_537)));
    assert_refused(&over, 413, "payload_too_large");
    assert!(over.contains("connection: close"), "{over}");
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 65_537, body(65_537));
    let head = format!(
        "POST /v1/invoices HTTP/1.1\r\nHost: a\r\nX-API-Key: {TEST}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    assert_refused(
        &send_bytes(&shop, format!("{head}{chunk}").as_bytes()),
        413,
        "payload_too_large",
    );
}

#[test]
fn headers_are_limited_to_16_kib() {
    let shop = Shop::open();
    let long = |length: usize| post_bytes(&format!("X-Long: {}\r\n", "a".repeat(length)), "{}");
    assert_refused(&send_bytes(&shop, &long(15_000)), 400, "invalid_request");
    assert_refused(&send_bytes(&shop, &long(17_000)), 431, "headers_too_large");
    let far_over = send_bytes(&shop, &long(100_000));
    assert!(far_over.starts_with("HTTP/1.1 431 "), "{far_over}");
}

#[test]
fn unknown_path_gets_404_and_wrong_method_405() {
    let shop = Shop::open();
    let answer = shop.send("DELETE", "/v1/invoices", &[], "");
    answer.assert_error(405, "method_not_allowed", None);
    assert_eq!(answer.headers["allow"], "POST, GET, HEAD");
    for path in ["/v1", "/v1/invoices/", "/v2/invoices", "/v1/invoices/x/y"] {
        shop.get(path, Some(TEST)).assert_error(404, "not_found", None);
    }
    let head = shop.send("HEAD", "/v1/merchant", &[("X-API-Key", TEST)], "").expect(200);
    assert_eq!(head.text, "");
    assert!(head.headers.contains_key("x-request-id"));
}

#[test]
fn slow_request_times_out() {
    let limits = ConnectionLimits {
        body_timeout_ms: 200,
        header_timeout_ms: 200,
        ..ConnectionLimits::default()
    };
    let shop = Shop::with_config(Config { limits, ..Config::sandbox() });
    let mut half = post_bytes("", &"a".repeat(100));
    half.truncate(half.len() - 50);
    assert_refused(&send_bytes(&shop, &half), 408, "request_timeout");
    let nothing = send_bytes(&shop, b"GET /livez HTTP/1.1\r\nHost: ");
    assert!(nothing.is_empty() || nothing.starts_with("HTTP/1.1 408"), "{nothing}");
    let silent = send_bytes(&shop, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(silent.starts_with("HTTP/1.1 200"), "the next request is waited for as long: {silent}");
    // A simulated delay does not count towards the time limit of a request.
    shop.post("/sandbox/faults", None, json!({ "delayMs": 1000, "times": 1 })).expect(200);
    shop.get("/livez", None).expect(200);
}

#[test]
fn connection_serves_many_requests_in_order() {
    let shop = Shop::open();
    let one =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {TEST}\r\n\r\n");
    let last = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned();
    let pipelined = [one("/v1/balances"), one("/nowhere"), one("/v1/merchant"), last].concat();
    let answers = send_bytes(&shop, pipelined.as_bytes());
    let statuses: Vec<&str> = answers.matches("HTTP/1.1 200 OK").collect();
    assert_eq!((statuses.len(), answers.matches("HTTP/1.1 404").count()), (3, 1), "{answers}");
    assert!(answers.find("pending") < answers.find("not_found"), "{answers}");
    assert!(answers.find("not_found") < answers.find("feePercent"), "{answers}");
}

#[test]
fn invalid_http_is_rejected() {
    let shop = Shop::open();
    for noise in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    ] {
        let mut stream = connect(&shop);
        stream.write_all(noise).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    shop.get("/readyz", None).expect(200);
}

#[test]
fn stopping_server_completes_requests_in_progress() {
    let shop = Shop::open();
    shop.send("PUT", "/sandbox/inbox/slow", &[], &json!({ "delayMs": 300 }).to_string())
        .expect(204);
    let mut stream = connect(&shop);
    let request =
        "POST /sandbox/inbox/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(request.as_bytes()).unwrap();
    let arrived = shop.get("/sandbox/inbox/slow?wait=10s", None).expect(200).json();
    assert_eq!(arrived["data"].as_array().unwrap().len(), 1, "it is under way");
    let stopping = std::thread::spawn(move || drop(shop));
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    stopping.join().unwrap();
}
