//! Permits: each caller may hold a limited number of them, and may use only some of them at once.
//!
//! Invariant: memory grows only with the number of callers that hold a permit.

use crate::domain::{Refusal, RefusalCode};
use crate::service::QuotaOwner;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// Permits of all callers. `K` identifies a caller.
#[derive(Clone)]
pub(super) struct PermitPool<K> {
    permits_max: usize,
    turns_max: usize,
    callers: Arc<Mutex<HashMap<K, CallerPermits>>>,
}

/// Permits of one caller. A caller without permits has no entry.
struct CallerPermits {
    permits: usize,
    turns: Arc<Semaphore>,
}

/// A permit of a caller. Dropping the value returns the permit.
pub(super) struct Permit<K: Clone + Eq + Hash> {
    pool: PermitPool<K>,
    caller: K,
    /// Turns of the caller. A permit is in use while it holds one of them.
    pub(super) turns: Arc<Semaphore>,
}

impl<K: Clone + Eq + Hash> PermitPool<K> {
    /// Creates a pool of which each caller may hold `permits_max` permits and use them all at once.
    pub(super) fn new(permits_max: usize) -> PermitPool<K> {
        PermitPool::with_turns(permits_max, permits_max)
    }

    /// Creates a pool of which each caller may hold `permits_max` permits and use `turns_max` of them at once.
    pub(super) fn with_turns(permits_max: usize, turns_max: usize) -> PermitPool<K> {
        PermitPool { permits_max, turns_max, callers: Arc::default() }
    }

    /// Takes a permit for this caller. Returns `None` if the caller has too many permits.
    pub(super) fn take(&self, caller: K) -> Option<Permit<K>> {
        let mut callers = self.lock();
        let held = callers.entry(caller.clone()).or_insert_with(|| CallerPermits {
            permits: 0,
            turns: Arc::new(Semaphore::new(self.turns_max)),
        });
        if held.permits >= self.permits_max {
            return None;
        }
        held.permits = held.permits.saturating_add(1);
        Some(Permit { pool: self.clone(), caller, turns: Arc::clone(&held.turns) })
    }

    #[cfg(test)]
    pub(super) fn caller_count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, CallerPermits>> {
        // A poisoned lock is still usable, because a panic cannot leave the counts inconsistent.
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PermitPool<QuotaOwner> {
    /// Takes a permit for this caller. Refuses with `overloaded` if the caller has too many permits.
    pub(super) fn take_or_refuse(&self, caller: QuotaOwner) -> Result<Permit<QuotaOwner>, Refusal> {
        self.take(caller).ok_or_else(|| {
            let max = self.permits_max;
            let message = format!(
                "{max} of your long reads, large responses or uploads are in progress already; try again when they have ended"
            );
            Refusal::new(RefusalCode::Overloaded, message)
        })
    }
}

impl<K: Clone + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut callers = self.pool.lock();
        if let Some(held) = callers.get_mut(&self.caller) {
            held.permits = held.permits.saturating_sub(1);
            if held.permits == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}
