//! A transfer that may get outputs of a transaction, and which output fits it best.

use super::facts::DestinationOutput;
use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;

/// A transfer that may get outputs of a transaction.
#[derive(Clone, Debug)]
pub(super) struct Claimant {
    pub(super) seq: i64,
    pub(super) asset: &'static Asset,
    /// Part of the amount that no output covers yet.
    pub(super) left: Units,
    /// Value of `left` before any output of the transaction is given.
    pub(super) needed: Units,
    /// `true` for a transfer that has another transaction or none. Its outputs stay free.
    pub(super) is_other: bool,
}

impl Claimant {
    /// Returns `true` if an output is exactly what no output covers yet.
    pub(super) fn is_exact(&self, output: &DestinationOutput) -> bool {
        output.asset == self.asset && output.amount == self.needed
    }

    /// Returns the difference between an output and the amount in parts of a million; `None` for another coin. For a
    /// transfer at which the transaction was not entered, also `None` below half and above twice the amount.
    fn distance(&self, output: &DestinationOutput) -> Option<u128> {
        let (amount, needed) = (output.amount.0, self.needed.0);
        let is_near = amount >= needed.div_ceil(2) && amount / 2 <= needed;
        let difference = amount.abs_diff(needed).saturating_mul(1_000_000);
        difference
            .checked_div(needed)
            .filter(|_| (is_near || !self.is_other) && output.asset == self.asset)
    }
}

/// Returns the claimant and the output, by index, whose amounts are nearest to each other. The first of equals wins.
pub(super) fn nearest_pair(
    waiting: &[&mut Claimant],
    free: &[(usize, &DestinationOutput)],
) -> Option<(usize, usize)> {
    let pairs = waiting.iter().enumerate().flat_map(|(at, claimant)| {
        let outputs = free.iter().enumerate();
        outputs
            .filter_map(move |(place, (_, output))| Some((claimant.distance(output)?, at, place)))
    });
    pairs.min().map(|(_, at, place)| (at, place))
}
