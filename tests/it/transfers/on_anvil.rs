//! Payouts and refunds sent on a real anvil and settled by its chain.
//!
//! Invariant: the server polls its chain once after each start, and each start follows a kill.

mod by_hand;
mod by_signer;
mod ended;
mod lost;
mod restored;
mod shared;
mod untraced;

use crate::chain::till::Till;
use crate::file::audit::findings;
use crate::operator::wallets::{EVM, parse_output, wallet};
use crate::process::deploy::signer::CHAIN_ID;
use crate::support::anvil::{Node, transfer_calldata};
use crate::support::installation::{RunningServer, approval};
use crate::support::polling;
use crate::support::{Response, agent, send};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

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
    till: Till,
    running: Option<RunningServer>,
    /// Invoices of 20 EUR, one paid in each coin: asset and invoice id.
    invoices: [(&'static str, String); 2],
    /// Sender of the transfers whose transaction a test creates: `hand` or `signer`.
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

/// Plays a scene with transfers sent by hand, then with a signer, which must start once for each of its transfers.
#[track_caller]
fn by_each(untested: &str, scene: fn(&mut EthMerchant)) {
    if let Some(mut merchant) = EthMerchant::open(untested) {
        scene(&mut merchant);
        merchant.assert_audit_clean();
    }
    if let Some(mut merchant) = by_signer::with_signer() {
        scene(&mut merchant);
        merchant.assert_audit_clean();
        let given = "select count(*) || '' from transfers where sent_by = 'signer'";
        let starts = merchant.starts().to_string();
        merchant.till.served.poll(given, &[&starts]);
    }
}

impl EthMerchant {
    /// Opens a shop; `None` where the machine has no anvil.
    #[track_caller]
    fn open(untested: &str) -> Option<EthMerchant> {
        let node = Node::start(CHAIN_ID, untested)?;
        let url = node.url.clone();
        Some(EthMerchant::of(node, &url, |_, _| Vec::new()))
    }

    /// Opens a shop that reads its node at this URL. `more` returns additional settings for the shop and its token.
    #[track_caller]
    fn of(node: Node, url: &str, more: impl FnOnce(&Till, &str) -> Vec<String>) -> EthMerchant {
        let token = node.deploy_token();
        let settings = [format!("ethereum={url}"), format!("{USDC}={token}")];
        let mut till = Till::new(&["--node", &settings[0], "--token", &settings[1]]);
        till.add_settings(more(&till, &token));
        parse_output(&wallet(&till.served.file, &["add", "evm", "--yes"], EVM));
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
        merchant.sell();
        merchant
    }

    #[track_caller]
    fn sell(&mut self) {
        self.till.wait_for_rate("ethereum", "ETH");
        for (at, units) in [(0, 10_u128.pow(16)), (1, 20_000_000)] {
            let asset = self.invoices[at].0;
            let invoice = self.till.invoice(self.running(), asset);
            self.send(asset, invoice["depositAddress"].as_str().unwrap(), units);
            self.invoices[at].1 = invoice["id"].as_str().unwrap().to_owned();
        }
        self.mine(FINAL);
        let confirmed = "select group_concat(status) from invoices";
        let both = &["confirmed,confirmed"];
        self.till.served.poll(confirmed, both);
    }

    fn running(&self) -> &RunningServer {
        self.running.as_ref().unwrap()
    }

    /// Kills the server, starts it again, and waits until it has read the chain.
    #[track_caller]
    fn restart_and_read(&mut self) {
        self.running.take().unwrap().process.kill();
        let file = self.till.served.open_file();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(wall.as_millis()).unwrap() + self.ahead_ms;
        // A server starts no earlier than the latest time in its file.
        file.execute("update file set last_tick_at = ?1", [now])
            .unwrap();
        self.running = Some(self.till.start());
        let read = format!(
            "select (stepped_at > {now} and height = {} and not exists (select 1 from rescans)) || '' \
             from chain_cursors",
            self.node.height()
        );
        self.till.served.poll(&read, &["1"]);
    }

    /// Mines blocks, restarts the server, and waits until it has read them.
    #[track_caller]
    fn mine(&mut self, blocks: u32) {
        self.node.mine(blocks);
        self.restart_and_read();
    }

    /// Moves the clock of the server, and of the next block of the chain, ahead.
    #[track_caller]
    fn advance_ms(&mut self, ms: i64) {
        self.ahead_ms += ms;
        self.node.ask("evm_increaseTime", json!([ms / 1000]));
    }

    /// Sends a coin from the node's account, and returns the transaction id.
    #[track_caller]
    fn send(&self, asset: &str, to: &str, units: u128) -> String {
        let txid = self.node.transact(self.payment(asset, to, units));
        txid.as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn send_amount(&self, of: &EthTransfer) -> String {
        self.send(of.asset, &of.to, of.units)
    }

    /// Returns the fields of a transaction that sends this amount.
    fn payment(&self, asset: &str, to: &str, units: u128) -> Value {
        if asset == ETH {
            json!({ "to": to, "value": format!("{units:#x}") })
        } else {
            json!({ "to": self.token, "data": transfer_calldata(to, units) })
        }
    }

    /// Returns a new address that has received nothing.
    fn destination(&mut self) -> String {
        self.destinations += 1;
        format!(
            "0x{:040x}",
            (0x1111_u128 << 112) + u128::from(self.destinations)
        )
    }

    /// Requests a payout of 0.199 or a refund of 0.009 of a coin, and approves it with this sender.
    #[track_caller]
    fn approved(&mut self, of: (&str, &'static str), sent_by: &str) -> EthTransfer {
        let to = self.destination();
        self.approved_to(of, sent_by, to)
    }

    #[track_caller]
    fn approved_to(&self, of: (&str, &'static str), sent_by: &str, to: String) -> EthTransfer {
        let sent = self.requested_to(of, to);
        self.approve(&sent, sent_by);
        sent
    }

    #[track_caller]
    fn requested_to(&self, (kind, asset): (&str, &'static str), to: String) -> EthTransfer {
        let (id, thousandths) = if kind == "payouts" {
            let payee = [asset, "ethereum", &to];
            let running = self.running();
            let id = self.till.served.requested_payout_in(running, payee);
            (id, 199)
        } else {
            (self.refund(asset, &to), 9)
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
        let mut approval = approval();
        approval["sentBy"] = sent_by.into();
        self.act(of, &approval).expect(200);
    }

    #[track_caller]
    fn refund(&self, asset: &str, to: &str) -> String {
        let account = &self.till.served.account;
        let path = format!("/dashboard/api/accounts/{account}/refunds");
        let invoice = self.invoices.iter().find(|(coin, _)| *coin == asset);
        let body = json!({ "invoice": invoice.unwrap().1, "amount": "1.00", "toAddress": to });
        let refund = self.running().operator_request("POST", &path, &body);
        refund.expect(201).json()["id"].as_str().unwrap().to_owned()
    }

    /// Returns a new transfer in processing that is sent by hand.
    #[track_caller]
    fn processing(&mut self, of: (&str, &'static str)) -> EthTransfer {
        let to = self.destination();
        self.processing_to(of, to)
    }

    #[track_caller]
    fn processing_to(&self, of: (&str, &'static str), to: String) -> EthTransfer {
        let sent = self.approved_to(of, "hand", to);
        self.act(&sent, &json!({ "action": "process" })).expect(200);
        sent
    }

    /// Sends a new transfer and returns it with its transaction id. By hand, the id is not entered yet.
    #[track_caller]
    fn sent(&mut self, of: (&str, &'static str)) -> (EthTransfer, String) {
        if self.sent_by == "signer" {
            let sent = self.approved(of, self.sent_by);
            let txid = self.wait_for_signer_txid(&sent);
            return (sent, txid);
        }
        let sent = self.processing(of);
        let txid = self.send_amount(&sent);
        (sent, txid)
    }

    /// Sends new transfers and enters the transaction ids. Returns the transfers and the ids.
    #[track_caller]
    fn attached(&mut self, all: &[(&str, &'static str)]) -> (Vec<EthTransfer>, Vec<String>) {
        let attached = all.iter().map(|of| {
            let (sent, txid) = self.sent(*of);
            if self.sent_by == "hand" {
                self.enter(&sent, &txid);
            }
            (sent, txid)
        });
        attached.unzip()
    }

    #[track_caller]
    fn act(&self, of: &EthTransfer, body: &Value) -> Response {
        self.running().operator_request("POST", &of.path, body)
    }

    #[track_caller]
    fn pay(&self, of: &EthTransfer, txid: &str) -> Response {
        self.act(of, &json!({ "action": "pay", "txid": txid }))
    }

    #[track_caller]
    fn enter(&self, of: &EthTransfer, txid: &str) {
        self.pay(of, txid).expect(200);
    }

    #[track_caller]
    fn read(&self, of: &EthTransfer) -> Value {
        let account = &self.till.served.account;
        let accounts = format!("/api/accounts/{account}/");
        let path = of.path.replace("/api/", &accounts);
        let read = self.running().operator_request("GET", &path, &Value::Null);
        read.expect(200).json()
    }

    /// Waits until the transfer has this status and chain state and its problem contains `problem`. Returns the
    /// transfer.
    #[track_caller]
    fn wait_until(&self, of: &EthTransfer, status: &str, state: &str, problem: &str) -> Value {
        let mut now = Value::Null;
        let is_so = polling::until(|| {
            now = self.read(of);
            let found = now["onChain"]["problem"].as_str().unwrap_or_default();
            [&now["status"], &now["onChain"]["state"]] == [&json!(status), &json!(state)]
                && found.contains(problem)
        });
        assert!(is_so, "never {status} {state} {problem:?}: {now:#}");
        now
    }

    /// Waits until a transfer is in processing and waits for a transaction.
    #[track_caller]
    fn wait_until_waiting(&self, of: &EthTransfer) {
        self.wait_until(of, "processing", "waiting", "");
    }

    /// Waits until a transfer is in processing and the server has seen this transaction.
    #[track_caller]
    fn assert_seen(&self, of: &EthTransfer, txid: &str) {
        let seen = self.wait_until(of, "processing", "seen", "");
        assert_eq!(seen["onChain"]["txid"], txid);
    }

    #[track_caller]
    fn assert_all_seen(&self, of: &[EthTransfer], txids: &[String]) {
        of.iter()
            .zip(txids)
            .for_each(|(of, txid)| self.assert_seen(of, txid));
    }

    /// Waits until a transfer is in processing and must be reviewed by a person.
    #[track_caller]
    fn wait_for_review(&self, of: &EthTransfer, problem: &str) -> Value {
        self.wait_until(of, "processing", "needs_review", problem)
    }

    /// Asserts that this transaction settled a transfer, and that one event reports it.
    #[track_caller]
    fn assert_paid(&self, of: &EthTransfer, txid: &str) {
        let paid = self.wait_until(of, "paid", "settled", "");
        assert_eq!(paid["txid"], txid);
        self.assert_event(of, "paid");
    }

    #[track_caller]
    fn assert_all_paid(&self, of: &[EthTransfer], txids: &[String]) {
        of.iter()
            .zip(txids)
            .for_each(|(of, txid)| self.assert_paid(of, txid));
    }

    /// Asserts that a transfer has exactly one event, of this kind.
    #[track_caller]
    fn assert_event(&self, of: &EthTransfer, kind: &str) {
        let told = format!(
            "select group_concat(substr(type, 8)) from events where object_id = '{}'",
            of.id
        );
        self.till.served.poll(&told, &[kind]);
    }

    /// Resolves the only open review of a transfer by this action, and asserts that the review has this kind.
    #[track_caller]
    fn end_review(&self, of: &EthTransfer, kind: &str, action: &str) -> Response {
        let read = self.read(of);
        let mut reviews = read["reviews"].as_array().unwrap().iter();
        let open = reviews.find(|review| review["endedAt"].is_null());
        let open = open.unwrap();
        assert_eq!(open["kind"], kind, "{read:#}");
        self.act(
            of,
            &json!({ "action": action, "review": open["id"], "reason": "looked at" }),
        )
    }

    #[track_caller]
    fn balance(&self) -> String {
        let key = [("X-API-Key", self.till.served.key.as_str())];
        let url = format!("{}/v1/balances", self.running().url);
        let balances = send(&agent(), "GET", &url, &key, "").expect(200).json();
        let all = balances["data"].as_array().unwrap();
        let euros = all.iter().find(|one| one["currency"] == "EUR").unwrap();
        euros["available"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn assert_audit_clean(&self) {
        assert_eq!(findings(&self.till.served.file), Vec::<String>::new());
    }
}
