//! Payments that a person claims: what a node says of their transactions, and of what addresses have.
//!
//! What does not live here: whether they are taken in (`service`). What always holds: whatever a node answers, or does not,
//! ends the claim: none stops its chain.

use super::{NodeError, Step};
use crate::domain::claim::Claim;
use crate::domain::following::{BalanceCheck, ChainPosition, ChainStepOutcome, ClaimCheck};
use crate::domain::money::coin::Units;

impl Step<'_> {
    /// What is asked besides the chain's blocks just now: of a claim, or what addresses have. That is asked of a node that
    /// tells what contracts send, too: it may have failed to for some block.
    pub(super) fn asked_besides(&mut self) -> Option<ChainStepOutcome> {
        let known = self.known;
        if let Some((claim, sum)) = &known.claim {
            return Some(self.claimed(claim, *sum));
        }
        if let Some(at) = known.undated
            && let Some(dated) = self.dated(at)
        {
            return Some(dated);
        }
        let walk = known.walk.as_ref()?;
        let height = known
            .complete
            .as_ref()
            .map_or(0, |complete| complete.height);
        // Where it fails, the step that follows says so.
        let held = self.node.held(&walk.accounts, height).ok().flatten();
        let held = held.map(|held| held.iter().map(|held| held.amount).collect());
        Some(ChainStepOutcome::BalancesChecked(Box::new(BalanceCheck {
            walk: walk.clone(),
            held,
            height,
        })))
    }

    /// Asks for the transaction of a claim: it must have done what it should, in a block that is final. Of an address that
    /// never sent anything, what it has must be at least what is `known` to have come to it, and what is claimed.
    fn claimed(&mut self, claim: &Claim, known: Units) -> ChainStepOutcome {
        let found = self.borne_out(claim, known);
        ChainStepOutcome::ClaimChecked(Box::new(ClaimCheck {
            claim: claim.seq,
            found,
        }))
    }

    fn borne_out(&mut self, claim: &Claim, known: Units) -> Result<ChainPosition, String> {
        let failed = |error: NodeError| format!("the chain's node {error}");
        let carried = self.node.carried_out(&claim.txid).map_err(failed)?;
        let carried =
            carried.ok_or("the chain's node knows no such transaction in a block of the chain")?;
        let height = carried.block.height;
        if !carried.is_done {
            return Err(format!(
                "the transaction failed in block {height}: it moved nothing"
            ));
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
        let held = self.node.held(&accounts, complete).map_err(failed)?;
        let held = held.and_then(|held| held.first().copied());
        let asset = claim.asset;
        let explained = known.plus(claim.amount);
        let explained = explained.map_err(|_| "the amount is larger than can be counted")?;
        match held.filter(|held| !held.has_sent && held.amount < explained) {
            Some(held) => Err(format!(
                "the address has {} {} in block {complete} and never sent anything, and {} is known to have come to it: \
                 so much more cannot have",
                asset.text(held.amount),
                asset.id,
                asset.text(known)
            )),
            None => Ok(ChainPosition {
                block: carried.block,
                time: carried.time,
            }),
        }
    }
}
