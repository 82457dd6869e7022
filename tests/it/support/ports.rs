//! Ports for programs that cannot choose one themselves, or that start again at the same one.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// The first port that may be returned. The range ends below the ports that Linux assigns by itself, so that no listener
/// at port 0 and no connection gets one of them.
const FIRST: u16 = 16_384;
const COUNT: u16 = 16_384;

/// Number of ports tried by this process so far.
static TRIED: AtomicU16 = AtomicU16::new(0);

/// Returns a port at which nobody listens, and which no other test of this process gets.
#[track_caller]
pub fn free_port() -> u16 {
    // Another run of the tests at the same time starts elsewhere.
    let start = (std::process::id() % u32::from(COUNT)) as u16;
    let mut ports = std::iter::repeat_with(|| {
        let tried = TRIED.fetch_add(1, Ordering::SeqCst);
        FIRST + start.wrapping_add(tried) % COUNT
    });
    ports.find(|port| TcpListener::bind(("::", *port)).is_ok()).unwrap()
}
