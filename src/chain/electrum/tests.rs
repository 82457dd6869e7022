//! Tests header checks against a mock server that has the first three blocks of bitcoin.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::{Block, Chain, ChainState, Electrum, Limits, Node, NodeError, ServerUrl};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Blocks 0, 1 and 2 of bitcoin.
const HEADERS: [&str; 3] = [
    "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c",
    "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299",
    "010000004860eb18bf1b1620e37e9490fc8a427514416fd75159ab86688e9a8300000000d5fdcc541e25de1c7a5addedf24858b8bb665c9f36ef744ee42c316022c90f9bb0bc6649ffff001d08d2bd61",
];
const FIRST: &str = "00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048";
const SECOND: &str = "000000006a625f06636b8bb6ac7b960a8d03705d1ace08b1a19da3fdcc99ddbd";

/// Returns a client of a server with these headers. `kept` is the hash of the block stored in the client's database.
fn create_client(headers: [String; 3], kept: &str) -> Electrum {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("electrum://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            serve_headers(client, &headers);
        }
    });
    let urls = vec![ServerUrl::parse(&url).unwrap()];
    let mut node = Electrum::new(Chain::Bitcoin, urls, Limits::default()).unwrap();
    let kept = (!kept.is_empty()).then(|| Block { height: 1, hash: kept.to_owned() });
    let mut known = ChainState::initial(Chain::Bitcoin);
    known.kept.extend(kept);
    node.begin_step(&known);
    node
}

fn serve_headers(client: TcpStream, headers: &[String; 3]) {
    let mut write = client.try_clone().unwrap();
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        let call: Value = serde_json::from_str(&line).unwrap();
        let params = &call["params"];
        let result = match call["method"].as_str().unwrap() {
            "server.version" => json!(["Fake 1", "1.4"]),
            "blockchain.headers.subscribe" => json!({"height": 2, "hex": headers[2]}),
            "blockchain.block.headers" => {
                let from = usize::try_from(params[0].as_u64().unwrap()).unwrap();
                let count = usize::try_from(params[1].as_u64().unwrap()).unwrap();
                let some = headers.iter().skip(from).take(count).cloned();
                json!({"hex": some.collect::<String>()})
            }
            other => unreachable!("{other}"),
        };
        let answer = json!({"id": call["id"], "result": result});
        if write.write_all(format!("{answer}\n").as_bytes()).is_err() {
            return;
        }
    }
}

fn valid_headers() -> [String; 3] {
    HEADERS.map(str::to_owned)
}

#[test]
fn headers_are_checked_from_a_stored_block() {
    let mut node = create_client(valid_headers(), FIRST);
    assert_eq!(node.network().unwrap(), "main");
    assert_eq!(node.head().unwrap().block.hash, SECOND);
    assert_eq!(node.block_hash_at(2).unwrap().as_deref(), Some(SECOND));
    assert_eq!(node.block_hash_at(1).unwrap().as_deref(), Some(FIRST));
    assert_eq!(node.block_hash_at(3).unwrap(), None);
    let time = node.block_time_at(1).unwrap().unwrap();
    assert_eq!(time.0, 1_231_469_665_000);
}

#[test]
fn main_network_rejects_header_without_work() {
    let mut headers = valid_headers();
    // The changed nonce leaves the link to the parent valid, but the proof of work invalid.
    headers[2].replace_range(152.., "00000000");
    let mut node = create_client(headers, FIRST);
    node.head().unwrap();
    let refused = node.block_hash_at(2).unwrap_err();
    assert!(matches!(&refused, NodeError::Lied(why) if why.contains("proof of work")), "{refused}");
}

#[test]
fn main_network_without_trusted_block_is_rejected() {
    // The node has no trusted block: the database has no block, or a block on another branch. The checkpoint, at
    // height 938 343, is far above these headers.
    for kept in ["", SECOND] {
        let mut node = create_client(valid_headers(), kept);
        node.head().unwrap();
        let refused = node.block_hash_at(2).unwrap_err();
        let says = matches!(&refused, NodeError::Lied(why) if why.contains("block 938343"));
        assert!(says, "{refused}");
    }
}
