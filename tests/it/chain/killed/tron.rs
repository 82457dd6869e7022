//! Tests that kill the server while it stores a block of Tron, with a simulated node.

use super::{PAYMENTS_PER_CALL, RandomPayer, pay_and_kill};
use crate::chain::till::TestnetShop;
use crate::support::dice::Dice;
use crate::support::received::ReceivedAmounts;
use crate::support::tron::{
    Action, ContractStep, Node, PAYER, SENDER, TOKEN, decode_address, encode_address,
};
use std::collections::BTreeSet;

pub(in crate::chain) const ASSET: &str = "USDT-TRC20";

pub(in crate::chain) struct TronPayer(pub(in crate::chain) Node);

impl RandomPayer for TronPayer {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        let mut units = || 10_000 + u64::try_from(dice.roll(10_000)).unwrap();
        for part in [to; 6].concat().chunks(PAYMENTS_PER_CALL) {
            let pays: Vec<_> = part.iter().map(|to| (decode_address(to), units())).collect();
            self.0.send(Action::token_payments(TOKEN, PAYER, &pays));
        }
        for part in to.chunks(PAYMENTS_PER_CALL) {
            let steps = part
                .iter()
                .map(|to| ContractStep::trx_payment(SENDER, decode_address(to), units()));
            self.0.send(Action::contract_call(SENDER, PAYER, steps.collect()));
        }
        for to in to {
            self.0.pay(to, units());
        }
        self.0.mine(1);
    }

    fn reorganise(&mut self, dice: &mut Dice, depth: u32) {
        let mut chain = self.0.chain();
        let given_up = usize::try_from(depth).unwrap();
        let newest = chain.blocks().iter().rev().take(given_up);
        let sent = newest.flat_map(|block| block.transactions.iter().map(|one| one.id.clone()));
        let mut gone: Vec<String> = sent.collect();
        gone.retain(|_| dice.roll(3) == 0);
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        chain.reorg(given_up, &gone);
        chain.reverse_pending_order();
        drop(chain);
        self.0.mine(depth + 1);
    }

    fn mine_empty(&self, blocks: u32) {
        self.0.mine(blocks);
    }

    fn height(&self) -> u32 {
        self.0.height()
    }

    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts {
        self.0.received_amounts(to, ASSET)
    }
}

#[test]
fn killed_server_stores_each_tron_payment_once() {
    let node = Node::start();
    let till = TestnetShop::with_account_chain("tron", &node.url(), ASSET, &encode_address(TOKEN));
    pay_and_kill(&till, "tron", &["TRX", ASSET], &mut TronPayer(node));
}
