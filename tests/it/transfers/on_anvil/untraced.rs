//! Native coin sent by a contract, read through a node without traces.

use super::{ETH, EthMerchant, FINAL};
use crate::process::deploy::signer::CHAIN_ID;
use crate::support::anvil::{Node, address_word};
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use serde_json::json;

const UNTESTED: &str = "payouts and refunds that a contract sends on ethereum";

#[test]
fn contract_transfer_of_coin_is_seen_only_with_traces() {
    let Some(node) = Node::start(CHAIN_ID, UNTESTED) else {
        return;
    };
    let contract = node.deploy_forwarder();
    let proxy = RpcProxy::start(&node.url);
    for method in ["trace_block", "trace_transaction"] {
        proxy.inject(method, RpcFault::error(-32601, "Method not found"));
    }
    let mut merchant = EthMerchant::open_with_node(node, &proxy.url(), |_, _| Vec::new());
    let both = ["payouts", "refunds"].map(|kind| merchant.processing_transfer(kind, ETH));
    let txids = both.each_ref().map(|sent| {
        let to = [address_word(&sent.to)];
        let node = &merchant.node;
        let txid = node.call_contract(&contract, "delegate(address)", &to, sent.units);
        txid.as_str().unwrap().to_owned()
    });
    both.iter().zip(&txids).for_each(|(sent, txid)| merchant.enter_txid(sent, txid));
    merchant.mine_and_sync(1);
    for (sent, txid) in both.iter().zip(&txids) {
        let problem = format!(
            "cannot be told by this node, as a contract may have sent it: its balance was 0 base units before that block \
             and {} after it",
            sent.units
        );
        let reviewed = merchant.wait_for_review(sent, &problem);
        let found = reviewed["onChain"]["problem"].as_str().unwrap();
        assert!(found.starts_with(&format!("whether transaction {txid} pays ")), "{found}");
    }
    // An operator confirms the first payment. Then the server reads the final blocks again, from a node with traces.
    let counted = json!({ "action": "pay", "txid": txids[0], "reason": "its balance says so" });
    merchant.apply_action(&both[0], &counted).expect(200);
    proxy.clear_faults();
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&both, &txids);
    merchant.till.served.assert_audit_clean();
}
