//! False responses of the proxy, each with the problem that the operator is shown.

use crate::support::rpc_proxy::{RpcFault, set_error};
use serde_json::{Value, json};
use std::sync::Arc;

/// A number of bytes above the maximum size of a response, which is 64 MiB.
const BYTES_ABOVE_LIMIT: usize = 65 << 20;
/// A number of bytes slightly below the maximum size of a response.
const BYTES_NEAR_LIMIT: usize = 60 << 20;
/// Genesis block hashes of main networks and regtest networks. A false response with such a hash claims to come from
/// another chain.
const GENESIS_OF_BITCOIN: &str = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206";
const GENESIS_OF_LITECOIN: &str =
    "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2";
const GENESIS_OF_DOGECOIN: &str =
    "1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691";

/// False responses that are injected together, and the problem that the operator reads.
pub(super) struct LieCase {
    pub(super) lies: Vec<(&'static str, RpcFault)>,
    /// Expected texts in `/readyz?verbose` and in the output of `coffer doctor`. A text is empty if the false
    /// response cannot be detected.
    pub(super) told: [&'static str; 2],
}

impl LieCase {
    /// Returns the method with the false response.
    pub(super) fn method(&self) -> &'static str {
        self.lies[0].0
    }
}

fn lie_case(method: &'static str, lie: RpcFault, told: [&'static str; 2]) -> LieCase {
    let lies = vec![(method, lie)];
    LieCase { lies, told }
}

const NOTHING: [&str; 2] = [""; 2];
const LIMITS: [&str; 2] = ["limits what is asked"; 2];
const UNREACHABLE: [&str; 2] = ["cannot be asked"; 2];
const LIED: [&str; 2] = ["is not believed"; 2];
const WRONG: [&str; 2] = ["is the wrong one"; 2];
const LAGS: [&str; 2] = ["does not have block ", ""];

/// Returns the messages for a fault in an RPC method that only the server calls. `coffer doctor` finds no problem.
const fn server_only_problem(told: [&'static str; 2]) -> [&'static str; 2] {
    [told[0], ""]
}

/// Returns a fault that replaces a field of the result, if present.
fn replace_field(name: &'static str, value: Value) -> RpcFault {
    RpcFault::from_change(move |_, answer| {
        if answer["result"].get(name).is_some() {
            answer["result"][name] = value.clone();
        }
    })
}

/// Returns a JSON list of numbered items that is nearly as long as a response may be.
fn list_near_maximum_size(one: impl Fn(usize) -> String) -> Arc<str> {
    let mut list = "[".to_owned();
    for at in 0.. {
        list.push_str(&one(at));
        if list.len() > BYTES_NEAR_LIMIT {
            break;
        }
        list.push(',');
    }
    list.push(']');
    list.into()
}

/// Returns the false responses of an EVM node, as cases. `before` is an earlier response for the newest block, and
/// `ours` an address of the shop.
pub(super) fn evm_lie_cases(before: &Value, token: &str, ours: &str) -> Vec<LieCase> {
    let old = before.clone();
    let goes_back = RpcFault::from_change(move |params, answer| {
        if params[0] == "latest" {
            answer["result"] = old.clone();
        }
    });
    // Simulates a load balancer whose nodes differ: only one of them knows the newest block.
    let is_behind = RpcFault::from_change(|params, answer| {
        if params[0].as_str().is_some_and(|at| at.starts_with("0x")) && params[1] == true {
            answer["result"] = Value::Null;
        }
    });
    let other = format!("0x{}", "ab".repeat(32));
    let another = RpcFault::from_change(move |params, answer| {
        if params[0] != "latest" && answer["result"].is_object() {
            answer["result"]["parentHash"] = other.clone().into();
        }
    });
    let transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let word =
        |address: &str| format!("0x{:0>64}", address.trim_start_matches("0x").to_lowercase());
    let (token, to) = (token.to_owned(), word(ours));
    let (hash, height) = (before["hash"].clone(), before["number"].clone());
    let logs = list_near_maximum_size(|at| {
        let log = json!({
            "address": token, "topics": [transfer, word("0x1"), to], "data": format!("0x{at:064x}"),
            "blockHash": hash, "blockNumber": height, "transactionHash": format!("0x{at:064x}"),
            "transactionIndex": format!("{at:#x}"), "logIndex": format!("{at:#x}"), "removed": false,
        });
        log.to_string()
    });
    vec![
        lie_case("eth_getBlockByNumber", goes_back, LAGS),
        lie_case("eth_getBlockByNumber", is_behind, NOTHING),
        lie_case("eth_getLogs", RpcFault::result(json!([])), NOTHING),
        lie_case("eth_getBlockByNumber", another, NOTHING),
        lie_case("eth_getBlockByNumber", RpcFault::Reversed, NOTHING),
        lie_case(
            "eth_getLogs",
            RpcFault::error(-32005, "limit exceeded"),
            server_only_problem(LIMITS),
        ),
        lie_case("eth_getBlockByNumber", RpcFault::Dropped(1), UNREACHABLE),
        lie_case("eth_chainId", RpcFault::Status(429), LIMITS),
        lie_case("eth_chainId", RpcFault::Status(401), WRONG),
        lie_case("eth_getBlockByNumber", RpcFault::Truncated(100), UNREACHABLE),
        lie_case("eth_chainId", RpcFault::Body("<html>".to_owned()), LIED),
        lie_case(
            "eth_getBlockByNumber",
            RpcFault::huge_result(BYTES_ABOVE_LIMIT),
            server_only_problem(LIMITS),
        ),
        lie_case("eth_getLogs", RpcFault::Flood(None, logs), NOTHING),
        lie_case("eth_chainId", RpcFault::result(json!("0x1")), WRONG),
        lie_case("eth_chainId", RpcFault::result(json!("0x2105")), WRONG),
    ]
}

/// Returns the false responses of a node of a UTXO chain, as cases. `before` is an earlier chain state, and `script`
/// is an output script of the shop. `shows` is `true` if the node returns blocks with whole transactions.
pub(super) fn utxo_lie_cases(before: &Value, script: &str, shows: bool) -> Vec<LieCase> {
    let tip = before["blocks"].as_u64().unwrap();
    // Simulates a load balancer whose nodes differ: only one of them knows the newest block.
    let is_behind = RpcFault::from_change(move |params, answer| {
        if params[0].as_u64() > Some(tip) {
            set_error(answer, -8, "Block height out of range");
        }
    });
    let first = |hash: &'static str| {
        RpcFault::from_change(move |params, answer| {
            if params[0] == 0 {
                answer["result"] = hash.into();
            }
        })
    };
    let refuses = RpcFault::from_change(|params, answer| {
        if params[1].is_number() {
            let message = "JSON value is not a boolean as expected";
            set_error(answer, -1, message);
        }
    });
    // If the node returns blocks with whole transactions (`shows`), `coffer doctor` reads no block.
    let of_block = |told| if shows { server_only_problem(told) } else { told };
    let main = if shows { GENESIS_OF_LITECOIN } else { GENESIS_OF_DOGECOIN };
    let mut cases = vec![
        lie_case("getblockchaininfo", RpcFault::result(before.clone()), LAGS),
        lie_case("getblockhash", is_behind, ["", "does not have that block yet"]),
        lie_case("getrawmempool", RpcFault::result(json!([])), NOTHING),
        lie_case(
            "getblock",
            replace_field("previousblockhash", "ab".repeat(32).into()),
            server_only_problem(LIED),
        ),
        lie_case("getblockhash", RpcFault::Reversed, NOTHING),
        lie_case("getblock", RpcFault::error(-32005, "limit exceeded"), of_block(LIMITS)),
        lie_case(
            "getrawtransaction",
            RpcFault::Dropped(1),
            if shows { NOTHING } else { server_only_problem(UNREACHABLE) },
        ),
        lie_case("getblockhash", RpcFault::Dropped(1), UNREACHABLE),
        lie_case("getblockchaininfo", RpcFault::Status(429), LIMITS),
        lie_case("getblockchaininfo", RpcFault::Status(401), WRONG),
        lie_case("getblockchaininfo", RpcFault::Truncated(100), UNREACHABLE),
        lie_case("getblockhash", RpcFault::Body("<html>".to_owned()), LIED),
        lie_case("getblockhash", first(GENESIS_OF_BITCOIN), WRONG),
        lie_case("getblockhash", first(main), server_only_problem(WRONG)),
        lie_case("getblock", refuses, NOTHING),
    ];
    cases.extend(if shows { transaction_flood_cases(script) } else { txid_flood_cases() });
    cases
}

/// Returns two cases. In one, a block of nearly the maximum size pays only the shop. In the other, a mempool of the
/// same size has transactions that cannot be read.
fn transaction_flood_cases(script: &str) -> Vec<LieCase> {
    let transactions = list_near_maximum_size(|at| {
        let output = json!({ "value": 1, "n": 0, "scriptPubKey": { "hex": script } });
        json!({ "txid": format!("{at:064x}"), "vin": [], "vout": [output] }).to_string()
    });
    let waiting = vec![
        ("getrawmempool", RpcFault::Flood(None, ids_near_maximum_size())),
        ("getrawtransaction", RpcFault::NotFound),
    ];
    vec![
        lie_case("getblock", RpcFault::Flood(Some("tx"), transactions), server_only_problem(LIED)),
        LieCase { lies: waiting, told: server_only_problem(LIMITS) },
    ]
}

/// Returns two cases: a block above the maximum size of a response, and a block whose transaction ids reach nearly
/// the maximum size.
fn txid_flood_cases() -> Vec<LieCase> {
    let more = format!("\"{}\"", "a".repeat(BYTES_ABOVE_LIMIT)).into();
    vec![
        lie_case("getblock", RpcFault::Flood(Some("more"), more), server_only_problem(LIMITS)),
        lie_case(
            "getblock",
            RpcFault::Flood(Some("tx"), ids_near_maximum_size()),
            server_only_problem(WRONG),
        ),
    ]
}

fn ids_near_maximum_size() -> Arc<str> {
    list_near_maximum_size(|at| format!("\"{at:064x}\""))
}
