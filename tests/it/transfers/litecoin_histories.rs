//! Random histories of payouts and refunds on a real litecoind.

use super::histories::{HistoryChain, Payment, run_histories};
use super::litecoin_shop::{CONFIRMATIONS, LitecoinMerchant, start_node};
use super::money::{ChainOutput, ChainOutputs};
use crate::chain::till::TestnetShop;
use crate::support::installation::RunningServer;
use crate::support::payer::{SignedTransaction, parse_units};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const LTC: &str = "LTC";
/// Number of coins that the oldest coin of the payer is split into, and the number of histories that they are enough for.
const COINS: usize = 24;
const HISTORIES_OF_COIN: usize = 2;
/// Number of blocks before a history that no reorg reaches.
const SETUP_BLOCKS: usize = 3;
/// Refunds of this many histories come from one invoice.
const HISTORIES_OF_INVOICE: usize = 100;
/// Payment of that invoice, in base units.
const INVOICE_UNITS: u64 = 4_000_000_000;

/// A shop on litecoind in random histories.
struct LitecoinHistory<'n> {
    merchant: LitecoinMerchant<'n>,
    histories: usize,
    /// Transactions of the current history.
    made: BTreeMap<String, SignedTransaction>,
}

impl LitecoinHistory<'_> {
    fn payments_in_units(payments: &[Payment]) -> Vec<(&str, u64)> {
        let units = |one: &Payment| u64::try_from(one.units).unwrap();
        payments.iter().map(|one| (one.to.as_str(), units(one))).collect()
    }

    #[track_caller]
    fn keep(&mut self, made: SignedTransaction) -> String {
        let txid = made.txid.clone();
        self.made.insert(txid.clone(), made);
        txid
    }

    /// Returns the ids of the unconfirmed transactions.
    #[track_caller]
    fn mempool(&self) -> Vec<String> {
        let ids = self.merchant.node.call("getrawmempool", json!([]));
        serde_json::from_value(ids).unwrap()
    }
}

impl HistoryChain for LitecoinHistory<'_> {
    const ASSETS: &'static [&'static str] = &[LTC];
    const CHAIN: &'static str = "litecoin";
    // A history has fewer blocks than the deepest reorg that the server expects.
    const FINAL_DEPTH: u32 = 100_000;
    const SETTLING_BLOCKS: u32 = 12;

    fn shop(&self) -> (&TestnetShop, &RunningServer) {
        (&self.merchant.till, &self.merchant.running)
    }

    fn prepare(&mut self) -> Vec<String> {
        self.made.clear();
        if self.histories.is_multiple_of(HISTORIES_OF_INVOICE) {
            self.merchant.pay_invoice_in_parts(&[INVOICE_UNITS]);
        }
        if self.histories.is_multiple_of(HISTORIES_OF_COIN) {
            self.merchant.payer.split_oldest_coin(COINS);
        }
        self.histories += 1;
        self.merchant.payer.mine(SETUP_BLOCKS);
        self.kill();
        self.merchant.sign_in_again();
        self.merchant.restart_and_sync();
        [(); 3].map(|()| self.merchant.foreign_address()).into()
    }

    fn invoice(&self, _asset: &str) -> String {
        self.merchant.invoice().to_owned()
    }

    fn height(&self) -> u32 {
        let height = self.merchant.node.call("getblockcount", json!([]));
        u32::try_from(height.as_u64().unwrap()).unwrap()
    }

    fn pay(&mut self, payments: Vec<Payment>) -> (String, Vec<Payment>) {
        let made = self.merchant.payer.pay(&Self::payments_in_units(&payments));
        (self.keep(made), payments)
    }

    fn replace(&mut self, txid: &str, payments: &[Payment]) -> Option<String> {
        let old = self.made.get(txid).filter(|_| self.mempool().iter().any(|id| id == txid))?;
        let made = self.merchant.payer.replace(old, &Self::payments_in_units(payments));
        Some(self.keep(made))
    }

    fn mine(&mut self, held: &[String]) {
        let waits = self.mempool();
        let picked: Vec<&str> =
            waits.iter().filter(|id| !held.contains(id)).map(String::as_str).collect();
        self.merchant.payer.mine_only_transactions(&picked);
    }

    fn reorganise(&mut self, depth: u32, _keeps: impl FnMut() -> bool) {
        // The node returns the transactions of the old blocks to its mempool.
        self.merchant.reorganise(usize::try_from(depth).unwrap());
    }

    fn mine_blocks(&mut self, blocks: u32) {
        self.merchant.payer.mine(usize::try_from(blocks).unwrap());
    }

    fn kill(&mut self) {
        self.merchant.running.process.kill();
    }

    fn start(&mut self) {
        self.merchant.start();
    }

    fn sync(&mut self) {
        self.merchant.restart_and_sync();
    }

    fn restore(&mut self, copy: &str) {
        self.merchant.restore_copy(copy);
    }

    fn outputs(&self, destinations: &[String], from: u32) -> ChainOutputs {
        let node = self.merchant.node;
        let mut found = ChainOutputs::new();
        for height in from..=self.height() {
            let hash = node.call("getblockhash", json!([height]));
            let block = node.call("getblock", json!([hash, 2]));
            for made in block["tx"].as_array().unwrap() {
                let txid = made["txid"].as_str().unwrap();
                for output in made["vout"].as_array().unwrap() {
                    let to = output["scriptPubKey"]["addresses"][0].as_str();
                    let Some(to) = destinations.iter().find(|one| to == Some(one.as_str())) else {
                        continue;
                    };
                    let position = u32::try_from(output["n"].as_u64().unwrap()).unwrap();
                    let units = u128::from(parse_units(&output["value"]));
                    let output = ChainOutput { to: to.clone(), asset: LTC, units, height };
                    found.insert((txid.to_owned(), position), output);
                }
            }
        }
        let all: BTreeSet<String> = destinations.iter().cloned().collect();
        let unspent = node.received_amounts(&all, LTC);
        let units = |output: &ChainOutput| (LTC.to_owned(), output.units);
        let read = found.iter().map(|(id, output)| (id.clone(), units(output)));
        assert_eq!(read.collect::<BTreeMap<_, _>>(), unspent);
        found
    }

    fn unknown_txid(&self, number: u32) -> String {
        format!("{:064x}", u64::from(number) + 0xabcd_0000_0000)
    }
}

#[test]
fn transfers_match_litecoin_after_random_histories() {
    assert_eq!(CONFIRMATIONS, usize::try_from(LitecoinHistory::SETTLING_BLOCKS).unwrap());
    let Some(node) = start_node(&[]) else { return };
    let merchant = LitecoinMerchant::open(&node);
    run_histories(LitecoinHistory { merchant, histories: 0, made: BTreeMap::new() });
}
