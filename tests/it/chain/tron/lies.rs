//! False responses of a Tron node, which are rejected, and responses that report a limit.

use super::fixtures::{ONE, collect_payments, shop_accounts, tron_client};
use crate::chain::watch::error_kind;
use crate::support::tron::{Action, Fault, Node as Standin, PAYER, TOKEN, encode_address};
use coffer::chain::tron::Tron;
use coffer::chain::{Node, NodeError};
use serde_json::{Value, json};

/// A function that reads something through the client and returns only the error.
type ClientRead = fn(&mut Tron) -> Result<(), NodeError>;

fn read_head(client: &mut Tron) -> Result<(), NodeError> {
    client.head().map(drop)
}

/// Reads the head. Returns the problem with final blocks as an error.
fn read_final_head(client: &mut Tron) -> Result<(), NodeError> {
    client.head()?;
    client.final_problem().map_or(Ok(()), |problem| Err(problem.error.clone()))
}

fn read_hash(client: &mut Tron) -> Result<(), NodeError> {
    client.block_hash_at(30).map(drop)
}

fn read_block_range(client: &mut Tron) -> Result<(), NodeError> {
    client.head()?;
    client.blocks(11, 12, &shop_accounts()).map(drop)
}

fn read_network(client: &mut Tron) -> Result<(), NodeError> {
    client.network().map(drop)
}

/// Starts a node that pays the shop twice in the block at height 12: with coins, and with tokens that a contract
/// sends.
#[track_caller]
fn start_paying_node() -> Standin {
    let node = Standin::start();
    node.chain().reorg(19, &[]);
    node.pay(&encode_address(ONE), 5);
    node.send(Action::token_payments(TOKEN, PAYER, &[(ONE, 2)]));
    node.mine(30);
    node
}

const NOW: &str = "/wallet/getnowblock";
const FINAL_NOW: &str = "/walletsolidity/getnowblock";
const BY_NUM: &str = "/wallet/getblockbynum";
const BLOCKS: &str = "/walletsolidity/getblockbylimitnext";
const INFOS: &str = "/walletsolidity/gettransactioninfobyblocknum";

/// A changed field of a response: path, JSON pointer, new value, request, and expected error.
type ChangedField = (&'static str, &'static str, Value, ClientRead, &'static str);

fn changed_fields() -> Vec<ChangedField> {
    let header = "/block_header/raw_data/";
    let of_header = |field| format!("{header}{field}").leak() as &str;
    let value = "/block/1/transactions/0/raw_data/contract/0/parameter/value/amount";
    let zeros = "00".repeat(32);
    let other_parent = format!("{:016x}{}", 11, "00".repeat(24));
    vec![
        (NOW, of_header("number"), 29.into(), read_head, "lied"),
        (NOW, of_header("number"), json!(4.1e9), read_head, "lied"),
        (NOW, of_header("parentHash"), zeros.clone().into(), read_head, "lied"),
        (NOW, of_header("parentHash"), Value::Null, read_head, "lied"),
        (NOW, of_header("timestamp"), i64::MAX.into(), read_head, "lied"),
        (NOW, "/blockID", zeros.into(), read_head, "lied"),
        (NOW, "/blockID", "zz".into(), read_head, "lied"),
        (BY_NUM, of_header("number"), 12.into(), read_hash, "lied"),
        (BLOCKS, "/block/0", json!({}), read_block_range, "behind"),
        (
            BLOCKS,
            "/block/1/block_header/raw_data/parentHash",
            other_parent.into(),
            read_block_range,
            "behind",
        ),
        (BLOCKS, value, json!(5.5), read_block_range, "lied"),
        (BLOCKS, value, json!("5"), read_block_range, "lied"),
        (INFOS, "/1/blockNumber", 13.into(), read_block_range, "lied"),
        (INFOS, "/1/blockNumber", Value::Null, read_block_range, "lied"),
        (INFOS, "/1/id", "ab".repeat(32).into(), read_block_range, "behind"),
        (INFOS, "/1/receipt/result", "REVERT".into(), read_block_range, "lied"),
    ]
}

/// Returns the test cases: path of the replaced response, fault, request, and expected error.
fn replaced_responses() -> Vec<(&'static str, Fault, ClientRead, &'static str)> {
    let body = |body: Value| Fault::body(&body);
    let change = |to: fn(&mut Value)| Fault::from_change(move |_, answer| to(answer));
    let status = |status, text: &str| Fault::Status(status, text.to_owned());
    let flood = format!("{{\"x\":\"{}\"}}", "a".repeat(2 << 20));
    let error = json!({ "Error": "class java.lang.NullPointerException : null" });
    vec![
        (NOW, body(json!({})), read_head, "behind"),
        (NOW, body(json!([])), read_head, "behind"),
        (NOW, status(200, "<html>"), read_head, "lied"),
        (NOW, status(200, &"[".repeat(2 << 20)), read_head, "limited"),
        (NOW, status(200, &flood), read_head, "limited"),
        (NOW, Fault::Truncated(50), read_head, "unreachable"),
        (NOW, Fault::Hang, read_head, "unreachable"),
        (FINAL_NOW, status(404, "Not Found"), read_final_head, "unreachable"),
        (FINAL_NOW, status(500, "{}"), read_final_head, "unreachable"),
        (FINAL_NOW, status(200, "<html>"), read_final_head, "lied"),
        (FINAL_NOW, body(json!({})), read_final_head, "unreachable"),
        (FINAL_NOW, Fault::Hang, read_final_head, "unreachable"),
        (NOW, status(503, "\"busy\""), read_head, "unreachable"),
        (BY_NUM, status(500, "{}"), read_hash, "unreachable"),
        (BY_NUM, body(json!({})), read_network, "behind"),
        (
            BLOCKS,
            change(|answer| drop(answer["block"].as_array_mut().unwrap().remove(0))),
            read_block_range,
            "lied",
        ),
        (
            BLOCKS,
            change(|answer| answer["block"].as_array_mut().unwrap().reverse()),
            read_block_range,
            "lied",
        ),
        (BLOCKS, body(json!({})), read_block_range, "behind"),
        (INFOS, body(json!([])), read_block_range, "unreachable"),
        (INFOS, body(json!({})), read_block_range, "unreachable"),
        (
            INFOS,
            change(|answer| drop(answer.as_array_mut().unwrap().remove(1))),
            read_block_range,
            "unreachable",
        ),
        (INFOS, change(|answer| answer[1]["result"] = "FAILED".into()), read_block_range, "lied"),
        (INFOS, body(error), read_block_range, "unreachable"),
    ]
}

#[test]
fn inconsistent_response_is_rejected() {
    let changed = changed_fields().into_iter().map(|(path, place, value, asks, expected)| {
        let change = Fault::from_change(move |_, answer| {
            // Changes only the blocks that have the field.
            if let Some(at) = answer.pointer_mut(place) {
                *at = value.clone();
            }
        });
        (path, change, asks, expected)
    });
    let node = start_paying_node();
    for (at, (path, fault, asks, expected)) in changed.chain(replaced_responses()).enumerate() {
        let mut client = tron_client(&node.url());
        node.inject(path, fault);
        let Err(error) = asks(&mut client) else {
            unreachable!("case {at}, {path}");
        };
        assert_eq!(error_kind(&error), expected, "case {at}, {path}: {error}");
        node.clear_faults();
        asks(&mut client).unwrap();
    }
}

#[test]
fn node_of_another_network_is_rejected() {
    let node = Standin::start();
    let mut client = tron_client(&node.url());
    assert_eq!(client.network().unwrap(), "nile");
    let other = "0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e";
    node.inject(
        "/wallet/getblockbynum",
        Fault::from_change(move |asked, answer| {
            if asked["num"] == 0 {
                answer["blockID"] = other.into();
            }
        }),
    );
    // After each failure the client checks the network again.
    node.inject("/wallet/getnowblock", Fault::Status(503, String::new()));
    assert_eq!(client.head().map_err(|error| error_kind(&error)), Err("unreachable"));
    let error = client.network().unwrap_err();
    assert_eq!(error.to_string(), "is the wrong one: it is of the network shasta, and was of nile");
    let strange = tron_client(&node.url()).network();
    assert_eq!(strange.unwrap(), "shasta");
    let unknown = format!("{:064x}", 5);
    node.inject(
        "/wallet/getblockbynum",
        Fault::from_change(move |_, answer| answer["blockID"] = unknown.clone().into()),
    );
    let strange = tron_client(&node.url()).network().unwrap();
    assert!(strange.starts_with("that of the first block 000"), "{strange}");
}

#[test]
fn rate_limit_halves_the_next_range_and_hides_secrets() {
    let node = start_paying_node();
    let error = "The key secret-of-the-key exceeds the frequency limit(15), and the query server is suspended for 30s";
    let limit = json!({ "Error": error });
    let statuses = [(200, true), (403, true), (503, true), (429, false), (413, false)];
    for (status, is_told) in statuses {
        let mut client = tron_client(&format!("{}/?key=secret-of-the-url", node.url()));
        client.head().unwrap();
        let text = if is_told { limit.to_string() } else { String::new() };
        node.inject("/walletsolidity/getblockbylimitnext", Fault::Status(status, text));
        let error = client.blocks(1, 18, &shop_accounts()).unwrap_err();
        assert_eq!(error_kind(&error), "limited", "{status}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
        node.clear_faults();
        // After the failure for a range of eighteen blocks, the client requests half as many blocks.
        assert_eq!(client.blocks(1, 18, &shop_accounts()).unwrap().len(), 9, "{status}");
        assert_eq!(client.blocks(1, 18, &shop_accounts()).unwrap().len(), 10, "{status}");
    }
    // A response about a wrong API key is not treated as a limit.
    let mut client = tron_client(&node.url());
    node.inject("/wallet/getnowblock", Fault::Status(401, String::new()));
    assert_eq!(client.head().map_err(|error| error_kind(&error)), Err("wrong"));
}

#[test]
fn rate_limit_within_a_range_keeps_earlier_blocks() {
    let node = start_paying_node();
    node.send(Action::token_payments(TOKEN, PAYER, &[(ONE, 2)]));
    node.mine(30);
    let mut client = tron_client(&node.url());
    client.head().unwrap();
    let limit = json!({ "Error": "lack of computing resources: too many requests" });
    node.inject(
        "/walletsolidity/gettransactioninfobyblocknum",
        Fault::from_change(move |asked, answer| {
            if asked["num"] != 12 {
                *answer = limit.clone();
            }
        }),
    );
    let blocks = client.blocks(10, 60, &shop_accounts()).unwrap();
    assert!(blocks.last().unwrap().block.height < 42, "{blocks:?}");
    assert_eq!(collect_payments(blocks).len(), 2);
}
