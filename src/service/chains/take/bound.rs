//! How much one part of a step takes.
//!
//! What does not live here: what time it is. What always holds: every part takes at least one thing, so a step comes to its
//! end.

/// How much one part takes, so that whoever else waits for the writer is not kept waiting.
pub struct Bound {
    /// The most of what was seen.
    most: usize,
    /// Is there time for more? It is asked for the first time when the part begins.
    has_time: Box<dyn FnMut() -> bool + Send>,
    taken: usize,
}

impl Bound {
    /// At most so much of what was seen, and only while there is time.
    pub fn new(most: usize, has_time: impl FnMut() -> bool + Send + 'static) -> Bound {
        Bound {
            most,
            has_time: Box::new(has_time),
            taken: 0,
        }
    }

    /// A part begins, or is done again.
    pub(super) fn begin(&mut self) {
        self.taken = 0;
        // What it takes from here on counts.
        let _ = (self.has_time)();
    }

    /// May the part take one more? It may always take one.
    pub(super) fn takes_one(&mut self) -> bool {
        let takes = self.taken == 0 || (self.taken < self.most && (self.has_time)());
        self.taken = self.taken.saturating_add(usize::from(takes));
        takes
    }
}
