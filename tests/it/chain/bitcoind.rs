//! Behaviour in regtest that only the newest bitcoind shows. The tests are skipped without a bitcoind.

use super::counter::{UtxoShop, foreign_address};
use super::watch::{LIMITS, WatchList, block_payment_tuples, payment_tuples, utxo_client};
use crate::support::payer::Payer;
use crate::support::regtest::Regtest;
use coffer::chain::{Node, NodeError};
use coffer::domain::chain::Chain;
use serde_json::json;

const UNTESTED: &str = "the newest bitcoind";

/// In responses of the newest bitcoind, a JSON-RPC 2.0 error has the HTTP status 200, and an output has one `address`
/// instead of a list.
#[test]
fn client_reads_responses_of_the_newest_bitcoind() {
    let Some(node) = Regtest::start_bitcoind(&[], UNTESTED) else {
        return;
    };
    let mut payer = Payer::with_coins(&node, 2);
    let unknown = "ab".repeat(32);
    let mut call = json!({ "id": 7, "method": "getrawtransaction", "params": [unknown, 1] });
    let (status, answer) = node.post_json(call.clone());
    assert_eq!((status, answer["error"]["code"].as_i64()), (500, Some(-5)));
    call["jsonrpc"] = json!("2.0");
    let (status, answer) = node.post_json(call.clone());
    assert_eq!((status, answer["error"]["code"].as_i64()), (200, Some(-5)));
    assert_eq!(answer.get("result"), None);
    let (status, answers) = node.post_json(json!([call, call]));
    assert_eq!((status, answers.as_array().unwrap().len()), (200, 2));

    let mut seen = utxo_client(Chain::Bitcoin, &node.url(), LIMITS);
    assert_eq!(seen.network(), Ok("regtest".to_owned()));
    assert_eq!(seen.block_of_transaction(&unknown), Ok(None));
    assert_eq!(seen.block_hash_at(1_000), Ok(None));
    let wrong = node.url().replace("regtest", "guessed");
    let refused = utxo_client(Chain::Bitcoin, &wrong, LIMITS).network();
    assert!(matches!(refused, Err(NodeError::Wrong(_))), "{refused:?}");
    let refused = utxo_client(Chain::Litecoin, &node.url(), LIMITS).network();
    let text = "it is a node of bitcoin (regtest)".to_owned();
    assert_eq!(refused, Err(NodeError::Wrong(text)));

    let nobody = foreign_address(&node);
    let watch = WatchList::for_addresses(Chain::Bitcoin, &[&nobody]);
    let made = payer.pay(&[(&nobody, 12_345_678)]);
    let read = node.call("getrawtransaction", json!([made.txid, 1]));
    let script = &read["vout"][0]["scriptPubKey"];
    assert_eq!((&script["address"], script.get("addresses")), (&json!(nobody), None));
    let expected = vec![(made.txid.clone(), 0, nobody.clone(), 12_345_678)];
    let waiting = seen.mempool(&[], &watch).unwrap();
    assert_eq!(payment_tuples(&waiting.received), expected);
    assert!(waiting.received[0].first_seen.is_some());
    assert_eq!(seen.block_of_transaction(&made.txid), Ok(None));
    payer.mine(3);
    let head = seen.head().unwrap();
    assert!(head.is_complete);
    let mined = head.block.height - 2;
    let blocks = seen.blocks(mined, head.block.height, &watch).unwrap();
    assert_eq!((blocks.len(), block_payment_tuples(&blocks)), (3, expected));
    // Without a transaction index, the node still finds the blocks of unspent outputs.
    let error = node.try_call("getrawtransaction", json!([made.txid, 1]));
    assert_eq!(error.unwrap_err()["code"], -5);
    let place = seen.block_of_transaction(&made.txid).unwrap().unwrap();
    assert_eq!((place.height, place.hash), (mined, blocks[0].block.hash.clone()));
    let gone = seen.mempool(std::slice::from_ref(&made.txid), &watch).unwrap();
    assert_eq!((gone.received, gone.vanished), (Vec::new(), vec![made.txid]));
}

#[test]
fn txindex_does_not_confirm_invalidated_transactions() {
    let Some(node) = Regtest::start_bitcoind(&["-txindex=1"], UNTESTED) else {
        return;
    };
    let mut payer = Payer::with_coins(&node, 1);
    let mut seen = utxo_client(Chain::Bitcoin, &node.url(), LIMITS);
    let nobody = foreign_address(&node);
    let paid = payer.pay(&[(&nobody, 100_000)]);
    let lost = payer.mine(1).remove(0);
    assert_eq!(seen.block_of_transaction(&paid.txid).unwrap().unwrap().hash, lost);
    node.call("invalidateblock", json!([lost]));
    let other = payer.replace(&paid, &[(&nobody, 50_000)]);
    let found = payer.mine(2).remove(0);
    assert_eq!(seen.block_of_transaction(&paid.txid), Ok(None));
    assert_eq!(seen.block_of_transaction(&other.txid).unwrap().unwrap().hash, found);
    node.call("reconsiderblock", json!([lost]));
    node.call("invalidateblock", json!([found]));
    assert_eq!(seen.block_of_transaction(&paid.txid).unwrap().unwrap().hash, lost);
    assert_eq!(seen.block_of_transaction(&other.txid), Ok(None));
}

/// A transaction without a fee enters the mempool together with the transaction that pays for it (BIP 431).
#[test]
fn transaction_package_pays_an_invoice_at_a_taproot_address() {
    let Some(node) = Regtest::start_bitcoind(&[], UNTESTED) else {
        return;
    };
    let mut counter = UtxoShop::open(&node, "BTC", "tr");
    let dues = counter.create_invoices(2);
    let [first, second] = &dues[..] else { unreachable!("two were made") };
    assert!(first.address.starts_with("bcrt1p"), "{}", first.address);
    let price = first.amount;
    counter.payer.use_version_3();
    let free = counter.payer.sign_without_fee(&[(&first.address, price)]);
    let rest = free.rest.clone().unwrap();
    let pays = counter.payer.sign_with_inputs(vec![rest], &[(&second.address, price)]);
    let taken = node.call("submitpackage", json!([[free.raw, pays.raw]]));
    assert_eq!(taken["package_msg"], "success", "{taken}");
    counter.assert_invoices(&[(first, "detected", price), (second, "detected", price)]);
    // A transaction that spends the change of a replaced transaction is dropped.
    let other = counter.payer.replace(&free, &[(&first.address, price / 2)]);
    counter.assert_invoices(&[(first, "detected", price / 2), (second, "awaiting_payment", 0)]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(first, "underpaid", price / 2), (second, "awaiting_payment", 0)]);
    let booked = "select group_concat(txid, ' ') from observations where state <> 'dropped'";
    counter.wait_for_query(booked, &other.txid);
    counter.assert_ledger_matches_chain();
}

#[test]
fn pruned_node_is_followed_although_a_rescan_fails() {
    let Some(node) = Regtest::start_bitcoind(&["-fastprune", "-prune=1"], UNTESTED) else {
        return;
    };
    let mut counter = UtxoShop::open(&node, "BTC", "wpkh");
    counter.payer.mine(700);
    // The server reads these blocks before the node prunes them.
    drop(counter.start_synced());
    let pruned = node.call("pruneblockchain", json!([400]));
    assert!(pruned.as_u64().unwrap() > 1, "{pruned}");
    let mut seen = utxo_client(Chain::Bitcoin, &node.url(), LIMITS);
    let text = "it has pruned the block at height 1".to_owned();
    assert_eq!(seen.blocks(1, 1, &WatchList::default()), Err(NodeError::Wrong(text)));
    let dues = counter.create_invoices(1);
    counter.till.run_coffer(&["rescan", "bitcoin", "--from", "1"]);
    counter.payer.pay(&[(&dues[0].address, dues[0].amount)]);
    let running = counter.start_synced();
    // The server has read the chain to its end, but still shows the problem of the failed rescan.
    let bitcoin = running.first_chain();
    let problem = "the rescan: its node is the wrong one: it has pruned the block at height 1";
    assert_eq!((&bitcoin["problem"], &bitcoin["keepsUp"]), (&json!(problem), &json!(true)));
    drop(running);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(&dues[0], "confirmed", dues[0].amount)]);
}
