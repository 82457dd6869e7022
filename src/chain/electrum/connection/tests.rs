//! Tests server lines that are out of order, padded, late, too long or invalid.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::{Connection, Limits, NodeError, ServerUrl};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

const LIMITS: Limits = Limits {
    timeout_ms: 2_000,
    connect_timeout_ms: 2_000,
    answer_bytes_max: 200_000,
    batch_calls_max: 100,
    failures_max: 3,
    refuses_metadata: false,
};

/// Starts a server that negotiates a version, and then passes the connection to `does`.
fn start_server(
    does: impl FnOnce(&mut BufReader<TcpStream>, &mut TcpStream) + Send + 'static,
) -> (ServerUrl, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut write, _) = listener.accept().unwrap();
        let mut read = BufReader::new(write.try_clone().unwrap());
        let call = read_call(&mut read);
        assert_eq!(call["method"], "server.version");
        send_line(&mut write, &json!({"id": call["id"], "result": ["Fake 1", "1.4"]}));
        does(&mut read, &mut write);
    });
    let url = ServerUrl::parse(&format!("electrum://127.0.0.1:{port}"));
    (url.unwrap(), thread)
}

fn read_call(read: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    read.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn send_line(write: &mut TcpStream, line: &Value) {
    // The client may have closed the connection.
    let _ = write.write_all(format!("   {line}{}\n", " ".repeat(300)).as_bytes());
}

/// Starts a server that passes the connection to `does`, makes three calls, and returns the results of the calls.
fn call_three_times(
    does: impl FnOnce(&mut BufReader<TcpStream>, &mut TcpStream) + Send + 'static,
) -> Result<Vec<Value>, NodeError> {
    let (url, thread) = start_server(does);
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    assert_eq!(connection.software, "Fake 1, protocol 1.4");
    let outcomes = connection.call_all("echo", &[json!([0]), json!([1]), json!([2])]);
    let text = |outcome: super::CallResult| match outcome {
        Ok(value) => serde_json::from_str(value.get()).unwrap(),
        Err(error) => json!([error.code, error.message]),
    };
    drop(connection);
    thread.join().unwrap();
    outcomes.map(|outcomes| outcomes.into_iter().map(text).collect())
}

#[test]
fn responses_match_calls_in_any_order() {
    let outcomes = call_three_times(|read, write| {
        let calls: Vec<Value> = (0..3).map(|_| read_call(read)).collect();
        let notice = json!({"method": "blockchain.scripthash.subscribe", "params": ["aa", "bb"]});
        send_line(write, &json!({"id": calls[2]["id"], "result": null}));
        send_line(write, &notice);
        send_line(write, &json!({"id": calls[0]["id"], "result": calls[0]["params"][0]}));
        send_line(write, &json!({"method": "unknown", "params": {}}));
        let error = json!({"code": 2, "message": "no\nsuch thing"});
        send_line(write, &json!({"id": calls[1]["id"], "error": error}));
    });
    assert_eq!(outcomes.unwrap(), [json!(0), json!([2, "no such thing"]), Value::Null]);
}

#[test]
fn filler_flushes_delayed_responses() {
    let outcomes = call_three_times(|read, write| {
        let calls: Vec<Value> = (0..3).map(|_| read_call(read)).collect();
        let filler = read_call(read);
        assert_eq!(filler["method"], "blockchain.block.headers");
        for call in calls.iter().chain([&filler]) {
            send_line(write, &json!({"id": call["id"], "result": call["params"][0]}));
        }
    });
    assert_eq!(outcomes.unwrap(), [json!(0), json!(1), json!(2)]);
}

#[test]
fn filler_response_is_not_awaited() {
    let (url, thread) = start_server(|read, write| {
        let answers = |write: &mut TcpStream, call: &Value| {
            send_line(write, &json!({"id": call["id"], "result": 1}));
        };
        let (call, filler) = (read_call(read), read_call(read));
        answers(write, &call);
        for is_filler_answered in [true, false] {
            // The client may send further fillers. The server does not answer them.
            let mut calls = std::iter::repeat_with(|| read_call(read));
            let call = calls.find(|call| call["method"] == "echo").unwrap();
            if is_filler_answered {
                answers(write, &filler);
            }
            answers(write, &call);
        }
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    for _ in 0..3 {
        let outcome = connection.call("echo", json!([])).unwrap().unwrap();
        assert_eq!(outcome.get(), "1");
    }
    thread.join().unwrap();
}

#[test]
fn unanswered_fillers_are_limited() {
    let (url, thread) = start_server(|read, write| {
        let mut fillers = 0;
        for place in 0..1_000 {
            let mut call = read_call(read);
            while call["method"] != "echo" {
                fillers += 1;
                call = read_call(read);
            }
            if fillers < 20 {
                assert_eq!(read_call(read)["method"], "blockchain.block.headers");
                fillers += 1;
            }
            send_line(write, &json!({"id": call["id"], "result": place}));
        }
        assert_eq!(fillers, 20);
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    for place in 0..1_000 {
        let outcome = connection.call("echo", json!([])).unwrap().unwrap();
        assert_eq!(outcome.get(), place.to_string());
    }
    thread.join().unwrap();
}

#[test]
fn second_response_to_a_filler_is_rejected() {
    let (url, thread) = start_server(|read, write| {
        let (call, filler) = (read_call(read), read_call(read));
        let refused =
            json!({"id": filler["id"], "error": {"code": -32601, "message": "no such method"}});
        for line in [&refused, &json!({"id": call["id"], "result": 1}), &refused] {
            send_line(write, line);
        }
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    let outcome = connection.call("echo", json!([])).unwrap().unwrap();
    assert_eq!(outcome.get(), "1");
    thread.join().unwrap();
    let lied = connection.poll_notifications();
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
}

#[test]
fn poll_stores_notifications_and_keeps_incomplete_lines() {
    let (url, thread) = start_server(|read, write| {
        let call = read_call(read);
        let notice = |hash: &str| {
            json!({"method": "blockchain.scripthash.subscribe", "params": [hash, "s"]}).to_string()
        };
        let (first, second) = (notice("aa"), notice("bb"));
        let (half, rest) = second.split_at(20);
        write.write_all(format!("{first}\n{half}").as_bytes()).unwrap();
        send_line(write, &json!({"id": 99, "result": rest}));
        drop(call);
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    assert_eq!(connection.take_changed_scripts().len(), 0);
    // The server sends the remaining part of the second notification, then a response that belongs to no call and is
    // therefore invalid.
    let lied = connection.call("echo", json!([]));
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
    let changed = connection.take_changed_scripts();
    assert_eq!(changed.get("aa"), Some(&Some("s".to_owned())));
    assert_eq!(changed.len(), 1);
    thread.join().unwrap();
}

#[test]
fn invalid_response_is_rejected() {
    let lied = call_three_times(|read, write| {
        let call = read_call(read);
        send_line(write, &json!({"id": call["id"], "result": 1}));
        send_line(write, &json!({"id": call["id"], "result": 1}));
    });
    assert_eq!(lied, Err(NodeError::Lied("an answer to another call".to_owned())));
    let lied = call_three_times(|_, write| write.write_all(b"HTTP/1.1 400 Bad Request\n").unwrap());
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
    let closed = call_three_times(|read, _| drop(read_call(read)));
    assert!(matches!(closed, Err(NodeError::Unreachable(_))), "{closed:?}");
    let busy = call_three_times(|read, write| {
        let call = read_call(read);
        let error = json!({"code": -101, "message": "excessive resource usage"});
        send_line(write, &json!({"id": call["id"], "error": error}));
    });
    assert_eq!(busy, Err(NodeError::Limited("it says: excessive resource usage".to_owned())));
}

#[test]
fn long_or_endless_line_is_rejected() {
    let long = call_three_times(|_, write| {
        let chunk = vec![b'a'; 100_000];
        while write.write_all(&chunk).is_ok() {}
    });
    assert!(matches!(long, Err(NodeError::Limited(_))), "{long:?}");
    let stalled = call_three_times(|read, write| {
        write.write_all(b"{\"id\": 1, \"res").unwrap();
        // The server reads until the client closes the connection.
        let _ = std::io::copy(read, &mut std::io::sink());
    });
    assert_eq!(stalled, Err(NodeError::Unreachable("no answer in time".to_owned())));
}
