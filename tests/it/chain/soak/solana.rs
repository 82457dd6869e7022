//! Payer on Solana, with surfpool as its node, which has no reorgs.

use crate::chain::killed::RandomPayer;
use crate::support::dice::Dice;
use crate::support::received::ReceivedAmounts;
use crate::support::surfpool::{SOL, Surfpool, USDC, USDT};
use std::collections::BTreeSet;

pub(super) struct SolanaPayer(pub(super) Surfpool);

impl RandomPayer for SolanaPayer {
    fn pay_all(&mut self, dice: &mut Dice, to: &[String]) {
        for to in to {
            let asset = [SOL, USDC, USDT][dice.roll(3)];
            // A Solana account must hold a minimum balance, the rent.
            let least = if asset == SOL { 1_000_000 } else { 10_000 };
            let units = least + u64::try_from(dice.roll(10_000)).unwrap();
            self.0.pay(asset, to, units);
        }
    }

    fn reorganise(&mut self, _: &mut Dice, depth: u32) {
        self.0.wait_for_slots(depth);
    }

    fn mine_empty(&self, blocks: u32) {
        self.0.wait_for_slots(blocks);
    }

    fn height(&self) -> u32 {
        self.0.newest_slot()
    }

    fn received_by(&self, to: &BTreeSet<String>) -> ReceivedAmounts {
        self.0.received_amounts(to)
    }
}
