//! How many calls a node is sent in one request: fewer after it refused, more again while it does not.
//!
//! What does not live here: the calls. What always holds: at least one goes into a request, and no more than the limit.

/// After so many calls one by one, two are made at once again: the node may have refused them for what they asked.
const SINGLES_MAX: u32 = 32;

/// How many at once.
pub(super) struct Batches {
    now: usize,
    max: usize,
    /// How many were made one by one since two at once were refused.
    singles: u32,
}

impl Batches {
    /// At most so many.
    pub(super) fn new(max: usize) -> Batches {
        let max = max.max(1);
        Batches {
            now: max,
            max,
            singles: 0,
        }
    }

    /// How many it is sent now.
    pub(super) fn now(&self) -> usize {
        self.now
    }

    /// It took a batch.
    pub(super) fn taken(&mut self) {
        self.now = self.now.saturating_add(1).min(self.max);
    }

    /// It refused a batch of so many.
    pub(super) fn refused(&mut self, calls: usize) {
        self.now = calls.div_euclid(2).max(1);
    }

    /// A call is made by itself.
    pub(super) fn single(&mut self) {
        if self.now == 1 {
            self.singles = self.singles.saturating_add(1);
        }
        if self.singles >= SINGLES_MAX {
            (self.singles, self.now) = (0, self.max.min(2));
        }
    }
}
