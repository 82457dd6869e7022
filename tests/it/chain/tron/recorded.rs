//! Responses of real nodes, stored in `recorded.json` with their sources.

use super::fixtures::{WatchedAccounts, payment_summary, tron_client};
use crate::support::tron::{Fault, Node as Standin};
use coffer::chain::rpc::{Endpoint, Limits, Rpc};
use coffer::chain::tokens::Tokens;
use coffer::chain::tron::Tron;
use coffer::chain::{LookupResult, Node};
use serde_json::{Value, json};

fn recorded_responses() -> Value {
    serde_json::from_str(include_str!("recorded.json")).unwrap()
}

/// Decodes a hexadecimal address, with or without its prefix.
#[track_caller]
fn decode_account(text: &str) -> [u8; 20] {
    let digits = &text[text.len() - 40..];
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..40).step_by(2).map(byte).collect();
    bytes.try_into().unwrap()
}

#[test]
fn recorded_main_network_block_is_read() {
    let (node, recorded) = (Standin::start(), recorded_responses());
    let block = &recorded["block"];
    let path = "/walletsolidity/getblockbylimitnext";
    node.inject(path, Fault::body(&json!({ "block": [block] })));
    let (to, from) = (
        decode_account("41c3d34597fb01e25d4d8e7ef34ccdd0f05bf85473"),
        decode_account("4174d7980a2a3e48e3a863365542e92ab8d646e0aa"),
    );
    let mut client = tron_client(&node.url());
    let read = client.blocks(67_674_988, 67_674_999, &WatchedAccounts(vec![to])).unwrap();
    let [read] = read.as_slice() else { unreachable!("{read:?}") };
    assert_eq!(read.block.hash, block["blockID"]);
    assert_eq!(read.time.0, 1_733_675_346_000);
    let received: Vec<_> = read.received.iter().map(payment_summary).collect();
    let txid = block["transactions"][0]["txID"].as_str().unwrap().to_owned();
    assert_eq!(received, [("TRX", txid, 0, to, 6, from)]);
    // The token of the main network is built in and needs no setting.
    let first = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
    node.inject(
        "/wallet/getblockbynum",
        Fault::from_change(move |_, answer| answer["blockID"] = first.into()),
    );
    let wrong = tron_client(&node.url()).network().unwrap_err().to_string();
    assert!(wrong.contains("no setting says where USDT-TRC20 is"), "{wrong}");
}

#[test]
fn recorded_java_tron_responses_are_read() {
    let (node, recorded) = (Standin::start(), recorded_responses());
    let to = decode_account("dcf2957055e8fcde477a077ecfeddf5ab2357547");
    let token = decode_account(recorded["token"]["contract_address"].as_str().unwrap());
    let endpoints = Endpoint::parse_list(&node.url()).unwrap();
    let rpc = Rpc::new(endpoints, Vec::new(), Limits::default());
    let mut client =
        Tron::new(rpc, Tokens::from([("USDT-TRC20", crate::support::tron::encode_address(token))]));
    client.network().unwrap();
    for (name, kind, expected) in [
        ("token", "TriggerSmartContract", vec![("USDT-TRC20", 1, 1_000_000)]),
        ("internal", "TriggerSmartContract", vec![("TRX", 1_000_000, 1)]),
        ("other_info", "CancelAllUnfreezeV2Contract", Vec::new()),
    ] {
        let info = &recorded[name];
        let id = info["id"].as_str().unwrap();
        node.inject("/wallet/gettransactioninfobyid", Fault::body(info));
        // Only the block of the last transaction was recorded. The test builds the blocks of the other transactions
        // from this block.
        let mut block = recorded["other_block"].clone();
        let height = info["blockNumber"].as_u64().unwrap();
        let text = block["blockID"].as_str().unwrap().to_owned();
        block["blockID"] = format!("{height:016x}{}", &text[16..]).into();
        let header = &mut block["block_header"]["raw_data"];
        header["parentHash"] = format!("{:016x}{}", height - 1, &text[16..]).into();
        header["number"] = height.into();
        let sent = &mut block["transactions"][0];
        sent["txID"] = id.into();
        sent["raw_data"]["contract"][0]["type"] = kind.into();
        node.inject("/wallet/getblockbynum", Fault::body(&block));
        let found = client.look_up_transaction(id, &[], &WatchedAccounts(vec![to])).unwrap();
        let LookupResult::Found(found) = found else { unreachable!("{name}") };
        let received = found.received.iter();
        let received: Vec<_> =
            received.map(|one| (one.asset.id, one.position, one.amount.0)).collect();
        assert_eq!(received, expected, "{name}");
        assert!(found.is_done, "{name}");
    }
}
