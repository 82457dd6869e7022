//! Polling of a condition that has no notification.
//!
//! The loop sleeps between two checks so that the server can use the CPU core.

use std::thread;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(1);
/// Five minutes in total: the limit does not test speed.
const LOOKS_MAX: usize = 300_000;

/// Polls until `look` returns `true`. Returns `false` after [`LOOKS_MAX`] attempts.
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
