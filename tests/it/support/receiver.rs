//! A webhook receiver: a small HTTP server that records requests byte for byte and replies as scripted.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Timeout for expected requests.
const REQUESTS_TIMEOUT: Duration = Duration::from_secs(30);

/// Reaction of the receiver to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Replies with this status.
    Status(u16),
    /// Replies with this status and body.
    Text(u16, String),
    /// Redirects to this URL.
    Redirect(String),
    /// Replies 503 with this `Retry-After`, in seconds.
    RetryAfter(u32),
    /// Replies after this delay.
    Delayed(Duration),
    /// Sends nothing until the client closes the connection.
    Hang,
    /// Sends the start of a response, then nothing until the client closes the connection.
    Partial,
    /// Closes the connection without a response.
    Close,
}

/// A request that the receiver has read.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub at: Instant,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl ReceivedRequest {
    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

type ReplyScript = dyn Fn(usize, &ReceivedRequest) -> Reply + Send + Sync;

/// A running receiver. Dropping it closes its port and its connections.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<ReceiverState>,
}

struct ReceiverState {
    script: Box<ReplyScript>,
    messages: Mutex<Vec<ReceivedRequest>>,
    arrived: Condvar,
    connections: Mutex<Vec<TcpStream>>,
    closed: AtomicBool,
}

impl Receiver {
    /// Starts a receiver that reacts to every request in the same way.
    #[track_caller]
    pub fn start_with_reply(does: Reply) -> Receiver {
        Receiver::start_with_script(move |_, _| does.clone())
    }

    /// Starts a receiver that calls `script` for each reply. The first argument of `script` is the number of the
    /// request, from 0.
    #[track_caller]
    pub fn start_with_script(
        script: impl Fn(usize, &ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Receiver {
        Receiver::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), script)
    }

    /// Starts a receiver at this address.
    #[track_caller]
    pub fn start_at(
        address: SocketAddr,
        script: impl Fn(usize, &ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Receiver {
        let listener = TcpListener::bind(address).unwrap();
        let shared = Arc::new(ReceiverState {
            script: Box::new(script),
            messages: Mutex::default(),
            arrived: Condvar::new(),
            connections: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let address = listener.local_addr().unwrap();
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
        Receiver { address, shared }
    }

    /// Returns an address without a listener. Servers of other tests bind to 127.0.0.1, so none of them uses this
    /// address.
    #[track_caller]
    pub fn unused_address() -> SocketAddr {
        let listener = TcpListener::bind("127.7.7.7:0").unwrap();
        listener.local_addr().unwrap()
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.messages.lock().unwrap().clone()
    }

    /// Waits until this many requests are received.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize) -> Vec<ReceivedRequest> {
        let messages = self.shared.messages.lock().unwrap();
        let arrived = &self.shared.arrived;
        let (messages, wait) = arrived
            .wait_timeout_while(messages, REQUESTS_TIMEOUT, |messages| messages.len() < count)
            .unwrap();
        assert!(!wait.timed_out(), "{} of {count} came", messages.len());
        messages.clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // The connection wakes the listener, which then sees that the receiver is closed.
        let _ = TcpStream::connect(self.address);
        for connection in self.shared.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl ReceiverState {
    /// Serves one connection until it is closed.
    fn serve(&self, mut stream: &TcpStream) {
        while let Some(message) = next_request(stream) {
            let number = self.messages.lock().unwrap().len();
            let does = (self.script)(number, &message);
            self.messages.lock().unwrap().push(message);
            self.arrived.notify_all();
            let answer = match does {
                Reply::Status(status) => status_line(status, ""),
                Reply::Text(status, text) => http_response(status, "", &text),
                Reply::Redirect(url) => status_line(302, &format!("location: {url}\r\n")),
                Reply::RetryAfter(seconds) => {
                    status_line(503, &format!("retry-after: {seconds}\r\n"))
                }
                Reply::Delayed(wait) => {
                    self.pause(wait);
                    status_line(200, "")
                }
                Reply::Hang => {
                    let _ = stream.read_to_end(&mut Vec::new());
                    return;
                }
                Reply::Partial => {
                    let answer = "HTTP/1.1 200 Status\r\ncontent-length: 1000\r\n\r\n{\"id\":";
                    let _ = stream.write_all(answer.as_bytes());
                    let _ = stream.read_to_end(&mut Vec::new());
                    return;
                }
                Reply::Close => return,
            };
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Sleeps for this duration. Arriving requests do not end the sleep.
    fn pause(&self, wait: Duration) {
        let begun = Instant::now();
        let messages = self.messages.lock().unwrap();
        let passing = |_: &mut Vec<ReceivedRequest>| begun.elapsed() < wait;
        drop(self.arrived.wait_timeout_while(messages, wait, passing));
    }
}

fn status_line(status: u16, headers: &str) -> String {
    http_response(status, headers, &format!("said {status}"))
}

fn http_response(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// Reads the next request. Returns `None` if the client closed the connection.
fn next_request(stream: &TcpStream) -> Option<ReceivedRequest> {
    let (path, headers, body) = read_request(&mut BufReader::new(stream))?;
    Some(ReceivedRequest { at: Instant::now(), path, headers, body: String::from_utf8(body).ok()? })
}

/// Reads path, headers and body of the next request. Returns `None` if the client closed the connection.
pub fn read_request(
    reader: &mut BufReader<&TcpStream>,
) -> Option<(String, BTreeMap<String, String>, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some((path, headers, body))
}
