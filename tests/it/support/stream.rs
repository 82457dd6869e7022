//! A client of the event stream. The body is chunked over HTTP/1.1, but not over HTTP/1.0.

use super::Shop;
use crate::http::connections::with_timeouts;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// An open event stream, or an error response.
pub struct EventStream {
    /// Status line and headers of the response.
    pub head: String,
    lines: BufReader<TcpStream>,
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamEvent {
    pub name: String,
    pub id: String,
    pub data: Value,
}

impl EventStream {
    /// Opens a stream over HTTP/1.0: sends the request and reads the head of the response.
    #[track_caller]
    pub fn open(shop: &Shop, path: &str, headers: &str) -> EventStream {
        EventStream::open_version("1.0", shop, path, headers)
    }

    /// Opens the stream over HTTP/1.1 and asserts that it is chunked.
    #[track_caller]
    pub fn open_chunked(shop: &Shop, path: &str) -> EventStream {
        let stream = EventStream::open_version("1.1", shop, path, "");
        let (head, chunked) = (&stream.head, "transfer-encoding: chunked");
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains(chunked), "{head}");
        stream
    }

    #[track_caller]
    fn open_version(version: &str, shop: &Shop, path: &str, headers: &str) -> EventStream {
        let address = shop.url().strip_prefix("http://").unwrap();
        let mut socket = with_timeouts(TcpStream::connect(address).unwrap());
        write!(socket, "GET {path} HTTP/{version}\r\nHost: {address}\r\n{headers}\r\n").unwrap();
        let mut stream = EventStream { head: String::new(), lines: BufReader::new(socket) };
        stream.head = stream.read_block().unwrap();
        stream
    }

    /// Reads the lines up to the next empty line. Returns `None` at the end of the stream.
    fn read_block(&mut self) -> Option<String> {
        let mut block = String::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if line.trim_end().is_empty() {
                return Some(block);
            }
            block.push_str(&line);
        }
    }

    /// Writes a text to the connection.
    #[track_caller]
    pub fn write(&mut self, text: &str) {
        self.lines.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Reads the next chunk of the body. The last chunk is empty.
    #[track_caller]
    pub fn read_chunk(&mut self) -> String {
        let mut size = String::new();
        self.lines.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut piece = vec![0; size + 2];
        self.lines.read_exact(&mut piece).unwrap();
        let piece = String::from_utf8(piece).unwrap();
        piece.strip_suffix("\r\n").unwrap().to_owned()
    }

    /// Reads the next event. Returns `None` at the end of the stream.
    #[track_caller]
    pub fn next(&mut self) -> Option<StreamEvent> {
        let block = loop {
            let block = self.read_block()?;
            if !block.starts_with(':') {
                break block;
            }
        };
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        Some(StreamEvent {
            name: field("event: "),
            id: field("id: "),
            data: serde_json::from_str(&field("data: ")).unwrap(),
        })
    }

    /// Reads events until an event matches. Returns that event.
    #[track_caller]
    pub fn next_matching(&mut self, is_wanted: impl Fn(&StreamEvent) -> bool) -> StreamEvent {
        loop {
            let told = self.next().unwrap();
            if is_wanted(&told) {
                return told;
            }
        }
    }
}
