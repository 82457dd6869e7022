//! A stream of events, as a program reads it that speaks HTTP/1.0: what comes is the stream as it is.

use super::Shop;
use crate::http::connections::limited;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// One that is open, or was refused.
pub struct Stream {
    /// The head of the answer.
    pub head: String,
    lines: BufReader<TcpStream>,
}

/// An event: its name, its id, its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub name: String,
    pub id: String,
    pub data: Value,
}

impl Stream {
    /// Asks, and reads the head of the answer.
    #[track_caller]
    pub fn open(shop: &Shop, path: &str, headers: &str) -> Stream {
        let address = shop.url().strip_prefix("http://").unwrap();
        let mut socket = limited(TcpStream::connect(address).unwrap());
        write!(
            socket,
            "GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n"
        )
        .unwrap();
        let mut stream = Stream {
            head: String::new(),
            lines: BufReader::new(socket),
        };
        stream.head = stream.block().unwrap();
        stream
    }

    /// The lines before the next empty one; nothing at the end.
    fn block(&mut self) -> Option<String> {
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

    /// The next event; nothing at the end.
    #[track_caller]
    pub fn next(&mut self) -> Option<Told> {
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
        Some(Told {
            name: field("event: "),
            id: field("id: "),
            data: serde_json::from_str(&field("data: ")).unwrap(),
        })
    }

    /// The next event that is of interest.
    #[track_caller]
    pub fn until(&mut self, is_wanted: impl Fn(&Told) -> bool) -> Told {
        loop {
            let told = self.next().unwrap();
            if is_wanted(&told) {
                return told;
            }
        }
    }
}
