//! JSON-RPC: failures are classified, each response must belong to its call, and no secret is shown.

use crate::support::receiver::{Receiver, Reply};
use coffer::chain::NodeError;
use coffer::chain::rpc::{CallFailure, Endpoint, Limits, MethodError, Rpc};
use serde_json::{Value, json};

const LIMITS: Limits = Limits {
    timeout_ms: 10_000,
    connect_timeout_ms: 10_000,
    answer_bytes_max: 4096,
    batch_calls_max: 4,
    failures_max: 3,
    refuses_metadata: false,
};

#[track_caller]
fn rpc_client(urls: &[String]) -> Rpc {
    let endpoints = Endpoint::parse_list(&urls.join(",")).unwrap();
    Rpc::new(endpoints, Vec::new(), LIMITS)
}

/// Returns a node that always gives this reply, and a client of the node.
#[track_caller]
fn client_with_reply(does: Reply) -> (Receiver, Rpc) {
    let node = Receiver::start_with_reply(does);
    let rpc = rpc_client(&[node.url()]);
    (node, rpc)
}

#[track_caller]
fn call_with_reply(status: u16, text: &str) -> Result<Option<String>, CallFailure> {
    let (_node, mut rpc) = client_with_reply(Reply::Text(status, text.to_owned()));
    rpc.call("getsomething", &json!([]))
}

fn method_failure(code: i64, message: &str) -> CallFailure {
    let message = message.to_owned();
    CallFailure::Method(MethodError { code, message })
}

#[test]
fn client_reads_every_shape_of_result_and_error() {
    for (text, expected) in [
        (r#"{"result":"a","error":null,"id":0}"#, Ok(Some("a".to_owned()))),
        (r#"{"id":0,"jsonrpc":"2.0","result":"a"}"#, Ok(Some("a".to_owned()))),
        (r#" {"jsonrpc":"2.0","id":0,"more":[{}],"result":null} "#, Ok(None)),
        (
            r#"{"result":null,"error":{"code":-5,"message":"No such\ntransaction"},"id":0}"#,
            Err(method_failure(-5, "No such transaction")),
        ),
        (
            r#"{"error":{"data":[1],"message":"out of range","code":-8},"id":0}"#,
            Err(method_failure(-8, "out of range")),
        ),
        (
            r#"{"error":{"code":-32700,"message":"Parse error"},"id":null,"result":null}"#,
            Err(method_failure(-32700, "Parse error")),
        ),
    ] {
        for status in [200, 404, 500] {
            assert_eq!(call_with_reply(status, text), expected, "{status} {text}");
        }
    }
}

#[test]
fn failures_are_classified() {
    for (status, text, expected) in [
        (401, "", "Wrong"),
        (403, r#"{"result":"a","id":0}"#, "Wrong"),
        (429, "", "Limited"),
        (413, "", "Limited"),
        (500, "Work queue depth exceeded", "Unreachable"),
        (502, "<html>", "Unreachable"),
        (200, "<html>", "Lied"),
        (200, "", "Unreachable"),
        (200, r#"{"result":"a","#, "Unreachable"),
        (200, r#"{"result":7,"id":0}"#, "Lied"),
        (200, r#"{"result":"a","id":1}"#, "Lied"),
        (200, r#"{"result":"a"}"#, "Lied"),
        (200, r#"{"result":"a","result":"b","id":0}"#, "Lied"),
        (200, r#"{"result":null,"result":"b","id":0}"#, "Lied"),
        (200, r#"{"result":"a","id":0}{}"#, "Lied"),
        (200, r#"{"id":0}"#, "Lied"),
        (200, "[]", "Lied"),
        (200, r#"{"error":{"code":-32005,"message":"no"},"id":0}"#, "Limited"),
        (200, r#"{"error":{"code":-32000,"message":"Rate limit exceeded"},"id":0}"#, "Limited"),
        (500, r#"{"error":"too many requests","id":null}"#, "Limited"),
    ] {
        let said = call_with_reply(status, text);
        let told = format!("{said:?}");
        let expected = format!("Err(Node({expected}");
        assert!(told.starts_with(&expected), "{status} {text}: {told}");
    }
    let long = format!(r#"{{"result":"{}","id":0}}"#, "a".repeat(5000));
    let nested = format!(r#"{{"x":{}"#, "[".repeat(4000));
    for (does, expected) in [
        (Reply::Close, "Unreachable"),
        (Reply::Redirect("http://127.0.0.1:1/".to_owned()), "Wrong"),
        (Reply::Text(200, long), "Limited"),
        (Reply::Text(200, nested), "Unreachable"),
    ] {
        let (_node, mut rpc) = client_with_reply(does.clone());
        let told = format!("{:?}", rpc.call::<String>("a", &json!([])));
        assert!(told.starts_with(&format!("Err(Node({expected}")), "{does:?}: {told}");
    }
    let node = Receiver::start_with_reply(Reply::Hang);
    let endpoints = Endpoint::parse_list(&node.url()).unwrap();
    let limits = Limits { timeout_ms: 50, ..LIMITS };
    let hanging = Rpc::new(endpoints, Vec::new(), limits).call::<String>("a", &json!([]));
    let late = NodeError::Unreachable("no answer in time".to_owned());
    assert_eq!(hanging, Err(CallFailure::Node(late)));
}

/// A function that changes the responses of a batch.
type BatchChange = fn(Vec<Value>) -> Value;

/// Starts a node that returns the first parameter of each call. The function `change` modifies the responses of each
/// batch.
fn start_echo_node(
    change: impl Fn(Vec<Value>) -> Value + Send + Sync + 'static,
) -> (Receiver, Rpc) {
    let node = Receiver::start_with_script(move |_, message| {
        let asked = message.json();
        let answer = |call: &Value| json!({ "id": call["id"], "result": call["params"][0] });
        let said = match asked.as_array() {
            Some(calls) => change(calls.iter().map(answer).collect()),
            None => answer(&asked),
        };
        Reply::Text(200, said.to_string())
    });
    let rpc = rpc_client(&[node.url()]);
    (node, rpc)
}

fn numbered_calls(count: u64) -> Vec<(&'static str, [u64; 1])> {
    (0..count).map(|number| ("a", [number])).collect()
}

#[test]
fn batch_responses_are_matched_to_calls_in_any_order() {
    let (node, mut rpc) = start_echo_node(|answers| answers.into_iter().rev().collect());
    let outcomes = rpc.batch::<u64>(&numbered_calls(10)).unwrap();
    let expected: Vec<_> = (0..10).map(Ok).collect();
    assert_eq!(outcomes, expected);
    assert_eq!(rpc.call_count(), 10);
    assert_eq!(node.requests().len(), 3, "four calls in one request");
    assert_eq!(rpc.batch::<u64>(&numbered_calls(0)), Ok(Vec::new()));
    assert_eq!(rpc.batch::<u64>(&numbered_calls(1)), Ok(vec![Ok(0)]));
}

#[test]
fn batch_with_a_missing_or_foreign_response_is_rejected() {
    let cases: [(BatchChange, &str); 6] = [
        (|answers| answers[1..].to_vec().into(), "Unreachable"),
        (|answers| json!([answers[0], answers[0], answers[2]]), "Lied"),
        (|answers| json!([answers[0], answers[1], answers[2], answers[2]]), "Lied"),
        (|answers| json!([answers[0], answers[1], { "id": 77, "result": 1 }]), "Lied"),
        (|answers| json!([answers[0], answers[1], { "id": null, "result": 1 }]), "Lied"),
        (|answers| json!([answers[0], answers[1], { "id": 2, "result": "1" }]), "Lied"),
    ];
    for (change, expected) in cases {
        let (_node, mut rpc) = start_echo_node(change);
        let told = format!("{:?}", rpc.batch::<u64>(&numbered_calls(3)));
        assert!(told.starts_with(&format!("Err({expected}")), "{told}");
    }
}

#[test]
fn rejected_batch_is_halved_until_the_node_accepts() {
    let refuse = |_| json!({ "id": null, "error": { "code": -32600, "message": "no batches" } });
    let (node, mut rpc) = start_echo_node(refuse);
    assert!(
        rpc.batch::<u64>(&numbered_calls(4)).is_ok(),
        "batches of four, two and one, and no failure"
    );
    assert_eq!((node.requests().len(), rpc.failure_epoch()), (2 + 4, 0));
    // The client sends the 8 batches as 32 single calls. After 32 single calls, it tries one batch of two calls.
    for _ in 0..8 {
        assert!(rpc.batch::<u64>(&numbered_calls(4)).is_ok());
    }
    assert_eq!(node.requests().len(), 2 + 4 + 8 * 4 + 1);
}

#[test]
fn client_changes_to_the_next_url_after_three_failures() {
    let good = Receiver::start_with_script(|_, message| {
        let id = &message.json()["id"];
        Reply::Text(200, json!({ "id": id, "result": "good" }).to_string())
    });
    let bad = Receiver::start_with_reply(Reply::Status(503));
    let mut rpc = rpc_client(&[bad.url(), good.url()]);
    let mut ask = || {
        let answer = rpc.call::<String>("a", &json!([])).ok();
        (answer, rpc.failure_epoch())
    };
    for failures in 1..=3 {
        assert_eq!(ask(), (None, failures));
    }
    for _ in 0..5 {
        assert_eq!(ask(), (Some("good".to_owned()), 3));
    }
    for _ in 0..3 {
        rpc.distrust_node();
    }
    assert!(rpc.call::<String>("a", &json!([])).is_err());
    assert_eq!(bad.requests().len(), 4);
}

#[test]
fn credentials_and_header_are_sent_and_never_shown() {
    let node = Receiver::start_with_script(|_, message| {
        // This node's error message repeats the request, including its secrets.
        let sent = format!("{:?} {} limit", message.headers, message.path);
        let error = json!({ "code": -32000, "message": sent.replace(['"', '\\'], "") });
        Reply::Text(200, json!({ "id": null, "error": error }).to_string())
    });
    let url = node.url().replace("http://", "http://user:pass%3Aword@") + "/v3/0123456789abcdef";
    let header = ("x-key".to_owned(), "fedcba9876543210".to_owned());
    let mut rpc = Rpc::new(Endpoint::parse_list(&url).unwrap(), vec![header], LIMITS);
    let said = rpc.call::<String>("a", &json!([]));
    let sent = &node.requests()[0];
    assert_eq!(sent.headers["authorization"], "Basic dXNlcjpwYXNzOndvcmQ=");
    assert_eq!(sent.headers["x-key"], "fedcba9876543210");
    assert!(sent.path.ends_with("/v3/0123456789abcdef"));
    let shown = format!("{said:?} {rpc:?} {}", rpc.label());
    for secret in ["pass", "dXNlcjpwYXNzOndvcmQ", "0123456789", "fedcba"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert!(rpc.label().starts_with("http://127.0.0.1"));
}
