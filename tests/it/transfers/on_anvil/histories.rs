//! Random histories of payouts and refunds on a real anvil, in ether and in a token.

use super::by_signer::open_with_scripted_signer;
use super::{ETH, EthMerchant, FINAL, USDC};
use crate::chain::till::TestnetShop;
use crate::support::anvil::{address_word, calldata};
use crate::support::installation::RunningServer;
use crate::transfers::histories::{HistoryChain, Payment, run_histories};
use crate::transfers::money::{ChainOutput, ChainOutputs};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tokens that each payer gets, in base units.
const TOKENS: u128 = 90_000_000;
const GAS: &str = "0x200000";
/// Refunds of this many histories come from one invoice of each coin.
const HISTORIES_OF_INVOICE: usize = 100;
/// Payment of the invoice of each coin: ether in wei, and tokens in base units.
const INVOICE_UNITS: [u128; 2] = [50 * 10_u128.pow(18), 60_000_000];
/// First topic of the log of an ERC-20 transfer.
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// A shop on anvil in random histories.
struct EthHistory {
    merchant: EthMerchant,
    /// Accounts of the node. Each transaction is sent by the next one, so that they can be mined in any order.
    payers: Vec<String>,
    histories: usize,
    transactions: usize,
}

impl EthHistory {
    #[track_caller]
    fn new(merchant: EthMerchant) -> EthHistory {
        let payers = merchant.node.call_rpc("eth_accounts", json!([]));
        let payers: Vec<String> = serde_json::from_value(payers).unwrap();
        for payer in &payers[1..] {
            merchant.send_coin(USDC, payer, TOKENS);
        }
        EthHistory { merchant, payers, histories: 0, transactions: 0 }
    }

    /// Pays an invoice of each coin with enough for many refunds.
    #[track_caller]
    fn pay_invoices(&mut self) {
        self.merchant.node.set_mining_paused(false);
        // An invoice of 20 EUR in the token has to be of one token at least.
        self.set_token_rate("20");
        for (at, units) in INVOICE_UNITS.into_iter().enumerate() {
            let asset = self.merchant.invoices[at].0;
            let invoice = self.merchant.till.create_invoice(self.merchant.running(), asset);
            self.merchant.send_coin(asset, invoice["depositAddress"].as_str().unwrap(), units);
            self.merchant.invoices[at].1 = invoice["id"].as_str().unwrap().to_owned();
        }
        self.merchant.node.mine(FINAL);
        self.sync();
        let overpaid = format!(
            "select count(*) || '' from invoices where status = 'overpaid' and id in ('{}', '{}')",
            self.merchant.invoices[0].1, self.merchant.invoices[1].1
        );
        self.merchant.till.served.wait_for_query_result(&overpaid, &["2"]);
        self.set_token_rate("100");
        self.merchant.node.set_mining_paused(true);
    }

    #[track_caller]
    fn set_token_rate(&self, rate: &str) {
        let rates = json!({ "ETH": { "EUR": "100" }, "USDC": { "EUR": rate } });
        self.merchant.till.set_rates(&rates.to_string());
        let known = "select rate from rate_figures where coin = 'USDC' and currency = 'EUR'";
        self.merchant.till.served.wait_for_query_result(known, &[rate]);
    }

    /// Sends a signed transaction again. The node refuses it if its nonce is used by now.
    #[track_caller]
    fn send_again(&self, raw: &Value) {
        drop(self.merchant.node.try_call_rpc("eth_sendRawTransaction", json!([raw])));
    }

    /// Returns the fields of a transaction that makes these payments, which are of one coin.
    fn transaction_fields(&self, payments: &[Payment]) -> Value {
        let [first, more @ ..] = payments else { return Value::Null };
        if more.is_empty() {
            return self.merchant.payment_fields(first.asset, &first.to, first.units);
        }
        let number = |number: usize| format!("{number:064x}");
        let count = payments.len();
        let mut words = vec![number(64), number(96 + 32 * count), number(count)];
        words.extend(payments.iter().map(|one| address_word(&one.to)));
        words.push(number(count));
        words.extend(payments.iter().map(|one| format!("{:064x}", one.units)));
        json!({ "to": self.merchant.token, "data": calldata("batch(address[],uint256[])", &words) })
    }

    #[track_caller]
    fn is_pending(&self, txid: &str) -> Option<Value> {
        let known = self.merchant.node.call_rpc("eth_getTransactionByHash", json!([txid]));
        (known.is_object() && known["blockNumber"].is_null()).then_some(known)
    }
}

impl HistoryChain for EthHistory {
    const ASSETS: &'static [&'static str] = &[ETH, USDC, USDC];
    const CHAIN: &'static str = "ethereum";
    const FINAL_DEPTH: u32 = 8;
    const SETTLING_BLOCKS: u32 = FINAL;

    fn shop(&self) -> (&TestnetShop, &RunningServer) {
        (&self.merchant.till, self.merchant.running())
    }

    fn prepare(&mut self) -> Vec<String> {
        self.kill();
        self.merchant.running = Some(self.merchant.till.start());
        if self.histories.is_multiple_of(HISTORIES_OF_INVOICE) {
            self.pay_invoices();
        }
        self.histories += 1;
        self.merchant.node.mine(1);
        self.sync();
        [(); 3].map(|()| self.merchant.new_destination()).into()
    }

    fn invoice(&self, asset: &str) -> String {
        let of_asset = self.merchant.invoices.iter().find(|(coin, _)| *coin == asset);
        of_asset.unwrap().1.clone()
    }

    fn height(&self) -> u32 {
        self.merchant.node.height()
    }

    fn pay(&mut self, mut payments: Vec<Payment>) -> (String, Vec<Payment>) {
        // Only the token has a contract that pays several addresses in one transaction.
        let asset = payments[0].asset;
        payments.retain(|one| one.asset == asset);
        if asset == ETH {
            payments.truncate(1);
        }
        self.transactions += 1;
        let mut fields = self.transaction_fields(&payments);
        fields["from"] = self.payers[self.transactions % self.payers.len()].clone().into();
        fields["gas"] = GAS.into();
        let txid = self.merchant.node.call_rpc("eth_sendTransaction", json!([fields]));
        (txid.as_str().unwrap().to_owned(), payments)
    }

    fn replace(&mut self, txid: &str, payments: &[Payment]) -> Option<String> {
        let old = self.is_pending(txid)?;
        let mut fields = self.transaction_fields(payments);
        let doubled = |name: &str| {
            let price = old[name].as_str().unwrap().trim_start_matches("0x");
            format!("{:#x}", 2 * u128::from_str_radix(price, 16).unwrap())
        };
        fields["from"] = old["from"].clone();
        fields["gas"] = GAS.into();
        fields["nonce"] = old["nonce"].clone();
        fields["maxFeePerGas"] = doubled("maxFeePerGas").into();
        fields["maxPriorityFeePerGas"] = doubled("maxPriorityFeePerGas").into();
        let txid = self.merchant.node.call_rpc("eth_sendTransaction", json!([fields]));
        Some(txid.as_str().unwrap().to_owned())
    }

    fn mine(&mut self, held: &[String]) {
        let node = &self.merchant.node;
        let held = held.iter().filter(|txid| self.is_pending(txid).is_some());
        let raws: Vec<Value> = held
            .map(|txid| {
                let raw = node.call_rpc("eth_getRawTransactionByHash", json!([txid]));
                node.call_rpc("anvil_dropTransaction", json!([txid]));
                raw
            })
            .collect();
        node.mine(1);
        raws.iter().for_each(|raw| self.send_again(raw));
    }

    fn reorganise(&mut self, depth: u32, mut keeps: impl FnMut() -> bool) {
        for (_, raw) in self.merchant.node.reorg(depth) {
            if keeps() {
                self.send_again(&raw);
            }
        }
    }

    fn mine_blocks(&mut self, blocks: u32) {
        self.merchant.node.mine(blocks);
    }

    fn kill(&mut self) {
        self.merchant.running.as_mut().unwrap().process.kill();
    }

    fn start(&mut self) {
        let (till, before) = self.shop();
        self.merchant.running = Some(till.served.restart(before, &till.settings()));
    }

    fn sync(&mut self) {
        self.kill();
        let file = self.merchant.till.served.open_file();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let now = i64::try_from(now).unwrap();
        // The clock of a server starts no earlier than the latest time in its file.
        file.execute("update file set last_tick_at = ?1", [now]).unwrap();
        self.start();
        let newest = self.merchant.node.call_rpc("eth_getBlockByNumber", json!(["latest", false]));
        let hash = newest["hash"].as_str().unwrap();
        let read = format!(
            "select (stepped_at > {now} and hash = '{hash}' and not exists (select 1 from rescans where ended_at is null)) \
             || '' from chain_cursors"
        );
        self.merchant.till.served.wait_for_query_result(&read, &["1"]);
    }

    fn restore(&mut self, copy: &str) {
        self.merchant.restore_copy(copy);
    }

    fn outputs(&self, destinations: &[String], from: u32) -> ChainOutputs {
        let node = &self.merchant.node;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
        let number = |value: &Value| {
            let digits = text(value);
            let digits = digits.trim_start_matches("0x").trim_start_matches('0');
            u128::from_str_radix(digits, 16).unwrap_or(0)
        };
        let mut found = ChainOutputs::new();
        for height in from..=self.height() {
            let at = json!(format!("{height:#x}"));
            let block = node.call_rpc("eth_getBlockByNumber", json!([at, true]));
            let receipts = node.call_rpc("eth_getBlockReceipts", json!([at]));
            let receipts = receipts.as_array().unwrap();
            for (made, receipt) in block["transactions"].as_array().unwrap().iter().zip(receipts) {
                assert_eq!(made["hash"], receipt["transactionHash"]);
                let mut insert = |to: String, asset, position: usize, units| {
                    if destinations.contains(&to) && units > 0 && receipt["status"] == "0x1" {
                        let id = (text(&made["hash"]), u32::try_from(position).unwrap());
                        found.insert(id, ChainOutput { to, asset, units, height });
                    }
                };
                insert(text(&made["to"]), ETH, 0, number(&made["value"]));
                for (at, log) in receipt["logs"].as_array().unwrap().iter().enumerate() {
                    if text(&log["address"]) == self.merchant.token.to_lowercase() {
                        assert_eq!(log["topics"][0], TRANSFER);
                        let to = format!("0x{}", &text(&log["topics"][2])[26..]);
                        insert(to, USDC, at + 1, number(&log["data"]));
                    }
                }
            }
        }
        for to in destinations {
            for (asset, has) in
                [(ETH, node.balance(to)), (USDC, node.token_balance(&self.merchant.token, to))]
            {
                let here =
                    found.values().filter(|output| output.to == *to && output.asset == asset);
                assert_eq!(here.map(|output| output.units).sum::<u128>(), has, "{asset} of {to}");
            }
        }
        found
    }

    fn unknown_txid(&self, number: u32) -> String {
        format!("0x{:064x}", u64::from(number) + 0xabcd_0000_0000)
    }
}

#[test]
fn transfers_match_ethereum_after_random_histories() {
    let Some(merchant) = open_with_scripted_signer("random histories on ethereum") else {
        return;
    };
    run_histories(EthHistory::new(merchant));
}
