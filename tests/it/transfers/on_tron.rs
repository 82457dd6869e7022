//! Payouts and refunds sent by hand on Tron, with a simulated node, and settled by its chain.
//!
//! Invariant: the server polls its chain once after each start, and each start follows a kill.

use crate::chain::till::TestnetShop;
use crate::support::Response;
use crate::support::installation::{RunningServer, approval_body};
use crate::support::tron::{
    Action, ContractStep, Node, PAYER, SENDER, TOKEN, decode_address, encode_address,
};
use serde_json::{Value, json};

const TRX: &str = "TRX";
const USDT: &str = "USDT-TRC20";
/// Number of blocks after which a block is final.
const FINAL: u32 = 20;

/// A shop that accepts TRX and a token, and the node of its chain.
struct TronMerchant {
    node: Node,
    till: TestnetShop,
    running: Option<RunningServer>,
    /// Invoices of 20 EUR, one paid in each coin: asset and invoice id.
    invoices: [(&'static str, String); 2],
    destinations: u8,
}

/// A payout or refund.
struct TronTransfer {
    path: String,
    to: String,
    asset: &'static str,
    /// Amount in base units.
    units: u64,
}

impl TronMerchant {
    #[track_caller]
    fn open() -> TronMerchant {
        let node = Node::start();
        let till =
            TestnetShop::with_account_chain("tron", &node.url(), USDT, &encode_address(TOKEN));
        let mut merchant = TronMerchant {
            running: Some(till.start()),
            node,
            till,
            invoices: [TRX, USDT].map(|asset| (asset, String::new())),
            destinations: 0,
        };
        merchant.till.wait_for_rate("tron", TRX);
        for (at, units) in [(0, 200_000_000), (1, 20_000_000)] {
            let asset = merchant.invoices[at].0;
            let invoice = merchant.till.create_invoice(merchant.running(), asset);
            merchant.send_coin(asset, invoice["depositAddress"].as_str().unwrap(), units);
            merchant.invoices[at].1 = invoice["id"].as_str().unwrap().to_owned();
        }
        merchant.mine_and_sync(FINAL);
        let confirmed = "select group_concat(status) from invoices";
        merchant.till.served.wait_for_query_result(confirmed, &["confirmed,confirmed"]);
        merchant
    }

    fn running(&self) -> &RunningServer {
        self.running.as_ref().unwrap()
    }

    /// Kills the server, starts it again, and waits until it has read the chain.
    #[track_caller]
    fn restart_and_sync(&mut self) {
        self.running.take().unwrap().process.kill();
        let now = self.till.set_latest_time(0);
        self.running = Some(self.till.start());
        let height = self.node.height();
        let read = format!(
            "select (stepped_at > {now} and height = {height} and complete_height = {} \
             and not exists (select 1 from rescans)) || '' from chain_cursors",
            height - FINAL + 1
        );
        self.till.served.wait_for_query_result(&read, &["1"]);
    }

    /// Mines blocks, restarts the server, and waits until the server has read the new blocks.
    #[track_caller]
    fn mine_and_sync(&mut self, blocks: u32) {
        self.node.mine(blocks);
        self.restart_and_sync();
    }

    /// Sends a coin and returns the transaction id.
    #[track_caller]
    fn send_coin(&self, asset: &str, to: &str, units: u64) -> String {
        if asset == TRX { self.node.pay(to, units) } else { self.node.pay_token(to, units) }
    }

    /// Requests a payout of 0.199 or a refund of 0.009 of a coin.
    #[track_caller]
    fn request_transfer(&mut self, kind: &str, asset: &'static str) -> TronTransfer {
        self.destinations += 1;
        let to = encode_address([self.destinations; 20]);
        let (id, units) = if kind == "payouts" {
            let payee = [asset, "tron", &to];
            let running = self.running();
            (self.till.served.request_payout_to(running, payee), 199_000)
        } else {
            let invoice = &self.invoices.iter().find(|(coin, _)| *coin == asset).unwrap().1;
            (self.till.request_refund(self.running(), invoice, "1.00", &to), 9_000)
        };
        let path = format!("/dashboard/api/{kind}/{id}");
        TronTransfer { path, to, asset, units }
    }

    /// Returns a new transfer that is in processing and is sent by hand.
    #[track_caller]
    fn processing_transfer(&mut self, kind: &str, asset: &'static str) -> TronTransfer {
        let sent = self.request_transfer(kind, asset);
        self.approve(&sent);
        self.apply_action(&sent, &json!({ "action": "process" })).expect(200);
        sent
    }

    #[track_caller]
    fn approve(&self, of: &TronTransfer) {
        let mut approval = approval_body();
        approval["sentBy"] = "hand".into();
        self.apply_action(of, &approval).expect(200);
    }

    #[track_caller]
    fn apply_action(&self, of: &TronTransfer, body: &Value) -> Response {
        self.running().operator_request("POST", &of.path, body)
    }

    #[track_caller]
    fn enter_txid(&self, of: &TronTransfer, txid: &str) {
        let body = json!({ "action": "pay", "txid": txid });
        self.apply_action(of, &body).expect(200);
    }

    #[track_caller]
    fn read_transfer(&self, of: &TronTransfer) -> Value {
        self.till.read_transfer(self.running(), &of.path)
    }

    /// Waits until the transfer has this status and chain state and its problem contains `problem`. Returns the
    /// transfer.
    #[track_caller]
    fn wait_for_state(&self, of: &TronTransfer, status: &str, state: &str, problem: &str) -> Value {
        self.till.wait_for_transfer(self.running(), &of.path, [status, state], problem)
    }
}

/// Moves a payout and a refund from requested to paid. The server is killed before each poll.
#[track_caller]
fn settle_from_request(merchant: &mut TronMerchant, kinds: [(&str, &'static str); 2]) {
    let all = kinds.map(|(kind, asset)| merchant.request_transfer(kind, asset));
    merchant.restart_and_sync();
    all.iter().for_each(|sent| merchant.approve(sent));
    merchant.restart_and_sync();
    for sent in &all {
        merchant.apply_action(sent, &json!({ "action": "process" })).expect(200);
        let read = merchant.read_transfer(sent);
        assert_eq!(read["paymentUri"], Value::Null, "{read:#}");
    }
    merchant.restart_and_sync();
    all.iter().for_each(|sent| drop(merchant.wait_for_state(sent, "processing", "waiting", "")));
    let txids = all.each_ref().map(|sent| merchant.send_coin(sent.asset, &sent.to, sent.units));
    // The first id is entered in upper case with `0x`, before its transaction is in a block. The server finds the
    // other transaction by its exact amount.
    merchant.enter_txid(&all[0], &format!("0x{}", txids[0].to_uppercase()));
    merchant.restart_and_sync();
    all.iter().for_each(|sent| drop(merchant.wait_for_state(sent, "processing", "waiting", "")));
    merchant.mine_and_sync(1);
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(
            merchant.wait_for_state(sent, "processing", "seen", "")["onChain"]["txid"],
            **txid
        );
    }
    // A reorg moves the transactions to another block.
    merchant.node.chain().reorg(1, &[]);
    merchant.node.mine(2);
    merchant.restart_and_sync();
    merchant.mine_and_sync(FINAL - 3);
    all.iter().for_each(|sent| drop(merchant.wait_for_state(sent, "processing", "seen", "")));
    merchant.mine_and_sync(1);
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(merchant.wait_for_state(sent, "paid", "settled", "")["txid"], **txid);
    }
    merchant.restart_and_sync();
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(merchant.wait_for_state(sent, "paid", "settled", "")["txid"], **txid);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn payout_and_refund_settle_despite_a_kill_at_each_step() {
    let mut merchant = TronMerchant::open();
    settle_from_request(&mut merchant, [("payouts", TRX), ("refunds", USDT)]);
    settle_from_request(&mut merchant, [("refunds", TRX), ("payouts", USDT)]);
}

#[test]
fn final_reverted_transaction_is_provably_lost() {
    let mut merchant = TronMerchant::open();
    let both = [("payouts", TRX), ("refunds", USDT)];
    let both = both.map(|(kind, asset)| merchant.processing_transfer(kind, asset));
    for sent in &both {
        let to = decode_address(&sent.to);
        let act = match sent.asset {
            TRX => Action::contract_call(
                SENDER,
                PAYER,
                vec![ContractStep::trx_payment(SENDER, to, sent.units)],
            ),
            _ => Action::token_transfer(TOKEN, PAYER, to, sent.units),
        };
        let txid = merchant.node.send_failing(act);
        merchant.enter_txid(sent, &txid);
    }
    for blocks in [1, FINAL - 2] {
        merchant.mine_and_sync(blocks);
        for sent in &both {
            merchant.wait_for_state(
                sent,
                "processing",
                "needs_review",
                "reverted and moved nothing",
            );
            let refused = merchant.apply_action(sent, &json!({ "action": "fail" }));
            refused.assert_error(409, "invalid_transition", Some("force"));
        }
    }
    merchant.mine_and_sync(1);
    for sent in &both {
        merchant.wait_for_state(sent, "processing", "needs_review", "reverted");
        merchant.apply_action(sent, &json!({ "action": "fail" })).expect(200);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn contract_payment_settles_if_the_node_reports_it() {
    let mut merchant = TronMerchant::open();
    let both = ["payouts", "refunds"].map(|kind| merchant.processing_transfer(kind, TRX));
    let pays = |sent: &TronTransfer| {
        let step = ContractStep::trx_payment(SENDER, decode_address(&sent.to), sent.units);
        Action::contract_call(SENDER, PAYER, vec![step])
    };
    let txids = both.each_ref().map(|sent| merchant.node.send(pays(sent)));
    merchant.enter_txid(&both[0], &txids[0]);
    merchant.mine_and_sync(FINAL);
    for (sent, txid) in both.iter().zip(&txids) {
        assert_eq!(merchant.wait_for_state(sent, "paid", "settled", "")["txid"], **txid);
    }
    merchant.till.served.assert_audit_clean();
    // A node that keeps no internal transactions does not report a payment by a contract.
    let untold = merchant.processing_transfer("payouts", TRX);
    merchant.node.chain().keeps_internal = false;
    let txid = merchant.node.send(pays(&untold));
    merchant.enter_txid(&untold, &txid);
    merchant.mine_and_sync(FINAL);
    let read = merchant.wait_for_state(&untold, "processing", "needs_review", &txid);
    assert_eq!(read["status"], "processing");
    merchant.till.served.assert_audit_clean();
}
