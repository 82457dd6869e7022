//! Payer on Tron, with a simulated node.

use super::{ScenarioPayer, play_scenario};
use crate::chain::till::TestnetShop;
use crate::support::received::ReceivedAmounts;
use crate::support::tron::{
    Action, ContractStep, Node, PAYER, SENDER, TOKEN, UNLISTED, decode_address, encode_address,
};
use std::collections::BTreeSet;

/// An account that does not belong to the shop.
const FOREIGN: [u8; 20] = [0xbb; 20];
/// Token that the invoices request.
const ASSET: &str = "USDT-TRC20";

struct TronScenarioPayer {
    node: Node,
}

impl ScenarioPayer for TronScenarioPayer {
    fn chain_asset_symbol(&self) -> [&'static str; 3] {
        ["tron", ASSET, "USDT"]
    }

    fn units_worth_twenty_eur(&self) -> u128 {
        20_000_000
    }

    fn send_all(&self, to: &[(&str, u128)]) -> String {
        let units = |units: u128| u64::try_from(units).unwrap();
        let sent = match to {
            [(to, amount)] => self.node.pay_token(to, units(*amount)),
            _ => {
                let pays: Vec<_> =
                    to.iter().map(|(to, amount)| (decode_address(to), units(*amount))).collect();
                self.node.send(Action::token_payments(TOKEN, PAYER, &pays))
            }
        };
        self.node.mine(1);
        sent
    }

    fn mine_empty(&self, blocks: u32) {
        self.node.mine(blocks);
    }

    fn height(&self) -> u32 {
        self.node.height()
    }

    fn has_mempool(&self) -> bool {
        false
    }

    fn replace_transaction(&self, txid: &str, to: &[(&str, u128)]) {
        let mut chain = self.node.chain();
        let depth = chain.blocks().len() - chain.height_of_transaction(txid).unwrap();
        chain.reorg(depth, &[txid]);
        drop(chain);
        let (to, units) = to.first().unwrap_or(&("", 1));
        let to = if to.is_empty() { FOREIGN } else { decode_address(to) };
        let units = u64::try_from(*units).unwrap();
        self.node.send(Action::token_transfer(TOKEN, PAYER, to, units));
        self.node.mine(u32::try_from(depth + 1).unwrap());
    }

    fn reorganise_and_drop_txid(&self, gone: &str) {
        let mut chain = self.node.chain();
        // Each transaction has its own block, and the last block is empty.
        chain.reorg(5, &[gone]);
        for _ in 0..chain.reverse_pending_order() {
            chain.mine_first_pending(1);
        }
        drop(chain);
        self.node.mine(4);
    }

    fn send_ignored_payments(&self, to: &str) {
        let to = decode_address(to);
        let sends = |is_rejected, amount| ContractStep {
            is_rejected,
            ..ContractStep::trx_payment(SENDER, to, amount)
        };
        self.node.send(Action::token_transfer(UNLISTED, PAYER, to, 20_000_000));
        self.node.send_failing(Action::token_transfer(TOKEN, PAYER, to, 20_000_000));
        self.node.send_failing(Action::Transfer { from: PAYER, to, amount: 5_000_000 });
        // A contract sends a coin that the invoice does not request.
        let steps = vec![sends(true, 7_000_000), sends(false, 9_000_000)];
        self.node.send(Action::contract_call(SENDER, PAYER, steps));
        self.node.mine(20);
    }

    fn received_by(&self, to: &BTreeSet<String>, _: &ReceivedAmounts) -> ReceivedAmounts {
        self.node.received_amounts(to, ASSET)
    }
}

#[test]
fn invoice_scenarios_pass_on_tron() {
    let node = Node::start();
    let till = TestnetShop::with_account_chain("tron", &node.url(), ASSET, &encode_address(TOKEN));
    play_scenario(&till, &TronScenarioPayer { node });
}
