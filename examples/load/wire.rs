//! Minimal HTTP/1.1 for a benchmark: requests as bytes, and message lengths.
//!
//! This code uses little CPU time, so that the server is measured.

use crate::Failure;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Secret key of the sandbox in test mode.
const KEY: &str = "sk_test_sandbox";
/// Initial size of a response buffer.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// Builds a request to a sandbox.
pub fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    request_as(KEY, method, path, body)
}

/// Builds a request with this key.
pub fn request_as(key: &str, method: &str, path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Returns head and body of the message in `bytes` when it is complete.
pub fn whole(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let (head, rest) = bytes.split_at_checked(end)?;
    Some((head, rest.get(..content_length(head))?))
}

/// Returns the content length of a head, 0 if it has none.
fn content_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length:";
    let value = head.split(|byte| *byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(NAME.len())?;
        name.eq_ignore_ascii_case(NAME).then_some(value)
    });
    let digits = value.unwrap_or_default().trim_ascii();
    digits.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit.saturating_sub(b'0')))
}

/// Returns `true` for a successful response.
pub fn is_success(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1.1 2")
}

/// Reads one message into `buffer`. Returns `false` if the connection ends first.
pub async fn read_message(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> std::io::Result<bool> {
    buffer.clear();
    while whole(buffer).is_none() {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sends a request on a new connection and returns the response body.
pub fn ask(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request)?;
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut part)?;
        answer.extend_from_slice(part.get(..count).unwrap_or_default());
        match whole(&answer) {
            Some((head, body)) if is_success(head) => return Ok(body.to_vec()),
            Some(_) => return Err(String::from_utf8_lossy(&answer).into_owned().into()),
            None if count == 0 => return Err("the server closed without an answer".into()),
            None => {}
        }
    }
}

/// Listens on a free port with a thread per connection. A client may disconnect at any time.
pub fn listen(
    serve: impl Fn(TcpStream) -> Result<(), Failure> + Clone + Send + 'static,
) -> Result<SocketAddr, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

/// Serves the requests of a connection until it ends. Their bodies are JSON. `answer` gets a body and the length of its
/// request in bytes.
pub fn serve_json(
    mut stream: TcpStream,
    answer: impl Fn(&Value, usize) -> String,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let mut piece = [0; 16 * 1024];
        while whole(&buffer).is_none() {
            let read = stream.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            buffer.extend_from_slice(piece.get(..read).unwrap_or_default());
        }
        let body = whole(&buffer).map_or(&[][..], |(_, body)| body);
        let answer = answer(&serde_json::from_slice(body)?, buffer.len());
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(answer.as_bytes())?;
    }
}
