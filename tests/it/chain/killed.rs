//! Tests that kill the server during reorgs, while it stores a block whose payments need several database
//! transactions. Afterwards the file has each payment once.
//!
//! `COFFER_KILLS` sets how many times the server is killed in the middle of storing a block, on each chain.

pub(super) mod tron;

use super::till::TestnetShop;
use crate::chain::till::deposit_address;
use crate::support::anvil::{Node, address_word};
use crate::support::dice::Dice;
use crate::support::litecoind::Litecoind;
use crate::support::payer;
use crate::support::received::{ReceivedAmounts, amounts_in_file, sum_of_asset};
use crate::support::regtest::Regtest;
use crate::support::rpc_proxy::RpcProxy;
use rusqlite::Connection;
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// Default of `COFFER_KILLS`.
const KILLS: usize = 2;
/// Number of invoices paid in each block. Must stay below the limit for creating invoices.
const INVOICES: usize = 90;
/// Number of payments to each invoice in each block of a UTXO chain.
const PAYMENTS_PER_INVOICE: usize = 3;
/// Number of payments in one call of the token contract.
const PAYMENTS_PER_CALL: usize = 60;
/// Number of blocks that are mined at once to confirm all payments.
const CONFIRMING_BLOCKS: u32 = 50;
const CONFIRM_ROUNDS_MAX: usize = 40;

/// A payer on one chain, whose payments and reorgs are random.
pub(super) trait RandomPayer {
    /// Pays each address at least once, with more than two hundred payments in one block.
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]);
    /// Replaces this number of blocks. The transactions of the old blocks may be confirmed again in other blocks.
    fn reorganise(&mut self, dice: &mut Dice, depth: u32);
    fn mine_empty(&self, blocks: u32);
    fn height(&self) -> u32;
    /// Returns what these addresses received, according to the node.
    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts;
}

/// Returns a random amount in base units.
fn random_amount(dice: &mut Dice) -> u64 {
    20_000 + u64::try_from(dice.roll(3_000_000)).unwrap()
}

#[track_caller]
fn tip_height(node: &Regtest) -> u32 {
    u32::try_from(node.call("getblockcount", json!([])).as_u64().unwrap()).unwrap()
}

#[track_caller]
fn invalidate_blocks(node: &Regtest, depth: u32) {
    let hash = node.call("getblockhash", json!([tip_height(node) + 1 - depth]));
    node.call("invalidateblock", json!([hash]));
}

/// A payer with a litecoind. In some tests, a proxy presents the litecoind as a Dogecoin node.
pub(super) struct LitecoindPayer {
    pub(super) node: Litecoind,
    pub(super) chain: &'static str,
    pub(super) asset: &'static str,
    pub(super) sent: Vec<String>,
}

impl RandomPayer for LitecoindPayer {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        for _ in 0..PAYMENTS_PER_INVOICE {
            let mut amounts = Map::new();
            for address in to {
                let address = self.node.to_litecoin_address(self.chain, address);
                amounts.insert(address, format!("0.{:08}", random_amount(dice)).into());
            }
            self.sent.push(self.node.call_text("sendmany", json!(["", amounts])));
        }
        self.node.mine(1);
    }

    fn reorganise(&mut self, _: &mut Dice, depth: u32) {
        invalidate_blocks(&self.node, depth);
        self.node.mine(depth + 1);
    }

    fn mine_empty(&self, blocks: u32) {
        // Sends transactions again that the node removed in a reorg.
        for txid in &self.sent {
            let known = self.node.call("gettransaction", json!([txid, true]));
            if known["confirmations"] == 0 {
                self.node.call("sendrawtransaction", json!([known["hex"], 0]));
            }
        }
        self.node.mine(blocks);
    }

    fn height(&self) -> u32 {
        tip_height(&self.node)
    }

    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts {
        let own = |to: &String| self.node.to_litecoin_address(self.chain, to);
        let to = to.iter().map(own).collect();
        self.node.received_amounts(&to, self.asset)
    }
}

/// A payer with a bitcoind that has no wallet.
struct BitcoindPayer<'a> {
    node: &'a Regtest,
    payer: payer::Payer<'a>,
    reorganised: usize,
}

impl RandomPayer for BitcoindPayer<'_> {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        for _ in 0..PAYMENTS_PER_INVOICE {
            let paid = to.iter().map(|address| (address.as_str(), random_amount(dice)));
            let paid: Vec<_> = paid.collect();
            self.payer.pay(&paid);
        }
        self.payer.mine(1);
    }

    fn reorganise(&mut self, _: &mut Dice, depth: u32) {
        invalidate_blocks(self.node, depth);
        // The coinbase of each branch has another script, so the new blocks differ from the invalidated blocks.
        self.reorganised += 1;
        let script = 0x52 + self.reorganised % 14;
        let script = format!("raw({script:x})");
        self.node.call("generatetodescriptor", json!([depth + 1, script]));
    }

    fn mine_empty(&self, blocks: u32) {
        self.payer.mine(usize::try_from(blocks).unwrap());
    }

    fn height(&self) -> u32 {
        tip_height(self.node)
    }

    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts {
        self.node.received_amounts(to, "BTC")
    }
}

/// A payer with the node of an EVM chain. It pays a token, and also the native coin if `coin` is not empty.
pub(super) struct AnvilPayer {
    pub(super) node: Node,
    pub(super) token: String,
    pub(super) asset: &'static str,
    pub(super) coin: &'static str,
}

impl RandomPayer for AnvilPayer {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        let mut sent = Vec::new();
        self.node.mine_in_one_block(|| {
            for part in [to; 8].concat().chunks(PAYMENTS_PER_CALL) {
                let number = |number: usize| format!("{number:064x}");
                let mut words = vec![number(64), number(96 + 32 * part.len()), number(part.len())];
                words.extend(part.iter().map(|address| address_word(address)));
                words.push(number(part.len()));
                words.extend(part.iter().map(|_| number(10_000 + dice.roll(10_000))));
                let function = "batch(address[],uint256[])";
                sent.push(self.node.call_contract(&self.token, function, &words, 0));
            }
            for _ in 0..10 {
                if !self.coin.is_empty() {
                    let wei = 10_000_000_000_000 + dice.roll(1 << 50);
                    let to = &to[dice.roll(to.len())];
                    sent.push(self.node.pay(to, u128::try_from(wei).unwrap()));
                }
            }
        });
        for txid in &sent {
            let receipt = self.node.wait_for_success(txid);
            assert_eq!(receipt["blockNumber"], format!("{:#x}", self.height()));
        }
    }

    fn reorganise(&mut self, dice: &mut Dice, depth: u32) {
        let kept = self.node.reorg(depth);
        // A random number of transactions is confirmed again, each in a separate block. The other transactions stay
        // lost.
        for (_, raw) in &kept[..dice.roll(kept.len() + 1)] {
            let txid = self.node.call_rpc("eth_sendRawTransaction", json!([raw]));
            self.node.wait_for_receipt(&txid);
        }
        self.node.mine(1);
    }

    fn mine_empty(&self, blocks: u32) {
        // Moves the node's clock forward again after a reorg. The server drops a lost transaction only after a later
        // block is final.
        self.node.call_rpc("evm_increaseTime", json!([3_600]));
        self.node.mine(blocks);
    }

    fn height(&self) -> u32 {
        self.node.height()
    }

    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts {
        let came = self.node.received_amounts(to, self.coin, self.asset, &self.token);
        // The received amounts must add up to the balances that the node reports.
        let sums = (sum_of_asset(&came, "ETH"), sum_of_asset(&came, self.asset));
        assert_eq!(self.node.balance_sums(to, &self.token), sums);
        came
    }
}

#[track_caller]
fn query_number(file: &Connection, query: &str) -> u32 {
    file.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Sends payments, and kills the server until it was killed `COFFER_KILLS` times in the middle of storing a block.
#[track_caller]
#[expect(clippy::print_stderr, reason = "printed for manual runs")]
fn pay_and_kill(till: &TestnetShop, chain: &str, assets: &[&str], payer: &mut impl RandomPayer) {
    let said = std::env::var("COFFER_KILLS").ok();
    let kills = said.map_or(KILLS, |said| said.parse().unwrap());
    let file = till.served.open_file();
    let mut running = till.start();
    let symbol = assets[0].split('-').next().unwrap();
    till.wait_for_rate(chain, symbol);
    let mut to: Vec<String> = (0..INVOICES)
        .map(|at| {
            let made = till.create_invoice(&running, assets[at % assets.len()]);
            deposit_address(&made)
        })
        .collect();
    running.process.kill();
    let mut dice = Dice::new(7);
    let (mut in_the_middle, mut rounds, mut reorganised) = (0, 0, 0);
    while in_the_middle < kills {
        rounds += 1;
        // On a busy machine most kills come when the block is stored.
        assert!(rounds < 30 * kills, "{in_the_middle} kills were within a block");
        if dice.roll(3) == 0 {
            payer.reorganise(&mut dice, 1 + u32::from(usize::is_multiple_of(rounds, 2)));
            reorganised += 1;
        }
        payer.pay_all(&mut dice, &to);
        let seen = query_number(&file, "select count(*) from observations");
        let mut running = till.start();
        let more = format!("select (count(*) > {seen}) || '' from observations");
        till.served.wait_for_query_result(&more, &["1"]);
        running.process.kill();
        let read = query_number(&file, "select height from chain_cursors");
        in_the_middle += usize::from(read < payer.height());
        // Kills the server once more, at a random moment.
        let mut running = till.start();
        for _ in 0..dice.roll(2_000) {
            std::thread::yield_now();
        }
        running.process.kill();
        let mut running = till.start();
        let height = payer.height();
        let all = format!("select (height = {height}) || '' from chain_cursors");
        till.served.wait_for_query_result(&all, &["1"]);
        running.process.kill();
    }
    let count = assert_file_matches_node(till, payer, to.drain(..).collect());
    assert!(count >= 200 * kills / 2, "{count}");
    let besides = 2 * rounds;
    eprintln!(
        "{chain}: killed {in_the_middle} times in a block and {besides} times besides, {reorganised} reorganisations; \
            {count} payments came, each is in the file once"
    );
}

/// Asserts that the file has each payment exactly once, and returns their number.
#[track_caller]
fn assert_file_matches_node(
    till: &TestnetShop,
    payer: &impl RandomPayer,
    to: BTreeSet<String>,
) -> usize {
    let file = till.served.open_file();
    // Later blocks become final step by step, and each step drops some of the lost transactions.
    for _ in 0..CONFIRM_ROUNDS_MAX {
        payer.mine_empty(CONFIRMING_BLOCKS);
        let mut running = till.start();
        let read = format!("select (height = {}) || '' from chain_cursors", payer.height());
        till.served.wait_for_query_result(&read, &["1"]);
        assert!(running.process.close_input_and_wait());
        let seen = "select count(*) from observations where state = 'seen'";
        if query_number(&file, seen) == 0 {
            break;
        }
    }
    till.served.assert_audit_clean();
    let (came, booked) = (payer.received_by(&to), amounts_in_file(&file));
    let wrong: Vec<_> =
        came.iter().filter(|(place, value)| booked.get(*place) != Some(*value)).collect();
    assert!(wrong.is_empty(), "missing or different in the file: {wrong:?}");
    let wrong: Vec<_> = booked.keys().filter(|place| !came.contains_key(*place)).collect();
    assert!(wrong.is_empty(), "only in the file: {wrong:?}");
    came.len()
}

#[track_caller]
fn kill_server_on_utxo_chain(
    chain: &'static str,
    asset: &'static str,
    url: impl Fn(&Litecoind) -> (Option<RpcProxy>, String),
) {
    let untested = format!("kills within a block of {chain}");
    let Some(node) = Litecoind::start(&["-txindex=1"], &untested) else {
        return;
    };
    node.fund_wallet();
    let (_liar, url) = url(&node);
    let till = TestnetShop::with_utxo_chain(chain, &url);
    let mut wallet = LitecoindPayer { node, chain, asset, sent: Vec::new() };
    pay_and_kill(&till, chain, &[asset], &mut wallet);
}

#[track_caller]
fn kill_server_on_evm_chain(id: u64, chain: &str, asset: &'static str, coin: &'static str) {
    let Some(node) = Node::start(id, &format!("kills within a block of {chain}")) else {
        return;
    };
    let token = node.deploy_token();
    // The token contract is now in a block that is too deep for later reorgs.
    node.mine(5);
    let till = TestnetShop::with_account_chain(chain, &node.url, asset, &token);
    let assets = [asset, asset, coin];
    let assets = if coin.is_empty() { &assets[..1] } else { &assets };
    let mut payer = AnvilPayer { node, token, asset, coin };
    pay_and_kill(&till, chain, assets, &mut payer);
}

#[test]
fn killed_server_stores_each_litecoin_payment_once() {
    kill_server_on_utxo_chain("litecoin", "LTC", |node| (None, node.url()));
}

#[test]
fn killed_server_stores_each_dogecoin_payment_once() {
    kill_server_on_utxo_chain("dogecoin", "DOGE", RpcProxy::start_dogecoin);
}

#[test]
fn killed_server_stores_each_bitcoin_payment_once() {
    let untested = "kills within a block of bitcoin";
    let Some(node) = Regtest::start_bitcoind(&[], untested) else {
        return;
    };
    let payer = payer::Payer::with_coins(&node, 150);
    let till = TestnetShop::with_utxo_chain("bitcoin", &node.url());
    let mut payer = BitcoindPayer { node: &node, payer, reorganised: 0 };
    pay_and_kill(&till, "bitcoin", &["BTC"], &mut payer);
}

#[test]
fn killed_server_stores_each_ether_and_token_payment_once() {
    kill_server_on_evm_chain(11_155_111, "ethereum", "USDC-ERC20", "ETH");
}

#[test]
fn killed_server_stores_each_base_token_payment_once() {
    kill_server_on_evm_chain(84_532, "base", "USDC-BASE", "");
}

#[test]
fn killed_server_stores_each_polygon_token_payment_once() {
    kill_server_on_evm_chain(80_002, "polygon", "USDC-POLYGON", "");
}
