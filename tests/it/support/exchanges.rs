//! Four exchange rate sources as small HTTP servers. A test sets their replies.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// The sources, in the order of the `--rates` setting.
pub const SOURCES: [&str; 4] = ["kraken", "coinbase", "binance", "coingecko"];

/// Reply of a rate source.
#[derive(Clone, Debug)]
pub enum SourceReply {
    /// Price of one bitcoin in EUR. The USD price is 10 % higher. Other coins have no price.
    Bitcoin(u64),
    /// Price of one ether in EUR. Other coins have no price. Only binance and coingecko support this reply.
    Ether(u64),
    /// This status with an empty body.
    Status(u16),
    /// No reply until the test sets another reply.
    Held,
    /// No reply. The connection stays open until the client closes it.
    Nothing,
}

/// The current reply of each source, and a signal when a reply changes.
#[derive(Default)]
struct Replies {
    by: Mutex<HashMap<&'static str, SourceReply>>,
    changed: Condvar,
}

/// All four sources on one port.
pub struct Exchanges {
    address: SocketAddr,
    told: Arc<Replies>,
    asked: Arc<Mutex<HashMap<&'static str, usize>>>,
}

impl Exchanges {
    /// Starts the sources with these replies, in the order of [`SOURCES`].
    #[track_caller]
    pub fn start(tells: [SourceReply; 4]) -> Exchanges {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let exchanges = Exchanges {
            address: listener.local_addr().unwrap(),
            told: Arc::new(Replies {
                by: Mutex::new(SOURCES.into_iter().zip(tells).collect()),
                changed: Condvar::new(),
            }),
            asked: Arc::default(),
        };
        let (told, asked) = (Arc::clone(&exchanges.told), Arc::clone(&exchanges.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (told, asked) = (Arc::clone(&told), Arc::clone(&asked));
                std::thread::spawn(move || serve_request(stream, &told, &asked));
            }
        });
        exchanges
    }

    /// Returns the value of `--rates` for these sources.
    pub fn rates_setting(&self, of: &[&str]) -> String {
        let one = |name: &&str| format!("{name}=http://{}/{name}", self.address);
        of.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// Sets the reply of a source.
    pub fn set_reply(&self, source: &'static str, tells: SourceReply) {
        self.told.by.lock().unwrap().insert(source, tells);
        self.told.changed.notify_all();
    }

    /// Returns the number of requests to a source.
    pub fn request_count(&self, source: &str) -> usize {
        self.asked.lock().unwrap().get(source).copied().unwrap_or(0)
    }
}

fn serve_request(
    mut stream: TcpStream,
    told: &Replies,
    asked: &Mutex<HashMap<&'static str, usize>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let name = path.split('/').nth(1).unwrap_or_default();
    let Some(source) = SOURCES.into_iter().find(|source| *source == name) else {
        return;
    };
    *asked.lock().unwrap().entry(source).or_default() += 1;
    let is_held = |by: &mut HashMap<&str, SourceReply>| matches!(by[source], SourceReply::Held);
    let by = told.by.lock().unwrap();
    let tells = told.changed.wait_while(by, is_held).unwrap()[source].clone();
    let (status, body) = match tells {
        SourceReply::Status(status) => (status, String::new()),
        SourceReply::Bitcoin(eur) => (200, bitcoin_body(source, path, eur)),
        SourceReply::Ether(eur) => (200, ether_body(source, eur)),
        SourceReply::Held => unreachable!("it was waited for something else"),
        SourceReply::Nothing => {
            // The read ends when the client closes the connection.
            let _ = stream.read_to_end(&mut Vec::new());
            return;
        }
    };
    let length = body.len();
    // The write fails if the client has closed the connection.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} Said\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
}

/// Returns the ether price in the format of binance and coingecko, which return all coins in one response.
fn ether_body(source: &str, eur: u64) -> String {
    if source == "binance" {
        return format!(r#"[{{"symbol":"ETHEUR","price":"{eur}.00000000"}}]"#);
    }
    let usd = eur + eur / 10;
    format!(r#"{{"ethereum":{{"eur":{eur}.00,"usd":{usd}}}}}"#)
}

/// Returns the bitcoin price in the documented format of the source.
fn bitcoin_body(source: &str, path: &str, eur: u64) -> String {
    let usd = eur + eur / 10;
    match source {
        "kraken" => {
            let pair = |price: u64| {
                format!(r#"{{"a":["{price}.5","1","1"],"b":["{}.5","1","1"]}}"#, price - 1)
            };
            let (eur, usd) = (pair(eur), pair(usd));
            format!(r#"{{"error":[],"result":{{"XXBTZEUR":{eur},"XXBTZUSD":{usd}}}}}"#)
        }
        "coinbase" => {
            let coin = path.rsplit('=').next().unwrap_or_default();
            let rates = if coin == "BTC" {
                format!(r#""EUR":"{eur}","USD":"{usd}""#)
            } else {
                String::new()
            };
            format!(r#"{{"data":{{"currency":"{coin}","rates":{{{rates}}}}}}}"#)
        }
        "binance" => format!(r#"[{{"symbol":"BTCEUR","price":"{eur}.00000000"}}]"#),
        _ => format!(r#"{{"bitcoin":{{"eur":{eur}.00,"usd":{usd}}}}}"#),
    }
}
