//! What a stopping server gives time to: answers under way and a running signer, each from that moment on, side by side;
//! and that nothing else is begun, and nothing that is known is lost.

use crate::http::connections::{assert_alive, limited, read_response};
use crate::support::installation::{ETHEREUM, Installation, approval, start_count, with_signer};
use crate::support::polling;
use crate::transfers::signer::{STATE, answering, payout};
use coffer::app::Config;
use coffer::chain::setting::Nodes;
use coffer::http::Limits;
use coffer::store::Kind;
use coffer::worker::command::Program;
use coffer::{Server, domain::time::HOUR_MS};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// A server with this signer, which has so long at the end; answers under way have as long as they like.
#[track_caller]
fn start(served: &Installation, signer: &str, command_drain_ms: u64) -> Server {
    let hour_ms = HOUR_MS.unsigned_abs();
    let node = ("ethereum".to_owned(), "http://127.0.0.1:1".to_owned());
    let none = Vec::new();
    let config = Config {
        kind: Kind::Production,
        file: Some(served.file.clone()),
        signer: Some(Program::parse(signer).unwrap()),
        nodes: Nodes::read(&vec![node], &none, &none, false).unwrap(),
        command_drain_ms,
        limits: Limits {
            body_timeout_ms: hour_ms,
            drain_timeout_ms: hour_ms,
            drain_client_ms: hour_ms,
            ..Limits::default()
        },
        ..Config::sandbox()
    };
    Server::start(config).unwrap()
}

fn connect(url: &str) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap();
    limited(TcpStream::connect(address).unwrap())
}

/// A connection that waits for its client: it is closed once the server is stopping.
#[track_caller]
fn idle(url: &str) -> TcpStream {
    let mut stream = connect(url);
    assert_alive(&mut stream);
    stream
}

/// A POST that is under way, but for its body.
#[track_caller]
fn begun(url: &str, path: &str, credential: &str, body: &Value) -> TcpStream {
    let length = body.to_string().len();
    let mut stream = connect(url);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{credential}\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // Said by whoever reads the body.
    let mut said = *b"HTTP/1.1 100 Continue\r\n\r\n";
    let expected = said;
    stream.read_exact(&mut said).unwrap();
    assert_eq!(said, expected);
    stream
}

/// Sends its body; the answer's first line.
#[track_caller]
fn ended(mut stream: TcpStream, body: &Value) -> String {
    stream.write_all(body.to_string().as_bytes()).unwrap();
    let answer = read_response(&mut stream).unwrap();
    answer.lines().next().unwrap().to_owned()
}

/// A transaction that a signer answers.
const SENT: &str = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// Waits until the program was started this often in all.
fn until_started(served: &Installation, times: usize) {
    assert!(polling::until(
        || start_count(&served.path("noted")) >= times
    ));
}

#[test]
fn what_a_signer_answers_after_sigterm_is_recorded() {
    let served = Installation::new();
    let go = served.path("go");
    let waiting = format!(
        "until [ -e {0} ]; do sleep 0.01; done; cat {0}",
        go.display()
    );
    let program = answering(&served, &waiting);
    let mut running = served.start(&with_signer(&program));
    let mut idle = idle(&running.url);
    let id = served.approved_payout_in(&running, ETHEREUM);
    until_started(&served, 1);
    let number = running.process.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    assert!(told.unwrap().success());
    assert_eq!(read_response(&mut idle), None, "it is stopping");
    std::fs::write(served.path("answer"), format!(r#"{{"txid": "{SENT}"}}"#)).unwrap();
    std::fs::rename(served.path("answer"), &go).unwrap();
    assert!(running.process.close());
    served.poll(STATE, &["processing "]);
    let running = served.start(&with_signer(&program));
    assert_eq!(payout(&served, &running.url, &id)["txid"], SENT);
    assert_eq!(start_count(&served.path("noted")), 1);
}

#[test]
fn a_signer_that_never_ends_is_not_given_the_time_of_the_answers_too() {
    let served = Installation::new();
    let program = answering(&served, "sleep 100000");
    let mut prepared = served.start(&[]);
    let id = served.approved_payout(&prepared);
    served.assign_to_signer(&id);
    assert!(prepared.process.close());
    let server = start(&served, &program, 1);
    let order = json!({ "amount": "20.00", "currency": "EUR", "orderId": "the last one" });
    let key = format!("X-API-Key: {}", served.key);
    let order_begun = begun(server.url(), "/v1/invoices", &key, &order);
    until_started(&served, 1);
    let stopping = std::thread::spawn(move || drop(server));
    // An answer is under way, and has an hour.
    served.poll(STATE, &["processing unknown"]);
    // The writer is there for it, after the signer has ended.
    assert_eq!(ended(order_begun, &order), "HTTP/1.1 201 Created");
    stopping.join().unwrap();
    let orders = "select order_id from invoices order by seq desc limit 1";
    served.poll(orders, &["the last one"]);
    let running = served.start(&with_signer(&program));
    assert_eq!(payout(&served, &running.url, &id)["status"], "processing");
    served.poll(STATE, &["processing unknown"]);
    assert_eq!(start_count(&served.path("noted")), 1);
}

#[test]
fn a_signer_is_not_started_once_the_server_is_stopping() {
    let served = Installation::new();
    let program = answering(&served, &format!(r#"echo '{{"txid": "{SENT}"}}'"#));
    let mut prepared = served.start(&[]);
    let id = served.requested_payout_in(&prepared, ETHEREUM);
    let session = format!("Cookie: {}", prepared.cookie());
    assert!(prepared.process.close());
    let server = start(&served, &program, HOUR_MS.unsigned_abs());
    let mut idle = idle(server.url());
    let path = format!("/dashboard/api/payouts/{id}");
    let approval_begun = begun(server.url(), &path, &session, &approval());
    let stopping = std::thread::spawn(move || drop(server));
    assert_eq!(read_response(&mut idle), None, "it is stopping");
    assert_eq!(ended(approval_begun, &approval()), "HTTP/1.1 200 OK");
    stopping.join().unwrap();
    served.poll(STATE, &["approved "]);
    assert_eq!(start_count(&served.path("noted")), 0);
    // It is sent by the next one.
    let running = served.start(&with_signer(&program));
    served.poll(STATE, &["processing "]);
    assert_eq!(payout(&served, &running.url, &id)["txid"], SENT);
    assert_eq!(start_count(&served.path("noted")), 1);
}
