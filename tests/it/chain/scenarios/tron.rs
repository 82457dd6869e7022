//! Payer on Tron, with a simulated node.

use super::{Payer, play};
use crate::chain::till::Till;
use crate::support::received::ReceivedAmounts;
use crate::support::tron::{Act, Node, PAYER, SENDER, Step, TOKEN, UNLISTED, address, bytes};
use std::collections::BTreeSet;

/// An account that does not belong to the shop.
const FOREIGN: [u8; 20] = [0xbb; 20];
/// Token that the invoices request.
const ASSET: &str = "USDT-TRC20";

struct Tron {
    node: Node,
}

impl Payer for Tron {
    fn chain_asset_symbol(&self) -> [&'static str; 3] {
        ["tron", ASSET, "USDT"]
    }

    fn twenty_eur(&self) -> u128 {
        20_000_000
    }

    fn send_all(&self, to: &[(&str, u128)]) -> String {
        let units = |units: u128| u64::try_from(units).unwrap();
        let sent = match to {
            [(to, amount)] => self.node.pay_token(to, units(*amount)),
            _ => {
                let pays: Vec<_> = to
                    .iter()
                    .map(|(to, amount)| (bytes(to), units(*amount)))
                    .collect();
                self.node.send(Act::batch(TOKEN, PAYER, &pays))
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

    fn replace(&self, txid: &str, to: &[(&str, u128)]) {
        let mut chain = self.node.chain();
        let depth = chain.blocks().len() - chain.height_of(txid).unwrap();
        chain.give_up(depth, &[txid]);
        drop(chain);
        let (to, units) = to.first().unwrap_or(&("", 1));
        let to = if to.is_empty() { FOREIGN } else { bytes(to) };
        let units = u64::try_from(*units).unwrap();
        self.node.send(Act::token(TOKEN, PAYER, to, units));
        self.node.mine(u32::try_from(depth + 1).unwrap());
    }

    fn reorganise(&self, gone: &str) {
        let mut chain = self.node.chain();
        // Each transaction has its own block, and the last block is empty.
        chain.give_up(5, &[gone]);
        for _ in 0..chain.reverse_waiting() {
            chain.mine_first(1);
        }
        drop(chain);
        self.node.mine(4);
    }

    fn send_ignored(&self, to: &str) {
        let to = bytes(to);
        let sends = |is_rejected, amount| Step {
            is_rejected,
            ..Step::sends(SENDER, to, amount)
        };
        self.node.send(Act::token(UNLISTED, PAYER, to, 20_000_000));
        self.node
            .send_failing(Act::token(TOKEN, PAYER, to, 20_000_000));
        self.node.send_failing(Act::Transfer {
            from: PAYER,
            to,
            amount: 5_000_000,
        });
        // A contract sends a coin that the invoice does not request.
        let steps = vec![sends(true, 7_000_000), sends(false, 9_000_000)];
        self.node.send(Act::steps(SENDER, PAYER, steps));
        self.node.mine(20);
    }

    fn received_by(&self, to: &BTreeSet<String>, _: &ReceivedAmounts) -> ReceivedAmounts {
        self.node.received_by(to, ASSET)
    }
}

#[test]
fn invoice_scenarios_pass_on_tron() {
    let node = Node::start();
    let till = Till::of_accounts("tron", &node.url(), (ASSET, &address(TOKEN)));
    play(&till, &Tron { node });
}
