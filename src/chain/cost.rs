//! Estimates the requests needed to follow a chain. Each call of a batch counts as one request, because node
//! providers count calls. The estimate assumes a steady rate of blocks without payments.

use crate::domain::AssetKind;
use crate::domain::asset::ASSETS;
use crate::domain::chain::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS};

/// Time between two requests for network fees, in milliseconds.
pub const FEES_EVERY_MS: i64 = 10 * MINUTE_MS;
const FEES_A_DAY: u64 = (DAY_MS / FEES_EVERY_MS).unsigned_abs();

/// Estimated number of requests that are needed to follow a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestCost {
    /// Number of requests for each poll.
    pub a_poll: u64,
    /// Number of requests for each new block.
    pub a_block: u64,
    /// Approximate number of blocks a day.
    blocks_a_day: u64,
    /// Number of requests for the second read of a range of finalized blocks.
    pub a_final: u64,
    /// Largest number of finalized ranges in a day. A poll reads at most one of these ranges.
    finals_a_day: u64,
    /// Number of requests a day for network fees.
    pub fees_a_day: u64,
    /// `true` if one further request is needed for each transaction in the mempool or in a block.
    pub each_transaction: bool,
    /// Number of polled addresses in this estimate; 0 for nodes that read whole blocks.
    pub addresses: u64,
    /// Number of requests a day that do not depend on the number of polls, for example requests for account
    /// histories.
    besides_a_day: u64,
}

/// Number of payable addresses in the cost estimate for Solana.
const ADDRESSES: u64 = 20;

impl RequestCost {
    /// Returns the cost of following a chain. For EVM chains, the estimate assumes one wallet with a thousand watched
    /// addresses.
    pub fn for_chain(chain: Chain) -> RequestCost {
        let (blocks_a_day, finals_a_day) = match chain {
            Chain::Bitcoin => (144, 0),
            Chain::Litecoin => (576, 0),
            Chain::Dogecoin => (1440, 0),
            // The tuple contains the number of blocks a day and the number of finalized ranges a day. A range has at
            // most 8 blocks with transactions, or 64 headers. A range also ends where the final height changes.
            Chain::Ethereum | Chain::Base => (blocks_per_day(chain), 900),
            Chain::Polygon | Chain::Tron | Chain::Solana => (blocks_per_day(chain), u64::MAX),
        };
        if chain == Chain::Solana {
            return RequestCost::for_solana(ADDRESSES);
        }
        if chain == Chain::Tron {
            return RequestCost {
                // A poll: 2 requests for the newest and the final block, 1 for the last block that was read, 1 for
                // the new blocks.
                a_poll: 4,
                // 1 request for the receipts of the block, once the block is final.
                a_block: 1,
                blocks_a_day,
                // A finalized range: 1 request for its blocks, 1 for the hash of the last block that was read, 3 for
                // a poll of the head, and usually 1 for a new block.
                a_final: 6,
                finals_a_day,
                fees_a_day: 0,
                each_transaction: false,
                addresses: 0,
                besides_a_day: 0,
            };
        }
        let has_native =
            ASSETS.iter().any(|asset| asset.chain == chain && asset.kind == AssetKind::Native);
        let (a_poll, a_block, a_final) = match (chain.has_outputs(), has_native) {
            // A poll: 4 requests for the chain state, 1 for the last block that was read, 1 for the mempool. A block:
            // 1 for its hash, 1 for its contents.
            (true, _) => (6, 2, 0),
            // A poll: 1 request for the chain id, 2 for the newest and the final block, 1 for the last block that was
            // read, 2 for blocks, 2 for logs.
            //
            // A finalized range: 2 requests for blocks, 4 for the logs of 1 000 addresses, 6 for a poll of the head,
            // and 1 for the hash of the last block that was read.
            (false, false) => (8, 0, 13),
            // A poll: 1 more request than without traces, to check trace support, and 2 fewer for blocks. A block: in
            // each of its two reads, 1 request for its contents and 1 for its traces.
            (false, true) => (7, 4, 12),
        };
        RequestCost {
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

    /// Returns the cost of following Solana with this number of payable addresses.
    pub fn for_solana(addresses: u64) -> RequestCost {
        // Each address has three accounts: its own account and two token accounts. One request covers a hundred
        // accounts.
        let accounts = addresses.saturating_mul(3).div_ceil(100);
        RequestCost {
            // A poll: 2 requests for the newest and the final slot, 2 for the newest block and the last block that
            // was read.
            a_poll: accounts.saturating_add(4),
            a_block: 0,
            blocks_a_day: 0,
            // A finalized range: 1 request for its last block, 1 for the hash of the last block that was read, and
            // the requests for the accounts. The range also needs a second poll.
            a_final: accounts.saturating_mul(2).saturating_add(6),
            // A day has 360 ranges of 600 slots. A slot takes 0.4 s.
            finals_a_day: 360,
            fees_a_day: 0,
            each_transaction: false,
            addresses,
            // The history of each address is read every six hours, at both commitment levels.
            besides_a_day: addresses.saturating_mul(8),
        }
    }

    /// Returns the cost of following a chain through an Electrum server, which sends notifications of changes.
    pub fn for_electrum(chain: Chain) -> RequestCost {
        RequestCost {
            // A poll: 2 requests for the tip header, before and after the histories are read. Each of them adds 1
            // filler call, which makes the server send delayed responses. A block: 1 request for its header.
            a_poll: 4,
            a_block: 1,
            each_transaction: false,
            ..RequestCost::for_chain(chain)
        }
    }

    /// Returns the number of requests a day at this number of polls a day.
    pub fn requests_per_day(&self, polls: u64) -> u64 {
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

fn blocks_per_day(chain: Chain) -> u64 {
    match chain {
        Chain::Ethereum => 7_200,
        Chain::Tron => 28_800,
        _ => 43_200,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chain, RequestCost};

    #[test]
    fn requests_per_day_include_polls_and_blocks() {
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
            assert_eq!(
                RequestCost::for_chain(chain).requests_per_day(polls),
                a_day,
                "{chain} {polls}"
            );
        }
    }
}
