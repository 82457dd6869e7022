//! TCP proxy in front of an Electrum server that injects faults.
//!
//! Invariant: requests pass unchanged. Only responses and notifications are changed.

mod fault;

use fault::alter_responses;
pub use fault::{BadAnswer, ElectrumFault};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

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

    pub fn port(&self) -> u16 {
        self.port
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

/// Method and first parameter of each pending call, by the id of the call. `true` if the call requests the first header.
type PendingCalls = Arc<Mutex<std::collections::HashMap<u64, (String, String, bool)>>>;

/// Pause between two bytes of [`ElectrumFault::Drips`].
const DRIP_PAUSE: Duration = Duration::from_millis(500);

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
            let script = call["params"][0].as_str().unwrap_or_default().to_owned();
            let named = (method, script, is_of_first);
            known.lock().unwrap().insert(call["id"].as_u64().unwrap(), named);
            if to.write_all(format!("{line}\n").as_bytes()).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (fault, applied) = (Arc::clone(fault), Arc::clone(applied));
    let mut client = client;
    thread::spawn(move || {
        // Nothing is sent on this channel.
        let (_sender, pause) = channel::<()>();
        let mut watched = 0;
        for line in BufReader::new(server).lines().map_while(Result::ok) {
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            let id = answer["id"].as_u64();
            let call = id.and_then(|id| calls.lock().unwrap().remove(&id));
            let (method, script, is_of_first) = match call {
                Some((method, script, is_of_first)) => {
                    (Some(method), Some(script), Some(is_of_first))
                }
                None => (None, None, None),
            };
            if let (Some(first), Some(true)) = (first, is_of_first) {
                answer["result"] = json!({"count": 1, "hex": first, "max": 2016});
            }
            match method.as_deref() {
                Some("blockchain.scripthash.subscribe") => watched += 1,
                Some("blockchain.scripthash.unsubscribe") => watched -= 1,
                Some(_) | None => {}
            }
            let now = fault.lock().unwrap().clone();
            let is_over = now.is_over(applied.load(Ordering::SeqCst));
            let now = if is_over { ElectrumFault::None } else { now };
            let script = script.unwrap_or_default();
            let Some(lines) =
                alter_responses(&now, method.as_deref(), &script, watched, &mut answer)
            else {
                let _ = client.write_all(format!("{answer}\n").as_bytes());
                continue;
            };
            applied.fetch_add(1, Ordering::SeqCst);
            let is_refused = method.as_deref() == Some("blockchain.scripthash.subscribe")
                && !answer["error"].is_null();
            watched -= usize::from(is_refused);
            let is_sent = match now {
                ElectrumFault::Drips => lines.iter().all(|byte| {
                    let _ = pause.recv_timeout(DRIP_PAUSE);
                    client.write_all(&[*byte]).is_ok()
                }),
                _ => client.write_all(&lines).is_ok(),
            };
            if !is_sent {
                break;
            }
            if matches!(now, ElectrumFault::Excessive) {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    });
}
