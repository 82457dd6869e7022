//! Renders transfers for the operator, with their state on the chain.

use super::reviews::transfer_verdict;
use crate::domain::confirmations::block_confirmations;
use crate::domain::{PaymentState, ReviewDecision, ReviewKind, Time, Transfer, TransferReview};
use crate::render;
use crate::render::transfers::{OnChainView, ProposalView, ReviewView, TransferOnChain};
use crate::service::{Error, Json, Service};
use crate::store::{Reader, chain_cursors, confirmation_tiers, transfer_proposals};

impl Service {
    /// Returns a payout or refund with the fields for the operator.
    pub(in crate::service) fn render_for_operator(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<Json, Error> {
        let chain_told = self.transfer_on_chain(db, now, of)?;
        Ok(render::transfer_for_operator(of, &chain_told)?)
    }

    pub(in crate::service) fn transfer_on_chain(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<TransferOnChain, Error> {
        let (asset, chain) = (of.asset, of.asset.chain);
        let is_real = !self.is_simulated(of.mode);
        let (loaded, verdict) = transfer_verdict(db, now, of, is_real, self.live.has_node(chain))?;
        let (mut confirmations, mut confirmations_needed) = (None, None);
        if is_real
            && of.status.is_open()
            && let Some(cursor) = chain_cursors::of_chain(db, chain)?
        {
            let height = cursor.reached.block.height;
            let own = loaded.facts.outputs.iter().zip(&loaded.shares);
            let own = own.filter(|(_, share)| **share == Some(of.seq)).map(|(output, _)| output);
            let counts = own
                .filter(|output| output.state == PaymentState::Seen)
                .map(|output| output.height.map_or(0, |block| block_confirmations(block, height)));
            confirmations = counts.min();
            let tiers = confirmation_tiers::tiers_for_asset(db, asset)?;
            confirmations_needed = confirmations.map(|_| tiers.needed_depth(None));
        }
        let reviews = loaded.place_of(of.seq).and_then(|at| loaded.reviews.into_iter().nth(at));
        let proposals = transfer_proposals::of_transfer(db, of.seq)?;
        Ok(TransferOnChain {
            on_chain: OnChainView {
                state: verdict.state,
                txid: of.txid.clone(),
                confirmations,
                confirmations_needed,
                amount_seen: of.txid.is_some().then(|| asset.format_units(verdict.amount_seen)),
                problem: verdict.problem,
            },
            proposals: proposals
                .into_iter()
                .map(|one| ProposalView {
                    txid: one.txid,
                    amount_crypto: asset.format_units(one.amount),
                    seen_at: one.seen_at,
                    block_height: one.block_height,
                })
                .collect(),
            reviews: reviews
                .unwrap_or_default()
                .into_iter()
                .map(|one| ReviewView {
                    reason: one.reason.clone().or_else(|| cleared_reason(&one)),
                    id: one.id,
                    kind: one.kind,
                    txid: one.txid,
                    problem: one.problem,
                    opened_at: one.opened_at,
                    ended_at: one.ended_at,
                    ended_by: one.ended_by,
                    decision: one.decision,
                })
                .collect(),
        })
    }
}

/// Returns why a review ended by itself.
fn cleared_reason(review: &TransferReview) -> Option<String> {
    let is_cleared = review.decision == Some(ReviewDecision::Cleared);
    let reason = match review.kind {
        ReviewKind::Gone => "the transaction is confirmed again, or another one paid it",
        ReviewKind::Arrived => "the transaction is in no block any more, or pays another transfer",
        ReviewKind::Overpaid => {
            "the transaction is not confirmed any more, or pays another transfer"
        }
        ReviewKind::BeyondReach => "it is paid",
    };
    is_cleared.then(|| reason.to_owned())
}
