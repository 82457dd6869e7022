//! Renders transfers for the operator, with their state on the chain.

use crate::domain::confirmations::block_confirmations;
use crate::domain::payment::PaymentState;
use crate::domain::render;
use crate::domain::render::transfers::{OnChainView, ProposalView, ReviewView, TransferOnChain};
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
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

    /// Returns the state of a transfer on its chain.
    pub(in crate::service) fn transfer_on_chain(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<TransferOnChain, Error> {
        let (asset, chain) = (of.asset, of.asset.chain);
        let facts = self.transfer_facts(db, now, of)?;
        let verdict = facts.verdict(of);
        let (mut confirmations, mut confirmations_needed) = (None, None);
        if !self.is_simulated(of.mode)
            && of.status.is_open()
            && let Some(cursor) = chain_cursors::of_chain(db, chain)?
        {
            let height = cursor.reached.block.height;
            let counts = facts
                .outputs
                .iter()
                .filter(|output| output.transfer == Some(of.seq))
                .filter(|output| output.state == PaymentState::Seen);
            let counts = counts
                .map(|output| output.height.map_or(0, |block| block_confirmations(block, height)));
            confirmations = counts.min();
            let tiers = confirmation_tiers::tiers_for_asset(db, asset)?;
            confirmations_needed = confirmations.map(|_| tiers.needed_depth(None));
        }
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
                    block_height: one.block.map(|block| block.height),
                })
                .collect(),
            reviews: facts
                .reviews
                .into_iter()
                .map(|one| ReviewView {
                    id: one.id,
                    kind: one.kind,
                    problem: one.problem,
                    opened_at: one.opened_at,
                    ended_at: one.ended_at,
                    reason: one.reason,
                })
                .collect(),
        })
    }
}
