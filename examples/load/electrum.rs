//! A simulated Electrum server in memory, so that only its client is measured.
//!
//! The server answers the calls of protocol 1.4 that watching an address needs, as ElectrumX does. No address was ever paid,
//! and requests are counted.

use crate::{Failure, wire};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// First header of litecoin's regtest (`src/chainparams.cpp` of Litecoin Core).
const FIRST: &str = "010000000000000000000000000000000000000000000000000000000000000000000000d9ced4ed1130f7b7faad9be25323ffafa33232a17c3edf6cfd97bee6bafbdd97dae5494dffff7f2000000000";

/// A running server.
pub struct Electrum {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

/// State of the chain, and the counted requests.
struct State {
    /// Headers in hexadecimal.
    headers: Vec<String>,
    /// Connections subscribed to new blocks.
    told: Vec<TcpStream>,
    asked: Asked,
}

/// Number of requests.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    pub requests: u64,
    pub subscriptions: u64,
    pub histories: u64,
    /// Bytes of requests and responses.
    pub bytes: u64,
}

impl Electrum {
    /// Starts a server whose chain has only its first block.
    pub fn start() -> Result<Electrum, Failure> {
        let state = Arc::new(Mutex::new(State {
            headers: vec![FIRST.to_owned()],
            told: Vec::new(),
            asked: Asked::default(),
        }));
        let of_thread = Arc::clone(&state);
        let address = wire::listen(move |stream| serve(&of_thread, stream))?;
        Ok(Electrum { address, state })
    }

    pub fn url(&self) -> String {
        format!("electrum://{}", self.address)
    }

    /// Returns the current counts.
    pub fn asked(&self) -> Asked {
        state(&self.state).asked
    }

    /// Adds a block, notifies subscribers and returns the height.
    pub fn grow(&self) -> Result<u32, Failure> {
        let mut state = state(&self.state);
        let header = child(state.headers.last().ok_or("no header")?);
        state.headers.push(header.clone());
        let height = u32::try_from(state.headers.len() - 1)?;
        let notice = json!({"method": "blockchain.headers.subscribe", "params": [{"hex": header, "height": height}]});
        let line = format!("{notice}\n");
        state.asked.bytes += line.len() as u64;
        state.told.retain_mut(|stream| stream.write_all(line.as_bytes()).is_ok());
        Ok(height)
    }
}

fn state(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(shared: &Mutex<State>, mut stream: TcpStream) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        let call: Value = serde_json::from_str(&line)?;
        // The lock prevents a notification inside a response.
        let mut state = state(shared);
        let of = |name| call.get(name).unwrap_or(&Value::Null);
        let method = of("method").as_str().unwrap_or_default();
        let result = state.answer(method, of("params"));
        if method == "blockchain.headers.subscribe" && state.told.is_empty() {
            state.told.push(stream.try_clone()?);
        }
        let answer = json!({"jsonrpc": "2.0", "id": of("id"), "result": result}).to_string();
        state.asked.requests += 1;
        state.asked.subscriptions += u64::from(method == "blockchain.scripthash.subscribe");
        state.asked.histories += u64::from(method == "blockchain.scripthash.get_history");
        state.asked.bytes += (line.len() + answer.len() + 1) as u64;
        stream.write_all(format!("{answer}\n").as_bytes())?;
        drop(state);
        line.clear();
    }
    Ok(())
}

impl State {
    fn answer(&self, method: &str, params: &Value) -> Value {
        let number = |at: usize| {
            let number = params.get(at).and_then(Value::as_u64);
            usize::try_from(number.unwrap_or(0)).unwrap_or(0)
        };
        match method {
            "server.version" => json!(["out of memory", "1.4"]),
            "blockchain.headers.subscribe" => {
                json!({"hex": self.headers.last(), "height": self.headers.len() - 1})
            }
            "blockchain.block.headers" => {
                let wanted = self.headers.iter().skip(number(0)).take(number(1));
                let wanted: Vec<&str> = wanted.map(String::as_str).collect();
                json!({"count": wanted.len(), "hex": wanted.concat(), "max": 2016})
            }
            "blockchain.scripthash.get_history" => json!([]),
            "blockchain.estimatefee" => json!(0.0001),
            _ => Value::Null,
        }
    }
}

/// Returns the header of the next block.
fn child(header: &str) -> String {
    let digits = header.as_bytes().chunks(2);
    let bytes = digits.map(|pair| {
        let text = std::str::from_utf8(pair).unwrap_or_default();
        u8::from_str_radix(text, 16).unwrap_or_default()
    });
    let mut bytes: Vec<u8> = bytes.collect();
    let parent = Sha256::digest(Sha256::digest(&bytes));
    bytes.splice(4..36, parent);
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = time.map_or(0, |time| time.as_secs());
    bytes.splice(68..72, u32::try_from(seconds).unwrap_or_default().to_le_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
