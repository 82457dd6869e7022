//! Tests subscriptions against a server that refuses some of them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::{Server, ServerUrl};
use crate::chain::rpc::Limits;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest number of steps after which a refused script is asked for again.
const BACKOFF_STEPS: usize = 20;

/// What the server refuses.
struct Refusals {
    /// Number of subscriptions that are refused next, on any connection.
    next: AtomicUsize,
    /// Largest number of subscriptions per connection.
    limit: AtomicUsize,
    /// Number of subscriptions that are accepted on all connections together.
    room: AtomicUsize,
}

impl Refusals {
    fn with_limits(limit: usize, room: usize) -> Arc<Refusals> {
        Arc::new(Refusals { next: 0.into(), limit: limit.into(), room: room.into() })
    }
}

/// Starts a server of empty histories, and returns its client.
fn start_server(refusals: &Arc<Refusals>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("electrum://{}", listener.local_addr().unwrap());
    let refusals = Arc::clone(refusals);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let refusals = Arc::clone(&refusals);
            std::thread::spawn(move || serve(client, &refusals));
        }
    });
    Server::new(ServerUrl::parse(&url).unwrap(), Limits::default())
}

fn serve(client: TcpStream, refusals: &Refusals) {
    client.set_nodelay(true).unwrap();
    let mut write = client.try_clone().unwrap();
    let mut subscribed = HashSet::new();
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        let call: Value = serde_json::from_str(&line).unwrap();
        let script = call["params"][0].as_str().unwrap_or_default().to_owned();
        let result = match call["method"].as_str().unwrap() {
            "server.version" => json!(["Fake 1", "1.4"]),
            "blockchain.scripthash.subscribe" => {
                let next = |next: usize| next.checked_sub(1);
                let is_refused =
                    refusals.next.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_ok();
                let is_full = subscribed.len() >= refusals.limit.load(Ordering::SeqCst);
                let has_room =
                    || refusals.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_ok();
                if is_refused || is_full || !has_room() {
                    let error = json!({"code": 2, "message": "internal error"});
                    send_line(&mut write, &json!({"id": call["id"], "error": error}));
                    continue;
                }
                subscribed.insert(script);
                Value::Null
            }
            "blockchain.scripthash.unsubscribe" => {
                refusals.room.fetch_add(1, Ordering::SeqCst);
                json!(subscribed.remove(&script))
            }
            "blockchain.scripthash.get_history" => json!([]),
            "blockchain.block.headers" => json!({"hex": ""}),
            other => unreachable!("{other}"),
        };
        send_line(&mut write, &json!({"id": call["id"], "result": result}));
    }
}

fn send_line(write: &mut TcpStream, line: &Value) {
    // The client may have closed the connection.
    let _ = write.write_all(format!("{line}\n").as_bytes());
}

/// Watches the scripts until all of them are read. Returns the scripts that are not read after the longest backoff.
fn unread_scripts(server: &mut Server, scripts: &[String]) -> Vec<String> {
    let wanted: HashSet<&str> = scripts.iter().map(String::as_str).collect();
    let is_unread = |server: &Server, script: &&String| !server.has_read(script);
    for _ in 0..BACKOFF_STEPS {
        let outcome = server.watch_scripts(&wanted);
        if outcome.is_ok() && !scripts.iter().any(|script| is_unread(server, &script)) {
            break;
        }
    }
    scripts.iter().filter(|script| is_unread(server, script)).cloned().collect()
}

#[test]
fn errors_that_look_like_a_limit_hide_no_script() {
    let refusals = Refusals::with_limits(usize::MAX, 10_000);
    let mut server = start_server(&refusals);
    let mut scripts = vec!["first".to_owned()];
    assert_eq!(unread_scripts(&mut server, &scripts), [""; 0]);
    for number in 0..20 {
        // The next script is refused, and the script that nobody has used, as by a server that has reached its limit.
        refusals.next.store(2, Ordering::SeqCst);
        scripts.push(format!("script {number}"));
        assert_eq!(unread_scripts(&mut server, &scripts), [""; 0], "{number}");
        server.close();
        assert_eq!(unread_scripts(&mut server, &scripts), [""; 0], "{number}, after a reconnect");
    }
}

#[test]
fn scripts_above_a_limit_are_set_aside_until_the_limit_is_raised() {
    let refusals = Refusals::with_limits(3, 10_000);
    let mut server = start_server(&refusals);
    let scripts: Vec<String> = (0..30).map(|number| format!("script {number}")).collect();
    assert_eq!(unread_scripts(&mut server, &scripts).len(), 6);
    assert_eq!(server.subscriptions_max, Some(3));
    let reason =
        "watches 3 addresses for a connection, and 30 are to be watched: name another server";
    assert_eq!(server.refused_scripts().filter(|(_, said)| *said == reason).count(), 6);
    refusals.limit.store(100, Ordering::SeqCst);
    assert_eq!(unread_scripts(&mut server, &scripts), [""; 0]);
}

#[test]
fn limit_of_all_connections_together_stops_nothing() {
    let refusals = Refusals::with_limits(usize::MAX, 5);
    let mut server = start_server(&refusals);
    let mut scripts: Vec<String> = (0..8).map(|number| format!("script {number}")).collect();
    assert_eq!(unread_scripts(&mut server, &scripts).len(), 3);
    let reason = "refuses blockchain.scripthash.subscribe: internal error (2)";
    assert_eq!(server.refused_scripts().filter(|(_, said)| *said == reason).count(), 3);
    scripts.retain(|script| server.has_read(script));
    assert_eq!(unread_scripts(&mut server, &scripts), [""; 0]);
}
