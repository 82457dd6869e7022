//! Fuzzes connections with arbitrary bytes, and every route with arbitrary queries and bodies. The server answers
//! each input or closes the connection, without an internal error.
//!
//! The sandbox runs in this process, behind real connections, so that the fuzzer sees the coverage of all code.

#![no_main]

use coffer::http::routes;
use coffer::{Config, Server};
use libfuzzer_sys::fuzz_target;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::Duration;

static SERVER: OnceLock<Server> = OnceLock::new();

/// Returns the address of the sandbox. The first call starts the sandbox.
fn address() -> &'static str {
    let server = SERVER.get_or_init(|| Server::start(Config::sandbox()).expect("a sandbox"));
    server.url().trim_start_matches("http://")
}

/// Returns the bytes to send. Half of the inputs are sent unchanged. The other half calls a route with a query and a
/// body from the input.
fn request(data: &[u8]) -> Vec<u8> {
    let [kind, number, rest @ ..] = data else {
        return data.to_vec();
    };
    if kind % 2 == 0 {
        return rest.to_vec();
    }
    let all: Vec<_> = routes(true).collect();
    let route = &all[usize::from(*number) % all.len()];
    let (target, body) = match rest.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (&b""[..], rest),
    };
    let key = if route.path.starts_with("/v1/public") { "pk_test_sandbox" } else { "sk_test_sandbox" };
    let mut path = String::new();
    for segment in route.path.split('/').skip(1) {
        path.push('/');
        path.push_str(if segment.starts_with('{') { "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a90" } else { segment });
    }
    let mut request = format!("{} {path}?", route.method).into_bytes();
    request.extend(target.iter().filter(|byte| byte.is_ascii_graphic()));
    request.extend(
        format!(
            " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-API-Key: {key}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .as_bytes(),
    );
    request.extend(body);
    request
}

fuzz_target!(|data: &[u8]| {
    let mut stream = TcpStream::connect(address()).expect("the sandbox takes connections");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(&request(data));
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(!text.contains("\r\n\r\n{\"error\":\"internal_error\""), "{text}");
});
