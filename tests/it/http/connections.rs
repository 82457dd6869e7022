//! Connections that hold their places: clients that never read, never write, or come in thousands.

use crate::operator::exports::many;
use crate::support::operator_interface::OperatorInterface;
use crate::support::{Response, Shop};
use coffer::Config;
use coffer::http::Limits;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than anything here should take; whoever waits so long has found a fault.
const TOO_LONG: Duration = Duration::from_secs(60);
const HOUR_MS: u64 = 3_600_000;

/// A shop with these limits in which nothing but them ends a connection.
#[track_caller]
fn shop(limits: Limits) -> Shop {
    Shop::with_config(Config {
        limits: Limits {
            header_timeout_ms: HOUR_MS,
            body_timeout_ms: HOUR_MS,
            ..limits
        },
        ..Config::sandbox()
    })
}

fn address(shop: &Shop) -> SocketAddr {
    let address = shop.url().strip_prefix("http://").unwrap();
    address.parse().unwrap()
}

pub fn limited(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(TOO_LONG)).unwrap();
    stream.set_write_timeout(Some(TOO_LONG)).unwrap();
    stream
}

fn connect(shop: &Shop) -> TcpStream {
    limited(TcpStream::connect(address(shop)).unwrap())
}

/// A connection from this address of the machine.
#[track_caller]
fn connect_from(from: &str, shop: &Shop) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket
            .bind(SocketAddr::new(from.parse().unwrap(), 0))
            .unwrap();
        socket.connect(address(shop)).await.unwrap()
    });
    let stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    limited(stream)
}

/// Sends a GET on a connection that stays open.
#[track_caller]
fn ask(stream: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

/// Reads one small answer; nothing where the server closed.
#[track_caller]
pub fn answered(stream: &mut TcpStream) -> Option<String> {
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
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if length.is_some_and(|length| length.parse() == Ok(body.len())) {
            return Some(text.into_owned());
        }
    }
}

#[track_caller]
pub fn lives(stream: &mut TcpStream) {
    ask(stream, "/livez");
    let answer = answered(stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Sends requests and reads nothing, until the server closes: it is the writing that fails then.
#[track_caller]
fn never_read(mut stream: TcpStream, request: &str) {
    let error = loop {
        if let Err(error) = stream.write_all(request.as_bytes()) {
            break error;
        }
    };
    let closed = [
        std::io::ErrorKind::ConnectionReset,
        std::io::ErrorKind::BrokenPipe,
    ];
    assert!(
        closed.contains(&error.kind()),
        "it was never closed: {error}"
    );
}

/// A message that the sandbox's inbox takes its time for; once this returns, it is under way.
#[track_caller]
fn keep_busy(stream: &mut TcpStream, shop: &Shop, inbox: &str) {
    let path = format!("/sandbox/inbox/{inbox}");
    let slow = json!({ "delayMs": 60_000 }).to_string();
    shop.send("PUT", &path, &[], &slow).expect(204);
    let request =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}");
    stream.write_all(request.as_bytes()).unwrap();
    let arrived: Response = shop.get(&format!("{path}?wait=60s"), None).expect(200);
    assert_eq!(arrived.json()["data"].as_array().unwrap().len(), 1);
}

const QUICK: Limits = Limits {
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
fn a_client_that_never_reads_is_cut_off() {
    let shop = shop(QUICK);
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| never_read(connect(&shop), request));
        }
    });
    shop.get("/livez", None).expect(200);
}

#[test]
fn a_client_that_never_reads_an_export_is_cut_off() {
    let interface = OperatorInterface::in_shop(shop(QUICK));
    many(&interface);
    let path = interface.path("exports/invoices.csv");
    let cookie = &interface.operator;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n");
    never_read(connect(&interface.shop), &request);
    interface.shop.get("/livez", None).expect(200);
}

#[test]
fn a_client_that_takes_a_little_at_a_time_gets_all_of_it() {
    let shop = shop(Limits {
        write_span_ms: 2_000,
        ..QUICK
    });
    let mut stream = connect(&shop);
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.repeat(11).as_bytes()).unwrap();
    stream
        .write_all(
            request
                .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
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
fn the_longest_idle_connection_makes_place() {
    // One place is the shop's own client's, which keeps its connection.
    let shop = shop(Limits {
        connections_max: 4,
        ..QUICK
    });
    let mut open: Vec<TcpStream> = (0..3).map(|_| connect(&shop)).collect();
    open.iter_mut().for_each(lives);
    shop.get("/livez", None).expect(200);
    lives(&mut open[0]);
    let mut next = connect(&shop);
    lives(&mut next);
    assert_eq!(answered(&mut open[1]), None, "it was idle longest");
    lives(&mut open[0]);
    lives(&mut open[2]);
    lives(&mut next);
}

#[test]
fn what_hangs_half_sent_makes_place() {
    for half in [
        "",
        "GET /livez HTTP/1.1\r\nHo",
        "POST /v1/invoices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ] {
        let shop = shop(Limits {
            connections_max: 3,
            ..QUICK
        });
        let mut hanging: Vec<TcpStream> = (0..30).map(|_| connect(&shop)).collect();
        for stream in &mut hanging {
            // Those that made place already cannot be written to.
            let _ = stream.write_all(half.as_bytes());
        }
        lives(&mut connect(&shop));
    }
}

#[test]
fn what_is_under_way_makes_no_place() {
    let shop = shop(Limits {
        connections_max: 2,
        ..QUICK
    });
    let mut busy = connect(&shop);
    keep_busy(&mut busy, &shop, "slow");
    let mut rest: Vec<TcpStream> = (0..20).map(|_| connect(&shop)).collect();
    lives(rest.last_mut().unwrap());
    drop(rest);
    // Stopping ends the inbox's delay.
    drop(shop);
    let answer = answered(&mut busy).unwrap_or_default();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn where_all_are_busy_the_next_one_waits() {
    let shop = shop(Limits {
        connections_max: 1,
        ..QUICK
    });
    // Where the first one makes place before its request is read, nothing is under way yet, and it is tried again.
    let answer = (0..1000).find_map(|_| {
        let mut first = connect(&shop);
        lives(&mut first);
        ask(&mut first, "/sandbox/inbox/none?wait=1s");
        lives(&mut connect(&shop));
        // Else its answer is here already: it came before the next one's.
        first.set_nonblocking(true).unwrap();
        let is_here = first.peek(&mut [0]).is_ok();
        first.set_nonblocking(false).unwrap();
        answered(&mut first).map(|answer| (is_here, answer))
    });
    let (is_here, answer) = answer.unwrap();
    assert!(is_here);
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("{\"data\":[]}"),
        "{answer}"
    );
}

#[test]
fn one_client_has_at_most_a_quarter_of_the_places() {
    let shop = shop(Limits {
        connections_max: 16,
        loopback_is_limited: true,
        ..QUICK
    });
    let from = |last: u8| connect_from(&format!("127.0.0.{last}"), &shop);
    let mut greedy: Vec<TcpStream> = (0..4).map(|_| from(2)).collect();
    greedy.iter_mut().for_each(lives);
    // One more takes the place of its own longest idle one.
    greedy.push(from(2));
    lives(greedy.last_mut().unwrap());
    assert_eq!(answered(&mut greedy.remove(0)), None);
    let mut others: Vec<TcpStream> = (0..3).map(|_| from(3)).collect();
    others.iter_mut().for_each(lives);
    for (number, stream) in greedy.iter_mut().enumerate() {
        keep_busy(stream, &shop, &format!("slow{number}"));
    }
    // All four are busy now: a fifth is closed, whatever it asks, and others are served.
    for _ in 0..20 {
        let mut fifth = from(2);
        // It may be closed before or after this is sent.
        let _ = fifth.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(answered(&mut fifth), None);
    }
    others.iter_mut().for_each(lives);
    lives(&mut from(4));
    greedy.pop();
    drop(others);
    // What it gave up it may have again.
    loop {
        let mut again = from(2);
        let _ = again.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        if answered(&mut again).is_some() {
            break;
        }
    }
}

#[test]
fn a_proxy_has_as_many_places_as_there_are() {
    let shop = Shop::with_config(Config {
        limits: Limits {
            connections_max: 8,
            loopback_is_limited: true,
            ..QUICK
        },
        trusted_proxy: vec!["127.0.0.9/32".parse().unwrap()],
        ..Config::sandbox()
    });
    let mut open: Vec<TcpStream> = (0..6).map(|_| connect_from("127.0.0.9", &shop)).collect();
    open.iter_mut().for_each(lives);
    open.iter_mut().for_each(lives);
}

#[test]
fn five_thousand_idle_connections_keep_nobody_waiting() {
    for connections_max in [4096, 8192] {
        let shop = shop(Limits {
            connections_max,
            ..QUICK
        });
        let idle: Vec<TcpStream> = (0..5000).map(|_| connect(&shop)).collect();
        shop.get("/livez", None).expect(200);
        lives(&mut connect(&shop));
        drop(idle);
    }
}

#[test]
fn a_stopping_server_does_not_wait_for_clients() {
    let shop = shop(Limits {
        write_span_ms: HOUR_MS,
        ..QUICK
    });
    let (mut idle, mut half, mut body) = (connect(&shop), connect(&shop), connect(&shop));
    lives(&mut idle);
    lives(&mut half);
    half.write_all(b"GET /livez HTTP/1.1\r\nHo").unwrap();
    lives(&mut body);
    let head = "POST /v1/invoices HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{";
    body.write_all(head.as_bytes()).unwrap();
    let never_reads = connect(&shop);
    let mut asks = never_reads.try_clone().unwrap();
    asks.set_nonblocking(true).unwrap();
    let request = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // Until the server does not take any more either, because nothing is taken from it.
    while asks.write(request.repeat(100).as_bytes()).is_ok() {}
    drop(shop);
    for mut stream in [idle, half, body] {
        assert_eq!(answered(&mut stream), None);
    }
    never_read(never_reads.try_clone().unwrap(), request);
}
