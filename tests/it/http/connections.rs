//! Connection limits: clients that never read, clients that never write, and clients with thousands of connections.

use crate::operator::exports::insert_many_invoices;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{Response, Shop};
use coffer::Config;
use coffer::http::ConnectionLimits;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Timeout of the tests, far longer than any step should take.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);
const HOUR_MS: u64 = 3_600_000;

/// Starts a sandbox in which only these limits end a connection.
#[track_caller]
fn shop_with_limits(limits: ConnectionLimits) -> Shop {
    Shop::with_config(Config {
        limits: ConnectionLimits { header_timeout_ms: HOUR_MS, body_timeout_ms: HOUR_MS, ..limits },
        ..Config::sandbox()
    })
}

fn socket_address(shop: &Shop) -> SocketAddr {
    let address = shop.url().strip_prefix("http://").unwrap();
    address.parse().unwrap()
}

pub fn with_timeouts(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream
}

/// Opens a connection to the server at this URL.
#[track_caller]
pub fn connect_to_url(url: &str) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap();
    with_timeouts(TcpStream::connect(address).unwrap())
}

fn connect(shop: &Shop) -> TcpStream {
    connect_to_url(shop.url())
}

/// Connects from this local address.
#[track_caller]
fn connect_from(from: &str, shop: &Shop) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
        socket.connect(socket_address(shop)).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    with_timeouts(stream)
}

/// Sends a GET request and keeps the connection open.
#[track_caller]
fn send_get(stream: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

/// Reads one small response. Returns `None` if the server closed the connection.
#[track_caller]
pub fn read_response(stream: &mut TcpStream) -> Option<String> {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
            Err(error) => unreachable!("the server did neither answer nor close: {error}"),
        }
        let text = String::from_utf8_lossy(&answer);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length.is_some_and(|length| length.parse() == Ok(body.len())) {
            return Some(text.into_owned());
        }
    }
}

#[track_caller]
pub fn assert_connection_works(stream: &mut TcpStream) {
    send_get(stream, "/livez");
    let answer = read_response(stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Sends requests and reads no response, until a write fails because the server has closed the connection.
#[track_caller]
fn write_until_closed(mut stream: TcpStream, request: &str) {
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error;
        }
    };
    let closed = [std::io::ErrorKind::ConnectionReset, std::io::ErrorKind::BrokenPipe];
    assert!(closed.contains(&error.kind()), "it was never closed: {error}");
}

/// Sends a POST request to a slow inbox of the sandbox. The request is in progress when this function returns.
#[track_caller]
fn start_slow_request(stream: &mut TcpStream, shop: &Shop, inbox: &str) {
    let path = format!("/sandbox/inbox/{inbox}");
    let slow = json!({ "delayMs": 60_000 }).to_string();
    shop.send("PUT", &path, &[], &slow).expect(204);
    let request =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}");
    stream.write_all(request.as_bytes()).unwrap();
    let arrived: Response = shop.get(&format!("{path}?wait=60s"), None).expect(200);
    assert_eq!(arrived.json()["data"].as_array().unwrap().len(), 1);
}

const SHORT_LIMITS: ConnectionLimits = ConnectionLimits {
    connections_max: 64,
    loopback_is_limited: false,
    header_timeout_ms: HOUR_MS,
    body_timeout_ms: HOUR_MS,
    write_span_ms: 100,
    write_bytes_min: 1,
    drain_timeout_ms: HOUR_MS,
    drain_client_ms: 1,
};

#[test]
fn client_that_never_reads_is_disconnected() {
    let shop = shop_with_limits(SHORT_LIMITS);
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| write_until_closed(connect(&shop), request));
        }
    });
    shop.get("/livez", None).expect(200);
}

#[test]
fn client_that_never_reads_an_export_is_disconnected() {
    let interface = OperatorInterface::with_shop(shop_with_limits(SHORT_LIMITS));
    insert_many_invoices(&interface);
    let path = interface.path("exports/invoices.csv");
    let cookie = &interface.operator;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n");
    write_until_closed(connect(&interface.shop), &request);
    interface.shop.get("/livez", None).expect(200);
}

#[test]
fn slow_client_receives_the_whole_response() {
    let shop = shop_with_limits(ConnectionLimits { write_span_ms: 2_000, ..SHORT_LIMITS });
    let mut stream = connect(&shop);
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.repeat(11).as_bytes()).unwrap();
    stream
        .write_all(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut bytes = 0;
    let mut buffer = [0; 65_536];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        bytes += read;
        shop.get("/livez", None).expect(200);
    }
    let document = shop.get("/v1/openapi.json", None).expect(200);
    assert!(bytes > 12 * document.text.len(), "{bytes}");
}

#[test]
fn longest_idle_connection_is_evicted() {
    // The client of `shop` holds one of the four connections.
    let shop = shop_with_limits(ConnectionLimits { connections_max: 4, ..SHORT_LIMITS });
    let mut open: Vec<TcpStream> = (0..3).map(|_| connect(&shop)).collect();
    open.iter_mut().for_each(assert_connection_works);
    shop.get("/livez", None).expect(200);
    assert_connection_works(&mut open[0]);
    let mut next = connect(&shop);
    assert_connection_works(&mut next);
    assert_eq!(read_response(&mut open[1]), None, "it was idle longest");
    assert_connection_works(&mut open[0]);
    assert_connection_works(&mut open[2]);
    assert_connection_works(&mut next);
}

#[test]
fn half_sent_request_is_evicted() {
    for half in [
        "",
        "GET /livez HTTP/1.1\r\nHo",
        "POST /v1/invoices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ] {
        let shop = shop_with_limits(ConnectionLimits { connections_max: 3, ..SHORT_LIMITS });
        let mut hanging: Vec<TcpStream> = (0..30).map(|_| connect(&shop)).collect();
        for stream in &mut hanging {
            // The write fails if the server has already evicted the connection.
            let _ = stream.write_all(half.as_bytes());
        }
        assert_connection_works(&mut connect(&shop));
    }
}

#[test]
fn request_in_progress_is_not_evicted() {
    let shop = shop_with_limits(ConnectionLimits { connections_max: 2, ..SHORT_LIMITS });
    let mut busy = connect(&shop);
    start_slow_request(&mut busy, &shop, "slow");
    let mut rest: Vec<TcpStream> = (0..20).map(|_| connect(&shop)).collect();
    assert_connection_works(rest.last_mut().unwrap());
    drop(rest);
    // Stopping the server ends the delay of the inbox.
    drop(shop);
    let answer = read_response(&mut busy).unwrap_or_default();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn new_connection_waits_when_all_are_busy() {
    let shop = shop_with_limits(ConnectionLimits { connections_max: 1, ..SHORT_LIMITS });
    // The server may evict the first connection before the request is read. In that case, the test tries again.
    let answer = (0..1000).find_map(|_| {
        let mut first = connect(&shop);
        assert_connection_works(&mut first);
        send_get(&mut first, "/sandbox/inbox/none?wait=1s");
        assert_connection_works(&mut connect(&shop));
        // `is_here` is `true` if the response to the first request has arrived already.
        first.set_nonblocking(true).unwrap();
        let is_here = first.peek(&mut [0]).is_ok();
        first.set_nonblocking(false).unwrap();
        read_response(&mut first).map(|answer| (is_here, answer))
    });
    let (is_here, answer) = answer.unwrap();
    assert!(is_here);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("{\"data\":[]}"), "{answer}");
}

#[test]
fn client_gets_at_most_a_quarter_of_connections() {
    let shop = shop_with_limits(ConnectionLimits {
        connections_max: 16,
        loopback_is_limited: true,
        ..SHORT_LIMITS
    });
    let from = |last: u8| connect_from(&format!("127.0.0.{last}"), &shop);
    let mut greedy: Vec<TcpStream> = (0..4).map(|_| from(2)).collect();
    greedy.iter_mut().for_each(assert_connection_works);
    // The next connection of this client evicts the client's longest idle connection.
    greedy.push(from(2));
    assert_connection_works(greedy.last_mut().unwrap());
    assert_eq!(read_response(&mut greedy.remove(0)), None);
    let mut others: Vec<TcpStream> = (0..3).map(|_| from(3)).collect();
    others.iter_mut().for_each(assert_connection_works);
    for (number, stream) in greedy.iter_mut().enumerate() {
        start_slow_request(stream, &shop, &format!("slow{number}"));
    }
    // The client's four connections are busy. The server closes the client's fifth connection, and serves other
    // clients.
    for _ in 0..20 {
        let mut fifth = from(2);
        // The server may close the fifth connection before or after this write.
        let _ = fifth.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(read_response(&mut fifth), None);
    }
    others.iter_mut().for_each(assert_connection_works);
    assert_connection_works(&mut from(4));
    greedy.pop();
    drop(others);
    // The client may open another connection in place of the released connection.
    loop {
        let mut again = from(2);
        let _ = again.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if read_response(&mut again).is_some() {
            break;
        }
    }
}

#[test]
fn trusted_proxy_gets_all_connections() {
    let shop = Shop::with_config(Config {
        limits: ConnectionLimits { connections_max: 8, loopback_is_limited: true, ..SHORT_LIMITS },
        trusted_proxy: vec!["127.0.0.9/32".parse().unwrap()],
        ..Config::sandbox()
    });
    let mut open: Vec<TcpStream> = (0..6).map(|_| connect_from("127.0.0.9", &shop)).collect();
    open.iter_mut().for_each(assert_connection_works);
    open.iter_mut().for_each(assert_connection_works);
}

#[test]
fn idle_connections_do_not_block_new_ones() {
    for connections_max in [4096, 8192] {
        let shop = shop_with_limits(ConnectionLimits { connections_max, ..SHORT_LIMITS });
        let mut idle: Vec<TcpStream> = Vec::new();
        // More at once could overflow the queue of the listening socket, so that the kernel resets some.
        for _ in 0..10 {
            idle.extend((0..500).map(|_| connect(&shop)));
            shop.get("/livez", None).expect(200);
        }
        assert_connection_works(&mut connect(&shop));
        drop(idle);
    }
}

#[test]
fn stopping_server_does_not_wait_for_clients() {
    let shop = shop_with_limits(ConnectionLimits { write_span_ms: HOUR_MS, ..SHORT_LIMITS });
    let (mut idle, mut half, mut body) = (connect(&shop), connect(&shop), connect(&shop));
    assert_connection_works(&mut idle);
    assert_connection_works(&mut half);
    half.write_all(b"GET /livez HTTP/1.1\r\nHo").unwrap();
    assert_connection_works(&mut body);
    let head = "POST /v1/invoices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{";
    body.write_all(head.as_bytes()).unwrap();
    let never_reads = connect(&shop);
    let mut asks = never_reads.try_clone().unwrap();
    asks.set_nonblocking(true).unwrap();
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // The client never reads a response. It writes until the server stops reading.
    while asks.write(request.repeat(100).as_bytes()).is_ok() {}
    drop(shop);
    for mut stream in [idle, half, body] {
        assert_eq!(read_response(&mut stream), None);
    }
    write_until_closed(never_reads.try_clone().unwrap(), request);
}
