//! Lines that servers send: in other orders, padded, late, too long, none.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

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
};

/// A server that agrees on a version, and then does this with its connection.
fn server(
    does: impl FnOnce(&mut BufReader<TcpStream>, &mut TcpStream) + Send + 'static,
) -> (ServerUrl, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut write, _) = listener.accept().unwrap();
        let mut read = BufReader::new(write.try_clone().unwrap());
        let call = heard(&mut read);
        assert_eq!(call["method"], "server.version");
        says(
            &mut write,
            &json!({"id": call["id"], "result": ["Fake 1", "1.4"]}),
        );
        does(&mut read, &mut write);
    });
    let url = ServerUrl::parse(&format!("electrum://127.0.0.1:{port}"));
    (url.unwrap(), thread)
}

fn heard(read: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    read.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn says(write: &mut TcpStream, line: &Value) {
    // The other side may have gone.
    let _ = write.write_all(format!("   {line}{}\n", " ".repeat(300)).as_bytes());
}

/// What three calls come to, at a server that does this.
fn three(
    does: impl FnOnce(&mut BufReader<TcpStream>, &mut TcpStream) + Send + 'static,
) -> Result<Vec<Value>, NodeError> {
    let (url, thread) = server(does);
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    assert_eq!(connection.software, "Fake 1, protocol 1.4");
    let outcomes = connection.call_all("echo", &[json!([0]), json!([1]), json!([2])]);
    let text = |outcome: super::Outcome| match outcome {
        Ok(value) => serde_json::from_str(value.get()).unwrap(),
        Err(error) => json!([error.code, error.message]),
    };
    drop(connection);
    thread.join().unwrap();
    outcomes.map(|outcomes| outcomes.into_iter().map(text).collect())
}

#[test]
fn answers_come_in_any_order_between_notices() {
    let outcomes = three(|read, write| {
        let calls: Vec<Value> = (0..3).map(|_| heard(read)).collect();
        let notice = json!({"method": "blockchain.scripthash.subscribe", "params": ["aa", "bb"]});
        says(write, &json!({"id": calls[2]["id"], "result": null}));
        says(write, &notice);
        says(
            write,
            &json!({"id": calls[0]["id"], "result": calls[0]["params"][0]}),
        );
        says(write, &json!({"method": "unknown", "params": {}}));
        let error = json!({"code": 2, "message": "no\nsuch thing"});
        says(write, &json!({"id": calls[1]["id"], "error": error}));
    });
    assert_eq!(
        outcomes.unwrap(),
        [json!(0), json!([2, "no such thing"]), Value::Null]
    );
}

#[test]
fn answers_that_are_held_back_are_asked_out() {
    let outcomes = three(|read, write| {
        let calls: Vec<Value> = (0..3).map(|_| heard(read)).collect();
        let filler = heard(read);
        assert_eq!(filler["method"], "blockchain.block.headers");
        for call in calls.iter().chain([&filler]) {
            says(
                write,
                &json!({"id": call["id"], "result": call["params"][0]}),
            );
        }
    });
    assert_eq!(outcomes.unwrap(), [json!(0), json!(1), json!(2)]);
}

#[test]
fn nobody_waits_for_the_answer_that_asks_others_out() {
    let (url, thread) = server(|read, write| {
        let answers = |write: &mut TcpStream, call: &Value| {
            says(write, &json!({"id": call["id"], "result": 1}));
        };
        let (call, filler) = (heard(read), heard(read));
        answers(write, &call);
        for is_filler_answered in [true, false] {
            // There may be more fillers, which are never answered.
            let mut calls = std::iter::repeat_with(|| heard(read));
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
fn server_that_never_answers_what_asks_others_out_is_not_asked_for_ever() {
    let (url, thread) = server(|read, write| {
        let mut fillers = 0;
        for place in 0..1_000 {
            let mut call = heard(read);
            while call["method"] != "echo" {
                fillers += 1;
                call = heard(read);
            }
            if fillers < 20 {
                assert_eq!(heard(read)["method"], "blockchain.block.headers");
                fillers += 1;
            }
            says(write, &json!({"id": call["id"], "result": place}));
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
fn what_asks_others_out_may_be_refused_and_is_answered_once() {
    let (url, thread) = server(|read, write| {
        let (call, filler) = (heard(read), heard(read));
        let refused =
            json!({"id": filler["id"], "error": {"code": -32601, "message": "no such method"}});
        for line in [&refused, &json!({"id": call["id"], "result": 1}), &refused] {
            says(write, line);
        }
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    let outcome = connection.call("echo", json!([])).unwrap().unwrap();
    assert_eq!(outcome.get(), "1");
    thread.join().unwrap();
    let lied = connection.glance();
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
}

#[test]
fn notices_are_heard_without_a_call_and_half_a_line_waits() {
    let (url, thread) = server(|read, write| {
        let call = heard(read);
        let notice = |hash: &str| {
            json!({"method": "blockchain.scripthash.subscribe", "params": [hash, "s"]}).to_string()
        };
        let (first, second) = (notice("aa"), notice("bb"));
        let (half, rest) = second.split_at(20);
        write
            .write_all(format!("{first}\n{half}").as_bytes())
            .unwrap();
        says(write, &json!({"id": 99, "result": rest}));
        drop(call);
    });
    let mut connection = Connection::open(&url, LIMITS).unwrap();
    assert_eq!(connection.take_changed().len(), 0);
    // Half of the second notice and the answer to no call make no line that there is.
    let lied = connection.call("echo", json!([]));
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
    let changed = connection.take_changed();
    assert_eq!(changed.get("aa"), Some(&Some("s".to_owned())));
    assert_eq!(changed.len(), 1);
    thread.join().unwrap();
}

#[test]
fn server_that_breaks_the_rules_ends_the_connection() {
    let lied = three(|read, write| {
        let call = heard(read);
        says(write, &json!({"id": call["id"], "result": 1}));
        says(write, &json!({"id": call["id"], "result": 1}));
    });
    assert_eq!(
        lied,
        Err(NodeError::Lied("an answer to another call".to_owned()))
    );
    let lied = three(|_, write| write.write_all(b"HTTP/1.1 400 Bad Request\n").unwrap());
    assert!(matches!(lied, Err(NodeError::Lied(_))), "{lied:?}");
    let closed = three(|read, _| drop(heard(read)));
    assert!(
        matches!(closed, Err(NodeError::Unreachable(_))),
        "{closed:?}"
    );
    let busy = three(|read, write| {
        let call = heard(read);
        let error = json!({"code": -101, "message": "excessive resource usage"});
        says(write, &json!({"id": call["id"], "error": error}));
    });
    assert_eq!(
        busy,
        Err(NodeError::Limited(
            "it says: excessive resource usage".to_owned()
        ))
    );
}

#[test]
fn line_that_is_too_long_or_never_ends_is_given_up() {
    let long = three(|_, write| {
        let chunk = vec![b'a'; 100_000];
        while write.write_all(&chunk).is_ok() {}
    });
    assert!(matches!(long, Err(NodeError::Limited(_))), "{long:?}");
    let stalled = three(|read, write| {
        write.write_all(b"{\"id\": 1, \"res").unwrap();
        // Until the client has given up.
        let _ = std::io::copy(read, &mut std::io::sink());
    });
    assert_eq!(
        stalled,
        Err(NodeError::Unreachable("no answer in time".to_owned()))
    );
}
