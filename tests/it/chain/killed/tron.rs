//! Kills of the server within a block of Tron, with a simulated node.

use super::{BATCH, Payer, play};
use crate::chain::till::Till;
use crate::support::dice::Dice;
use crate::support::received::ReceivedAmounts;
use crate::support::tron::{Act, Node, PAYER, SENDER, Step, TOKEN, address, bytes};
use std::collections::BTreeSet;

pub(in crate::chain) const ASSET: &str = "USDT-TRC20";

pub(in crate::chain) struct Tron(pub(in crate::chain) Node);

impl Payer for Tron {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        let mut units = || 10_000 + u64::try_from(dice.roll(10_000)).unwrap();
        for part in [to; 6].concat().chunks(BATCH) {
            let pays: Vec<_> = part.iter().map(|to| (bytes(to), units())).collect();
            self.0.send(Act::batch(TOKEN, PAYER, &pays));
        }
        for part in to.chunks(BATCH) {
            let steps = part
                .iter()
                .map(|to| Step::sends(SENDER, bytes(to), units()));
            self.0.send(Act::steps(SENDER, PAYER, steps.collect()));
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
        chain.give_up(given_up, &gone);
        chain.reverse_waiting();
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
        self.0.received_by(to, ASSET)
    }
}

#[test]
fn kill_within_a_block_neither_loses_nor_doubles_tron() {
    let node = Node::start();
    let till = Till::of_accounts("tron", &node.url(), (ASSET, &address(TOKEN)));
    play(&till, "tron", &["TRX", ASSET], &mut Tron(node));
}
