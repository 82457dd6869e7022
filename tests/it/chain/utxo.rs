//! A litecoind in regtest, read by JSON-RPC: blocks, mempool, replacements and reorgs. The tests include pruned
//! nodes, nodes without an index, and the RPC subset of Dogecoin.

use super::watch::{LIMITS, WatchList, block_payment_tuples, payment_tuples, utxo_client};
use crate::support::litecoind::Litecoind;
use crate::support::rpc_proxy::RpcProxy;
use coffer::chain::utxo::Utxo;
use coffer::chain::{Node, NodeError};
use coffer::domain::InputSource;
use coffer::domain::chain::Chain;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const UNTESTED: &str = "chains with outputs";

#[track_caller]
fn start_node(options: &[&str]) -> Option<Litecoind> {
    let node = Litecoind::start(options, UNTESTED)?;
    node.mine(101);
    Some(node)
}

/// Returns the position of the output that pays an address.
#[track_caller]
fn output_position(node: &Litecoind, txid: &str, address: &str) -> u32 {
    let read = node.call("gettransaction", json!([txid, true, true]));
    let outputs = read["decoded"]["vout"].as_array().unwrap();
    let place = outputs.iter().position(|output| output["scriptPubKey"]["addresses"][0] == address);
    u32::try_from(place.unwrap()).unwrap()
}

#[test]
fn payment_is_seen_in_the_mempool_and_in_its_block() {
    let Some(node) = start_node(&[]) else { return };
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    assert_eq!(seen.network(), Ok("regtest".to_owned()));
    let addresses = ["legacy", "p2sh-segwit", "bech32"].map(|kind| node.new_address(kind));
    let [legacy, nested, segwit] = &addresses;
    let watch =
        WatchList::for_addresses(Chain::Litecoin, &addresses.each_ref().map(String::as_str));

    assert_eq!(seen.mempool(&[], &watch).unwrap().received, []);
    let many = json!(["", { legacy: "0.00010001", nested: 1.5, segwit: "2.00000001" }]);
    let to_three = node.call_text("sendmany", many);
    let twice = node.pay(segwit, "0.1");
    let other = node.pay(&node.new_address("bech32"), "3");
    let mut expected = vec![
        (to_three.clone(), output_position(&node, &to_three, legacy), legacy.clone(), 10_001),
        (to_three.clone(), output_position(&node, &to_three, nested), nested.clone(), 150_000_000),
        (to_three.clone(), output_position(&node, &to_three, segwit), segwit.clone(), 200_000_001),
        (twice.clone(), output_position(&node, &twice, segwit), segwit.clone(), 10_000_000),
    ];
    expected.sort();
    let waiting = seen.mempool(&[], &watch).unwrap();
    let mut received = payment_tuples(&waiting.received);
    received.sort();
    assert_eq!(received, expected);
    for one in &waiting.received {
        let entry = node.call("getmempoolentry", json!([one.txid]));
        let at = one.first_seen.unwrap();
        assert_eq!(json!(at.unix_seconds()), entry["time"]);
        assert!(matches!(&one.spends[0], InputSource::Output(txid, _) if txid.len() == 64));
    }
    // `to_three` is a transaction that the caller has already stored, so the client does not return its payments.
    let rest = seen.mempool(std::slice::from_ref(&to_three), &watch).unwrap();
    assert_eq!(
        payment_tuples(&rest.received),
        vec![expected.iter().find(|one| one.0 == twice).unwrap().clone()]
    );
    assert_eq!(rest.vanished, Vec::<String>::new());

    assert_moved_to_block(&node, &mut seen, &watch, &expected, &[to_three, other]);
}

/// Asserts that the next block contains the payments from the mempool, and that the mempool no longer contains them.
#[track_caller]
fn assert_moved_to_block(
    node: &Litecoind,
    seen: &mut Utxo,
    watch: &WatchList,
    expected: &[(String, u32, String, u128)],
    waited: &[String],
) {
    let head = seen.head().unwrap();
    assert_eq!(head.block.height, 101);
    assert!(head.is_complete);
    let hash = node.mine(1).remove(0);
    let blocks = seen.blocks(100, 200, watch).unwrap();
    let heights: Vec<u32> = blocks.iter().map(|block| block.block.height).collect();
    assert_eq!(heights, [100, 101, 102]);
    assert_eq!(blocks[1].block, head.block);
    assert_eq!(blocks[2].parent, head.block.hash);
    assert_eq!(blocks[2].block.hash, hash);
    let mut received = block_payment_tuples(&blocks);
    received.sort();
    assert_eq!(received, expected);
    let gone = seen.mempool(waited, watch).unwrap();
    assert_eq!((gone.received, gone.vanished), (Vec::new(), waited.to_vec()));
    let place = seen.block_of_transaction(&waited[0]).unwrap().unwrap();
    assert_eq!((place.height, &place.hash), (102, &hash));
    assert_eq!(seen.block_hash_at(102).unwrap(), Some(hash));
    assert_eq!(seen.block_hash_at(103), Ok(None));
    assert_eq!(seen.blocks(103, 110, watch), Err(NodeError::Behind));
    assert!(seen.rpc().call_count() > 10);
}

#[test]
fn client_reports_coinbase_and_spent_outputs() {
    let Some(node) = start_node(&[]) else { return };
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let address = node.new_address("bech32");
    node.call("generatetoaddress", json!([1, address]));
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&address]);
    let blocks = seen.blocks(102, 102, &watch).unwrap();
    let [made] = &blocks[0].received[..] else { unreachable!("{blocks:?}") };
    assert_eq!(
        (made.spends.as_slice(), made.amount.0),
        (&[InputSource::Coinbase][..], 5_000_000_000)
    );

    let paid = node.pay(&node.new_address("legacy"), "1");
    let spent = node.call("gettransaction", json!([paid, true, true]))["decoded"]["vin"][0].clone();
    let (from, at) = (spent["txid"].as_str().unwrap(), spent["vout"].as_u64().unwrap());
    let at = u32::try_from(at).unwrap();
    let watch = WatchList::default().with_output(from, at);
    let expected = vec![(InputSource::Output(from.to_owned(), at), paid.clone())];
    for _ in 0..2 {
        let waiting = seen.mempool(&[], &watch).unwrap();
        assert_eq!((waiting.spent, waiting.received), (expected.clone(), Vec::new()));
    }
    node.mine(1);
    assert_eq!(seen.blocks(103, 103, &watch).unwrap()[0].spent, expected);
    assert_eq!(seen.mempool(&[], &watch).unwrap().spent, []);
}

#[test]
fn client_reports_a_replacement_and_the_replaced_transaction() {
    let Some(node) = start_node(&[]) else { return };
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let address = node.new_address("bech32");
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&address]);
    let first = node.pay(&address, "1");
    let before = seen.mempool(&[], &watch).unwrap().received;
    let bumped = node.call("bumpfee", json!([first]));
    let second = bumped["txid"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    let InputSource::Output(from, at) = &before[0].spends[0] else { unreachable!("{before:?}") };
    let watch = watch.with_output(from, *at);
    let after = seen.mempool(std::slice::from_ref(&first), &watch).unwrap();
    assert_eq!(after.vanished, vec![first]);
    assert_eq!(after.received.len(), 1);
    assert_eq!(after.received[0].txid, second);
    assert_eq!(after.received[0].spends, before[0].spends);
    assert_eq!(after.spent, [(before[0].spends[0].clone(), second)]);
}

#[test]
fn reorg_unconfirms_an_indexed_transaction() {
    let Some(node) = start_node(&["-txindex=1"]) else {
        return;
    };
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let address = node.new_address("bech32");
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&address]);
    let paid = node.pay(&address, "1");
    let lost = node.mine(1).remove(0);
    let block = seen.block_of_transaction(&paid).unwrap().unwrap();
    assert_eq!((block.height, &block.hash), (102, &lost));

    node.call("invalidateblock", json!([lost]));
    assert_eq!(seen.block_hash_at(102), Ok(None));
    assert_eq!(
        seen.block_of_transaction(&paid),
        Ok(None),
        "the transaction is in the mempool again"
    );
    assert_eq!(seen.head().unwrap().block.height, 101);
    assert_eq!(seen.mempool(&[], &watch).unwrap().received.len(), 1);

    // A replacement spends the same input, but the index of the node still returns the replaced transaction.
    let bumped = node.call("bumpfee", json!([paid]))["txid"].as_str().unwrap().to_owned();
    let hashes = node.mine(2);
    let stale = node.call("getrawtransaction", json!([paid, 1]));
    assert_eq!((&stale["blockhash"], &stale["confirmations"]), (&json!(lost), &json!(0)));
    assert_eq!(seen.block_of_transaction(&paid), Ok(None));
    let blocks = seen.blocks(101, 103, &watch).unwrap();
    assert_eq!(blocks[1].block.hash, hashes[0]);
    assert_eq!(
        block_payment_tuples(&blocks).iter().map(|one| &one.0).collect::<Vec<_>>(),
        [&bumped]
    );

    // The first branch becomes active again, because it is longer by one block.
    node.call("invalidateblock", json!([hashes[0]]));
    node.call("reconsiderblock", json!([lost]));
    assert_eq!(seen.block_of_transaction(&paid).unwrap().unwrap().hash, lost);
    assert_eq!(seen.block_of_transaction(&bumped), Ok(None));
    assert_eq!(seen.block_hash_at(102).unwrap(), Some(lost));
}

#[test]
fn node_without_txindex_finds_blocks_of_unspent_outputs() {
    let Some(node) = start_node(&["-txindex=0"]) else {
        return;
    };
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let paid = node.pay(&node.new_address("bech32"), "1");
    assert_eq!(seen.block_of_transaction(&paid), Ok(None));
    let hash = node.mine(3).remove(0);
    let error = node.try_call("getrawtransaction", json!([paid, 1])).unwrap_err();
    assert_eq!(error["code"], -5);
    let block = seen.block_of_transaction(&paid).unwrap().unwrap();
    assert_eq!((block.height, block.hash), (102, hash));
    assert_eq!(seen.block_of_transaction(&"ab".repeat(32)), Ok(None));
}

#[test]
fn client_reads_a_pruned_node_that_restarts() {
    let Some(node) = start_node(&["-prune=1"]) else {
        return;
    };
    let address = node.new_address("bech32");
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&address]);
    let paid = node.pay(&address, "1");
    node.mine(1);
    let mut seen = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let head = seen.head().unwrap();
    let received =
        block_payment_tuples(&seen.blocks(head.block.height, head.block.height, &watch).unwrap());
    assert_eq!(received[0].0, paid);
    // The client continues after the node restarts.
    node.stop();
    assert!(matches!(seen.head(), Err(NodeError::Unreachable(_))));
    node.start_process();
    assert_eq!(seen.head().unwrap().block, head.block);
}

#[test]
fn client_needs_only_the_rpc_subset_of_dogecoin() {
    let Some(node) = start_node(&["-txindex=1"]) else {
        return;
    };
    let proxy = RpcProxy::start_as_dogecoin(&node.url());
    let mut seen = utxo_client(Chain::Dogecoin, &proxy.url(), LIMITS);
    assert_eq!(seen.network(), Ok("regtest".to_owned()));
    let mut legacy = utxo_client(Chain::Litecoin, &node.url(), LIMITS);
    let address = node.new_address("legacy");
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&address]);
    for amount in ["1", "0.00010001", "2.5"] {
        node.pay(&address, amount);
    }
    let waiting = seen.mempool(&[], &watch).unwrap();
    assert_eq!(waiting.received.len(), 3);
    node.mine(1);
    let blocks = seen.blocks(95, 102, &watch).unwrap();
    let expected = legacy.blocks(95, 102, &watch).unwrap();
    assert_eq!(blocks.len(), 8);
    let amounts = |received: Vec<(String, u32, String, u128)>| -> BTreeSet<_> {
        let kept = received.into_iter();
        kept.map(|(txid, position, _, amount)| (txid, position, amount)).collect()
    };
    assert_eq!(amounts(block_payment_tuples(&blocks)), amounts(block_payment_tuples(&expected)));
    let written = block_payment_tuples(&blocks);
    assert!(written.iter().all(|one| one.2.starts_with('n')), "{written:?}");
    assert_eq!(proxy.call_count("getblock"), 8 + 1, "the numeric verbosity is tried once");
}

#[test]
fn node_of_another_network_is_rejected() {
    let Some(node) = start_node(&[]) else { return };
    let mut seen = utxo_client(Chain::Bitcoin, &node.url(), LIMITS);
    let text = "it is a node of litecoin (regtest)".to_owned();
    assert_eq!(seen.network(), Err(NodeError::Wrong(text.clone())));
    assert_eq!(seen.head(), Err(NodeError::Wrong(text.clone())));
    assert_eq!(seen.blocks(1, 1, &WatchList::default()), Err(NodeError::Wrong(text)));

    let wrong = node.url().replace("regtest", "guessed");
    let refused = utxo_client(Chain::Litecoin, &wrong, LIMITS).network();
    assert!(matches!(refused, Err(NodeError::Wrong(_))), "{refused:?}");
    // After three failures the client switches to the second URL.
    let both = format!("{wrong},{}", node.url());
    let mut seen = utxo_client(Chain::Litecoin, &both, LIMITS);
    let answers: Vec<bool> = (0..5).map(|_| seen.head().is_ok()).collect();
    assert_eq!(answers, [false, false, false, true, true]);
    let _: Value = node.call("getblockcount", json!([]));
}
