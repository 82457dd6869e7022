//! Checks claims of payments against their transactions and the balances of addresses.
//!
//! Invariant: every answer and every failure of a node ends the check, so no claim stops its chain.

use super::{NodeError, StepBuilder};
use crate::domain::{BalanceCheck, ChainPosition, ChainStepOutcome, Claim, ClaimCheck, Units};

impl StepBuilder<'_> {
    /// Returns the step that answers a pending request: checks a claim, finds a block by date, or reads balances.
    /// Balances are also requested from nodes with traces, because a trace may have been missed.
    pub(super) fn answer_pending_request(&mut self) -> Option<ChainStepOutcome> {
        let known = self.known;
        if let Some((claim, sum)) = &known.claim {
            return Some(self.check_claim(claim, *sum));
        }
        if let Some(at) = known.undated
            && let Some(dated) = self.find_block_by_time(at)
        {
            return Some(dated);
        }
        let walk = known.walk.as_ref()?;
        let height = known.complete.as_ref().map_or(0, |complete| complete.height);
        // The error is ignored, because the next step meets the same error and reports it.
        let held = self.node.balances_at(&walk.accounts, height).ok().flatten();
        let held = held.map(|held| held.iter().map(|held| held.amount).collect());
        Some(ChainStepOutcome::BalancesChecked(Box::new(BalanceCheck {
            walk: walk.clone(),
            held,
            height,
        })))
    }

    /// Checks the transaction of a claim. The transaction must have succeeded in a final block.
    ///
    /// If the address never sent anything, its balance must cover the `known` payments and the claimed amount.
    fn check_claim(&mut self, claim: &Claim, known: Units) -> ChainStepOutcome {
        let found = self.verify_claim(claim, known);
        ChainStepOutcome::ClaimChecked(Box::new(ClaimCheck { claim: claim.seq, found }))
    }

    fn verify_claim(&mut self, claim: &Claim, known: Units) -> Result<ChainPosition, String> {
        let failed = |error: NodeError| format!("the chain's node {error}");
        let carried = self.node.transaction_outcome(&claim.txid).map_err(failed)?;
        let carried =
            carried.ok_or("the chain's node knows no such transaction in a block of the chain")?;
        let height = carried.block.height;
        if !carried.is_done {
            return Err(format!("the transaction failed in block {height}: it moved nothing"));
        }
        let complete = self.known.complete.as_ref();
        let complete = complete.map_or(0, |complete| complete.height);
        if height > complete {
            return Err(format!(
                "the transaction is in block {height}, and the chain has been read for good up to {complete}: \
                 claim it again when it is final"
            ));
        }
        let accounts = [claim.address.clone()];
        let held = self.node.balances_at(&accounts, complete).map_err(failed)?;
        let held = held.and_then(|held| held.first().copied());
        let asset = claim.asset;
        let explained = known.plus(claim.amount);
        let explained = explained.map_err(|_| "the amount is larger than can be counted")?;
        match held.filter(|held| !held.has_sent && held.amount < explained) {
            Some(held) => Err(format!(
                "the address has {} {} in block {complete} and never sent anything, and {} is known to have come to it: \
                 so much more cannot have",
                asset.format_units(held.amount),
                asset.id,
                asset.format_units(known)
            )),
            None => Ok(ChainPosition { block: carried.block, time: carried.time }),
        }
    }
}
