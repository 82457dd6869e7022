//! The table `chains`: lagging chains, each with the time up to which it was scanned.
//!
//! Invariant: a chain without a row is scanned up to the current time.

use super::statement::statements;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::{LaggingChains, Mode, Time};

statements! {
    fn lagging_rows(db, mode: Mode) -> Vec<(chain: Chain, scanned_to: Time)> =
        "select chain, scanned_to from chains where mode = :mode";

    /// Records that a live chain lags and was scanned only up to `at`. If the chain lags already, its recorded time
    /// stays.
    pub fn mark_lagging(tx, chain: Chain, at: Time) =
        "insert into chains (mode, chain, scanned_to) values ('live', :chain, :at) \
            on conflict (mode, chain) do nothing"
        noting { tx.record_change(|changes| changes.deadlines = true); };

    /// Records that a live chain lags and was scanned at least up to `to`.
    pub fn mark_scanned_to(tx, chain: Chain, to: Time) =
        "insert into chains (mode, chain, scanned_to) values ('live', :chain, :to) \
            on conflict (mode, chain) do update set scanned_to = max(scanned_to, excluded.scanned_to)"
        noting { tx.record_change(|changes| changes.deadlines = true); };

    /// Records that a live chain no longer lags.
    pub fn clear_lagging(tx, chain: Chain) =
        "delete from chains where mode = 'live' and chain = :chain"
        noting { tx.record_change(|changes| changes.deadlines = true); };
}

/// Returns the lagging live chains, each with the time up to which it was scanned.
pub fn lagging_chains(db: &Reader<'_>) -> Result<LaggingChains, StoreError> {
    lagging_rows(db, Mode::Live).map(LaggingChains::new)
}

/// After the commit, tells the follower of a live chain to expect payments.
pub fn expect_payments(tx: &Tx<'_>, mode: Mode, chain: Chain) {
    if mode.is_live() {
        tx.record_change(|changes| changes.expected.push(chain));
    }
}
