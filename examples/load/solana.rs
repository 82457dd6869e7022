//! A simulated Solana node in memory, so that only its client is measured.
//!
//! Invariant: no address was ever paid, every slot has a block, and each request is counted.

use crate::{Failure, wire};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Number of slots at the start.
const FIRST_SLOT: u64 = 300_000_000;
/// Length of a slot, in milliseconds.
const SLOT_MS: u64 = 400;
/// Number of newest slots that are not final.
const FINAL_DEPTH: u64 = 32;

/// A running node.
pub struct Solana {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    begun: Instant,
    asked: Mutex<Asked>,
    polls: AtomicU64,
}

/// Number of requests.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    pub requests: u64,
    /// Accounts whose state was requested.
    pub accounts: u64,
    /// Bytes of requests and responses.
    pub bytes: u64,
}

impl Solana {
    pub fn start() -> Result<Solana, Failure> {
        let state = Arc::new(State {
            begun: Instant::now(),
            asked: Mutex::default(),
            polls: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&state);
        let address = wire::listen(move |stream| {
            wire::serve_json(stream, |call, bytes| of_thread.answer(call, bytes))
        })?;
        Ok(Solana { address, state })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the current counts.
    pub fn asked(&self) -> Asked {
        *self.state.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of requests for the newest slot.
    pub fn polls(&self) -> u64 {
        self.state.polls.load(Ordering::SeqCst)
    }
}

impl State {
    fn answer(&self, call: &Value, bytes: usize) -> String {
        let of = |pointer| call.pointer(pointer).unwrap_or(&Value::Null);
        let (method, params) = (of("/method"), of("/params"));
        let accounts = params.pointer("/0").and_then(Value::as_array);
        let result = match method.as_str().unwrap_or_default() {
            // Genesis hash of a private network.
            "getGenesisHash" => json!("1".repeat(43)),
            "getSlot" => {
                let is_final = params.pointer("/0/commitment") == Some(&json!("finalized"));
                self.polls.fetch_add(u64::from(!is_final), Ordering::SeqCst);
                json!(self.slot() - if is_final { FINAL_DEPTH } else { 0 })
            }
            "getBlock" => block(of("/params/0").as_u64().unwrap_or(1)),
            "getBlockTime" => json!(seconds()),
            "getMultipleAccounts" => {
                let none = vec![Value::Null; accounts.map_or(0, Vec::len)];
                json!({ "context": { "slot": self.slot() }, "value": none })
            }
            _ => json!([]),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": of("/id"), "result": result }).to_string();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.requests += 1;
        asked.accounts += accounts.map_or(0, |accounts| accounts.len() as u64);
        asked.bytes += (bytes + answer.len()) as u64;
        answer
    }

    fn slot(&self) -> u64 {
        let passed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        FIRST_SLOT + passed / SLOT_MS
    }
}

fn block(slot: u64) -> Value {
    json!({
        "blockhash": hash(slot), "previousBlockhash": hash(slot - 1), "parentSlot": slot - 1, "blockTime": seconds(),
    })
}

fn hash(slot: u64) -> String {
    format!("{slot:0>44}")
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
