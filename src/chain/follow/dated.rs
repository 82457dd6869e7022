//! Finds the block height at a time, by binary search over block timestamps.

use super::StepBuilder;
use crate::domain::time::{HOUR_MS, MINUTE_MS};
use crate::domain::{ChainStepOutcome, Time};

/// Largest error of a timestamp in milliseconds, because the miner chooses the timestamp. Nodes accept a block up to
/// two hours in the future.
const MINED_MARGIN_MS: i64 = 2 * HOUR_MS;
/// Largest difference between the clock of this machine and the clock of an account chain, in milliseconds.
const CLOCK_MARGIN_MS: i64 = 15 * MINUTE_MS;

impl StepBuilder<'_> {
    /// Searches for the lowest block whose timestamp is at or after `at` minus a margin. Blocks that the node lacks
    /// count as earlier than `at`. Returns `None` if the node fails; a later step tries again.
    pub(super) fn find_block_by_time(&mut self, at: Time) -> Option<ChainStepOutcome> {
        let cursor = self.known.cursor.as_ref()?;
        let margin = if self.chain().has_outputs() { MINED_MARGIN_MS } else { CLOCK_MARGIN_MS };
        let wanted = at.plus_ms(margin.saturating_neg());
        // Blocks below `low` are earlier than `wanted`. The block at `high` is not earlier than `wanted`, or is the
        // cursor.
        let (mut low, mut high) = (0, cursor.block.height);
        let (mut lacks_before, mut high_time) = (false, cursor.time);
        while low < high {
            let middle = low.midpoint(high);
            match self.node.block_time_at(middle).ok()? {
                Some(time) if time >= wanted => (high, high_time) = (middle, time),
                earlier => {
                    low = middle.saturating_add(1);
                    lacks_before = earlier.is_none();
                }
            }
        }
        Some(ChainStepOutcome::HeightFound {
            at,
            height: high,
            lacks_before: lacks_before.then(|| high_time.plus_ms(margin)),
        })
    }
}
