//! Finds the height of the chain at a time, by the times of its blocks.

use super::Step;
use crate::domain::following::ChainStepOutcome;
use crate::domain::time::{HOUR_MS, MINUTE_MS, Time};

/// Largest error of a block's time where miners choose it: nodes take a block up to two hours ahead.
const MINED_MARGIN_MS: i64 = 2 * HOUR_MS;
/// Largest difference of the clocks of this machine and of a chain with accounts.
const CLOCK_MARGIN_MS: i64 = 15 * MINUTE_MS;

impl Step<'_> {
    /// Searches for the lowest block whose time is not before this one, less a margin. Blocks that the node does not have
    /// count as earlier. `None` where the node fails: it is asked again with a later step.
    pub(super) fn dated(&mut self, at: Time) -> Option<ChainStepOutcome> {
        let cursor = self.known.cursor.as_ref()?;
        let margin = if self.chain().has_outputs() {
            MINED_MARGIN_MS
        } else {
            CLOCK_MARGIN_MS
        };
        let wanted = at.plus_ms(margin.saturating_neg());
        // Blocks below `low` are earlier; the one at `high` is not, or is the cursor's.
        let (mut low, mut high) = (0, cursor.block.height);
        let (mut lacks_before, mut high_time) = (false, cursor.time);
        while low < high {
            let middle = low.midpoint(high);
            match self.node.time_at(middle).ok()? {
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
