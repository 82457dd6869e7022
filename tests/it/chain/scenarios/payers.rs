//! Payers with a litecoind or an anvil. In some tests, a proxy presents the litecoind as a Dogecoin node.

use super::{ScenarioPayer, play_scenario};
use crate::chain::till::TestnetShop;
use crate::support::anvil::{ADDRESS, Node, address_word, transfer_calldata};
use crate::support::electrumx::Electrumx;
use crate::support::litecoind::Litecoind;
use crate::support::received::{ReceivedAmounts, sum_of_asset};
use crate::support::rpc_proxy::RpcProxy;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const FOREIGN: &str = "0x1111111111111111111111111111111111111111";

struct UtxoScenarioPayer {
    node: Litecoind,
    names: [&'static str; 3],
    twenty: u128,
}

/// Formats base units as a decimal amount, as the node does.
fn format_coins(units: u128) -> String {
    format!("{}.{:08}", units / 100_000_000, units % 100_000_000)
}

/// Converts a decimal amount of the node to base units.
#[track_caller]
fn parse_units(value: &Value) -> u128 {
    format!("{:.8}", value.as_f64().unwrap()).replace('.', "").parse().unwrap()
}

impl UtxoScenarioPayer {
    #[track_caller]
    fn to_node_address(&self, address: &str) -> String {
        self.node.to_litecoin_address(self.names[0], address)
    }
}

impl ScenarioPayer for UtxoScenarioPayer {
    fn chain_asset_symbol(&self) -> [&'static str; 3] {
        self.names
    }

    fn units_worth_twenty_eur(&self) -> u128 {
        self.twenty
    }

    fn send_all(&self, to: &[(&str, u128)]) -> String {
        let paid =
            to.iter().map(|(to, units)| (self.to_node_address(to), json!(format_coins(*units))));
        let paid: Map<String, Value> = paid.collect();
        self.node.call_text("sendmany", json!(["", paid, 1, "", [], true]))
    }

    fn mine_empty(&self, blocks: u32) {
        self.node.mine(blocks);
    }

    fn height(&self) -> u32 {
        u32::try_from(self.node.call("getblockcount", json!([])).as_u64().unwrap()).unwrap()
    }

    fn has_mempool(&self) -> bool {
        true
    }

    fn replace_transaction(&self, txid: &str, to: &[(&str, u128)]) {
        let old = self.node.call("gettransaction", json!([txid, true, true]));
        let (mut inputs, mut value) = (Vec::new(), 0);
        for input in old["decoded"]["vin"].as_array().unwrap() {
            inputs.push(json!({ "txid": input["txid"], "vout": input["vout"], "sequence": 0 }));
            let before = self.node.call("gettransaction", json!([input["txid"], true, true]));
            let at = usize::try_from(input["vout"].as_u64().unwrap()).unwrap();
            value += parse_units(&before["decoded"]["vout"][at]["value"]);
        }
        let fee = 1_000_000;
        let paid: u128 = to.iter().map(|(_, units)| units).sum();
        let mut outputs: Map<String, Value> = Map::new();
        for (to, units) in to {
            outputs.insert(self.to_node_address(to), json!(format_coins(*units)));
        }
        outputs.insert(self.node.new_address("bech32"), json!(format_coins(value - paid - fee)));
        let raw = self.node.call_text("createrawtransaction", json!([inputs, outputs]));
        let signed = self.node.call("signrawtransactionwithwallet", json!([raw]));
        self.node.call_text("sendrawtransaction", json!([signed["hex"], 0]));
    }

    fn reorganise_and_drop_txid(&self, gone: &str) {
        let hash = self.node.call_text("getbestblockhash", json!([]));
        self.node.call("invalidateblock", json!([hash]));
        self.replace_transaction(gone, &[]);
        self.node.mine(2);
    }

    fn send_ignored_payments(&self, _: &str) {}

    fn received_by(&self, to: &BTreeSet<String>, _: &ReceivedAmounts) -> ReceivedAmounts {
        let to = to.iter().map(|address| self.to_node_address(address)).collect();
        self.node.received_amounts(&to, self.names[1])
    }
}

/// A payer with the node of an EVM chain and a token.
struct EvmScenarioPayer {
    node: Node,
    token: String,
    names: [&'static str; 3],
}

impl ScenarioPayer for EvmScenarioPayer {
    fn chain_asset_symbol(&self) -> [&'static str; 3] {
        self.names
    }

    fn units_worth_twenty_eur(&self) -> u128 {
        20_000_000
    }

    fn send_all(&self, to: &[(&str, u128)]) -> String {
        if let [(to, units)] = to {
            return self.node.pay_token(&self.token, to, *units).as_str().unwrap().to_owned();
        }
        let number = |number: u128| format!("{number:064x}");
        let count = u128::try_from(to.len()).unwrap();
        let mut words = vec![number(64), number(96 + 32 * count), number(count)];
        words.extend(to.iter().map(|(to, _)| address_word(to)));
        words.push(number(count));
        words.extend(to.iter().map(|(_, units)| number(*units)));
        let sent = self.node.call_contract(&self.token, "batch(address[],uint256[])", &words, 0);
        sent.as_str().unwrap().to_owned()
    }

    fn mine_empty(&self, blocks: u32) {
        // A reorg sets the clock of the node back. The server drops a lost transaction only after a later block is
        // final.
        self.node.call_rpc("evm_increaseTime", json!([120]));
        self.node.mine(blocks);
    }

    fn height(&self) -> u32 {
        self.node.height()
    }

    fn has_mempool(&self) -> bool {
        false
    }

    fn replace_transaction(&self, txid: &str, to: &[(&str, u128)]) {
        let known = self.node.call_rpc("eth_getTransactionByHash", json!([txid]));
        let height = known["blockNumber"].as_str().unwrap();
        let height = u32::from_str_radix(height.trim_start_matches("0x"), 16).unwrap();
        let given_up = self.node.reorg(self.height() + 1 - height);
        self.node.mine_in_one_block(|| {
            // The reorg made all transactions unconfirmed. They are sent again, then one is replaced by a transaction
            // with a higher fee.
            for (_, raw) in &given_up {
                self.node.call_rpc("eth_sendRawTransaction", json!([raw]));
            }
            let (to, units) = to.first().unwrap_or(&(FOREIGN, 1));
            let more = json!({
                "nonce": known["nonce"], "to": self.token, "data": transfer_calldata(to, *units), "from": ADDRESS,
                "gas": known["gas"], "gasPrice": format!("{:#x}", 1_000_000_000_000_u64),
            });
            self.node.call_rpc("eth_sendTransaction", json!([more]));
        });
        let receipt = self.node.call_rpc("eth_getTransactionReceipt", json!([txid]));
        assert_eq!(receipt, Value::Null, "the replaced transaction has no receipt");
    }

    fn reorganise_and_drop_txid(&self, gone: &str) {
        // Each transaction has its own block, and the last block is empty.
        let given_up = self.node.reorg(5);
        for (txid, raw) in given_up.iter().filter(|(txid, _)| txid != gone) {
            assert_eq!(self.node.call_rpc("eth_sendRawTransaction", json!([raw])), *txid);
            self.node.wait_for_success(txid);
        }
        self.node.mine(1);
    }

    fn send_ignored_payments(&self, to: &str) {
        let unlisted = self.node.deploy_token();
        self.node.pay_token(&unlisted, to, 20_000_000);
        let units = format!("{:064x}", 20_000_000);
        let failed = self.node.call_contract(
            &self.token,
            "fail(address,uint256)",
            &[address_word(to), units],
            0,
        );
        assert_eq!(self.node.wait_for_receipt(&failed)["status"], "0x0");
        // This payment stays unmatched. On Ethereum its coin is not the coin of the invoice, and on other chains its
        // amount is dust.
        if self.names[0] == "ethereum" {
            let sender = self.node.deploy_forwarder();
            let words = [address_word(to), address_word(FOREIGN)];
            self.node.call_contract(&sender, "split(address,address)", &words, 1 << 60);
        } else {
            self.send_all(&[(to, 1)]);
        }
    }

    fn received_by(&self, to: &BTreeSet<String>, booked: &ReceivedAmounts) -> ReceivedAmounts {
        let [chain, asset, _] = self.names;
        let coin = if chain == "ethereum" { "ETH" } else { "" };
        let mut came = self.node.received_amounts(to, coin, asset, &self.token);
        came.retain(|_, (asset, _)| !asset.is_empty());
        // The node cannot list transfers by contracts, so the test copies these transfers from `booked`. The sums
        // must equal the balances.
        let sent = booked.iter().filter(|((_, position), _)| *position >= 1_000_000);
        came.extend(sent.map(|(place, value)| (place.clone(), value.clone())));
        let sums = (sum_of_asset(&came, "ETH"), sum_of_asset(&came, asset));
        assert_eq!(self.node.balance_sums(to, &self.token), sums);
        came
    }
}

#[track_caller]
fn play_scenario_on_utxo<K>(
    names: [&'static str; 3],
    twenty: u128,
    url: impl Fn(&Litecoind) -> Option<(K, String)>,
) {
    let untested = format!("what may happen to an invoice on {}", names[0]);
    let Some(node) = Litecoind::start(&["-txindex=1"], &untested) else {
        return;
    };
    node.fund_wallet();
    let Some((_kept, url)) = url(&node) else {
        return;
    };
    let till = TestnetShop::with_utxo_chain(names[0], &url);
    play_scenario(&till, &UtxoScenarioPayer { node, names, twenty });
}

#[track_caller]
fn play_scenario_on_evm(id: u64, names: [&'static str; 3]) {
    let untested = format!("what may happen to an invoice on {}", names[0]);
    let Some(node) = Node::start(id, &untested) else {
        return;
    };
    let token = node.deploy_token();
    let till = TestnetShop::with_account_chain(names[0], &node.url, names[1], &token);
    play_scenario(&till, &EvmScenarioPayer { node, token, names });
}

#[test]
fn invoice_scenarios_pass_on_litecoin() {
    let direct = |node: &Litecoind| Some(((), node.url()));
    play_scenario_on_utxo(["litecoin", "LTC", "LTC"], 25_000_000, direct);
}

#[test]
fn invoice_scenarios_pass_on_dogecoin() {
    let names = ["dogecoin", "DOGE", "DOGE"];
    play_scenario_on_utxo(names, 500_000_000, |node| Some(RpcProxy::start_dogecoin(node)));
}

#[test]
fn invoice_scenarios_pass_with_an_electrum_server() {
    let server = |node: &Litecoind| {
        let server = Electrumx::start(node, &[], "payments by an Electrum server")?;
        let url = server.url();
        Some((server, url))
    };
    play_scenario_on_utxo(["litecoin", "LTC", "LTC"], 25_000_000, server);
}

#[test]
fn invoice_scenarios_pass_on_ethereum() {
    play_scenario_on_evm(11_155_111, ["ethereum", "USDC-ERC20", "USDC"]);
}

#[test]
fn invoice_scenarios_pass_on_base() {
    play_scenario_on_evm(84_532, ["base", "USDC-BASE", "USDC"]);
}

#[test]
fn invoice_scenarios_pass_on_polygon() {
    play_scenario_on_evm(80_002, ["polygon", "USDC-POLYGON", "USDC"]);
}
