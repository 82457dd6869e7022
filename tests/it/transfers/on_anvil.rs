//! Payouts and refunds sent on a real anvil and settled by its chain.
//!
//! Invariant: the server polls its chain once after each start, and each start follows a kill.

mod by_hand;
mod by_signer;
mod ended;
mod histories;
mod lost;
mod restored;
mod shared;
mod untraced;

use crate::chain::till::TestnetShop;
use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::process::deploy::signer::CHAIN_ID;
use crate::support::Response;
use crate::support::anvil::{Node, transfer_calldata};
use crate::support::installation::{RATES_OF_100, RunningServer, approval_body};
use serde_json::{Value, json};

const ETH: &str = "ETH";
const USDC: &str = "USDC-ERC20";
/// Number of blocks after which a block is final.
const FINAL: u32 = 9;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// A shop that accepts ETH and a token, and the node of its chain.
struct EthMerchant {
    node: Node,
    token: String,
    till: TestnetShop,
    running: Option<RunningServer>,
    /// Invoices of 20 EUR, one paid in each coin: asset and invoice id.
    invoices: [(&'static str, String); 2],
    /// Sender of the transfers in this test: `hand` or `signer`.
    sent_by: &'static str,
    /// Milliseconds by which the clocks of server and chain are ahead of the wall clock.
    ahead_ms: i64,
    destinations: u32,
}

/// A payout or refund.
struct EthTransfer {
    path: String,
    id: String,
    to: String,
    asset: &'static str,
    /// Amount in base units.
    units: u128,
}

/// Runs `scene` with transfers sent by hand, then with transfers sent by a signer. Asserts that the signer starts
/// once for each transfer that it sends.
#[track_caller]
fn play_with_each_sender(untested: &str, scene: fn(&mut EthMerchant)) {
    if let Some(mut merchant) = EthMerchant::open(untested) {
        scene(&mut merchant);
        merchant.till.served.assert_audit_clean();
    }
    if let Some(mut merchant) = by_signer::open_with_signer() {
        scene(&mut merchant);
        merchant.till.served.assert_audit_clean();
        let given = "select count(*) || '' from transfers where sent_by = 'signer'";
        let starts = merchant.signer_start_count().to_string();
        merchant.till.served.wait_for_query_result(given, &[&starts]);
    }
}

impl EthMerchant {
    /// Opens a shop; `None` where the machine has no anvil.
    #[track_caller]
    fn open(untested: &str) -> Option<EthMerchant> {
        let node = Node::start(CHAIN_ID, untested)?;
        let url = node.url.clone();
        Some(EthMerchant::open_with_node(node, &url, |_, _| Vec::new()))
    }

    /// Opens a shop that reads its node at this URL. `more` returns additional settings for the shop and its token.
    #[track_caller]
    fn open_with_node(
        node: Node,
        url: &str,
        more: impl FnOnce(&TestnetShop, &str) -> Vec<String>,
    ) -> EthMerchant {
        let token = node.deploy_token();
        let settings = [format!("ethereum={url}"), format!("{USDC}={token}")];
        let mut till = TestnetShop::new(&["--node", &settings[0], "--token", &settings[1]]);
        till.set_rates(r#"{"ETH": {"EUR": "100"}, "USDC": {"EUR": "1"}}"#);
        till.add_settings(more(&till, &token));
        let add = ["add", "evm", "--yes"];
        run_wallet_command(&till.served.file, &add, EVM_XPUB).json_lines();
        node.mine(FINAL);
        let mut merchant = EthMerchant {
            running: Some(till.start()),
            node,
            token,
            till,
            invoices: [ETH, USDC].map(|asset| (asset, String::new())),
            sent_by: "hand",
            ahead_ms: 0,
            destinations: 0,
        };
        merchant.pay_invoice_in_each_coin();
        merchant
    }

    #[track_caller]
    fn pay_invoice_in_each_coin(&mut self) {
        self.till.wait_for_rate("ethereum", "ETH");
        for (at, units) in [(0, 2 * 10_u128.pow(17)), (1, 20_000_000)] {
            let asset = self.invoices[at].0;
            let invoice = self.till.create_invoice(self.running(), asset);
            self.send_coin(asset, invoice["depositAddress"].as_str().unwrap(), units);
            self.invoices[at].1 = invoice["id"].as_str().unwrap().to_owned();
        }
        self.mine_and_sync(FINAL);
        let confirmed = "select group_concat(status) from invoices";
        let both = &["confirmed,confirmed"];
        self.till.served.wait_for_query_result(confirmed, both);
        self.till.change_rates(RATES_OF_100, "USDC", "100");
    }

    fn running(&self) -> &RunningServer {
        self.running.as_ref().unwrap()
    }

    /// Kills the server, starts it again, and waits until it has read the chain.
    #[track_caller]
    fn restart_and_sync(&mut self) {
        self.running.take().unwrap().process.kill();
        let now = self.till.set_latest_time(self.ahead_ms);
        self.running = Some(self.till.start());
        let read = format!(
            "select (stepped_at > {now} and height = {} and not exists (select 1 from rescans)) || '' \
             from chain_cursors",
            self.node.height()
        );
        self.till.served.wait_for_query_result(&read, &["1"]);
    }

    /// Mines blocks, restarts the server, and waits until the server has read the new blocks.
    #[track_caller]
    fn mine_and_sync(&mut self, blocks: u32) {
        self.node.mine(blocks);
        self.restart_and_sync();
    }

    /// Moves the server's clock and the time of the next block ahead.
    #[track_caller]
    fn advance_ms(&mut self, ms: i64) {
        self.ahead_ms += ms;
        self.node.call_rpc("evm_increaseTime", json!([ms / 1000]));
    }

    /// Sends a coin from the node's account, and returns the transaction id.
    #[track_caller]
    fn send_coin(&self, asset: &str, to: &str, units: u128) -> String {
        let payment = self.payment_fields(asset, to, units);
        let txid = self.node.send_transaction(payment);
        txid.as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn send_transfer_amount(&self, of: &EthTransfer) -> String {
        self.send_coin(of.asset, &of.to, of.units)
    }

    /// Returns the fields of a transaction that sends this amount.
    fn payment_fields(&self, asset: &str, to: &str, units: u128) -> Value {
        if asset == ETH {
            json!({ "to": to, "value": format!("{units:#x}") })
        } else {
            json!({ "to": self.token, "data": transfer_calldata(to, units) })
        }
    }

    /// Returns a new address that has received nothing.
    fn new_destination(&mut self) -> String {
        self.destinations += 1;
        format!("0x{:040x}", (0x1111_u128 << 112) + u128::from(self.destinations))
    }

    /// Requests a payout of 0.199 or a refund of 0.009 of a coin, and approves it with this sender.
    #[track_caller]
    fn approved_transfer(&mut self, kind: &str, asset: &'static str, sent_by: &str) -> EthTransfer {
        let to = self.new_destination();
        let sent = self.request_transfer(kind, asset, to);
        self.approve(&sent, sent_by);
        sent
    }

    #[track_caller]
    fn request_transfer(&self, kind: &str, asset: &'static str, to: String) -> EthTransfer {
        let (id, thousandths) = if kind == "payouts" {
            let payee = [asset, "ethereum", &to];
            let running = self.running();
            let id = self.till.served.request_payout_to(running, payee);
            (id, 199)
        } else {
            (self.request_refund(asset, &to), 9)
        };
        EthTransfer {
            path: format!("/dashboard/api/{kind}/{id}"),
            id,
            to,
            asset,
            units: thousandths * 10_u128.pow(if asset == ETH { 15 } else { 3 }),
        }
    }

    #[track_caller]
    fn approve(&self, of: &EthTransfer, sent_by: &str) {
        let mut approval = approval_body();
        approval["sentBy"] = sent_by.into();
        if of.path.contains("/refunds/") {
            approval["basis"] = "market".into();
        }
        self.apply_action(of, &approval).expect(200);
    }

    #[track_caller]
    fn request_refund(&self, asset: &str, to: &str) -> String {
        let invoice = &self.invoices.iter().find(|(coin, _)| *coin == asset).unwrap().1;
        self.till.request_refund(self.running(), invoice, "1.00", to)
    }

    /// Returns a new transfer that is in processing and is sent by hand.
    #[track_caller]
    fn processing_transfer(&mut self, kind: &str, asset: &'static str) -> EthTransfer {
        let to = self.new_destination();
        self.processing_transfer_to(kind, asset, to)
    }

    #[track_caller]
    fn processing_transfer_to(&self, kind: &str, asset: &'static str, to: String) -> EthTransfer {
        let sent = self.request_transfer(kind, asset, to);
        self.approve(&sent, "hand");
        let process = json!({ "action": "process" });
        self.apply_action(&sent, &process).expect(200);
        sent
    }

    /// Sends a new transfer and returns the transfer and the transaction id. If the transfer is sent by hand, the id
    /// is not entered yet.
    #[track_caller]
    fn send_transfer(&mut self, kind: &str, asset: &'static str) -> (EthTransfer, String) {
        if self.sent_by == "signer" {
            let sent = self.approved_transfer(kind, asset, self.sent_by);
            let txid = self.wait_for_signer_txid(&sent);
            return (sent, txid);
        }
        let sent = self.processing_transfer(kind, asset);
        let txid = self.send_transfer_amount(&sent);
        (sent, txid)
    }

    /// Sends new transfers and enters the transaction ids. Returns the transfers and the ids.
    #[track_caller]
    fn enter_txids(&mut self, all: &[(&str, &'static str)]) -> (Vec<EthTransfer>, Vec<String>) {
        let attached = all.iter().map(|&(kind, asset)| {
            let (sent, txid) = self.send_transfer(kind, asset);
            if self.sent_by == "hand" {
                self.enter_txid(&sent, &txid);
            }
            (sent, txid)
        });
        attached.unzip()
    }

    #[track_caller]
    fn apply_action(&self, of: &EthTransfer, body: &Value) -> Response {
        self.running().operator_request("POST", &of.path, body)
    }

    #[track_caller]
    fn apply_pay_action(&self, of: &EthTransfer, txid: &str) -> Response {
        self.apply_action(of, &json!({ "action": "pay", "txid": txid }))
    }

    #[track_caller]
    fn enter_txid(&self, of: &EthTransfer, txid: &str) {
        self.apply_pay_action(of, txid).expect(200);
    }

    #[track_caller]
    fn read_transfer(&self, of: &EthTransfer) -> Value {
        self.till.read_transfer(self.running(), &of.path)
    }

    /// Waits until the transfer has this status and chain state and its problem contains `problem`. Returns the
    /// transfer.
    #[track_caller]
    fn wait_for_state(&self, of: &EthTransfer, status: &str, state: &str, problem: &str) -> Value {
        self.till.wait_for_transfer(self.running(), &of.path, [status, state], problem)
    }

    /// Waits until the status of a transfer is `processing` and its chain state is `waiting`.
    #[track_caller]
    fn assert_waiting(&self, of: &EthTransfer) {
        self.wait_for_state(of, "processing", "waiting", "");
    }

    /// Waits until a transfer is in processing and the server has seen this transaction.
    #[track_caller]
    fn assert_seen(&self, of: &EthTransfer, txid: &str) {
        let seen = self.wait_for_state(of, "processing", "seen", "");
        assert_eq!(seen["onChain"]["txid"], txid);
    }

    #[track_caller]
    fn assert_all_seen(&self, of: &[EthTransfer], txids: &[String]) {
        of.iter().zip(txids).for_each(|(of, txid)| self.assert_seen(of, txid));
    }

    /// Waits until a transfer is in processing and must be reviewed by a person.
    #[track_caller]
    fn wait_for_review(&self, of: &EthTransfer, problem: &str) -> Value {
        self.wait_for_state(of, "processing", "needs_review", problem)
    }

    /// Asserts that this transaction settled a transfer, and that one event reports it.
    #[track_caller]
    fn assert_paid(&self, of: &EthTransfer, txid: &str) {
        let paid = self.wait_for_state(of, "paid", "settled", "");
        assert_eq!(paid["txid"], txid);
        self.assert_only_event(of, "paid");
    }

    #[track_caller]
    fn assert_all_paid(&self, of: &[EthTransfer], txids: &[String]) {
        of.iter().zip(txids).for_each(|(of, txid)| self.assert_paid(of, txid));
    }

    /// Asserts that a transfer has exactly one event, of this kind.
    #[track_caller]
    fn assert_only_event(&self, of: &EthTransfer, kind: &str) {
        let told = format!(
            "select group_concat(substr(type, 8)) from events where object_id = '{}'",
            of.id
        );
        self.till.served.wait_for_query_result(&told, &[kind]);
    }

    /// Asserts that the first open review of a transfer is of this kind. Resolves the review by this action, and
    /// returns the response.
    #[track_caller]
    fn resolve_review(&self, of: &EthTransfer, kind: &str, action: &str) -> Response {
        let read = self.read_transfer(of);
        let mut reviews = read["reviews"].as_array().unwrap().iter();
        let open = reviews.find(|review| review["endedAt"].is_null()).unwrap();
        assert_eq!(open["kind"], kind, "{read:#}");
        self.apply_action(
            of,
            &json!({ "action": action, "review": open["id"], "reason": "looked at" }),
        )
    }
}
