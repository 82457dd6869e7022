//! False responses of a node of a UTXO chain. The client rejects each response as a whole.

use super::watch::{LIMITS, WatchList, block_payment_tuples, utxo_client};
use crate::support::litecoind::Litecoind;
use crate::support::rpc_proxy::{RpcFault as Fault, RpcProxy, set_error};
use coffer::chain::rpc::Limits;
use coffer::chain::utxo::Utxo;
use coffer::chain::{BlockRead, Head, Node, NodeError};
use coffer::domain::chain::Chain;
use serde_json::{Value, json};

const UNTESTED: &str = "rejected responses of a node with outputs";

/// A node with one confirmed and one unconfirmed payment, a lying proxy, and a client.
struct LyingNode {
    node: Litecoind,
    liar: RpcProxy,
    seen: Utxo,
    watch: WatchList,
    paid: String,
}

#[track_caller]
fn start_lying_node(limits: Limits) -> Option<LyingNode> {
    let node = Litecoind::start(&["-txindex=1"], UNTESTED)?;
    node.mine(101);
    let address = node.new_address("bech32");
    let paid = node.pay(&address, "1");
    node.mine(1);
    node.pay(&address, "2");
    let liar = RpcProxy::start(&node.url());
    Some(LyingNode {
        seen: utxo_client(Chain::Litecoin, &liar.url(), limits),
        watch: WatchList::for_addresses(Chain::Litecoin, &[&address]),
        node,
        liar,
        paid,
    })
}

impl LyingNode {
    fn read_blocks(&mut self) -> Result<Vec<BlockRead>, NodeError> {
        self.seen.blocks(100, 102, &self.watch)
    }

    #[track_caller]
    fn assert_reads_without_faults(&mut self) {
        self.liar.clear_faults();
        let blocks = self.read_blocks().unwrap();
        let received = block_payment_tuples(&blocks);
        assert_eq!(received.len(), 1);
        assert_eq!((&received[0].0, received[0].3), (&self.paid, 100_000_000));
        let waiting = self.seen.mempool(&[], &self.watch).unwrap();
        assert_eq!(waiting.received.len(), 1);
        let head: Head = self.seen.head().unwrap();
        assert_eq!(head.block, blocks[2].block);
    }

    #[track_caller]
    fn assert_read_fails(
        &mut self,
        method: &str,
        lie: Fault,
        expected: &str,
        ask: impl Fn(&mut LyingNode) -> Result<(), NodeError>,
    ) {
        self.liar.clear_faults();
        self.liar.inject(method, lie);
        let told = format!("{:?}", ask(self));
        assert!(told.starts_with(&format!("Err({expected}")), "{method}: {told}");
        self.assert_reads_without_faults();
    }
}

fn replace_result_field(name: &'static str, value: Value) -> Fault {
    Fault::from_change(move |_, answer| answer["result"][name] = value.clone())
}

fn change_middle_block(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::from_change(move |_, answer| {
        if answer["result"]["height"] == 101 {
            change(&mut answer["result"]);
        }
    })
}

fn change_newest_outputs(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::from_change(move |_, answer| {
        if answer["result"]["height"] == 102 {
            for output in answer["result"]["tx"][1]["vout"].as_array_mut().unwrap() {
                change(output);
            }
        }
    })
}

fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn block_that_was_not_requested_is_rejected() {
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    scene.assert_reads_without_faults();
    let other = "ab".repeat(32);
    for (lie, expected) in [
        (replace_result_field("hash", json!(other)), "Lied"),
        (replace_result_field("hash", json!("ab")), "Lied"),
        (replace_result_field("hash", Value::Null), "Lied"),
        (replace_result_field("height", json!(7)), "Lied"),
        (replace_result_field("height", json!(-1)), "Lied"),
        (replace_result_field("height", parse_json("101.0")), "Lied"),
        (replace_result_field("height", parse_json("1e999999")), "Lied"),
        (replace_result_field("time", parse_json("99999999999999999999")), "Lied"),
        (replace_result_field("time", json!(u64::MAX)), "Lied"),
        (replace_result_field("confirmations", json!(-1)), "Behind"),
        (replace_result_field("nTx", json!(77)), "Lied"),
        (replace_result_field("tx", json!([])), "Lied"),
        (replace_result_field("tx", json!({})), "Lied"),
        (replace_result_field("tx", json!([7])), "Lied"),
        (replace_result_field("tx", json!([null])), "Lied"),
        (Fault::result(Value::Null), "Lied"),
        (Fault::result(json!("00ff")), "Lied"),
        (Fault::error(-5, "Block not found"), "Behind"),
        (Fault::error(-1, "Block not available (pruned data)"), "Wrong"),
        (Fault::error(-28, "Loading block index..."), "Unreachable"),
        (Fault::error(-32601, "Method not found"), "Wrong"),
        (Fault::error(-32005, "limit exceeded"), "Limited"),
        (
            change_middle_block(move |block| block["previousblockhash"] = json!("cd".repeat(32))),
            "Lied",
        ),
        (
            change_middle_block(|block| {
                drop(block.as_object_mut().unwrap().remove("previousblockhash"))
            }),
            "Lied",
        ),
        (
            change_middle_block(|block| {
                let twice = block["tx"][0].clone();
                block["tx"].as_array_mut().unwrap().push(twice);
            }),
            "Lied",
        ),
        (change_newest_outputs(|output| output["value"] = parse_json("-1")), "Lied"),
        (change_newest_outputs(|output| output["value"] = parse_json("0.000000001")), "Lied"),
        (change_newest_outputs(|output| output["value"] = parse_json("1e400")), "Lied"),
        (change_newest_outputs(|output| output["value"] = json!("1")), "Lied"),
        (change_newest_outputs(|output| output["n"] = json!(0)), "Lied"),
        (change_newest_outputs(|output| output["n"] = Value::Null), "Lied"),
        (change_newest_outputs(|output| output["scriptPubKey"]["hex"] = json!("0g")), "Lied"),
    ] {
        scene.assert_read_fails("getblock", lie, expected, |scene| scene.read_blocks().map(drop));
    }
}

#[test]
fn inconsistent_head_is_rejected() {
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    let other = scene.node.call_text("getblockhash", json!([50]));
    for (method, lie, expected) in [
        ("getblockchaininfo", replace_result_field("blocks", json!(103)), "Lied"),
        ("getblockchaininfo", replace_result_field("blocks", json!("102")), "Lied"),
        ("getblockchaininfo", replace_result_field("bestblockhash", json!(other)), "Lied"),
        (
            "getblockchaininfo",
            replace_result_field("bestblockhash", json!("ab".repeat(32))),
            "Behind",
        ),
        ("getnetworkinfo", replace_result_field("connections", json!(-1)), "Lied"),
        ("getblockheader", replace_result_field("height", json!(50)), "Behind"),
        ("getblockheader", replace_result_field("hash", json!("ab".repeat(32))), "Lied"),
        ("getblockheader", replace_result_field("confirmations", json!(0)), "Behind"),
        ("getblockheader", replace_result_field("time", json!(u64::MAX)), "Lied"),
    ] {
        scene.assert_read_fails(method, lie, expected, |scene| scene.seen.head().map(drop));
    }
    for (lie, expected) in [
        (Fault::result(json!("ab".repeat(32))), "Wrong"),
        (Fault::result(json!("x")), "Lied"),
        (Fault::error(-8, "Block height out of range"), "Unreachable"),
    ] {
        scene.assert_read_fails("getblockhash", lie, expected, |scene| scene.seen.head().map(drop));
    }
    for (method, name, value) in [
        ("getblockchaininfo", "initialblockdownload", json!(true)),
        ("getblockchaininfo", "headers", json!(103)),
    ] {
        scene.liar.inject(method, replace_result_field(name, value));
        assert_eq!(scene.seen.head().map(|head| head.is_complete), Ok(false), "{name}");
        scene.assert_reads_without_faults();
    }
}

#[test]
fn each_head_request_checks_the_network_again() {
    const BITCOIN: &str = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206";
    const MAIN: &str = "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2";
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    scene.assert_reads_without_faults();
    for (first, text) in [
        (BITCOIN, "it is a node of bitcoin (regtest)"),
        (MAIN, "it is a node of main, and was one of regtest"),
    ] {
        let first = move |params: &Value, answer: &mut Value| {
            if params[0] == 0 {
                answer["result"] = json!(first);
            }
        };
        scene.liar.inject("getblockhash", Fault::from_change(first));
        let refused = Err(NodeError::Wrong(text.to_owned()));
        assert_eq!(scene.seen.head().map(drop), refused, "at each head request");
        assert_eq!(scene.read_blocks().map(drop), refused, "after the first rejection");
        assert_eq!(scene.seen.network().map(drop), refused);
        scene.assert_reads_without_faults();
    }
}

#[test]
fn inconsistent_mempool_is_rejected() {
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    for (method, lie, expected) in [
        ("getrawmempool", Fault::result(json!(["x"])), "Lied"),
        ("getrawmempool", Fault::result(json!([7])), "Lied"),
        ("getrawmempool", Fault::result(Value::Null), "Lied"),
        ("getrawtransaction", replace_result_field("txid", json!("ab".repeat(32))), "Lied"),
        ("getrawtransaction", replace_result_field("vin", Value::Null), "Lied"),
        (
            "getrawtransaction",
            replace_result_field("vout", json!([{ "value": 1, "scriptPubKey": { "hex": "" } }])),
            "Lied",
        ),
    ] {
        scene.seen = utxo_client(Chain::Litecoin, &scene.liar.url(), LIMITS);
        scene.assert_read_fails(method, lie, expected, |scene| {
            scene.seen.mempool(&[], &scene.watch).map(drop)
        });
    }
    // The client reports no payment for a transaction that the node cannot return, and requests the transaction
    // again.
    scene.seen = utxo_client(Chain::Litecoin, &scene.liar.url(), LIMITS);
    scene.liar.inject("getmempoolentry", Fault::error(-5, "Transaction not in mempool"));
    assert_eq!(scene.seen.mempool(&[], &scene.watch).unwrap().received, []);
    scene.assert_reads_without_faults();
    let asked = scene.liar.call_count("getrawtransaction");
    scene.assert_reads_without_faults();
    assert_eq!(
        scene.liar.call_count("getrawtransaction"),
        asked,
        "only new transactions are fetched"
    );
    // The node reports an empty mempool once. The client reports the transaction as vanished, and later reports the
    // payment again.
    let there = scene.seen.mempool(&[], &scene.watch).unwrap().received[0].txid.clone();
    scene.liar.inject("getrawmempool", Fault::result(json!([])));
    let gone = scene.seen.mempool(std::slice::from_ref(&there), &scene.watch).unwrap();
    assert_eq!((gone.received, gone.vanished), (Vec::new(), vec![there]));
    scene.assert_reads_without_faults();
}

#[test]
fn broken_slow_or_endless_response_is_an_error() {
    let limits =
        Limits { timeout_ms: 500, answer_bytes_max: 1024 * 1024, failures_max: u32::MAX, ..LIMITS };
    let Some(mut scene) = start_lying_node(limits) else {
        return;
    };
    for (lie, expected) in [
        (Fault::Status(429), "Limited"),
        (Fault::Status(401), "Wrong"),
        (Fault::Truncated(50), "Unreachable"),
        (Fault::Drip, "Unreachable"),
        (Fault::Hang, "Unreachable"),
        (Fault::huge_result(8 * 1024 * 1024), "Limited"),
        (Fault::Body("[".repeat(500_000)), "Lied"),
    ] {
        scene.assert_read_fails("getrawmempool", lie, expected, |scene| {
            scene.seen.mempool(&[], &scene.watch).map(drop)
        });
    }
    for lie in [Fault::Dropped(1), Fault::Truncated(30)] {
        scene.assert_read_fails("getblockhash", lie, "Unreachable", |scene| {
            scene.read_blocks().map(drop)
        });
    }
    scene.liar.inject("getblockhash", Fault::Reversed);
    let paid = |blocks: Vec<_>| block_payment_tuples(&blocks).len();
    assert_eq!(scene.read_blocks().map(paid), Ok(1));
    // The client skips a large unknown field, but counts its bytes towards the size limit.
    let huge =
        Fault::from_change(|_, answer| answer["result"]["more"] = json!("a".repeat(2_000_000)));
    scene.assert_read_fails("getblock", huge, "Limited", |scene| scene.read_blocks().map(drop));
}

#[test]
fn node_without_its_newest_block_is_behind() {
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    // Simulates a load balancer whose nodes differ: only one of them knows the newest block.
    let behind = |params: &Value, answer: &mut Value| {
        if params[0].as_u64() == Some(102) {
            set_error(answer, -8, "Block height out of range");
        }
    };
    scene.liar.inject("getblockhash", Fault::from_change(behind));
    assert_eq!(scene.seen.block_hash_at(102), Ok(None));
    assert_eq!(scene.seen.head(), Err(NodeError::Behind));
    assert_eq!(scene.read_blocks().map(|blocks| blocks.len()), Ok(2));
    assert_eq!(scene.seen.blocks(102, 102, &scene.watch), Err(NodeError::Behind));
    scene.assert_reads_without_faults();
    // The transaction index of the node returns a transaction whose block is not on the active chain.
    let stale = replace_result_field("blockhash", json!("ab".repeat(32)));
    scene.liar.inject("getrawtransaction", stale);
    assert_eq!(scene.seen.block_of_transaction(&scene.paid), Ok(None));
    scene.assert_reads_without_faults();
    assert_eq!(scene.seen.block_of_transaction(&scene.paid).unwrap().unwrap().height, 102);
}

#[test]
fn oversized_mempool_is_limited() {
    let Some(mut scene) = start_lying_node(LIMITS) else {
        return;
    };
    let many: Vec<String> = (0..60_000).map(|id| format!("{id:064x}")).collect();
    let many = Fault::result(json!(many));
    scene.liar.inject("getrawmempool", many);
    scene.liar.inject("getrawtransaction", Fault::NotFound);
    let told = scene.seen.mempool(&[], &scene.watch);
    assert!(matches!(told, Err(NodeError::Limited(_))), "{told:?}");
    assert_eq!(scene.liar.call_count("getrawtransaction"), 50_000);
    scene.assert_reads_without_faults();
}
