//! HTTP proxy in front of a JSON-RPC node that injects faults per method.
//!
//! Invariant: without a fault, the response equals the node's response byte for byte. Dropping the proxy closes its
//! port and connections.

mod fault;

pub use fault::{RpcFault, set_error};

use super::litecoind::Litecoind;
use super::receiver::read_request;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Placeholder in a response. The proxy replaces the placeholder by the large text of [`RpcFault::Flood`].
const FLOOD: &str = r#"{"flood":0}"#;

pub struct RpcProxy {
    address: SocketAddr,
    login: Option<String>,
    shared: Arc<ProxyState>,
}

struct ProxyState {
    upstream: String,
    agent: ureq::Agent,
    faults: Mutex<BTreeMap<String, RpcFault>>,
    /// Methods whose fault is removed after the next request.
    once: Mutex<BTreeSet<String>>,
    asked: Mutex<BTreeMap<String, usize>>,
    connections: Mutex<Vec<TcpStream>>,
    closed: AtomicBool,
    closing: (Mutex<bool>, Condvar),
}

impl RpcProxy {
    /// Starts a proxy in front of the node at this URL. Clients have to send the login in the URL.
    #[track_caller]
    pub fn start(url: &str) -> RpcProxy {
        let (login, host) = match url.strip_prefix("http://").unwrap().rsplit_once('@') {
            Some((login, host)) => (Some(login.to_owned()), host),
            None => (None, url.strip_prefix("http://").unwrap()),
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(ProxyState {
            upstream: format!("http://{host}"),
            agent: super::agent(),
            faults: Mutex::default(),
            once: Mutex::default(),
            asked: Mutex::default(),
            connections: Mutex::default(),
            closed: AtomicBool::new(false),
            closing: (Mutex::new(false), Condvar::new()),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.closed.load(Ordering::SeqCst) {
                    return;
                }
                let (serving, stream) = (Arc::clone(&serving), stream.unwrap());
                let connection = stream.try_clone().unwrap();
                serving.connections.lock().unwrap().push(connection);
                std::thread::spawn(move || {
                    serving.serve(&stream);
                    // The client may have closed the connection.
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        RpcProxy { address, login, shared }
    }

    /// Starts a proxy that imitates a dogecoin regtest node. The proxy rejects a number in `getblock`, omits `nTx`
    /// and `initialblockdownload`, and replaces the genesis block.
    #[track_caller]
    pub fn start_as_dogecoin(url: &str) -> RpcProxy {
        const FIRST: &str = "3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5";
        let proxy = RpcProxy::start(url);
        proxy.inject(
            "getblock",
            RpcFault::from_change(|params, answer| {
                if params[1].is_number() {
                    let message = "JSON value is not a boolean as expected";
                    *answer = json!({
                        "id": answer["id"], "result": null, "error": { "code": -1, "message": message }
                    });
                }
                remove_field(answer, "nTx");
            }),
        );
        proxy.inject(
            "getblockchaininfo",
            RpcFault::from_change(|_, answer| remove_field(answer, "initialblockdownload")),
        );
        proxy.inject(
            "getblockhash",
            RpcFault::from_change(|params, answer| {
                if params[0] == 0 {
                    answer["result"] = json!(FIRST);
                }
            }),
        );
        proxy
    }

    /// Starts a dogecoin proxy in front of a litecoind. Returns the proxy and its URL.
    #[track_caller]
    pub fn start_dogecoin(node: &Litecoind) -> (Option<RpcProxy>, String) {
        let proxy = RpcProxy::start_as_dogecoin(&node.url());
        let url = proxy.url();
        (Some(proxy), url)
    }

    /// Returns the URL of the proxy, including the node's login.
    pub fn url(&self) -> String {
        match &self.login {
            Some(login) => format!("http://{login}@{}", self.address),
            None => format!("http://{}", self.address),
        }
    }

    /// Sets the fault of a method.
    pub fn inject(&self, method: &str, fault: RpcFault) {
        let mut faults = self.shared.faults.lock().unwrap();
        faults.insert(method.to_owned(), fault);
        self.shared.once.lock().unwrap().remove(method);
    }

    /// Sets the fault of a method for the next request with this method.
    pub fn inject_once(&self, method: &str, fault: RpcFault) {
        self.inject(method, fault);
        self.shared.once.lock().unwrap().insert(method.to_owned());
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.shared.once.lock().unwrap().clear();
        self.shared.faults.lock().unwrap().clear();
    }

    /// Returns the methods that were called.
    pub fn called_methods(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap().keys().cloned().collect()
    }

    /// Returns the number of calls of a method.
    pub fn call_count(&self, method: &str) -> usize {
        let asked = self.shared.asked.lock().unwrap();
        asked.get(method).copied().unwrap_or(0)
    }
}

impl Drop for RpcProxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        *self.shared.closing.0.lock().unwrap() = true;
        self.shared.closing.1.notify_all();
        // The connection wakes the listener, which then sees that the proxy is closed.
        let _ = TcpStream::connect(self.address);
        for connection in self.shared.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl ProxyState {
    /// Serves one connection until it is closed.
    fn serve(&self, mut stream: &TcpStream) {
        // Head and body are written apart. Without this, each response waits 40 ms for an acknowledgement.
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream);
        while let Some((_, headers, body)) = read_request(&mut reader) {
            let Ok(asked) = serde_json::from_slice::<Value>(&body) else {
                return;
            };
            let by_method = self.take_faults_for(&asked);
            let faults: Vec<RpcFault> = by_method.values().cloned().collect();
            if faults.iter().any(|fault| matches!(fault, RpcFault::Hang)) {
                // The read ends when the client closes the connection.
                let _ = reader.read_to_end(&mut Vec::new());
                return;
            }
            let (status, answer) = self.answer_request(&headers, &body, &asked, &by_method);
            let head = format!(
                "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            if stream.write_all(head.as_bytes()).is_err() {
                return;
            }
            let sent = match faults.iter().find_map(|fault| match fault {
                RpcFault::Truncated(bytes) => Some(Some(*bytes)),
                RpcFault::Drip => Some(None),
                _ => None,
            }) {
                Some(Some(bytes)) => {
                    let _ = stream.write_all(&answer.as_bytes()[..bytes.min(answer.len())]);
                    return;
                }
                Some(None) => self.send_slowly(stream, answer.as_bytes()),
                None => stream.write_all(answer.as_bytes()).is_ok(),
            };
            if !sent {
                return;
            }
        }
    }

    /// Counts the calls in a request, and returns the faults of their methods.
    fn take_faults_for(&self, asked: &Value) -> BTreeMap<String, RpcFault> {
        let mut faults = self.faults.lock().unwrap();
        let (mut counts, mut once) = (self.asked.lock().unwrap(), self.once.lock().unwrap());
        let mut found = BTreeMap::new();
        for call in calls_in(asked) {
            let method = call["method"].as_str().unwrap_or_default();
            *counts.entry(method.to_owned()).or_default() += 1;
            if let Some(fault) = faults.get(method).and_then(|fault| fault.for_call(call)) {
                found.insert(method.to_owned(), fault);
            }
        }
        for method in found.keys().filter(|method| once.remove(*method)) {
            faults.remove(method);
        }
        found
    }

    /// Returns the HTTP status and the body for a request.
    fn answer_request(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
        asked: &Value,
        faults: &BTreeMap<String, RpcFault>,
    ) -> (u16, String) {
        for fault in faults.values() {
            match fault {
                RpcFault::Status(status) => return (*status, String::new()),
                RpcFault::Body(body) => return (200, body.clone()),
                RpcFault::NotFound => return (200, not_found_body(asked)),
                _ => {}
            }
        }
        let mut request = self.agent.post(&self.upstream);
        for name in ["authorization", "content-type"] {
            if let Some(value) = headers.get(name) {
                request = request.header(name, value);
            }
        }
        let Ok(mut response) = request.send(body) else {
            return (502, String::new());
        };
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(1 << 30).read_to_string();
        let text = text.unwrap();
        if faults.is_empty() {
            return (status, text);
        }
        match serde_json::from_str::<Value>(&text) {
            Ok(mut answer) => {
                apply_faults(asked, &mut answer, faults);
                let text = faults.values().fold(answer.to_string(), |text, fault| match fault {
                    RpcFault::Flood(_, flood) => text.replace(FLOOD, flood),
                    _ => text,
                });
                (status, text)
            }
            Err(_) => (status, text),
        }
    }

    /// Sends the bytes one at a time. Returns `true` if all bytes were sent.
    fn send_slowly(&self, mut stream: &TcpStream, bytes: &[u8]) -> bool {
        for byte in bytes {
            if stream.write_all(&[*byte]).is_err()
                || self.is_closed_within(Duration::from_millis(20))
            {
                return false;
            }
        }
        true
    }

    /// Waits for this duration. Returns `true` if the proxy was closed meanwhile.
    fn is_closed_within(&self, wait: Duration) -> bool {
        let begun = Instant::now();
        let closed = self.closing.0.lock().unwrap();
        let passing = |closed: &mut bool| !*closed && begun.elapsed() < wait;
        let (closed, _) = self.closing.1.wait_timeout_while(closed, wait, passing).unwrap();
        *closed
    }
}

/// Applies the faults to the responses.
fn apply_faults(asked: &Value, answer: &mut Value, faults: &BTreeMap<String, RpcFault>) {
    let calls = calls_in(asked);
    let answers = match &mut *answer {
        Value::Array(answers) => answers.iter_mut().collect(),
        one => vec![one],
    };
    for answer in answers {
        let call = calls.iter().find(|call| call["id"] == answer["id"]);
        let Some(call) = call else { continue };
        let method = call["method"].as_str().unwrap_or_default();
        match faults.get(method) {
            Some(RpcFault::Change(change)) => change(&call["params"], answer),
            Some(RpcFault::Flood(None, _)) => answer["result"] = json!({ "flood": 0 }),
            Some(RpcFault::Flood(Some(field), _)) if answer["result"].is_object() => {
                answer["result"][field] = json!({ "flood": 0 });
            }
            _ => {}
        }
    }
    if let Value::Array(answers) = answer {
        for fault in faults.values() {
            match fault {
                RpcFault::Reversed => answers.reverse(),
                RpcFault::Dropped(count) => answers.truncate(answers.len().saturating_sub(*count)),
                _ => {}
            }
        }
    }
}

/// Removes a field from the result in a response.
fn remove_field(answer: &mut Value, field: &str) {
    if let Some(result) = answer["result"].as_object_mut() {
        result.remove(field);
    }
}

/// Returns the calls in a request. A request has one call, or an array of calls.
fn calls_in(asked: &Value) -> Vec<&Value> {
    match asked {
        Value::Array(calls) => calls.iter().collect(),
        one => vec![one],
    }
}

/// Returns a "not found" error for each call of a request.
fn not_found_body(asked: &Value) -> String {
    let error = json!({ "code": -5, "message": "not found" });
    let answer = |call: &Value| json!({ "id": call["id"], "error": error });
    match asked {
        Value::Array(calls) => Value::Array(calls.iter().map(answer).collect()).to_string(),
        one => answer(one).to_string(),
    }
}
