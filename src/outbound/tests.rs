//! Tests over real sockets, without sleeps: a hanging server waits until the client closes the connection.

mod names;

use super::{Guard, NoResponse, OutboundClient, OutboundResponse};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

const LONG_MS: u64 = 10_000;
const SHORT_MS: u64 = 200;

/// A server on a free port that calls `talk` for each connection, and counts its connections.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn start(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, talk) = (Arc::clone(&connections), Arc::new(talk));
        thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                let talk = Arc::clone(&talk);
                thread::spawn(move || talk(stream.unwrap()));
            }
        });
        Self { address, connections }
    }

    /// Starts a server that sends `answer` as the response to each request.
    fn start_with_answer(answer: &str) -> Self {
        let answer = answer.to_owned();
        Self::start(move |mut stream| {
            while read_request(&stream).is_some() {
                // The client may have closed the connection before the whole response was sent.
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        })
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads the header and the body of the next request; `None` if the client closed the connection.
fn read_request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap()
        .parse()
        .unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

/// Waits until the client closes the connection.
fn wait_until_closed(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

fn response_with_body(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn sandbox_client(timeout_ms: u64) -> OutboundClient {
    OutboundClient::new(Guard::new(true, Vec::new()), timeout_ms)
}

/// Returns the expected error. `was_sent` says whether the header was sent before the error.
fn no_response(reason: &str, was_sent: bool) -> Result<OutboundResponse, NoResponse> {
    Err(NoResponse { reason: reason.to_owned(), was_sent, timed_out: reason == "timed out" })
}

#[track_caller]
fn assert_answer(answer: Result<OutboundResponse, NoResponse>, status: u16, start: &str) {
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.start.as_str()), (status, start));
}

#[test]
fn every_status_is_returned_and_no_redirect_is_followed() {
    let elsewhere = Server::start_with_answer(&response_with_body("200 OK", "elsewhere"));
    let outbound = sandbox_client(LONG_MS);
    for (status, code) in [
        ("200 OK", 200),
        ("201 Created", 201),
        ("404 Not Found", 404),
        ("410 Gone", 410),
        ("500 Oops", 500),
    ] {
        let server = Server::start_with_answer(&response_with_body(status, "said"));
        assert_answer(outbound.post(&server.url(), &[], b"{}"), code, "said");
    }
    for (status, code) in [
        ("301 Moved", 301),
        ("302 Found", 302),
        ("307 Temporary Redirect", 307),
        ("308 Permanent Redirect", 308),
    ] {
        let location = elsewhere.url();
        let server = Server::start_with_answer(&format!(
            "HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 5\r\n\r\nthere"
        ));
        assert_answer(outbound.post(&server.url(), &[], b"{}"), code, "there");
        let server = Server::start_with_answer(&format!(
            "HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        ));
        assert_answer(outbound.post(&server.url(), &[], b"{}"), code, "");
    }
    assert_answer(
        outbound.post(
            &Server::start_with_answer("HTTP/1.1 204 No Content\r\n\r\n").url(),
            &[],
            b"{}",
        ),
        204,
        "",
    );
    assert_eq!(elsewhere.connection_count(), 0);
}

#[test]
fn request_has_the_given_url_headers_and_body() {
    let server = Server::start(|mut stream| {
        let received = read_request(&stream).unwrap();
        stream.write_all(response_with_body("200 OK", &received).as_bytes()).unwrap();
    });
    let headers = [("content-type", "application/json"), ("X-Service-Signature", "t=1,v1=ab")];
    let url = format!("{}?a=%20b#not-sent", server.url());
    let sent =
        sandbox_client(LONG_MS).post(&url, &headers, "{\"name\":\"é\"}".as_bytes()).unwrap().start;
    assert!(sent.starts_with("POST /hook?a=%20b HTTP/1.1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"name\":\"é\"}"), "{sent}");
    for line in [
        "content-type: application/json",
        "x-service-signature: t=1,v1=ab",
        "content-length: 13",
        &format!("user-agent: coffer/{}", env!("CARGO_PKG_VERSION")),
        &format!("host: {}", server.address),
    ] {
        assert!(sent.lines().any(|sent| sent == line), "{line} in {sent}");
    }
    assert!(!sent.contains("accept-encoding"), "{sent}");
}

#[test]
fn bad_header_or_url_returns_an_error() {
    let server = Server::start_with_answer(&response_with_body("200 OK", ""));
    let outbound = sandbox_client(LONG_MS);
    assert!(outbound.post(&server.url(), &[("x", "a\r\nb: c")], b"").is_err());
    assert!(outbound.post(&server.url(), &[("x y", "a")], b"").is_err());
    for url in [
        "",
        "hook",
        "https://",
        "ftp://127.0.0.1/",
        "https://:443/",
        "https://[::1/",
        "https://a b/",
    ] {
        assert!(outbound.post(url, &[], b"").is_err(), "{url}");
    }
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn connection_is_reused() {
    let server = Server::start_with_answer(&response_with_body("200 OK", "ok"));
    let outbound = sandbox_client(LONG_MS);
    for _ in 0..3 {
        assert_answer(outbound.clone().post(&server.url(), &[], b"{}"), 200, "ok");
    }
    assert_eq!(server.connection_count(), 1);
}

#[test]
fn closed_connection_is_replaced() {
    let (closed, is_closed) = mpsc::channel();
    let server = Server::start(move |mut stream| {
        read_request(&stream);
        stream.write_all(response_with_body("200 OK", "once").as_bytes()).unwrap();
        drop(stream);
        closed.send(()).unwrap();
    });
    let outbound = sandbox_client(LONG_MS);
    for _ in 0..3 {
        assert_answer(outbound.post(&server.url(), &[], b"{}"), 200, "once");
        is_closed.recv().unwrap();
    }
    assert_eq!(server.connection_count(), 3);
}

#[test]
fn long_body_is_truncated() {
    let outbound = sandbox_client(LONG_MS);
    let server = Server::start_with_answer(&response_with_body("200 OK", &"x".repeat(8 << 20)));
    assert_answer(outbound.post(&server.url(), &[], b"{}"), 200, &"x".repeat(4096));
    let endless = Server::start(|mut stream| {
        read_request(&stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        while stream.write_all(b"4\r\nabcd\r\n").is_ok() {}
    });
    assert_answer(outbound.post(&endless.url(), &[], b"{}"), 200, &"abcd".repeat(1024));
}

#[test]
fn invalid_utf8_in_body_is_replaced() {
    let server = Server::start(|mut stream| {
        read_request(&stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\na\xffb").unwrap();
    });
    assert_answer(sandbox_client(LONG_MS).post(&server.url(), &[], b"{}"), 200, "a\u{fffd}b");
}

#[test]
fn an_endless_header_is_an_error() {
    for (line, reason) in
        [("x: y\r\n", "too many headers"), ("0123456789abcdef", "header is too big")]
    {
        let server = Server::start(move |mut stream| {
            read_request(&stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx-long: ");
            while stream.write_all(line.as_bytes()).is_ok() {}
        });
        let error = sandbox_client(LONG_MS).post(&server.url(), &[], b"{}").unwrap_err();
        assert!(error.reason.contains(reason) && error.was_sent, "{error:?}");
    }
}

#[test]
fn informational_responses_are_skipped() {
    for first in ["100 Continue", "102 Processing", "103 Early Hints"] {
        let answer = format!("HTTP/1.1 {first}\r\n\r\n{}", response_with_body("200 OK", "ok"));
        let server = Server::start_with_answer(&answer);
        assert_answer(sandbox_client(LONG_MS).post(&server.url(), &[], b"{}"), 200, "ok");
    }
}

#[test]
fn closed_port_returns_connection_refused() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let answer = sandbox_client(LONG_MS).post(&format!("http://{address}/"), &[], b"{}");
    assert_eq!(answer, no_response("connection refused", false));
}

#[test]
fn early_close_and_invalid_response_are_errors() {
    let outbound = sandbox_client(LONG_MS);
    let hangs_up = Server::start(|stream| drop(read_request(&stream)));
    assert_eq!(
        outbound.post(&hangs_up.url(), &[], b"{}"),
        no_response("connection closed before an answer", true)
    );
    let nonsense = Server::start_with_answer("SSH-2.0-OpenSSH_9.9\r\n\r\n");
    let error = outbound.post(&nonsense.url(), &[], b"{}").unwrap_err();
    assert!(error.reason.starts_with("protocol: ") && error.was_sent, "{error:?}");
    let no_tls = outbound.post(&nonsense.url().replace("http:", "https:"), &[], b"{}");
    assert!(!no_tls.unwrap_err().was_sent);
}

#[test]
fn hanging_server_times_out() {
    let timed_out = no_response("timed out", true);
    let outbound = sandbox_client(SHORT_MS);
    let silent = Server::start(wait_until_closed);
    assert_eq!(outbound.post(&silent.url(), &[], b"{}"), timed_out);
    assert_eq!(
        outbound.post(&silent.url().replace("http:", "https:"), &[], b"{}"),
        no_response("timed out", false)
    );
    let in_the_header = Server::start(|mut stream| {
        read_request(&stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").unwrap();
        wait_until_closed(stream);
    });
    assert_eq!(outbound.post(&in_the_header.url(), &[], b"{}"), timed_out);
    let never_reads = Server::start(|stream| {
        loop {
            thread::park();
            let _ = stream.peer_addr();
        }
    });
    assert_eq!(outbound.post(&never_reads.url(), &[], &vec![b'x'; 64 << 20]), timed_out);
}

#[test]
fn incomplete_body_still_returns_the_status() {
    let outbound = sandbox_client(SHORT_MS);
    for head in
        ["content-length: 100\r\n", "connection: close\r\n", "transfer-encoding: chunked\r\n"]
    {
        let chunk = if head.contains("chunked") { "4\r\nhalf\r\n" } else { "half" };
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n{chunk}");
        let hangs = answer.clone();
        let hangs = Server::start(move |mut stream| {
            read_request(&stream);
            stream.write_all(hangs.as_bytes()).unwrap();
            wait_until_closed(stream);
        });
        assert_answer(outbound.post(&hangs.url(), &[], b"{}"), 200, "half");
        let breaks_off = Server::start(move |mut stream| {
            read_request(&stream);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        assert_answer(outbound.post(&breaks_off.url(), &[], b"{}"), 200, "half");
    }
}
