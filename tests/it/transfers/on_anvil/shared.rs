//! One transaction for several transfers: each output pays one transfer.

use super::{ETH, FINAL, Merchant, Sent, USDC};
use crate::process::deploy::signer::CHAIN_ID;
use crate::support::anvil::{Node, address_word};
use serde_json::json;

const UNTESTED: &str = "transactions that pay several transfers on ethereum";

/// Sends the exact token amounts of these transfers in one transaction, and returns its id.
#[track_caller]
fn batch(merchant: &Merchant, to: &[&Sent]) -> String {
    let number = |number: u128| format!("{number:064x}");
    let count = u128::try_from(to.len()).unwrap();
    let mut words = vec![number(64), number(96 + 32 * count), number(count)];
    words.extend(to.iter().map(|sent| address_word(&sent.to)));
    words.push(number(count));
    words.extend(to.iter().map(|sent| number(sent.units)));
    let function = "batch(address[],uint256[])";
    let txid = merchant.node.call(&merchant.token, function, &words, 0);
    txid.as_str().unwrap().to_owned()
}

#[test]
fn each_log_of_a_transaction_pays_one_transfer() {
    let Some(mut merchant) = Merchant::open(UNTESTED) else {
        return;
    };
    let payout = merchant.processing(("payouts", USDC));
    let first = merchant.processing(("refunds", USDC));
    let [second, third] =
        [(); 2].map(|()| merchant.processing_to(("refunds", USDC), first.to.clone()));
    merchant.node.hold(true);
    let txid = batch(&merchant, &[&payout, &first, &second]);
    // None of these transactions is seen yet.
    for sent in [&payout, &first, &second, &third] {
        merchant.enter(sent, &txid);
    }
    merchant.mine(1);
    let paid = [payout, first, second];
    let txids = [txid.clone(), txid.clone(), txid.clone()];
    merchant.are_seen(&paid, &txids);
    merchant.is_reviewed(&third, "pays this destination for other transfers only");
    merchant
        .act(&third, &json!({ "action": "detach" }))
        .expect(200);
    for _ in 0..2 {
        let refused = merchant.pay(&third, &txid);
        refused.assert_error(409, "invalid_transition", Some("txid"));
        merchant.waits(&third);
        merchant.mine(FINAL);
        merchant.are_paid(&paid, &txids);
    }
    let own = merchant.send_it(&third);
    merchant.mine(FINAL);
    merchant.is_paid(&third, &own);
    merchant.is_right();
}

#[test]
fn entered_txid_takes_its_output_from_an_automatic_match() {
    let Some(mut merchant) = Merchant::open(UNTESTED) else {
        return;
    };
    for asset in [ETH, USDC] {
        let first = merchant.processing(("refunds", asset));
        let found = merchant.send_it(&first);
        merchant.look();
        merchant.is_seen(&first, &found);
        let second = merchant.processing_to(("refunds", asset), first.to.clone());
        merchant.enter(&second, &found);
        merchant.is_seen(&second, &found);
        merchant.waits(&first);
        let own = merchant.send_it(&first);
        merchant.mine(FINAL);
        merchant.are_paid(&[first, second], &[own, found]);
    }
    merchant.is_right();
}

#[test]
fn signer_txid_that_pays_another_transfer_is_reviewed() {
    let Some(node) = Node::start(CHAIN_ID, UNTESTED) else {
        return;
    };
    let url = node.url.clone();
    let mut merchant = Merchant::of(node, &url, |till, _| {
        let script = format!(
            "cat > /dev/null\ncat {}",
            till.served.path("answer").display()
        );
        vec![
            "--signer".to_owned(),
            till.served.program("signer", &script),
        ]
    });
    let first = merchant.processing(("refunds", ETH));
    let txid = merchant.send_it(&first);
    merchant.enter(&first, &txid);
    merchant.look();
    merchant.is_seen(&first, &txid);
    let answer = json!({ "txid": txid }).to_string();
    std::fs::write(merchant.till.served.path("answer"), answer).unwrap();
    let second = merchant.approved_to(("refunds", ETH), "signer", first.to.clone());
    let reviewed = merchant.is_reviewed(&second, "pays this destination for other transfers only");
    assert_eq!(reviewed["txid"], txid);
    let right = merchant.send_it(&second);
    merchant.enter(&second, &right);
    merchant.mine(FINAL);
    merchant.are_paid(&[first, second], &[txid, right]);
    merchant.is_right();
}
