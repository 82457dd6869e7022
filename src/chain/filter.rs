//! A set of watched scripts and accounts, as fingerprints of eight bytes.
//!
//! Invariant: a member is always found. A non-member is found only if its random 64-bit fingerprint equals that of a
//! member. Fingerprints depend on a secret, so an attacker cannot choose such a non-member.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Number of slots in the smallest table; a power of two.
const PLACES_MIN: usize = 1024;

/// Hash table of fingerprints with open addressing. A million fingerprints take 16 MiB, and 24 MiB while the table
/// grows.
pub struct AddressFilter {
    secret: RandomState,
    /// Slots of the table; zero marks a free slot. The number of slots is a power of two.
    places: Vec<u64>,
    count: usize,
}

impl Default for AddressFilter {
    fn default() -> AddressFilter {
        AddressFilter { secret: RandomState::new(), places: vec![0; PLACES_MIN], count: 0 }
    }
}

impl AddressFilter {
    /// Returns the number of scripts and accounts.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the memory of the table, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.places.capacity().saturating_mul(size_of::<u64>())
    }

    /// Inserts a script or an account. Returns `false` if the set already contained it.
    pub fn insert(&mut self, bytes: &[u8]) -> bool {
        // At least a quarter of the slots stays free, so every search ends.
        if self.count.saturating_mul(4) >= self.places.len().saturating_mul(3) {
            self.double_table_size();
        }
        let fingerprint = self.fingerprint(bytes);
        let is_new = insert_fingerprint(&mut self.places, fingerprint);
        self.count = self.count.saturating_add(usize::from(is_new));
        is_new
    }

    /// Returns `true` if the set probably contains the script or account. Always `true` for a member.
    pub fn contains(&self, bytes: &[u8]) -> bool {
        let fingerprint = self.fingerprint(bytes);
        let mut at = first_slot(fingerprint, self.places.len());
        loop {
            match self.places.get(at) {
                Some(&0) | None => return false,
                Some(found) if *found == fingerprint => return true,
                Some(_) => at = next_slot(at, self.places.len()),
            }
        }
    }

    fn fingerprint(&self, bytes: &[u8]) -> u64 {
        self.secret.hash_one(bytes).max(1)
    }

    fn double_table_size(&mut self) {
        let mut places = vec![0; self.places.len().saturating_mul(2)];
        for fingerprint in self.places.iter().filter(|fingerprint| **fingerprint != 0) {
            insert_fingerprint(&mut places, *fingerprint);
        }
        self.places = places;
    }
}

/// Inserts a fingerprint. Returns `false` if the table already contained it.
fn insert_fingerprint(places: &mut [u64], fingerprint: u64) -> bool {
    let count = places.len();
    let mut at = first_slot(fingerprint, count);
    while let Some(place) = places.get_mut(at) {
        if *place == fingerprint {
            return false;
        }
        if *place == 0 {
            *place = fingerprint;
            return true;
        }
        at = next_slot(at, count);
    }
    false
}

/// Returns the index of the first slot to search. `count` is the number of slots, a power of two.
fn first_slot(fingerprint: u64, count: usize) -> usize {
    let mask = count.saturating_sub(1);
    usize::try_from(fingerprint >> 16).unwrap_or(0) & mask
}

fn next_slot(at: usize, count: usize) -> usize {
    at.wrapping_add(1) & count.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::AddressFilter;

    #[test]
    fn filter_contains_only_what_was_inserted() {
        let mut filter = AddressFilter::default();
        assert!(filter.is_empty() && !filter.contains(b""));
        for number in 0..200_000_u32 {
            assert!(filter.insert(&number.to_be_bytes()));
            assert!(number % 1000 != 0 || !filter.insert(&number.to_be_bytes()));
        }
        assert_eq!(filter.len(), 200_000);
        for number in 0..200_000_u32 {
            assert!(filter.contains(&number.to_be_bytes()), "{number}");
            assert!(!filter.contains(&(number + 1_000_000).to_be_bytes()));
        }
    }

    #[test]
    fn million_addresses_take_at_most_16_mib() {
        let mut filter = AddressFilter::default();
        for number in 0..1_000_000_u32 {
            filter.insert(&number.to_be_bytes());
        }
        assert_eq!(filter.len(), 1_000_000);
        assert!(filter.memory_bytes() <= 16 << 20, "{}", filter.memory_bytes());
    }
}
