//! The gap limit: how many unused addresses in a row a wallet has to look past to find all that came.
//!
//! What always holds: a wallet that looks so far finds every address that something came to, and the next one.

/// What wallets look past where nobody tells them (BIP 44).
const GAP_LIMIT_DEFAULT: u32 = 20;

/// Counts the unused indexes of a wallet, from where it began to where it is.
#[derive(Clone, Copy, Debug)]
pub struct Gaps {
    /// The index behind the last used one.
    behind_used: u32,
    /// How far the furthest used one was from the one before it.
    furthest: u32,
}

impl Gaps {
    /// Starts at the index that the wallet began with: those before it were used elsewhere.
    pub fn from(first_index: u32) -> Gaps {
        Gaps {
            behind_used: first_index,
            furthest: 0,
        }
    }

    /// The next index that something came to, in order.
    pub fn used(&mut self, index: u32) {
        let behind = index.saturating_add(1);
        self.furthest = self.furthest.max(behind.saturating_sub(self.behind_used));
        self.behind_used = behind;
    }

    /// The limit to set, with all indexes below `next_index` handed out.
    pub fn limit(&self, next_index: u32) -> u32 {
        let open = next_index.saturating_sub(self.behind_used);
        self.furthest.max(open).max(GAP_LIMIT_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn the_limit_reaches_from_each_used_address_to_the_next() {
        for (first, used, next, expected) in [
            (0, &[][..], 0, 20),
            (0, &[0, 1, 2], 3, 20),
            // Nothing came to 0 to 29: the thirty-first is the first that is used.
            (0, &[30], 31, 31),
            (0, &[0, 41, 60], 61, 41),
            // Each that was handed out may be paid yet.
            (0, &[0], 101, 100),
            // What is before the first index was used elsewhere.
            (5000, &[5001], 5003, 20),
            (5000, &[], 5050, 50),
            (0, &[u32::MAX], u32::MAX, u32::MAX),
        ] {
            let mut gaps = Gaps::from(first);
            used.iter().for_each(|index| gaps.used(*index));
            assert_eq!(gaps.limit(next), expected, "{first} {used:?} {next}");
        }
    }
}
