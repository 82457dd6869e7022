//! Polling of a condition that sends no notification.
//!
//! The loop sleeps between two checks so that the server can use the CPU.

use std::thread;
use std::time::{Duration, Instant};

/// Pause after the first check. Each further pause is longer by this, up to [`PAUSE_MAX`].
const PAUSE_STEP: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// Time after which the condition is given up. It is enough for a slow machine.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Calls `look` until it returns `true`. Returns `false` after [`WAIT_MAX`].
#[must_use]
pub fn wait_until(mut look: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    let mut pause = PAUSE_STEP;
    while !look() {
        if begun.elapsed() > WAIT_MAX {
            return false;
        }
        thread::park_timeout(pause);
        pause = PAUSE_MAX.min(pause + PAUSE_STEP);
    }
    true
}
