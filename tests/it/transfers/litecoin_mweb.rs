//! A refund that a wallet sends from its MWEB balance, on a real litecoind. The wallet's transaction is in no block: the
//! block's HogEx transaction pays the destination (LIP 3).

use super::litecoin_shop::{CONFIRMATIONS, LitecoinMerchant, SentBy};
use crate::support::litecoind::Litecoind;
use serde_json::json;

/// Height of regtest's first block that must have a peg-in.
const MWEB_HEIGHT: u64 = 432;
const UNTESTED: &str = "refunds sent from MWEB";

/// Moves coins of the node's wallet to MWEB: the wallet has no other coins then.
#[track_caller]
fn peg_in(merchant: &mut LitecoinMerchant<'_>) {
    let own = merchant.node.new_address("bech32");
    merchant.payer.pay(&[(&own, 300_000_000)]);
    let height = merchant.node.call("getblockcount", json!([])).as_u64().unwrap();
    merchant.payer.mine(usize::try_from(MWEB_HEIGHT - 1 - height).unwrap());
    let hidden = merchant.node.call_text("getnewaddress", json!(["", "mweb"]));
    merchant.node.call_text("sendtoaddress", json!([hidden, "3", "", "", true]));
    merchant.payer.mine(2);
}

#[test]
fn peg_out_of_an_entered_mweb_transaction_is_proposed_and_settles() {
    let Some(node) = Litecoind::start_with_mweb(&["-persistmempool=0"], UNTESTED) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    peg_in(&mut merchant);
    for by in [SentBy::Hand, SentBy::Signer] {
        let sent = merchant.processing_transfer("refunds", by, None);
        let txid = node.call_text("sendtoaddress", json!([sent.to, "0.009"]));
        merchant.enter_txid(&sent, &txid);
        merchant.restart_and_sync();
        let state = merchant.read_transfer(&sent)["onChain"].clone();
        assert_eq!((&state["state"], &state["problem"]), (&json!("waiting"), &json!(null)));
        merchant.payer.mine(1);
        merchant.restart_and_sync();
        let read = merchant.read_transfer(&sent);
        let block = node.call_text("getbestblockhash", json!([]));
        let block = node.call("getblock", json!([block, 2]));
        let hogex = block["tx"].as_array().unwrap().last().unwrap()["txid"].clone();
        assert_ne!(hogex, txid);
        assert_eq!(read["proposals"][0]["txid"], hogex, "{read}");
        assert_eq!(read["onChain"]["state"], "needs_review");
        merchant.apply_pay_action(&sent, hogex.as_str().unwrap()).expect(200);
        merchant.mine_and_sync(CONFIRMATIONS);
        merchant.assert_paid(&sent, hogex.as_str().unwrap());
    }
    merchant.till.served.assert_audit_clean();
}
