//! Payouts that were approved and sent before the server watched their chain, on a real litecoind. The server reads
//! the chain starting at the time of the approval.

use crate::chain::till::TestnetShop;
use crate::support::installation::approval_body;
use crate::support::litecoind::Litecoind;
use serde_json::json;

const UNTESTED: &str = "payouts that were sent before their chain was watched";

/// Returns a shop with a payout in processing, and the id of the payout's transaction. The server is stopped, and the
/// transaction was confirmed while it was down.
#[track_caller]
fn create_sent_payout() -> Option<(Litecoind, TestnetShop, String)> {
    let node = Litecoind::start(&[], UNTESTED)?;
    node.fund_wallet();
    let till = TestnetShop::with_utxo_chain("litecoin", &node.url());
    let mut running = till.start();
    till.wait_for_rate("litecoin", "LTC");
    let to = node.new_address("bech32");
    let payee = ["LTC", "litecoin", &to];
    let id = till.served.request_payout_to(&running, payee);
    let path = format!("/dashboard/api/payouts/{id}");
    for step in [approval_body(), json!({ "action": "process" })] {
        running.operator_request("POST", &path, &step).expect(200);
    }
    assert!(running.process.close_input_and_wait());
    let txid = node.pay(&to, "0.199");
    node.mine(20);
    Some((node, till, txid))
}

/// Asserts that a server finds the transaction, which settles the payout.
#[track_caller]
fn assert_payout_settled(till: &TestnetShop, txid: &str) {
    let running = till.start();
    let settled = "select status || ' ' || ifnull(settled_by, '-') || ' ' || ifnull(txid, '-') from transfers";
    till.served.wait_for_query_result(settled, &[&format!("paid chain {txid}")]);
    drop(running);
    till.served.assert_audit_clean();
}

#[test]
fn payout_sent_before_the_first_cursor_is_found() {
    let Some((_node, till, txid)) = create_sent_payout() else {
        return;
    };
    let unwatched = "delete from chain_blocks; delete from chain_cursors; update transfers set watched_from = null";
    till.served.open_file().execute_batch(unwatched).unwrap();
    assert_payout_settled(&till, &txid);
}
