//! A shop on a real litecoind whose payouts and refunds are sent by hand and by a signer.
//!
//! Invariant: [`LitecoinMerchant::restart_and_sync`] kills the server, so later assertions hold after `kill -9`.

use super::signer::{waiting_signer, write_signer_response};
use crate::chain::till::{TestnetShop, deposit_address};
use crate::support::electrumx::Electrumx;
use crate::support::installation::{RATES_OF_100, RunningServer};
use crate::support::litecoind::Litecoind;
use crate::support::payer::{Coin, Payer, SignedTransaction, outpoint};
use crate::support::{Response, polling};
use bitcoin::NetworkKind;
use bitcoin::bip32::{DerivationPath, Xpriv, Xpub};
use bitcoin::secp256k1::Secp256k1;
use coffer::domain::time::{HOUR_MS, SECOND_MS};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

const UNTESTED: &str = "payouts and refunds in litecoin";
/// Number of confirmations that the largest amounts need.
pub const CONFIRMATIONS: usize = 12;
/// Number of blocks below the head after which no reorg is expected.
pub const HORIZON: usize = 200;
/// Number of coins that the payer starts with.
const COINS: usize = 60;
/// Rounds of two transfers, a payout and a refund. Each kind is sent once by hand and once by the signer.
pub const ROUNDS: [[(&str, SentBy); 2]; 2] = [
    [("payouts", SentBy::Hand), ("refunds", SentBy::Signer)],
    [("refunds", SentBy::Hand), ("payouts", SentBy::Signer)],
];

/// Sender of a transfer: a person, or the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentBy {
    Hand,
    Signer,
}

/// A payout or refund.
#[derive(Clone, Debug)]
pub struct LitecoinTransfer {
    pub kind: &'static str,
    pub by: SentBy,
    pub id: String,
    /// Destination address.
    pub to: String,
    /// Amount in base units.
    pub units: u64,
}

impl LitecoinTransfer {
    /// Returns the path of the transfer's actions.
    pub fn path(&self) -> String {
        format!("/dashboard/api/{}/{}", self.kind, self.id)
    }
}

/// A shop with a customer who has paid an invoice, the node of its chain, and a payer.
pub struct LitecoinMerchant<'n> {
    pub node: &'n Litecoind,
    pub payer: Payer<'n>,
    pub till: TestnetShop,
    pub running: RunningServer,
    account_key: Xpriv,
    signer: String,
    invoices: u32,
    invoice: String,
    branches: u32,
    /// Milliseconds by which the clocks of server and node are ahead of the wall clock.
    ahead_ms: i64,
}

/// Starts a node that does not store its mempool; `None` where the machine has no litecoind.
#[track_caller]
pub fn start_node(options: &[&str]) -> Option<Litecoind> {
    Litecoind::start(&[&["-persistmempool=0", "-walletbroadcast=0"], options].concat(), UNTESTED)
}

/// Returns the account key of the shop's wallet.
fn account_key() -> Xpriv {
    let master = Xpriv::new_master(NetworkKind::Test, &[7; 32]).unwrap();
    let path: DerivationPath = "m/84'/1'/0'".parse().unwrap();
    master.derive_priv(&Secp256k1::new(), &path).unwrap()
}

impl<'n> LitecoinMerchant<'n> {
    #[track_caller]
    pub fn open(node: &'n Litecoind) -> LitecoinMerchant<'n> {
        LitecoinMerchant::open_with_url(node, |node| node.url())
    }

    /// Opens a shop that reads an Electrum server, or the node itself where the machine has no ElectrumX.
    #[track_caller]
    pub fn open_with_electrum(node: &'n Litecoind) -> (LitecoinMerchant<'n>, Option<Electrumx>) {
        let mut server = None;
        let merchant = LitecoinMerchant::open_with_url(node, |node| {
            server = Electrumx::start(node, &[], "transfers by an Electrum server");
            server.as_ref().map_or_else(|| node.url(), Electrumx::url)
        });
        (merchant, server)
    }

    /// Opens a shop that reads the node at the URL that `url` returns. `url` is called when the node has blocks.
    #[track_caller]
    fn open_with_url(
        node: &'n Litecoind,
        url: impl FnOnce(&Litecoind) -> String,
    ) -> LitecoinMerchant<'n> {
        let payer = Payer::with_coins(node, COINS);
        let till = TestnetShop::new(&["--node", &format!("litecoin={}", url(node))]);
        till.set_rates(RATES_OF_100);
        let account_key = account_key();
        let public = Xpub::from_priv(&Secp256k1::new(), &account_key).to_string();
        till.add_wallet("litecoin", &public, &[]).json_lines();
        let signer = waiting_signer(&till.served);
        let running = till.served.start(&[&till.settings()[..], &["--signer", &signer]].concat());
        till.wait_for_rate("litecoin", "LTC");
        let mut merchant = LitecoinMerchant {
            node,
            payer,
            till,
            running,
            account_key,
            signer,
            invoices: 0,
            invoice: String::new(),
            branches: 0,
            ahead_ms: 0,
        };
        merchant.pay_invoice_in_parts(&[20_000_000]);
        merchant
    }

    /// Pays an invoice of 20 EUR in parts with these amounts, in base units, and returns the outputs at its deposit
    /// address.
    #[track_caller]
    pub fn pay_invoice_in_parts(&mut self, parts: &[u64]) -> Vec<Coin> {
        let invoice = self.till.create_invoice(&self.running, "LTC");
        let to = deposit_address(&invoice);
        let pays: Vec<_> = parts.iter().map(|units| (to.as_str(), *units)).collect();
        let made = self.payer.pay(&pays);
        self.payer.mine(3);
        self.restart_and_sync();
        let is_exact = parts.iter().sum::<u64>() == 20_000_000;
        let event = if is_exact { "invoice.confirmed" } else { "invoice.overpaid" };
        self.till.wait_for_event(event, &invoice);
        invoice["id"].as_str().unwrap().clone_into(&mut self.invoice);
        let path: DerivationPath = format!("m/0/{}", self.invoices).parse().unwrap();
        let key = self.account_key.derive_priv(&Secp256k1::new(), &path);
        self.invoices += 1;
        let key = key.unwrap().private_key;
        let at = |(place, amount): (u32, &u64)| Coin {
            at: outpoint(&made.txid, place),
            amount: *amount,
            key,
        };
        (0..).zip(parts).map(at).collect()
    }

    /// Returns an address that does not belong to the shop.
    #[track_caller]
    pub fn foreign_address(&self) -> String {
        self.node.new_address("bech32")
    }

    /// Requests a payout of 20 EUR, or a refund of `euros` EUR. The default of `euros` is 1.00.
    #[track_caller]
    pub fn request_transfer(
        &self,
        kind: &'static str,
        by: SentBy,
        to: Option<&str>,
        euros: Option<&str>,
    ) -> LitecoinTransfer {
        let to = to.map_or_else(|| self.foreign_address(), str::to_owned);
        let (id, euros) = if kind == "payouts" {
            let payee = ["LTC", "litecoin", &to];
            (self.till.served.request_payout_to(&self.running, payee), "20.00")
        } else {
            let euros = euros.unwrap_or("1.00");
            (self.till.request_refund(&self.running, &self.invoice, euros, &to), euros)
        };
        let cents: u64 = euros.replace('.', "").parse().unwrap();
        // One coin is 100 000 000 units and is worth 100 EUR, so one cent is 10 000 units. The network fee is 100 000
        // units.
        let units = cents * 10_000 - 100_000;
        LitecoinTransfer { kind, by, id, to, units }
    }

    #[track_caller]
    pub fn approve(&self, of: &LitecoinTransfer) {
        let by = if of.by == SentBy::Hand { "hand" } else { "signer" };
        let body = json!({
            "action": "approve", "rate": "100", "acceptRate": true, "networkFee": "0.001", "sentBy": by,
        });
        self.apply_action(of, &body).expect(200);
    }

    /// Requests and approves a transfer, and starts to process it by hand or waits until its signer runs.
    #[track_caller]
    pub fn processing_transfer(
        &self,
        kind: &'static str,
        by: SentBy,
        to: Option<&str>,
    ) -> LitecoinTransfer {
        let sent = self.request_transfer(kind, by, to, None);
        self.approve(&sent);
        self.start_processing(&sent);
        sent
    }

    /// Starts to process an approved transfer by hand, or waits until its signer runs.
    #[track_caller]
    pub fn start_processing(&self, of: &LitecoinTransfer) {
        match of.by {
            SentBy::Hand => {
                drop(self.apply_action(of, &json!({ "action": "process" })).expect(200))
            }
            SentBy::Signer => assert!(polling::wait_until(|| self.signer_start_count(of) == 1)),
        }
    }

    /// Writes this text as the response of the running signer.
    #[track_caller]
    pub fn write_signer_response(&self, of: &LitecoinTransfer, text: &str) {
        write_signer_response(&self.till.served, &of.id, text);
    }

    /// Enters a transaction id by hand, or as the response of the signer.
    #[track_caller]
    pub fn enter_txid(&self, of: &LitecoinTransfer, txid: &str) {
        match of.by {
            SentBy::Hand => drop(self.apply_pay_action(of, txid).expect(200)),
            SentBy::Signer => {
                self.write_signer_response(of, &format!(r#"{{"txid": "{txid}"}}"#));
                let attached = format!("select txid from transfers where id = '{}'", of.id);
                self.till.served.wait_for_query_result(&attached, &[txid]);
            }
        }
    }

    /// Creates a transfer, sends this percentage of its amount, and enters the transaction id. The transaction stays
    /// in the mempool.
    #[track_caller]
    pub fn send_transfer(
        &mut self,
        kind: &'static str,
        by: SentBy,
        percent: u64,
    ) -> (LitecoinTransfer, SignedTransaction) {
        let sent = self.processing_transfer(kind, by, None);
        let made = self.payer.pay(&[(&sent.to, sent.units * percent / 100)]);
        self.enter_txid(&sent, &made.txid);
        (sent, made)
    }

    #[track_caller]
    pub fn apply_action(&self, of: &LitecoinTransfer, body: &Value) -> Response {
        self.running.operator_request("POST", &of.path(), body)
    }

    #[track_caller]
    pub fn apply_pay_action(&self, of: &LitecoinTransfer, txid: &str) -> Response {
        self.apply_action(of, &json!({ "action": "pay", "txid": txid }))
    }

    /// Kills the server, starts it again, and waits until it has read all blocks and the mempool.
    #[track_caller]
    pub fn restart_and_sync(&mut self) {
        let rescans = "select count(*) from rescans where ended_at is null";
        self.set_node_time();
        loop {
            self.running.process.kill();
            let file = self.till.served.open_file();
            let number =
                |query: &str| file.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
            let before = number("select stepped_at from chain_cursors");
            let height = self.node.call("getblockcount", json!([]));
            self.start();
            let read = format!(
                "select (height = {height} and stepped_at > {before}) || '' from chain_cursors"
            );
            self.till.served.wait_for_query_result(&read, &["1"]);
            if number(rescans) == 0 {
                return;
            }
        }
    }

    /// Starts the server with its signer.
    #[track_caller]
    pub fn start(&mut self) {
        self.start_with_settings(&["--signer", &self.signer.clone()]);
    }

    /// Starts the server with these additional settings.
    #[track_caller]
    pub fn start_with_settings(&mut self, settings: &[&str]) {
        let settings = [&self.till.settings()[..], settings].concat();
        let served = &self.till.served;
        self.running = match self.simulated_time() {
            Some(now) => {
                // Sets the latest time in the file, which is the earliest time at which the server's clock can start.
                // `start` signs in again, because the operator's password confirmation has expired by then.
                let tick = "update file set last_tick_at = max(last_tick_at, ?1)";
                served.open_file().execute(tick, [now]).unwrap();
                served.start(&settings)
            }
            None => served.restart(&self.running, &settings),
        };
    }

    /// Restores a copy of the file, starts the server, and returns the output of the command.
    #[track_caller]
    pub fn restore_copy(&mut self, copy: &str) -> String {
        self.running.process.kill();
        let told = self.till.run_coffer(&["restore", copy, "--force"]);
        // The restore ended every session.
        self.sign_in_again();
        told
    }

    /// Starts the server after it was killed, and signs the operator in again.
    #[track_caller]
    pub fn sign_in_again(&mut self) {
        let settings = [&self.till.settings()[..], &["--signer", &self.signer]].concat();
        self.running = self.till.served.start(&settings);
    }

    /// Returns the id of the newest paid invoice.
    pub fn invoice(&self) -> &str {
        &self.invoice
    }

    /// Mines blocks, restarts the server, and waits until the server has read the new blocks.
    #[track_caller]
    pub fn mine_and_sync(&mut self, blocks: usize) {
        self.payer.mine(blocks);
        self.restart_and_sync();
    }

    /// Moves the simulated time ahead by hours while the server is down.
    #[track_caller]
    pub fn advance_hours(&mut self, hours: i64) {
        self.running.process.kill();
        self.ahead_ms += hours * HOUR_MS;
    }

    /// Returns the simulated time of server and node, in Unix milliseconds; `None` for the wall clock.
    fn simulated_time(&self) -> Option<i64> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(wall.as_millis()).unwrap() + self.ahead_ms;
        (self.ahead_ms > 0).then_some(now)
    }

    /// Stops the clock of the node at the simulated time.
    #[track_caller]
    fn set_node_time(&self) {
        if let Some(now) = self.simulated_time() {
            self.node.set_time(now / SECOND_MS);
        }
    }

    /// Restarts the node with an empty mempool.
    #[track_caller]
    pub fn empty_mempool(&self) {
        self.node.stop();
        self.start_node();
    }

    #[track_caller]
    pub fn start_node(&self) {
        self.set_node_time();
        self.node.start_process();
        self.node.call("loadwallet", json!(["test"]));
    }

    /// Replaces blocks by empty blocks, and adds one more block. After a shallow reorg, the transactions of the old
    /// blocks are in the mempool.
    #[track_caller]
    pub fn reorganise(&mut self, depth: usize) {
        let tip = self.node.call("getblockcount", json!([])).as_u64().unwrap();
        let first = tip + 1 - u64::try_from(depth).unwrap();
        let hash = self.node.call("getblockhash", json!([first]));
        self.node.call("invalidateblock", json!([hash]));
        // Each branch needs different blocks, because the node rejects blocks that were invalidated before.
        self.branches += 1;
        let script = format!("raw({:x})", 0x52 + self.branches % 14);
        for _ in 0..=depth {
            self.node.call("generateblock", json!([script, []]));
        }
    }
}
