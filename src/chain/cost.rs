//! What it costs to follow a chain, in requests: each of a batch counts, as those who sell them count.
//!
//! What does not live here: how often a node is asked. What always holds: it is about what is counted, as long as the chain
//! goes on evenly and nobody is paid.

use crate::domain::asset::{ASSETS, AssetKind};
use crate::domain::chain::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS};

/// Time between two questions for the fee of a transaction, in milliseconds.
pub const FEES_EVERY_MS: i64 = 10 * MINUTE_MS;
const FEES_A_DAY: u64 = (DAY_MS / FEES_EVERY_MS).unsigned_abs();

/// What a node is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Each time that it is asked for what is new.
    pub a_poll: u64,
    /// For each block.
    pub a_block: u64,
    /// So many blocks there are a day, about.
    blocks_a_day: u64,
    /// For each range that has become final, and is read again.
    pub a_final: u64,
    /// So many such ranges there are a day at most: never more than polls.
    finals_a_day: u64,
    /// So many times a day the node is asked what sending costs.
    pub fees_a_day: u64,
    /// Is each transaction of the chain asked for, too?
    pub each_transaction: bool,
    /// Addresses that the node is asked about by name, which this is for; 0 for nodes that read whole blocks.
    pub addresses: u64,
    /// Requests a day besides, however often it is asked.
    besides_a_day: u64,
}

/// Addresses that somebody may pay to, where a cost depends on how many there are.
const ADDRESSES: u64 = 20;

impl Cost {
    /// What a chain costs; of EVM chains with one wallet, of which a thousand addresses ahead are looked for.
    pub fn of(chain: Chain) -> Cost {
        let (blocks_a_day, finals_a_day) = match chain {
            Chain::Bitcoin => (144, 0),
            Chain::Litecoin => (576, 0),
            Chain::Dogecoin => (1440, 0),
            // Eight blocks with their transactions at once, and 64 without; each jump of what is final begins anew.
            Chain::Ethereum | Chain::Base => (blocks(chain), 900),
            Chain::Polygon | Chain::Tron | Chain::Solana => (blocks(chain), u64::MAX),
        };
        if chain == Chain::Solana {
            return Cost::by_names(ADDRESSES);
        }
        if chain == Chain::Tron {
            return Cost {
                // The newest and the final block 2, the block that was read last 1, blocks 1.
                a_poll: 4,
                // The outcomes of its transactions, once it is final.
                a_block: 1,
                blocks_a_day,
                // Blocks 1, whether the last is the one that was read 1; and a look at the head 3, which has a new block
                // mostly 1.
                a_final: 6,
                finals_a_day,
                fees_a_day: 0,
                each_transaction: false,
                addresses: 0,
                besides_a_day: 0,
            };
        }
        let has_native = ASSETS
            .iter()
            .any(|asset| asset.chain == chain && asset.kind == AssetKind::Native);
        let (a_poll, a_block, a_final) = match (chain.has_outputs(), has_native) {
            // Its state 4, the block that was read last 1, the mempool 1; of a block its hash and itself.
            (true, _) => (6, 2, 0),
            // The chain id 1, the newest and the final block 2, the block that was read last 1, two blocks and two calls for
            // logs; of what is final two blocks, two calls for logs for each 500 addresses, a look at the head, and whether the
            // last is the one that was read.
            (false, false) => (8, 0, 13),
            // Is it traced 1, no blocks without their transactions; each block and its traces, twice.
            (false, true) => (7, 4, 12),
        };
        Cost {
            a_poll,
            a_block,
            blocks_a_day,
            a_final,
            finals_a_day,
            fees_a_day: FEES_A_DAY,
            each_transaction: chain.has_outputs(),
            addresses: 0,
            besides_a_day: 0,
        }
    }

    /// Returns what Solana costs while somebody may pay to so many addresses.
    pub fn by_names(addresses: u64) -> Cost {
        // An address has an account itself, and one for each of two tokens. A hundred accounts are one request.
        let accounts = addresses.saturating_mul(3).div_ceil(100);
        Cost {
            // The newest and the final slot 2, the newest block and the one that was read last 2.
            a_poll: accounts.saturating_add(4),
            a_block: 0,
            blocks_a_day: 0,
            // The last block 1, whether it is the one that was read 1; and a look at the head again.
            a_final: accounts.saturating_mul(2).saturating_add(6),
            // Every 600 slots of 0.4 s.
            finals_a_day: 360,
            fees_a_day: 0,
            each_transaction: false,
            addresses,
            // The history of each address every six hours, at the head and of what is final.
            besides_a_day: addresses.saturating_mul(8),
        }
    }

    /// What a chain of outputs costs by an Electrum server, which tells by itself of what is new.
    pub fn by_notices(chain: Chain) -> Cost {
        Cost {
            // The newest header, before and behind the histories, and for each what asks an answer out that is held back; of
            // a block its header.
            a_poll: 4,
            a_block: 1,
            each_transaction: false,
            ..Cost::of(chain)
        }
    }

    /// How many requests a day that makes, where it is asked so often a day.
    pub fn a_day(&self, polls: u64) -> u64 {
        let finals = self.finals_a_day.min(polls).saturating_mul(self.a_final);
        let blocks = self.blocks_a_day.saturating_mul(self.a_block);
        polls
            .saturating_mul(self.a_poll)
            .saturating_add(finals)
            .saturating_add(blocks)
            .saturating_add(self.fees_a_day)
            .saturating_add(self.besides_a_day)
    }
}

/// How many blocks there are a day.
fn blocks(chain: Chain) -> u64 {
    match chain {
        Chain::Ethereum => 7_200,
        Chain::Tron => 28_800,
        _ => 43_200,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, Cost};

    #[test]
    fn a_day_costs_polls_blocks_and_what_is_final() {
        for (chain, polls, a_day) in [
            (Chain::Bitcoin, 2880, 2880 * 6 + 144 * 2 + 144),
            (Chain::Base, 1440, 1440 * 8 + 900 * 13 + 144),
            (Chain::Base, 100, 100 * 8 + 100 * 13 + 144),
            (Chain::Tron, 1440, 1440 * 10 + 28_800),
            (Chain::Tron, 5760, 5760 * 10 + 28_800),
            (Chain::Polygon, 5760, 5760 * 21 + 144),
            (Chain::Ethereum, 1440, 1440 * 7 + 900 * 12 + 7200 * 4 + 144),
            (Chain::Solana, 1440, 1440 * 5 + 360 * 8 + 20 * 8),
        ] {
            assert_eq!(Cost::of(chain).a_day(polls), a_day, "{chain} {polls}");
        }
    }
}
