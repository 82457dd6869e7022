//! Gap limit: the number of unused addresses in a row that a wallet must scan.
//!
//! Invariant: a wallet with this limit finds every address that received money, and the next unused address.

/// Default gap limit of wallets (BIP 44).
const GAP_LIMIT_DEFAULT: u32 = 20;

/// Gaps between used indexes of a wallet.
#[derive(Clone, Copy, Debug)]
pub struct IndexGaps {
    /// Index that follows the last used index.
    behind_used: u32,
    /// Largest distance between a used index and the previous used index.
    furthest: u32,
}

impl IndexGaps {
    /// Returns the gaps of a wallet without used indexes. Another program used the indexes below `first_index`.
    pub fn starting_at(first_index: u32) -> IndexGaps {
        IndexGaps { behind_used: first_index, furthest: 0 }
    }

    /// Records a used index. Calls must be in ascending order.
    pub fn record_used(&mut self, index: u32) {
        let behind = index.saturating_add(1);
        self.furthest = self.furthest.max(behind.saturating_sub(self.behind_used));
        self.behind_used = behind;
    }

    /// Returns the gap limit that finds all used indexes, if all indexes below `next_index` were handed out.
    pub fn needed_gap_limit(&self, next_index: u32) -> u32 {
        let open = next_index.saturating_sub(self.behind_used);
        self.furthest.max(open).max(GAP_LIMIT_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::IndexGaps;

    #[test]
    fn gap_limit_covers_every_gap_between_used_addresses() {
        for (first, used, next, expected) in [
            (0, &[][..], 0, 20),
            (0, &[0, 1, 2], 3, 20),
            // Index 30 is the first used index, so the limit has to cover the 31 indexes from 0 to 30.
            (0, &[30], 31, 31),
            (0, &[0, 41, 60], 61, 41),
            // Indexes 1 to 100 were handed out and may still receive money, so the limit has to cover them.
            (0, &[0], 101, 100),
            // Another program used the indexes below 5000. They do not raise the limit.
            (5000, &[5001], 5003, 20),
            (5000, &[], 5050, 50),
            (0, &[u32::MAX], u32::MAX, u32::MAX),
        ] {
            let mut gaps = IndexGaps::starting_at(first);
            used.iter().for_each(|index| gaps.record_used(*index));
            assert_eq!(gaps.needed_gap_limit(next), expected, "{first} {used:?} {next}");
        }
    }
}
