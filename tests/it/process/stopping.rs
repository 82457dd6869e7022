//! A stopping server waits for requests in progress and for a running signer at the same time. Each has its own
//! timeout. The server starts no new work and loses no result.

use crate::http::connections::{assert_connection_works, connect_to_url, read_response};
use crate::support::installation::{
    ETHEREUM, Installation, approval_body, program_start_count, signer_settings,
};
use crate::support::polling;
use crate::transfers::signer::{STATE, read_payout, signer_with_response};
use coffer::app::Config;
use coffer::chain::setting::FollowedNodeUrls;
use coffer::http::ConnectionLimits;
use coffer::store::FileKind;
use coffer::worker::command::Program;
use coffer::{Server, domain::time::HOUR_MS};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// Starts a server with this signer. A stopping server waits `command_drain_ms` for the signer, and an hour for
/// requests in progress.
#[track_caller]
fn start_with_signer(served: &Installation, signer: &str, command_drain_ms: u64) -> Server {
    let hour_ms = HOUR_MS.unsigned_abs();
    let node = ("ethereum".to_owned(), "http://127.0.0.1:1".to_owned());
    let none = Vec::new();
    let config = Config {
        kind: FileKind::Production,
        file: Some(served.file.clone()),
        signer: Some(Program::parse(signer).unwrap()),
        nodes: FollowedNodeUrls::parse_settings(&vec![node], &none, &none, false).unwrap(),
        command_drain_ms,
        limits: ConnectionLimits {
            body_timeout_ms: hour_ms,
            drain_timeout_ms: hour_ms,
            drain_client_ms: hour_ms,
            ..ConnectionLimits::default()
        },
        ..Config::sandbox()
    };
    Server::start(config).unwrap()
}

/// Opens an idle connection, which the server closes when it stops.
#[track_caller]
fn open_idle_connection(url: &str) -> TcpStream {
    let mut stream = connect_to_url(url);
    assert_connection_works(&mut stream);
    stream
}

/// Sends the head of a POST request without its body.
#[track_caller]
fn begin_post(url: &str, path: &str, credential: &str, body: &Value) -> TcpStream {
    let length = body.to_string().len();
    let mut stream = connect_to_url(url);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{credential}\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server sends this interim response when it starts to read the body.
    let mut said = *b"HTTP/1.1 100 Continue\r\n\r\n";
    let expected = said;
    stream.read_exact(&mut said).unwrap();
    assert_eq!(said, expected);
    stream
}

/// Sends the body and returns the status line.
#[track_caller]
fn finish_post(mut stream: TcpStream, body: &Value) -> String {
    stream.write_all(body.to_string().as_bytes()).unwrap();
    let answer = read_response(&mut stream).unwrap();
    answer.lines().next().unwrap().to_owned()
}

/// Transaction id that the signer returns.
const SENT_TXID: &str = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// Waits until the signer was started `times` times in total.
fn wait_for_signer_starts(served: &Installation, times: usize) {
    assert!(polling::wait_until(|| program_start_count(&served.path("noted")) >= times));
}

#[test]
fn signer_answer_after_sigterm_is_recorded() {
    let served = Installation::new();
    let go = served.path("go");
    let waiting = format!("until [ -e {0} ]; do sleep 0.01; done; cat {0}", go.display());
    let program = signer_with_response(&served, &waiting);
    let mut running = served.start(&signer_settings(&program));
    let mut idle = open_idle_connection(&running.url);
    let id = served.create_approved_payout_to(&running, ETHEREUM);
    wait_for_signer_starts(&served, 1);
    let number = running.process.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    assert!(told.unwrap().success());
    assert_eq!(read_response(&mut idle), None, "it is stopping");
    std::fs::write(served.path("answer"), format!(r#"{{"txid": "{SENT_TXID}"}}"#)).unwrap();
    std::fs::rename(served.path("answer"), &go).unwrap();
    assert!(running.process.close_input_and_wait());
    served.wait_for_query_result(STATE, &["processing "]);
    let running = served.start(&signer_settings(&program));
    assert_eq!(read_payout(&served, &running.url, &id)["txid"], SENT_TXID);
    assert_eq!(program_start_count(&served.path("noted")), 1);
}

#[test]
fn hanging_signer_has_its_own_timeout() {
    let served = Installation::new();
    let program = signer_with_response(&served, "sleep 100000");
    let mut prepared = served.start(&[]);
    let id = served.create_approved_payout(&prepared);
    served.assign_to_signer(&id);
    assert!(prepared.process.close_input_and_wait());
    let server = start_with_signer(&served, &program, 1);
    let order = json!({ "amount": "20.00", "currency": "EUR", "orderId": "the last one" });
    let key = format!("X-API-Key: {}", served.key);
    let order_begun = begin_post(server.url(), "/v1/invoices", &key, &order);
    wait_for_signer_starts(&served, 1);
    let stopping = std::thread::spawn(move || drop(server));
    // The request in progress may take an hour, so the signer's timeout ends first.
    served.wait_for_query_result(STATE, &["processing unknown"]);
    // The writer still serves the request after the signer has ended.
    assert_eq!(finish_post(order_begun, &order), "HTTP/1.1 201 Created");
    stopping.join().unwrap();
    let orders = "select order_id from invoices order by seq desc limit 1";
    served.wait_for_query_result(orders, &["the last one"]);
    let running = served.start(&signer_settings(&program));
    assert_eq!(read_payout(&served, &running.url, &id)["status"], "processing");
    served.wait_for_query_result(STATE, &["processing unknown"]);
    assert_eq!(program_start_count(&served.path("noted")), 1);
}

#[test]
fn stopping_server_starts_no_signer() {
    let served = Installation::new();
    let program = signer_with_response(&served, &format!(r#"echo '{{"txid": "{SENT_TXID}"}}'"#));
    let mut prepared = served.start(&[]);
    let id = served.request_payout_to(&prepared, ETHEREUM);
    let session = format!("Cookie: {}", prepared.cookie());
    assert!(prepared.process.close_input_and_wait());
    let server = start_with_signer(&served, &program, HOUR_MS.unsigned_abs());
    let mut idle = open_idle_connection(server.url());
    let path = format!("/dashboard/api/payouts/{id}");
    let approval_begun = begin_post(server.url(), &path, &session, &approval_body());
    let stopping = std::thread::spawn(move || drop(server));
    assert_eq!(read_response(&mut idle), None, "it is stopping");
    assert_eq!(finish_post(approval_begun, &approval_body()), "HTTP/1.1 200 OK");
    stopping.join().unwrap();
    served.wait_for_query_result(STATE, &["approved "]);
    assert_eq!(program_start_count(&served.path("noted")), 0);
    // This server has no rates, so a person accepted the rate.
    served.assign_to_signer(&id);
    // The next server sends the payout.
    let running = served.start(&signer_settings(&program));
    served.wait_for_query_result(STATE, &["processing "]);
    assert_eq!(read_payout(&served, &running.url, &id)["txid"], SENT_TXID);
    assert_eq!(program_start_count(&served.path("noted")), 1);
}
