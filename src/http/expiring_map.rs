//! A bounded map of counters that expire. While entries are added, expired entries are removed once a minute, and
//! whenever the number of entries has doubled.

use crate::domain::Time;
use crate::domain::time::MINUTE_MS;
use std::collections::HashMap;
use std::hash::Hash;

/// Longest time between two removals of expired entries while entries are added, in milliseconds.
const SWEEP_MS: i64 = MINUTE_MS;
/// Number of entries from which on expired entries are also removed whenever the number has doubled.
pub(super) const SWEEP_LEN_MIN: usize = 10_000;

/// A value that has no effect after some time.
pub(super) trait Expire {
    /// Returns `true` if the value has no effect any more.
    fn has_expired(&self, now: Time) -> bool;
}

/// A map that removes expired entries and has a maximum number of entries.
pub(super) struct ExpiringMap<K, V> {
    entries: HashMap<K, V>,
    max: usize,
    /// Number of entries at which expired entries are removed, even before `next_sweep`.
    sweep_len: usize,
    next_sweep: Time,
}

impl<K: Eq + Hash, V: Expire> ExpiringMap<K, V> {
    pub(super) fn new(max: usize) -> ExpiringMap<K, V> {
        ExpiringMap { entries: HashMap::new(), max, sweep_len: SWEEP_LEN_MIN, next_sweep: Time(0) }
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Returns the entry of a key, inserting `fresh` if there is none. Returns `None` if the key is new and the map is
    /// full.
    pub(super) fn entry(&mut self, key: K, fresh: V, now: Time) -> Option<&mut V> {
        if !self.entries.contains_key(&key) {
            self.sweep(now);
            if self.entries.len() >= self.max {
                return None;
            }
        }
        Some(self.entries.entry(key).or_insert(fresh))
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Removes expired entries if a minute has passed or the number of entries has doubled, so that the cost of each
    /// new entry is small.
    fn sweep(&mut self, now: Time) {
        if now < self.next_sweep && self.entries.len() < self.sweep_len {
            return;
        }
        self.entries.retain(|_, value| !value.has_expired(now));
        self.sweep_len = self.entries.len().saturating_mul(2).max(SWEEP_LEN_MIN);
        self.next_sweep = now.plus_ms(SWEEP_MS);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
