//! Waiting for what nobody tells of: it is looked for again and again.
//!
//! What always holds: between two looks the core is the server's. Who looks without a pause takes it from whom it waits for.

use std::thread;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(1);
/// Minutes: it is no test of how fast anything is.
const LOOKS_MAX: usize = 300_000;

/// Looks until it is so: whether it has become so.
#[must_use]
pub fn until(mut look: impl FnMut() -> bool) -> bool {
    (0..LOOKS_MAX).any(|_| {
        let found = look();
        if !found {
            thread::park_timeout(PAUSE);
        }
        found
    })
}
