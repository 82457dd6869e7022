//! Memory use of a request body while it arrives.

use crate::operator::password_queue::peak_memory_kib;
use crate::support::installation::Installation;
use crate::support::polling;
use std::io::Write;
use std::net::TcpStream;

/// Returns the number of bytes that the system has received for this port and the server has not read yet.
#[track_caller]
fn unread_bytes(port: u16) -> u64 {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let own = format!("0100007F:{port:04X}");
    let lines = table.lines().map(|line| line.split_whitespace().collect());
    let lines = lines.filter(|words: &Vec<&str>| words.get(1) == Some(&own.as_str()));
    let waiting = lines.map(|words| words[4].split_once(':').unwrap().1.to_owned());
    waiting.map(|bytes| u64::from_str_radix(&bytes, 16).unwrap()).sum()
}

#[test]
fn chunked_body_of_single_bytes_uses_bounded_memory() {
    let (_served, running) = Installation::start_new(&[]);
    let address = running.url.strip_prefix("http://").unwrap();
    let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
    let before = peak_memory_kib(running.process.id());
    let head =
        "POST /dashboard/api/session HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    // The chunked body is as large as allowed, but its last chunk is never sent.
    let request = format!("{head}{}", "1\r\nx\r\n".repeat(65_000));
    let callers: Vec<TcpStream> = std::iter::repeat_with(|| {
        let mut caller = TcpStream::connect(address).unwrap();
        caller.write_all(request.as_bytes()).unwrap();
        caller
    })
    .take(20)
    .collect();
    assert!(polling::wait_until(|| unread_bytes(port) == 0));
    let grown = peak_memory_kib(running.process.id()).saturating_sub(before);
    assert!(grown <= 16_000, "{grown} KiB");
    drop(callers);
}
