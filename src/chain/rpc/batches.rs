//! Adapts the batch size to a node: smaller after a refusal, larger after successes.
//!
//! Invariant: the size is at least 1, and at most the limit.

/// Number of single calls after which a batch of two is tried again. The node may have refused the earlier batch
/// because of its calls, and not because of its size.
const SINGLES_MAX: u32 = 32;

/// Adaptive batch size for one node.
pub(super) struct BatchSize {
    now: usize,
    max: usize,
    /// Number of single calls since a batch of two was refused.
    singles: u32,
}

impl BatchSize {
    /// Starts with the largest allowed size, or with 1 if `max` is 0.
    pub(super) fn new(max: usize) -> BatchSize {
        let max = max.max(1);
        BatchSize { now: max, max, singles: 0 }
    }

    pub(super) fn current(&self) -> usize {
        self.now
    }

    /// Records that the node accepted a batch.
    pub(super) fn grow(&mut self) {
        self.now = self.now.saturating_add(1).min(self.max);
    }

    /// Records that the node refused a batch of this size.
    pub(super) fn shrink(&mut self, calls: usize) {
        self.now = calls.div_euclid(2).max(1);
    }

    /// Records a call that was sent without a batch.
    pub(super) fn count_single_call(&mut self) {
        if self.now == 1 {
            self.singles = self.singles.saturating_add(1);
        }
        if self.singles >= SINGLES_MAX {
            (self.singles, self.now) = (0, self.max.min(2));
        }
    }
}
