//! Backoff that is counted in steps, because a node never reads the clock.

/// Backoff of something that failed. Each further failure doubles it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StepBackoff {
    /// Number of failures in a row.
    failures: u32,
    /// Number of steps that are still skipped.
    steps_left: u32,
}

impl StepBackoff {
    /// Counts a failure, and begins a backoff. `max_log2` is the base-2 logarithm of the longest backoff, in steps.
    pub(super) fn record_failure(&mut self, max_log2: u32) {
        self.steps_left = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.failures = self.failures.saturating_add(1).min(max_log2);
    }

    /// Returns the number of failures in a row, up to `max_log2`.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn reset(&mut self) {
        *self = StepBackoff::default();
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.steps_left > 0
    }

    /// Returns `true` if this step belongs to the backoff, and counts the step.
    pub(super) fn take_step(&mut self) -> bool {
        let is_waiting = self.is_waiting();
        self.steps_left = self.steps_left.saturating_sub(1);
        is_waiting
    }

    /// Returns `true` after the second failure in a row. The first one may come from a block or reorg between two
    /// calls.
    pub(super) fn has_failed_again(&self) -> bool {
        self.failures > 1
    }
}

#[cfg(test)]
mod tests {
    use super::StepBackoff;

    #[test]
    fn backoff_doubles_up_to_its_limit_and_ends_after_a_success() {
        let mut backoff = StepBackoff::default();
        let mut skipped = Vec::new();
        for _ in 0..7 {
            backoff.record_failure(4);
            let mut steps = 0;
            while backoff.take_step() {
                steps += 1;
            }
            skipped.push(steps);
        }
        assert_eq!(skipped, [1, 2, 4, 8, 16, 16, 16]);
        assert!(backoff.has_failed_again());
        backoff.reset();
        assert_eq!(backoff, StepBackoff::default());
    }
}
