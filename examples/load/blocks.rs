//! A simulated node with any number of equal blocks in memory, so that only its reader is measured.
//!
//! The node answers the calls of litecoind 0.21. It records the time of each block request and its own working time.

use crate::{Failure, wire};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Transactions in a block.
const TRANSACTIONS: usize = 2_500;
/// Outputs of a transaction.
const OUTPUTS: usize = 2;

/// A running node.
pub struct Node {
    state: Arc<State>,
    address: SocketAddr,
}

/// State of the chain, and the recorded requests.
struct State {
    first_block: &'static str,
    height: AtomicU32,
    transactions: String,
    asked: Mutex<Asked>,
}

/// Recorded block requests.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    /// Number of block requests.
    pub blocks: u32,
    first: Option<Instant>,
    last: Option<Instant>,
    /// Working time of the node.
    pub worked: Duration,
}

impl Asked {
    /// Time from the first block request to the end of the last one.
    pub fn took(&self) -> Duration {
        let ends = self.first.zip(self.last);
        ends.map_or(Duration::ZERO, |(first, last)| last.duration_since(first))
    }
}

impl Node {
    /// Starts a node whose chain has this first block and this height.
    pub fn start(first_block: &'static str, height: u32) -> Result<Node, Failure> {
        let state = Arc::new(State {
            first_block,
            height: AtomicU32::new(height),
            transactions: transactions(),
            asked: Mutex::default(),
        });
        let of_thread = Arc::clone(&state);
        let address = wire::listen(move |stream| of_thread.serve(stream))?;
        Ok(Node { state, address })
    }

    pub fn url(&self) -> String {
        format!("http://u:p@{}", self.address)
    }

    /// Adds blocks and clears the recorded requests.
    pub fn grow(&self, blocks: u32) {
        *self.asked_mut() = Asked::default();
        self.state.height.fetch_add(blocks, Ordering::SeqCst);
    }

    /// Waits until this many blocks have been read since the last growth.
    pub fn until_asked(&self, blocks: u32) -> Asked {
        loop {
            let asked = *self.asked_mut();
            if asked.blocks >= blocks {
                return asked;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn asked_mut(&self) -> std::sync::MutexGuard<'_, Asked> {
        let asked = self.state.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn serve(&self, stream: TcpStream) -> Result<(), Failure> {
        wire::serve_json(stream, |body, _| match body {
            Value::Array(calls) => {
                let answers: Vec<_> = calls.iter().map(|call| self.answer(call)).collect();
                format!("[{}]", answers.join(","))
            }
            call => self.answer(call),
        })
    }

    fn answer(&self, call: &Value) -> String {
        let of = |pointer| call.pointer(pointer).unwrap_or(&Value::Null);
        let (id, method, of) = (of("/id"), of("/method"), of("/params/0"));
        let head = self.height.load(Ordering::SeqCst);
        let height = of.as_u64().and_then(|height| u32::try_from(height).ok());
        let result = match method.as_str().unwrap_or_default() {
            "getblockchaininfo" => json!({
                "blocks": head, "headers": head, "bestblockhash": self.hash(head), "initialblockdownload": false,
            }),
            "getnetworkinfo" => json!({ "connections": 8 }),
            "getrawmempool" => json!([]),
            "getblockhash" if height.is_some_and(|height| height <= head) => {
                json!(self.hash(height.unwrap_or_default()))
            }
            "getblockheader" => self.header(of, head),
            "getblock" => return self.block(id, of, head),
            _ => {
                let error = json!({ "code": -8, "message": "there is no such thing" });
                return json!({ "id": id, "result": null, "error": error }).to_string();
            }
        };
        json!({ "id": id, "result": result, "error": null }).to_string()
    }

    fn hash(&self, height: u32) -> String {
        match height {
            0 => self.first_block.to_owned(),
            _ => format!("{height:064x}"),
        }
    }

    fn header(&self, hash: &Value, head: u32) -> Value {
        let hash = hash.as_str().unwrap_or_default();
        // The first block has a different hash.
        let height = u32::from_str_radix(hash.get(56..).unwrap_or_default(), 16);
        let height = height.ok().filter(|height| *height <= head).unwrap_or(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        json!({
            "hash": hash,
            "height": height,
            "time": now.unwrap_or_default().as_secs().saturating_sub(u64::from(head - height)),
            "confirmations": head - height + 1,
            "nTx": TRANSACTIONS,
            "previousblockhash": self.hash(height.saturating_sub(1)),
        })
    }

    fn block(&self, id: &Value, hash: &Value, head: u32) -> String {
        let begun = Instant::now();
        let header = self.header(hash, head).to_string();
        let header = header.trim_end_matches('}');
        let text = format!(
            r#"{{"id":{id},"result":{header},"tx":[{}]}},"error":null}}"#,
            self.transactions
        );
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.blocks += 1;
        asked.first.get_or_insert(begun);
        asked.last = Some(Instant::now());
        asked.worked += begun.elapsed();
        text
    }
}

/// Builds transactions as a node prints them, with all fields.
fn transactions() -> String {
    let one = |number: usize| {
        let output = |position: usize| {
            let program = format!("{:040x}", 7_919 * (OUTPUTS * number + position) + 1);
            json!({
                "value": 0.125, "n": position,
                "scriptPubKey": {
                    "asm": format!("0 {program}"), "hex": format!("0014{program}"), "reqSigs": 1,
                    "type": "witness_v0_keyhash", "addresses": [format!("ltc1q{program}")],
                },
            })
        };
        json!({
            "txid": format!("{:064x}", number + 1), "hash": format!("{:064x}", number + 1), "version": 2, "size": 222,
            "vsize": 141, "weight": 561, "locktime": 0,
            "vin": [{
                "txid": format!("{:064x}", number + 1_000_000), "vout": 1, "scriptSig": { "asm": "", "hex": "" },
                "txinwitness": ["30".repeat(71), "02".repeat(33)], "sequence": 4_294_967_293_u32,
            }],
            "vout": (0..OUTPUTS).map(output).collect::<Vec<_>>(), "hex": "02".repeat(222),
        })
        .to_string()
    };
    (0..TRANSACTIONS).map(one).collect::<Vec<_>>().join(",")
}
