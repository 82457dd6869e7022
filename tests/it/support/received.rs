//! Payments received by addresses, read from Coffer's file or from a node. Coffer's code is not used to read from a
//! node.

use super::anvil;
use super::regtest::Regtest;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Received payments: asset and amount in base units, by transaction id and position.
pub type ReceivedAmounts = BTreeMap<(String, u32), (String, u128)>;

/// First topic of the log of an ERC-20 transfer.
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// Reads all live payments in the file: invoice payments, deposits, transfers between own addresses, and unmatched
/// payments. Asserts that each payment is confirmed and is of exactly one of these kinds.
#[track_caller]
pub fn amounts_in_file(file: &Connection) -> ReceivedAmounts {
    let sql = "select o.txid, o.position, o.asset, o.amount, o.state,
            (select count(*) from payments where observation = o.seq)
            + (select count(*) from deposits where observation = o.seq)
            + (select count(*) from own_transfers where observation = o.seq)
            + (select count(*) from unmatched_payments where observation = o.seq)
        from observations o where o.mode = 'live' and o.state != 'dropped'";
    let mut query = file.prepare(sql).unwrap();
    let mut rows = query.query([]).unwrap();
    let mut came = ReceivedAmounts::new();
    while let Some(row) = rows.next().unwrap() {
        let place: (String, u32) = (row.get(0).unwrap(), row.get(1).unwrap());
        let amount: String = row.get(3).unwrap();
        let (state, owners): (String, u32) = (row.get(4).unwrap(), row.get(5).unwrap());
        assert_eq!((state.as_str(), owners), ("confirmed", 1), "{place:?}");
        let value = (row.get(2).unwrap(), amount.parse().unwrap());
        assert!(came.insert(place, value).is_none());
    }
    came
}

impl Regtest {
    /// Reads the unspent outputs of these addresses from the node. No test spends outputs of these addresses.
    #[track_caller]
    pub fn received_amounts(&self, addresses: &BTreeSet<String>, asset: &str) -> ReceivedAmounts {
        let wanted: Vec<String> =
            addresses.iter().map(|address| format!("addr({address})")).collect();
        let found = self.call("scantxoutset", json!(["start", wanted]));
        let unspent = found["unspents"].as_array().unwrap().iter();
        let came = unspent.map(|output| {
            let txid = output["txid"].as_str().unwrap().to_owned();
            let position = u32::try_from(output["vout"].as_u64().unwrap()).unwrap();
            let coins = format!("{:.8}", output["amount"].as_f64().unwrap());
            let units = coins.replace('.', "").parse().unwrap();
            ((txid, position), (asset.to_owned(), units))
        });
        came.collect()
    }
}

impl anvil::Node {
    /// Reads the payments to these addresses from the node's blocks: coins from transactions, tokens from the logs of
    /// transactions. Internal transfers are not included.
    #[track_caller]
    pub fn received_amounts(
        &self,
        addresses: &BTreeSet<String>,
        coin: &str,
        token: &str,
        contract: &str,
    ) -> ReceivedAmounts {
        let ours: BTreeSet<String> = addresses.iter().map(|one| one.to_lowercase()).collect();
        let contract = contract.to_lowercase();
        let mut came = ReceivedAmounts::new();
        for height in 1..=self.height() {
            let number = json!(format!("{height:#x}"));
            let block = self.call_rpc("eth_getBlockByNumber", json!([number, true]));
            let receipts = self.call_rpc("eth_getBlockReceipts", json!([number]));
            let transactions = block["transactions"].as_array().unwrap();
            for (sent, receipt) in transactions.iter().zip(receipts.as_array().unwrap()) {
                assert_eq!(sent["hash"], receipt["transactionHash"]);
                let txid = lower_text(&sent["hash"]);
                if receipt["status"] != "0x1" {
                    continue;
                }
                let mut comes = |to: &str, position: usize, asset: &str, amount: &Value| {
                    let amount = parse_number(amount);
                    if ours.contains(to) && amount > 0 {
                        let place = (txid.clone(), u32::try_from(position).unwrap());
                        came.insert(place, (asset.to_owned(), amount));
                    }
                };
                comes(&lower_text(&sent["to"]), 0, coin, &sent["value"]);
                for (at, log) in receipt["logs"].as_array().unwrap().iter().enumerate() {
                    if lower_text(&log["address"]) == contract && log["topics"][0] == TRANSFER {
                        let to = format!("0x{}", &lower_text(&log["topics"][2])[26..]);
                        comes(&to, at + 1, token, &log["data"]);
                    }
                }
            }
        }
        came
    }

    /// Returns two sums over these addresses: the coin balances and the token balances.
    #[track_caller]
    pub fn balance_sums(&self, addresses: &BTreeSet<String>, token: &str) -> (u128, u128) {
        let coins = addresses.iter().map(|address| self.balance(address));
        let tokens = addresses.iter().map(|address| self.token_balance(token, address));
        (coins.sum(), tokens.sum())
    }
}

/// Returns the sum of the amounts of one asset.
pub fn sum_of_asset(came: &ReceivedAmounts, asset: &str) -> u128 {
    let of_coin = came.values().filter(|(coin, _)| coin == asset);
    of_coin.map(|(_, amount)| amount).sum()
}

/// Returns the text of a JSON value in lower case, or an empty text if the value is not a text.
fn lower_text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

#[track_caller]
fn parse_number(value: &Value) -> u128 {
    let digits = value.as_str().unwrap().trim_start_matches("0x");
    u128::from_str_radix(digits.trim_start_matches('0'), 16).unwrap_or(0)
}
