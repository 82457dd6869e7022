//! Polling of a condition that sends no notification.
//!
//! The loop sleeps between two checks so that the server can use the CPU.

use std::thread;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(1);
/// Maximum number of checks, each followed by a pause of 1 ms. The five minutes in total are enough for a slow
/// machine.
const CHECKS_MAX: usize = 300_000;

/// Calls `look` until it returns `true`. Returns `false` after [`CHECKS_MAX`] calls.
#[must_use]
pub fn wait_until(mut look: impl FnMut() -> bool) -> bool {
    (0..CHECKS_MAX).any(|_| {
        let found = look();
        if !found {
            thread::park_timeout(PAUSE);
        }
        found
    })
}
