//! The next index of a wallet, and the check of an index that a person enters.
//!
//! Invariant: a wallet never returns to an index that was handed out, or may have been handed out.

use super::INDEX_END;
use crate::domain::refusal::Refusal;

/// Largest number of indexes by which a person may raise the next index without an explicit confirmation.
pub const JUMP_MAX: u32 = 100_000;

/// Indexes of a wallet that limit its next index.
#[derive(Clone, Copy, Debug, Default)]
pub struct WalletIndexes {
    /// Index that will be handed out next.
    pub next: u32,
    /// Lowest safe index. Another program may have handed out lower indexes, or this wallet between a backup and its
    /// restore.
    pub least: u32,
    /// Highest index that was handed out, as far as this database knows.
    pub highest: Option<u32>,
    /// Highest index that received money before it was handed out. The next index has to be higher.
    pub stopped: Option<u32>,
}

impl WalletIndexes {
    /// Returns the next index: `wanted` if it is present, otherwise the current next index.
    ///
    /// With `is_sure`, `wanted` may be any distance above the current next index.
    ///
    /// # Errors
    /// `invalid_request` with the lowest or the highest possible index.
    pub fn next_index(&self, wanted: Option<u32>, is_sure: bool) -> Result<u32, Refusal> {
        let refused = |problem: String| Err(Refusal::field("next", problem));
        if let Some(index) = self.stopped.filter(|index| wanted.unwrap_or(self.next) <= *index) {
            let least = index.saturating_add(1);
            return refused(format!(
                "must be at least {least}, as something came to index {index}, which this file has not handed out; and \
                 above every index that was handed out elsewhere"
            ));
        }
        let Some(wanted) = wanted else {
            return Ok(self.next);
        };
        let most = self.next.saturating_add(JUMP_MAX);
        if wanted > most && !is_sure {
            let last = INDEX_END.saturating_sub(1);
            let end = if wanted == last {
                format!("; nothing is left to hand out behind {last}")
            } else {
                String::new()
            };
            return refused(format!(
                "must be at most {most}, {JUMP_MAX} above where this wallet is; a further one, if it is meant, is taken \
                 by coffer wallet add with --force{end}"
            ));
        }
        let behind = self.highest.map_or(0, |highest| highest.saturating_add(1));
        let lowest = self.least.max(behind);
        if wanted >= lowest {
            return Ok(wanted);
        }
        let why = match self.highest {
            Some(highest) if behind >= self.least => {
                format!("this wallet has handed out index {highest}")
            }
            Some(_) | None => {
                "what is below may have been handed out after the copy that this file was restored from, or elsewhere"
                    .to_owned()
            }
        };
        if lowest >= INDEX_END {
            return refused(format!(
                "must be left out, as no index of this wallet is left: {why}; add the key of another account"
            ));
        }
        refused(format!("must be at least {lowest}, as {why}"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{INDEX_END, JUMP_MAX, WalletIndexes};

    const LAST: u32 = INDEX_END - 1;

    fn indexes(next: u32, least: u32, highest: Option<u32>) -> WalletIndexes {
        WalletIndexes { next, least, highest, stopped: None }
    }

    #[test]
    fn stopped_wallet_continues_after_the_stopping_index() {
        let stopped = WalletIndexes { stopped: Some(20), ..indexes(7, 21, Some(6)) };
        for wanted in [None, Some(0), Some(7), Some(20)] {
            let refusal = stopped.next_index(wanted, true).unwrap_err().to_string();
            let says = "must be at least 21, as something came to index 20";
            assert!(refusal.contains(says), "{wanted:?}: {refusal}");
        }
        assert_eq!(stopped.next_index(Some(21), false).unwrap(), 21);
        assert!(stopped.next_index(Some(8 + JUMP_MAX), false).is_err());
        // After a restore, the wallet continues beyond the index that stopped it.
        let moved = WalletIndexes { next: 1007, ..stopped };
        assert_eq!(moved.next_index(None, false).unwrap(), 1007);
        assert!(moved.next_index(Some(20), false).is_err());
    }

    #[test]
    fn wallet_continues_at_next_or_requested_index() {
        for (known, wanted, expected) in [
            (WalletIndexes::default(), None, 0),
            (WalletIndexes::default(), Some(0), 0),
            (WalletIndexes::default(), Some(JUMP_MAX), JUMP_MAX),
            (indexes(7, 0, None), None, 7),
            (indexes(7, 0, None), Some(0), 0),
            (indexes(LAST, 0, None), Some(10), 10),
            (indexes(LAST, 0, Some(9)), Some(10), 10),
            (indexes(LAST, 10, Some(8)), Some(10), 10),
            (indexes(LAST, 0, None), Some(LAST), LAST),
            (indexes(INDEX_END, INDEX_END, None), None, INDEX_END),
            (indexes(50, 0, Some(49)), Some(50 + JUMP_MAX), 50 + JUMP_MAX),
        ] {
            assert_eq!(known.next_index(wanted, false).unwrap(), expected, "{known:?} {wanted:?}");
            assert_eq!(known.next_index(wanted, true).unwrap(), expected, "{known:?} {wanted:?}");
        }
        assert_eq!(WalletIndexes::default().next_index(Some(LAST), true).unwrap(), LAST);
    }

    #[test]
    fn index_out_of_range_is_refused_with_the_bound() {
        for (known, wanted, says) in [
            (WalletIndexes::default(), JUMP_MAX + 1, "must be at most 100000,"),
            (WalletIndexes::default(), LAST, "nothing is left to hand out behind 2147483647"),
            (indexes(50, 0, Some(49)), JUMP_MAX + 51, "must be at most 100050,"),
            (
                indexes(LAST, 0, Some(49)),
                49,
                "must be at least 50, as this wallet has handed out index 49",
            ),
            (
                indexes(LAST, 0, Some(0)),
                0,
                "must be at least 1, as this wallet has handed out index 0",
            ),
            (indexes(2000, 1010, Some(9)), 1009, "must be at least 1010, as what is below may"),
            (indexes(2000, 1010, None), 0, "must be at least 1010, as what is below may"),
            (
                indexes(2000, 1010, Some(1020)),
                1020,
                "must be at least 1021, as this wallet has handed out",
            ),
            (
                indexes(INDEX_END, 0, Some(LAST)),
                LAST,
                "no index of this wallet is left: this wallet has handed out",
            ),
            (
                indexes(INDEX_END, INDEX_END, None),
                0,
                "no index of this wallet is left: what is below may",
            ),
        ] {
            let refusal = known.next_index(Some(wanted), false).unwrap_err();
            assert!(refusal.to_string().contains(says), "{known:?} {wanted}: {refusal}");
        }
        // An index that is too low is refused, even with `is_sure`.
        assert!(indexes(2000, 1010, None).next_index(Some(1009), true).is_err());
        assert!(indexes(2000, 0, Some(9)).next_index(Some(9), true).is_err());
    }
}
