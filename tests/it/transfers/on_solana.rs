//! Payouts and refunds sent by hand on Solana, with surfpool as its node, and settled by its chain.
//!
//! Invariant: the server polls its chain once after each start, and each start follows a kill.

mod lies;

use crate::chain::till::TestnetShop;
use crate::support::Response;
use crate::support::installation::{RunningServer, approval_body};
use crate::support::surfpool::{
    SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT, address_without_key, payment_steps,
};
use serde_json::{Value, json};

/// A shop that accepts SOL and a token, and the node of its chain.
struct SolanaMerchant {
    node: Surfpool,
    till: TestnetShop,
    running: Option<RunningServer>,
    /// Invoices of 20 EUR, one paid in each coin: asset and invoice id.
    invoices: [(&'static str, String); 2],
    destinations: u32,
}

/// A payout or refund.
struct SolanaTransfer {
    path: String,
    to: String,
    asset: &'static str,
    /// Amount in base units.
    units: u64,
}

impl SolanaMerchant {
    #[track_caller]
    fn open() -> Option<SolanaMerchant> {
        let node = Surfpool::start("payouts and refunds on Solana")?;
        let till = TestnetShop::with_solana(&node, &node.url);
        let mut merchant = SolanaMerchant {
            running: Some(till.start()),
            node,
            till,
            invoices: [SOL, USDC].map(|asset| (asset, String::new())),
            destinations: 0,
        };
        merchant.till.wait_for_rate("solana", SOL);
        for (at, units) in [(0, 200_000_000), (1, 20_000_000)] {
            let asset = merchant.invoices[at].0;
            let invoice = merchant.till.create_invoice(merchant.running(), asset);
            let to = invoice["depositAddress"].as_str().unwrap();
            merchant.node.pay(asset, to, units);
            merchant.invoices[at].1 = invoice["id"].as_str().unwrap().to_owned();
        }
        merchant.mine_and_sync(SLOTS_UNTIL_FINAL + 1);
        let confirmed = "select group_concat(status) from invoices";
        merchant.till.served.wait_for_query_result(confirmed, &["confirmed,confirmed"]);
        Some(merchant)
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
        let height = self.node.newest_slot();
        let read = format!(
            "select (stepped_at > {now} and height = {height} and complete_height = {} \
             and not exists (select 1 from rescans)) || '' from chain_cursors",
            height + 1 - SLOTS_UNTIL_FINAL
        );
        self.till.served.wait_for_query_result(&read, &["1"]);
    }

    /// Adds slots, restarts the server, and waits until the server has read the new slots.
    #[track_caller]
    fn mine_and_sync(&mut self, slots: u32) {
        self.node.wait_for_slots(slots);
        self.restart_and_sync();
    }

    /// Requests a payout of 0.199 or a refund of 0.009 of a coin.
    #[track_caller]
    fn request_transfer(&mut self, kind: &str, asset: &'static str) -> SolanaTransfer {
        self.destinations += 1;
        let to = address_without_key(self.destinations);
        self.request_transfer_to(kind, asset, to)
    }

    #[track_caller]
    fn request_transfer_to(
        &mut self,
        kind: &str,
        asset: &'static str,
        to: String,
    ) -> SolanaTransfer {
        let milli = if asset == SOL { 1_000_000 } else { 1_000 };
        let (id, units) = if kind == "payouts" {
            let payee = [asset, "solana", &to];
            let running = self.running();
            let id = self.till.served.request_payout_to(running, payee);
            (id, 199 * milli)
        } else {
            let invoice = &self.invoices.iter().find(|(coin, _)| *coin == asset).unwrap().1;
            (self.till.request_refund(self.running(), invoice, "1.00", &to), 9 * milli)
        };
        let path = format!("/dashboard/api/{kind}/{id}");
        SolanaTransfer { path, to, asset, units }
    }

    #[track_caller]
    fn approve(&self, of: &SolanaTransfer) {
        let mut approval = approval_body();
        approval["sentBy"] = "hand".into();
        self.apply_action(of, &approval).expect(200);
    }

    #[track_caller]
    fn start_processing(&self, of: &SolanaTransfer) {
        self.apply_action(of, &json!({ "action": "process" })).expect(200);
    }

    #[track_caller]
    fn apply_action(&self, of: &SolanaTransfer, body: &Value) -> Response {
        self.running().operator_request("POST", &of.path, body)
    }

    #[track_caller]
    fn enter_txid(&self, of: &SolanaTransfer, txid: &str) {
        let body = json!({ "action": "pay", "txid": txid });
        self.apply_action(of, &body).expect(200);
    }

    #[track_caller]
    fn read_transfer(&self, of: &SolanaTransfer) -> Value {
        self.till.read_transfer(self.running(), &of.path)
    }

    /// Waits until the transfer has this status and chain state and its problem contains `problem`. Returns the
    /// transfer.
    #[track_caller]
    fn wait_for_state(
        &self,
        of: &SolanaTransfer,
        status: &str,
        state: &str,
        problem: &str,
    ) -> Value {
        self.till.wait_for_transfer(self.running(), &of.path, [status, state], problem)
    }
}

/// Moves a payout and a refund from requested to paid. The server is killed before each poll.
#[track_caller]
fn settle_from_request(merchant: &mut SolanaMerchant, kinds: [(&str, &'static str); 2]) {
    let all = kinds.map(|(kind, asset)| merchant.request_transfer(kind, asset));
    merchant.restart_and_sync();
    all.iter().for_each(|sent| merchant.approve(sent));
    merchant.restart_and_sync();
    for sent in &all {
        merchant.start_processing(sent);
        assert_eq!(merchant.read_transfer(sent)["paymentUri"], Value::Null);
    }
    merchant.restart_and_sync();
    let are = |merchant: &SolanaMerchant, status: &str, state: &str| {
        let each = all.iter();
        each.for_each(|sent| drop(merchant.wait_for_state(sent, status, state, "")));
    };
    are(merchant, "processing", "waiting");
    let pay = |sent: &SolanaTransfer| merchant.node.pay(sent.asset, &sent.to, sent.units);
    let txids = all.each_ref().map(pay);
    // The id of one transaction is entered. The server finds the other transaction by its exact amount.
    merchant.enter_txid(&all[0], &txids[0]);
    merchant.restart_and_sync();
    are(merchant, "processing", "seen");
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(merchant.read_transfer(sent)["onChain"]["txid"], **txid);
    }
    merchant.mine_and_sync(SLOTS_UNTIL_FINAL - 2);
    merchant.wait_for_state(&all[1], "processing", "seen", "");
    merchant.mine_and_sync(2);
    for _ in 0..2 {
        for (sent, txid) in all.iter().zip(&txids) {
            assert_eq!(merchant.wait_for_state(sent, "paid", "settled", "")["txid"], **txid);
        }
        merchant.restart_and_sync();
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn payout_and_refund_settle_despite_a_kill_at_each_step() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    settle_from_request(&mut merchant, [("payouts", SOL), ("refunds", USDC)]);
    settle_from_request(&mut merchant, [("refunds", SOL), ("payouts", USDC)]);
}

#[test]
fn final_failed_transaction_is_provably_lost() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    let both = [("payouts", SOL), ("refunds", USDC)];
    let both = both.map(|(kind, asset)| merchant.request_transfer(kind, asset));
    for sent in &both {
        merchant.approve(sent);
        merchant.start_processing(sent);
        let mut failing = payment_steps(sent.asset, &sent.to, sent.units);
        failing.as_array_mut().unwrap().push(json!(["fail"]));
        let txid = merchant.node.send(None, &failing);
        merchant.enter_txid(sent, &txid);
    }
    merchant.mine_and_sync(2);
    for sent in &both {
        merchant.wait_for_state(sent, "processing", "needs_review", "reverted and moved nothing");
        let refused = merchant.apply_action(sent, &json!({ "action": "fail" }));
        refused.assert_error(409, "invalid_transition", Some("force"));
    }
    merchant.mine_and_sync(SLOTS_UNTIL_FINAL);
    for sent in &both {
        merchant.wait_for_state(sent, "processing", "needs_review", "reverted");
        merchant.apply_action(sent, &json!({ "action": "fail" })).expect(200);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn destination_is_the_credited_account_or_its_owner() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    let (owner, other) = (address_without_key(1_000), address_without_key(1_001));
    let account = merchant.node.token_account(USDC, &owner);
    let to_account = merchant.request_transfer_to("payouts", USDC, account);
    let to_owner = merchant.request_transfer_to("refunds", USDC, other);
    for sent in [&to_account, &to_owner] {
        merchant.approve(sent);
        merchant.start_processing(sent);
    }
    // Neither transaction is correct: one pays the amount in another coin, the other pays one base unit less.
    let wrong = merchant.node.pay(USDT, &to_owner.to, to_owner.units);
    let less = merchant.node.pay(USDC, &to_owner.to, to_owner.units - 1);
    let txids = [
        merchant.node.pay(USDC, &owner, to_account.units),
        merchant.node.pay(USDC, &to_owner.to, to_owner.units),
    ];
    merchant.enter_txid(&to_owner, &wrong);
    merchant.mine_and_sync(SLOTS_UNTIL_FINAL + 2);
    merchant.wait_for_state(&to_owner, "processing", "needs_review", "");
    merchant.enter_txid(&to_owner, &less);
    merchant.restart_and_sync();
    merchant.wait_for_state(&to_owner, "processing", "needs_review", "");
    merchant.enter_txid(&to_owner, &txids[1]);
    merchant.restart_and_sync();
    // The transaction that paid less was entered for it, so it paid nearly twice its amount.
    let paid = merchant.wait_for_state(&to_owner, "paid", "needs_review", &less);
    let review = &paid["reviews"][0];
    assert_eq!(review["kind"], "overpaid", "{paid}");
    let resolve = json!({ "action": "resolve", "review": review["id"], "reason": "a tip" });
    merchant.apply_action(&to_owner, &resolve).expect(200);
    for (sent, txid) in [&to_account, &to_owner].iter().zip(&txids) {
        assert_eq!(merchant.wait_for_state(sent, "paid", "settled", "")["txid"], **txid);
    }
    merchant.till.served.assert_audit_clean();
}
