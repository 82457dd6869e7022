//! Confirmations of a payment: the current number, the needed number, and the usual time until confirmation.
//!
//! Invariant: a payment that is shown with enough confirmations becomes confirmed in the next step along its chain.

mod tiers;
mod wait;

use super::chain::{Chain, Depth};
use super::fields::{Schema, view};
pub use tiers::{ConfirmationTier, ConfirmationTiers};
pub use wait::WaitRange;

view! {
    /// Progress on the chain; empty for a chain without a node, and in test mode outside a sandbox.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub OnChain {
        /// Confirmations, 1 for a transaction in the newest block, 0 for one in no block; null once it is confirmed
        /// or gone, and in test mode outside a sandbox.
        confirmations: Option<u32>;
        /// Confirmations that it needs, or final for a final block; null if confirmations is null.
        confirmations_needed: Option<Depth>;
        /// Page of the transaction in a block explorer; null on test networks and simulated chains.
        explorer_url: Option<String> [Schema::Nullable(&Schema::URL)];
    }
}

impl OnChain {
    /// Returns a text with the current and the needed confirmations; `None` once the payment is confirmed or dropped.
    pub fn progress_text(&self) -> Option<String> {
        let count = self.confirmations?;
        Some(match self.confirmations_needed? {
            Depth::Blocks(needed) => format!("{count} of {needed} confirmations"),
            Depth::Final if count == 0 => {
                "not in a block yet, which then has to be final".to_owned()
            }
            Depth::Final if count == 1 => "1 confirmation, until its block is final".to_owned(),
            Depth::Final => format!("{count} confirmations, until its block is final"),
        })
    }

    /// Returns the usual time until confirmation; `None` once the payment is confirmed or dropped.
    pub fn wait_range(&self, chain: Chain) -> Option<WaitRange> {
        let count = self.confirmations?;
        Some(match self.confirmations_needed? {
            Depth::Blocks(needed) => {
                WaitRange::until_blocks(chain, needed.saturating_sub(count).max(1))
            }
            Depth::Final => WaitRange::until_final(chain, count),
        })
    }
}

/// Height of the newest block of every simulated chain. It never changes: a payment that gets more confirmations moves
/// to a lower block.
pub const SIMULATED_HEIGHT: u32 = 1_000_000;

/// Returns the height of the block of a simulated chain that has this number of confirmations; `None` for zero, which
/// is in no block.
pub fn simulated_block_height(confirmations: u32) -> Option<u32> {
    let below_newest = confirmations.checked_sub(1)?;
    SIMULATED_HEIGHT.checked_sub(below_newest)
}

/// Returns the number of confirmations of a payment in a block at this height. The block itself is the first
/// confirmation.
///
/// `cursor` is the height up to which the chain has been read. The result is zero if `cursor` is below `height`.
pub fn block_confirmations(height: u32, cursor: u32) -> u32 {
    let more = cursor.checked_sub(height);
    more.map_or(0, |more| more.saturating_add(1))
}

/// Returns `true` if a payment in a block at this height is confirmed.
///
/// `cursor` is the height up to which the chain has been read. `complete` is the height of the last final block, on
/// chains with accounts.
pub fn is_deep_enough(needed: Depth, height: u32, cursor: u32, complete: Option<u32>) -> bool {
    if complete.is_some_and(|complete| height <= complete) {
        return true;
    }
    match needed {
        Depth::Blocks(blocks) => block_confirmations(height, cursor) >= blocks.max(1),
        Depth::Final => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Chain, Depth, OnChain, SIMULATED_HEIGHT, WaitRange, block_confirmations, is_deep_enough,
        simulated_block_height,
    };

    #[test]
    fn block_of_a_payment_is_its_first_confirmation() {
        let two = Depth::Blocks(2);
        for (needed, height, cursor, complete, expected) in [
            (Depth::Blocks(1), 7, 7, None, true),
            (two, 7, 7, None, false),
            (two, 7, 8, None, true),
            (two, 9, 8, None, false),
            (Depth::Blocks(0), 9, 8, None, false),
            (two, 7, 7, Some(7), true),
            (Depth::Final, 7, 900, None, false),
            (Depth::Final, 7, 900, Some(6), false),
            (Depth::Final, 7, 900, Some(7), true),
        ] {
            assert_eq!(
                is_deep_enough(needed, height, cursor, complete),
                expected,
                "{needed:?} {height} {cursor} {complete:?}"
            );
        }
    }

    #[test]
    fn block_of_a_simulated_chain_has_its_confirmations() {
        for confirmations in [1, 2, 3, 100_000, SIMULATED_HEIGHT] {
            let height = simulated_block_height(confirmations);
            let found = height.map(|height| block_confirmations(height, SIMULATED_HEIGHT));
            assert_eq!(found, Some(confirmations));
        }
        assert_eq!(simulated_block_height(0), None);
        assert_eq!(simulated_block_height(u32::MAX), None);
    }

    #[test]
    fn progress_text_shows_present_and_needed_confirmations() {
        let shown = [(9, 8), (8, 8), (7, 8), (0, u32::MAX)].map(|(height, cursor)| {
            let on_chain = OnChain {
                confirmations: Some(block_confirmations(height, cursor)),
                confirmations_needed: Some(Depth::Blocks(3)),
                explorer_url: None,
            };
            on_chain.progress_text().unwrap_or_default()
        });
        assert_eq!(
            shown,
            [
                "0 of 3 confirmations",
                "1 of 3 confirmations",
                "2 of 3 confirmations",
                "4294967295 of 3 confirmations"
            ]
        );
        let until_final = [0, 1, 12].map(|count| {
            let on_chain = OnChain {
                confirmations: Some(count),
                confirmations_needed: Some(Depth::Final),
                explorer_url: None,
            };
            on_chain.progress_text().unwrap_or_default()
        });
        assert_eq!(
            until_final,
            [
                "not in a block yet, which then has to be final",
                "1 confirmation, until its block is final",
                "12 confirmations, until its block is final"
            ]
        );
        assert_eq!(OnChain::default().progress_text(), None);
    }

    #[test]
    fn wait_range_covers_the_missing_blocks() {
        let wait = |confirmations, needed, chain| {
            let on_chain =
                OnChain { confirmations, confirmations_needed: needed, explorer_url: None };
            on_chain.wait_range(chain)
        };
        let six = Some(Depth::Blocks(6));
        let blocks = |count| Some(WaitRange::until_blocks(Chain::Bitcoin, count));
        assert_eq!(wait(Some(0), six, Chain::Bitcoin), blocks(6));
        assert_eq!(wait(Some(5), six, Chain::Bitcoin), blocks(1));
        // The payment has enough confirmations, but is not confirmed yet. The wait is the time of one block.
        assert_eq!(wait(Some(9), six, Chain::Bitcoin), blocks(1));
        let last = Some(Depth::Final);
        let until_final = Some(WaitRange::until_final(Chain::Ethereum, 3));
        assert_eq!(wait(Some(3), last, Chain::Ethereum), until_final);
        assert_eq!(wait(None, six, Chain::Bitcoin), None);
        assert_eq!(OnChain::default().wait_range(Chain::Tron), None);
    }
}
