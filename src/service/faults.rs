//! What the sandbox pretends is wrong.
//!
//! What always holds: outside the sandbox nobody sets a fault, so there is none.

use super::Service;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is pretended to be wrong; nothing at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// No address is left for customers who do not have theirs yet.
    pub pool_empty: bool,
    /// No rate is fresh enough to quote a coin of live mode.
    pub rates_stale: bool,
}

/// Where the faults are kept: not in the file, so they end with the process.
#[derive(Default)]
pub(super) struct FaultSwitches {
    pool_empty: AtomicBool,
    rates_stale: AtomicBool,
}

impl Service {
    /// What is pretended to be wrong.
    pub fn faults(&self) -> Faults {
        Faults {
            pool_empty: self.faults.pool_empty.load(Ordering::Relaxed),
            rates_stale: self.faults.rates_stale.load(Ordering::Relaxed),
        }
    }

    /// Pretends this, and nothing else.
    pub fn set_faults(&self, faults: Faults) {
        self.faults
            .pool_empty
            .store(faults.pool_empty, Ordering::Relaxed);
        self.faults
            .rates_stale
            .store(faults.rates_stale, Ordering::Relaxed);
    }
}
