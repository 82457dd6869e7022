//! A bounded cache of values read from the file. Commits invalidate it.
//!
//! Invariant: a value read before a commit never enters the cache after that commit. Each commit that touches the
//! cache starts a new generation. A value enters only in the generation in which it was read.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Maximum number of entries: about 4 MB of rendered invoices. A full cache is emptied.
const ENTRIES_MAX: usize = 4096;

/// A bounded map from keys to values read from the file.
pub struct Cache<K, V> {
    inner: RwLock<CacheState<K, V>>,
}

struct CacheState<K, V> {
    generation: u64,
    entries: HashMap<K, V>,
}

/// Generation of the cache at the start of a read. Only the cache creates values of this type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache { inner: RwLock::new(CacheState { generation: 0, entries: HashMap::new() }) }
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// Returns the cached value, or else the current generation. The caller passes the generation to [`Cache::put`]
    /// with the value that the caller then reads.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Result<V, Generation>
    where
        K: Borrow<Q>,
    {
        let inner = self.read_lock();
        inner.entries.get(key).cloned().ok_or(Generation(inner.generation))
    }

    /// Adds a value that was read in this generation, unless a commit started a new generation.
    pub fn put(&self, key: K, value: V, generation: Generation) {
        let mut inner = self.write_lock();
        if inner.generation != generation.0 {
            return;
        }
        if inner.entries.len() >= ENTRIES_MAX {
            inner.entries.clear();
        }
        inner.entries.insert(key, value);
    }

    /// Removes these keys, and invalidates reads in progress.
    pub fn remove(&self, keys: &[K]) {
        if keys.is_empty() {
            return;
        }
        let mut inner = self.write_lock();
        inner.generation = inner.generation.wrapping_add(1);
        for key in keys {
            inner.entries.remove(key);
        }
    }

    /// Removes all entries, and invalidates reads in progress.
    pub fn clear(&self) {
        let mut inner = self.write_lock();
        inner.generation = inner.generation.wrapping_add(1);
        inner.entries.clear();
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, CacheState<K, V>> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, CacheState<K, V>> {
        self.inner.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, ENTRIES_MAX};

    #[test]
    fn value_read_before_a_commit_is_not_cached_after_it() {
        let cache: Cache<String, u8> = Cache::default();
        let Err(generation) = cache.get("a") else {
            return assert_eq!("a", "nothing");
        };
        cache.remove(&["a".to_owned()]);
        cache.put("a".to_owned(), 1, generation);
        let Err(generation) = cache.get("a") else {
            return assert_eq!("a", "nothing");
        };
        cache.put("a".to_owned(), 2, generation);
        assert!(cache.get("a").is_ok_and(|value| value == 2));
        cache.clear();
        assert!(cache.get("a").is_err());
    }

    #[test]
    fn full_cache_is_emptied() {
        let cache: Cache<usize, usize> = Cache::default();
        for key in 0..=ENTRIES_MAX {
            if let Err(generation) = cache.get(&key) {
                cache.put(key, key, generation);
            }
        }
        assert!(cache.get(&0).is_err() && cache.get(&ENTRIES_MAX).is_ok());
    }
}
