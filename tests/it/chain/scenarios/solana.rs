//! Payer on Solana, with surfpool as its node, which has no reorgs.

use super::{ScenarioPayer, play_scenario};
use crate::chain::till::TestnetShop;
use crate::support::received::ReceivedAmounts;
use crate::support::surfpool::{SOL, Surfpool, USDC, USDT, payment_steps};
use serde_json::{Value, json};
use std::collections::BTreeSet;

struct SolanaScenarioPayer<'a> {
    node: &'a Surfpool,
    asset: &'static str,
}

impl ScenarioPayer for SolanaScenarioPayer<'_> {
    fn chain_asset_symbol(&self) -> [&'static str; 3] {
        let symbol = self.asset.split('-').next().unwrap();
        ["solana", self.asset, symbol]
    }

    fn units_worth_twenty_eur(&self) -> u128 {
        if self.asset == SOL { 200_000_000 } else { 20_000_000 }
    }

    fn send_all(&self, to: &[(&str, u128)]) -> String {
        let all = to.iter().flat_map(|(to, units)| {
            let steps = payment_steps(self.asset, to, u64::try_from(*units).unwrap());
            steps.as_array().unwrap().clone()
        });
        self.node.send(None, &Value::Array(all.collect()))
    }

    fn mine_empty(&self, blocks: u32) {
        self.node.wait_for_slots(blocks);
    }

    fn height(&self) -> u32 {
        self.node.newest_slot()
    }

    fn has_forks(&self) -> bool {
        false
    }

    fn has_mempool(&self) -> bool {
        false
    }

    fn replace_transaction(&self, _: &str, _: &[(&str, u128)]) {
        unreachable!("nothing waits, and no block is given up");
    }

    fn reorganise_and_drop_txid(&self, _: &str) {
        unreachable!("no block is given up");
    }

    fn send_ignored_payments(&self, to: &str) {
        for token in ["other", "token2022"] {
            self.node.send(None, &payment_steps(token, to, 20_000_000));
        }
        let failing = json!([["sol", to, 200_000_000], ["fail"]]);
        self.node.send(None, &failing);
        // The payment is in an asset that the invoice does not request.
        let other = if self.asset == USDT { SOL } else { USDT };
        self.node.pay(other, to, 30_000_000);
    }

    fn received_by(&self, to: &BTreeSet<String>, _: &ReceivedAmounts) -> ReceivedAmounts {
        self.node.received_amounts(to)
    }
}

#[track_caller]
fn play_scenario_on_solana(asset: &'static str) {
    let Some(node) = Surfpool::start(&format!("invoices in {asset}")) else {
        return;
    };
    let till = TestnetShop::with_solana(&node, &node.url);
    play_scenario(&till, &SolanaScenarioPayer { node: &node, asset });
}

#[test]
fn invoice_scenarios_pass_in_sol() {
    play_scenario_on_solana(SOL);
}

#[test]
fn invoice_scenarios_pass_in_a_solana_token() {
    play_scenario_on_solana(USDC);
}
