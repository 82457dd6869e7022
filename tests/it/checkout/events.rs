//! The stream that tells a checkout of its invoice.

use crate::http::connections::limited;
use crate::support::Shop;
use coffer::Config;
use coffer::http::Limits;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A page that listens, by HTTP/1.0: what comes is the stream as it is.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Asks, and reads the head of the answer, which has this status.
    #[track_caller]
    fn open(shop: &Shop, path: &str, headers: &str, status: u16) -> Stream {
        let address = shop.url().strip_prefix("http://").unwrap();
        let mut socket = limited(TcpStream::connect(address).unwrap());
        write!(
            socket,
            "GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n"
        )
        .unwrap();
        let mut stream = Stream(BufReader::new(socket));
        let head = stream.block().unwrap();
        assert!(head.starts_with(&format!("HTTP/1.0 {status} ")), "{head}");
        if status == 200 {
            for header in [
                "content-type: text/event-stream",
                "cache-control: no-store",
                "access-control-allow-origin: *",
            ] {
                assert!(head.contains(header), "{header} is not in {head}");
            }
        }
        stream
    }

    /// The lines before the next empty one; nothing at the end.
    fn block(&mut self) -> Option<String> {
        let mut block = String::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if line.trim_end().is_empty() {
                return Some(block);
            }
            block.push_str(&line);
        }
    }

    /// The next event's id and data; nothing at the end.
    #[track_caller]
    fn next(&mut self) -> Option<(String, Value)> {
        let block = loop {
            let block = self.block()?;
            if !block.starts_with(':') {
                break block;
            }
        };
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        assert_eq!(field("event: "), "invoice");
        Some((
            field("id: "),
            serde_json::from_str(&field("data: ")).unwrap(),
        ))
    }
}

fn id(invoice: &Value) -> &str {
    invoice["id"].as_str().unwrap()
}

/// Where the stream of an invoice is.
fn path_of(invoice: &Value) -> String {
    let url = invoice["checkoutUrl"].as_str().unwrap();
    let (_, token) = url.split_once("?token=").unwrap();
    format!("/v1/public/checkouts/{}/events?token={token}", id(invoice))
}

#[test]
fn a_page_is_told_of_every_change_and_resumes_where_it_was() {
    let shop = Shop::open();
    let invoice = shop.invoice("20.00", json!({}));
    let (other, path) = (shop.invoice("20.00", json!({})), path_of(&invoice));
    let mut stream = Stream::open(&shop, &path, "", 200);
    let (first, data) = stream.next().unwrap();
    let known = json!({
        "id": invoice["id"], "status": "created", "paid": false, "asset": null, "depositAddress": null,
        "amountExpected": null, "amountReceived": null, "expiresAt": invoice["expiresAt"],
    });
    assert_eq!(data, known);
    shop.select(id(&other), "LTC");
    let selected = shop.select(id(&invoice), "LTC");
    let (second, data) = stream.next().unwrap();
    assert_ne!(first, second);
    for field in ["id", "status", "asset", "depositAddress", "amountExpected"] {
        assert_eq!(data[field], selected[field], "{field}");
    }
    // Two that know the newest hear of what comes next; two that know less, of what they missed.
    let since = format!("{path}&since={second}");
    let mut resumed = Stream::open(&shop, &since, "", 200);
    let header = format!("Last-Event-ID: {second}\r\n");
    let mut again = Stream::open(&shop, &format!("{path}&since=x"), &header, 200);
    for (since, header) in [
        (format!("&since={first}"), ""),
        (String::new(), "Last-Event-ID: \u{e4}\r\n"),
    ] {
        let mut behind = Stream::open(&shop, &format!("{path}{since}"), header, 200);
        assert_eq!(behind.next().unwrap(), (second.clone(), data.clone()));
    }
    shop.simulate(id(&invoice), "exact");
    for stream in [&mut stream, &mut resumed, &mut again] {
        let mut last = stream.next().unwrap().1;
        while last["status"] != "confirmed" {
            assert_eq!(last["status"], "detected");
            last = stream.next().unwrap().1;
        }
        assert_eq!(
            (&last["paid"], &last["amountReceived"]),
            (&json!(true), &json!("0.25"))
        );
    }
}

#[test]
fn a_stream_is_chunked_and_outlives_what_the_page_says_meanwhile() {
    let shop = Shop::open();
    let invoice = shop.invoice("20.00", json!({}));
    let address = shop.url().strip_prefix("http://").unwrap();
    let mut socket = limited(TcpStream::connect(address).unwrap());
    let path = path_of(&invoice);
    write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut stream = Stream(BufReader::new(socket));
    let head = stream.block().unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    let chunk = |stream: &mut Stream| {
        let mut size = String::new();
        stream.0.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut piece = vec![0; size + 2];
        stream.0.read_exact(&mut piece).unwrap();
        let piece = String::from_utf8(piece).unwrap();
        piece.strip_suffix("\r\n").unwrap().to_owned()
    };
    assert!(chunk(&mut stream).starts_with("event: invoice\nid: "));
    // What is sent on a stream's connection is read and means nothing.
    write!(
        stream.0.get_mut(),
        "GET /livez HTTP/1.1\r\n\r\n{}",
        "x".repeat(10_000)
    )
    .unwrap();
    shop.select(id(&invoice), "LTC");
    assert!(chunk(&mut stream).contains("\"asset\":\"LTC\""));
    drop(shop);
    assert_eq!(chunk(&mut stream), "");
}

#[test]
fn the_deadline_is_told_too() {
    let shop = Shop::open();
    let invoice = shop.invoice("20.00", json!({}));
    let mut stream = Stream::open(&shop, &path_of(&invoice), "", 200);
    stream.next().unwrap();
    shop.advance("21m");
    assert_eq!(stream.next().unwrap().1["status"], "expired");
}

#[test]
fn a_token_opens_the_stream_of_its_own_invoice_only() {
    let shop = Shop::open();
    let (one, other) = (
        shop.invoice("20.00", json!({})),
        shop.invoice("20.00", json!({})),
    );
    let (path, strange) = (path_of(&one), path_of(&other));
    let (_, token) = strange.split_once("?token=").unwrap();
    let (bare, _) = path.split_once('?').unwrap();
    for wrong in [
        bare.to_owned(),
        format!("{bare}?token="),
        format!("{bare}?token={token}"),
        format!("/v1/public/checkouts/x/events?token={token}"),
    ] {
        shop.get(&wrong, None).refused(404, "not_found", None);
    }
}

#[test]
fn a_stream_that_has_nothing_to_tell_makes_place_and_ends_with_the_server() {
    let limits = Limits {
        connections_max: 4,
        ..Limits::default()
    };
    let shop = Shop::with(Config {
        limits,
        ..Config::sandbox()
    });
    let invoice = shop.invoice("20.00", json!({}));
    let open = || {
        let mut stream = Stream::open(&shop, &path_of(&invoice), "", 200);
        stream.next().unwrap();
        stream
    };
    // One place is the shop's own; each further stream takes the place of the one that has waited longest.
    let mut streams: Vec<Stream> = (0..12).map(|_| open()).collect();
    let mut last = streams.pop().unwrap();
    assert!(streams.remove(0).next().is_none());
    shop.select(id(&invoice), "LTC");
    assert_eq!(last.next().unwrap().1["asset"], "LTC");
    drop(shop);
    assert!(last.next().is_none());
}
