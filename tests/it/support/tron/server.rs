//! HTTP server of the simulated node, which can inject faults.

use super::SharedChain;
use super::answers::response_body;
use crate::support::receiver::read_request;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Function that changes one response. Its arguments are the request and the response.
type ResponseChange = dyn Fn(&Value, &mut Value) + Send + Sync;

/// Fault in the responses for a path.
#[derive(Clone)]
pub enum Fault {
    /// Passes the response to a function that modifies it.
    Change(Arc<ResponseChange>),
    /// Replies with this status and body.
    Status(u16, String),
    /// Closes the connection after this many bytes of the body.
    Truncated(usize),
    /// Never responds.
    Hang,
}

impl Fault {
    /// Builds a fault that passes each response to the closure `change`, which modifies it.
    pub fn from_change(change: impl Fn(&Value, &mut Value) + Send + Sync + 'static) -> Fault {
        Fault::Change(Arc::new(change))
    }

    /// Builds a fault that returns this body for every request.
    pub fn body(body: &Value) -> Fault {
        Fault::Status(200, body.to_string())
    }
}

/// A running server, stopped on drop.
pub struct NodeServer {
    address: SocketAddr,
    serving: Arc<ServerState>,
}

struct ServerState {
    chain: SharedChain,
    faults: Mutex<BTreeMap<String, Fault>>,
    /// Paths whose fault is removed after the next request.
    once: Mutex<BTreeSet<String>>,
    asked: Mutex<BTreeMap<String, usize>>,
    lag: AtomicUsize,
    /// Number of blocks beyond which `/walletsolidity` has none.
    final_blocks_max: AtomicUsize,
    /// Header and value without which every request gets this status.
    demanded: Mutex<Option<(&'static str, &'static str, u16)>>,
    connections: Mutex<Vec<TcpStream>>,
    closed: AtomicBool,
}

impl NodeServer {
    #[track_caller]
    pub fn start(chain: SharedChain) -> NodeServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::new(ServerState {
            chain,
            faults: Mutex::default(),
            once: Mutex::default(),
            asked: Mutex::default(),
            lag: AtomicUsize::new(0),
            final_blocks_max: AtomicUsize::new(usize::MAX),
            demanded: Mutex::default(),
            connections: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&serving);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.closed.load(Ordering::SeqCst) {
                    return;
                }
                let (serving, stream) = (Arc::clone(&accepting), stream.unwrap());
                let connection = stream.try_clone().unwrap();
                serving.connections.lock().unwrap().push(connection);
                std::thread::spawn(move || {
                    serving.serve(&stream);
                    // The client may have closed the connection.
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        NodeServer { address, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn inject(&self, path: &str, fault: Fault) {
        let mut faults = self.serving.faults.lock().unwrap();
        faults.insert(path.to_owned(), fault);
        self.serving.once.lock().unwrap().remove(path);
    }

    pub fn inject_once(&self, path: &str, fault: Fault) {
        self.inject(path, fault);
        self.serving.once.lock().unwrap().insert(path.to_owned());
    }

    pub fn clear_faults(&self) {
        self.serving.once.lock().unwrap().clear();
        self.serving.faults.lock().unwrap().clear();
    }

    pub fn requested_paths(&self) -> Vec<String> {
        self.serving.asked.lock().unwrap().keys().cloned().collect()
    }

    pub fn request_count(&self, path: &str) -> usize {
        let asked = self.serving.asked.lock().unwrap();
        asked.iter().filter(|(of, _)| path.is_empty() || *of == path).map(|(_, count)| count).sum()
    }

    pub fn stop_finality(&self, blocks: usize) {
        self.serving.final_blocks_max.store(blocks, Ordering::SeqCst);
    }

    pub fn demand_header(&self, demanded: Option<(&'static str, &'static str, u16)>) {
        *self.serving.demanded.lock().unwrap() = demanded;
    }

    pub fn hide_newest_blocks(&self, blocks: usize) {
        self.serving.lag.store(blocks, Ordering::SeqCst);
    }
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        self.serving.closed.store(true, Ordering::SeqCst);
        // The connection wakes the listener, which then sees that the server is closed.
        let _ = TcpStream::connect(self.address);
        for connection in self.serving.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl ServerState {
    /// Serves one connection until it is closed.
    fn serve(&self, mut stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some((path, headers, body)) = read_request(&mut reader) {
            let path = path.split('?').next().unwrap().to_owned();
            *self.asked.lock().unwrap().entry(path.clone()).or_default() += 1;
            let fault = self.take_fault(&path);
            if let Some(Fault::Hang) = fault {
                // The read ends when the client closes the connection.
                let _ = reader.read_to_end(&mut Vec::new());
                return;
            }
            let demanded = *self.demanded.lock().unwrap();
            let (status, text) = match demanded {
                Some((name, value, status))
                    if headers.get(name).is_none_or(|sent| sent != value) =>
                {
                    (status, String::new())
                }
                Some(_) | None => self.answer_request(&path, &body, fault.as_ref()),
            };
            let head = format!(
                "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            if let Some(Fault::Truncated(bytes)) = fault {
                let whole = format!("{head}{text}");
                let _ = stream.write_all(&whole.as_bytes()[..whole.len().min(head.len() + bytes)]);
                return;
            }
            if stream.write_all(format!("{head}{text}").as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Returns the fault of a path.
    fn take_fault(&self, path: &str) -> Option<Fault> {
        let mut faults = self.faults.lock().unwrap();
        match self.once.lock().unwrap().remove(path) {
            true => faults.remove(path),
            false => faults.get(path).cloned(),
        }
    }

    fn answer_request(&self, path: &str, body: &[u8], fault: Option<&Fault>) -> (u16, String) {
        if let Some(Fault::Status(status, text)) = fault {
            return (*status, text.clone());
        }
        let Ok(asked) = serde_json::from_slice::<Value>(body) else {
            return (200, r#"{"Error":"class org.tron.json.JSONException : no JSON"}"#.to_owned());
        };
        let lag = self.lag.load(Ordering::SeqCst);
        let final_max = self.final_blocks_max.load(Ordering::SeqCst);
        let told = response_body(&self.chain.lock().unwrap(), path, &asked, lag, final_max);
        let Some(mut told) = told else {
            return (404, "Not Found".to_owned());
        };
        if let Some(Fault::Change(change)) = fault {
            change(&asked, &mut told);
        }
        (200, told.to_string())
    }
}
