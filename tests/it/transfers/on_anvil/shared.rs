//! One transaction that pays several transfers. Each payment in the transaction settles one transfer.

use super::{ETH, EthMerchant, EthTransfer, FINAL, USDC};
use crate::process::deploy::signer::CHAIN_ID;
use crate::support::anvil::{Node, address_word};
use serde_json::json;

const UNTESTED: &str = "transactions that pay several transfers on ethereum";

/// Sends the exact token amounts of these transfers in one transaction, and returns its id.
#[track_caller]
fn send_batch(merchant: &EthMerchant, to: &[&EthTransfer]) -> String {
    let number = |number: u128| format!("{number:064x}");
    let count = u128::try_from(to.len()).unwrap();
    let mut words = vec![number(64), number(96 + 32 * count), number(count)];
    words.extend(to.iter().map(|sent| address_word(&sent.to)));
    words.push(number(count));
    words.extend(to.iter().map(|sent| number(sent.units)));
    let function = "batch(address[],uint256[])";
    let txid = merchant.node.call_contract(&merchant.token, function, &words, 0);
    txid.as_str().unwrap().to_owned()
}

#[test]
fn each_log_of_a_transaction_pays_one_transfer() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    let payout = merchant.processing_transfer("payouts", USDC);
    let first = merchant.processing_transfer("refunds", USDC);
    let [second, third] =
        [(); 2].map(|()| merchant.processing_transfer_to("refunds", USDC, first.to.clone()));
    merchant.node.set_mining_paused(true);
    let txid = send_batch(&merchant, &[&payout, &first, &second]);
    // The transaction is not in a block yet.
    for sent in [&payout, &first, &second, &third] {
        merchant.enter_txid(sent, &txid);
    }
    merchant.mine_and_sync(1);
    let paid = [payout, first, second];
    let txids = [txid.clone(), txid.clone(), txid.clone()];
    merchant.assert_all_seen(&paid, &txids);
    merchant.wait_for_review(&third, "pays this destination for other transfers only");
    merchant.apply_action(&third, &json!({ "action": "detach" })).expect(200);
    for _ in 0..2 {
        let refused = merchant.apply_pay_action(&third, &txid);
        refused.assert_error(409, "invalid_transition", Some("txid"));
        merchant.assert_waiting(&third);
        merchant.mine_and_sync(FINAL);
        merchant.assert_all_paid(&paid, &txids);
    }
    let own = merchant.send_transfer_amount(&third);
    merchant.mine_and_sync(FINAL);
    merchant.assert_paid(&third, &own);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn entered_txid_takes_its_output_from_an_automatic_match() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    for asset in [ETH, USDC] {
        let first = merchant.processing_transfer("refunds", asset);
        let second = merchant.request_transfer("refunds", asset, first.to.clone());
        merchant.approve(&second, "hand");
        let found = merchant.send_transfer_amount(&first);
        merchant.restart_and_sync();
        merchant.assert_seen(&first, &found);
        merchant.apply_action(&second, &json!({ "action": "process" })).expect(200);
        merchant.enter_txid(&second, &found);
        merchant.assert_seen(&second, &found);
        merchant.assert_waiting(&first);
        let own = merchant.send_transfer_amount(&first);
        merchant.mine_and_sync(FINAL);
        merchant.assert_all_paid(&[first, second], &[own, found]);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn signer_txid_that_pays_another_transfer_is_reviewed() {
    let Some(node) = Node::start(CHAIN_ID, UNTESTED) else {
        return;
    };
    let url = node.url.clone();
    let mut merchant = EthMerchant::open_with_node(node, &url, |till, _| {
        let script = format!("cat > /dev/null\ncat {}", till.served.path("answer").display());
        vec!["--signer".to_owned(), till.served.write_program("signer", &script)]
    });
    let first = merchant.processing_transfer("refunds", ETH);
    let txid = merchant.send_transfer_amount(&first);
    merchant.enter_txid(&first, &txid);
    merchant.restart_and_sync();
    merchant.assert_seen(&first, &txid);
    let answer = json!({ "txid": txid }).to_string();
    std::fs::write(merchant.till.served.path("answer"), answer).unwrap();
    let second = merchant.request_transfer("refunds", ETH, first.to.clone());
    merchant.approve(&second, "signer");
    let reviewed =
        merchant.wait_for_review(&second, "pays this destination for other transfers only");
    assert_eq!(reviewed["txid"], txid);
    let right = merchant.send_transfer_amount(&second);
    merchant.enter_txid(&second, &right);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&[first, second], &[txid, right]);
    merchant.till.served.assert_audit_clean();
}
