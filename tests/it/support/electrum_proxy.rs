//! TCP proxy in front of an Electrum server that injects faults.
//!
//! Invariant: requests pass unchanged. Only responses and notifications are changed.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Fault in the responses of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElectrumFault {
    /// Passes all responses unchanged.
    None,
    /// Reports an empty history for every script.
    Hides,
    /// Changes a hash in each Merkle branch.
    FalseProof,
    /// Changes the Merkle root in headers.
    FalseHeader,
    /// Changes the amount in transactions.
    FalseBytes,
    /// Adds a transaction that does not exist, at this height, to each history.
    Invents(u64),
    /// Sends a notification for a script without a subscription.
    UnknownScripts,
    /// Sends a line of 100 MB instead of a response.
    LongLine,
    /// Reports excessive resource usage and closes the connection.
    Excessive,
    /// Limits the number of subscriptions of a connection to this number.
    WatchesAtMost(usize),
    /// Reports that each history is too large.
    RefusesHistories,
}

/// First block header of bitcoin's regtest (`src/kernel/chainparams.cpp` of Bitcoin Core).
const BITCOIN_FIRST_HEADER: &str = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000";

/// A running proxy.
pub struct ElectrumProxy {
    port: u16,
    fault: Arc<Mutex<ElectrumFault>>,
    applied: Arc<AtomicU64>,
}

impl ElectrumProxy {
    /// Starts a proxy in front of the server at this local port.
    #[track_caller]
    pub fn start(server: u16) -> ElectrumProxy {
        ElectrumProxy::start_with_first_header(server, None)
    }

    /// Starts a proxy that presents a litecoin server as a bitcoin server, by replacing the first block header.
    #[track_caller]
    pub fn start_as_bitcoin(server: u16) -> ElectrumProxy {
        ElectrumProxy::start_with_first_header(server, Some(BITCOIN_FIRST_HEADER))
    }

    #[track_caller]
    fn start_with_first_header(server: u16, first: Option<&'static str>) -> ElectrumProxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = Arc::new(Mutex::new(ElectrumFault::None));
        let applied = Arc::new(AtomicU64::new(0));
        let (faults, counts) = (Arc::clone(&fault), Arc::clone(&applied));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                relay(client, server, first, &faults, &counts);
            }
        });
        ElectrumProxy { port, fault, applied }
    }

    pub fn url(&self) -> String {
        format!("electrum://127.0.0.1:{}", self.port)
    }

    /// Sets the fault, and resets the count of applied faults.
    pub fn inject(&self, fault: ElectrumFault) {
        *self.fault.lock().unwrap() = fault;
        self.applied.store(0, Ordering::SeqCst);
    }

    /// Returns how often the current fault was applied.
    pub fn fault_count(&self) -> u64 {
        self.applied.load(Ordering::SeqCst)
    }
}

/// Method of each pending call, by the id of the call. `true` if the call requests the first header.
type PendingCalls = Arc<Mutex<std::collections::HashMap<u64, (String, bool)>>>;

fn relay(
    client: TcpStream,
    server: TcpStream,
    first: Option<&'static str>,
    fault: &Arc<Mutex<ElectrumFault>>,
    applied: &Arc<AtomicU64>,
) {
    let calls = PendingCalls::default();
    let known = Arc::clone(&calls);
    let (from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let call: Value = serde_json::from_str(&line).unwrap();
            let method = call["method"].as_str().unwrap().to_owned();
            let is_of_first = call["params"] == json!([0, 1]);
            known.lock().unwrap().insert(call["id"].as_u64().unwrap(), (method, is_of_first));
            if to.write_all(format!("{line}\n").as_bytes()).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (fault, applied) = (Arc::clone(fault), Arc::clone(applied));
    let mut client = client;
    thread::spawn(move || {
        let mut watched = 0;
        for line in BufReader::new(server).lines().map_while(Result::ok) {
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            let id = answer["id"].as_u64();
            let call = id.and_then(|id| calls.lock().unwrap().remove(&id));
            let (method, is_of_first) = call.unzip();
            if let (Some(first), Some(true)) = (first, is_of_first) {
                answer["result"] = json!({"count": 1, "hex": first, "max": 2016});
            }
            watched += usize::from(method.as_deref() == Some("blockchain.scripthash.subscribe"));
            let now = fault.lock().unwrap().clone();
            let Some(lines) = alter_responses(&now, method.as_deref(), watched, &mut answer) else {
                let _ = client.write_all(format!("{answer}\n").as_bytes());
                continue;
            };
            applied.fetch_add(1, Ordering::SeqCst);
            if client.write_all(&lines).is_err() {
                break;
            }
            if now == ElectrumFault::Excessive {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    });
}

/// Returns the changed bytes, or `None` if the fault does not apply. `watched` is the number of subscriptions of the
/// connection.
fn alter_responses(
    fault: &ElectrumFault,
    method: Option<&str>,
    watched: usize,
    answer: &mut Value,
) -> Option<Vec<u8>> {
    let is_notice = method.is_none();
    let is_of = |name: &str| method == Some(name);
    match fault {
        ElectrumFault::Hides if is_notice => return Some(Vec::new()),
        ElectrumFault::Hides if is_of("blockchain.scripthash.subscribe") => {
            answer["result"] = Value::Null;
        }
        ElectrumFault::Hides if is_of("blockchain.scripthash.get_history") => {
            answer["result"] = json!([]);
        }
        ElectrumFault::FalseProof if is_of("blockchain.transaction.get_merkle") => {
            answer["result"]["merkle"][0] = json!("ab".repeat(32));
        }
        ElectrumFault::FalseHeader if is_of("blockchain.headers.subscribe") => {
            flip_digit(&mut answer["result"]["hex"], 80);
        }
        ElectrumFault::FalseBytes if is_of("blockchain.transaction.get") => {
            flip_digit(&mut answer["result"], 100);
        }
        ElectrumFault::Invents(height) if is_of("blockchain.scripthash.get_history") => {
            let invented = json!({"height": height, "tx_hash": "cd".repeat(32)});
            answer["result"].as_array_mut()?.push(invented);
        }
        ElectrumFault::UnknownScripts if !is_notice => {
            let hash = "ef".repeat(32);
            let notice =
                json!({"method": "blockchain.scripthash.subscribe", "params": [hash, hash]});
            return Some(format!("{notice}\n{answer}\n").into_bytes());
        }
        ElectrumFault::LongLine if !is_notice && !is_of("server.version") => {
            return Some(vec![b' '; 100_000_000]);
        }
        ElectrumFault::Excessive if !is_notice && !is_of("server.version") => {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": -101, "message": "excessive resource usage"});
        }
        ElectrumFault::RefusesHistories if is_of("blockchain.scripthash.get_history") => {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": 1, "message": "history too large"});
        }
        ElectrumFault::WatchesAtMost(most)
            if is_of("blockchain.scripthash.subscribe") && watched > *most =>
        {
            answer["result"] = Value::Null;
            answer["error"] = json!({"code": 1, "message": "subscription limit reached"});
        }
        _ => return None,
    }
    Some(format!("{answer}\n").into_bytes())
}

/// Changes the hexadecimal digit at this position.
fn flip_digit(text: &mut Value, at: usize) {
    if let Some(old) = text.as_str() {
        let new = if old.get(at..=at) == Some("0") { "1" } else { "0" };
        let mut changed = old.to_owned();
        changed.replace_range(at..=at, new);
        *text = json!(changed);
    }
}
