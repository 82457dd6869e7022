//! The JSON of what an approval would fix, for the person who approves.

use crate::domain::money::Cents;
use crate::domain::rate::{Figure, RateSource};
use crate::domain::time::{SECOND_MS, Time};
use crate::domain::transfer::Transfer;
use crate::domain::transfer::approval::{FeeSource, Proposal};
use crate::domain::transfer::sender::{SenderConditions, SentBy};
use crate::domain::transfer::terms::Terms;
use serde::Serialize;

/// Terms of an approval that names none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalView<'a> {
    rate: Option<String>,
    rate_source: Option<RateSource>,
    rate_at: Option<Time>,
    rate_age_seconds: Option<i64>,
    rate_figures: &'a [Figure],
    rate_problem: Option<String>,
    network_fee_crypto: String,
    network_fee_from: FeeSource,
    network_fee_at: Option<Time>,
    network_fee: Option<Cents>,
    amount_crypto: Option<String>,
    sent_by: SentBy,
    signer_problem: Option<String>,
}

impl<'a> ApprovalView<'a> {
    /// Terms and sender that an approval of a transfer would fix.
    pub(crate) fn of(
        transfer: &Transfer,
        proposal: &'a Proposal,
        conditions: &SenderConditions,
    ) -> ApprovalView<'a> {
        let (asset, fee) = (transfer.asset, proposal.fee);
        let fresh = proposal.market.now.as_ref().ok();
        let rate = fresh.map(|quoted| quoted.rate);
        let worth =
            |rate: crate::domain::money::coin::Rate| rate.value(fee.amount, asset.decimals).ok();
        let terms = rate.and_then(|rate| Terms::new(transfer.amount, asset, rate, fee.amount).ok());
        let obstacle = conditions.obstacle();
        ApprovalView {
            rate: rate.map(|rate| rate.to_string()),
            rate_source: fresh.map(|quoted| quoted.source),
            rate_at: fresh.map(|quoted| quoted.at),
            rate_age_seconds: fresh
                .map(|quoted| proposal.now.since_ms(quoted.at).max(0) / SECOND_MS),
            rate_figures: &proposal.market.figures,
            rate_problem: proposal.market.now.as_ref().err().map(ToString::to_string),
            network_fee_crypto: asset.text(fee.amount),
            network_fee_from: fee.source,
            network_fee_at: fee.estimated_at,
            network_fee: rate.and_then(worth),
            amount_crypto: terms.map(|terms| asset.text(terms.amount_crypto)),
            sent_by: obstacle.as_ref().map_or(SentBy::Signer, |_| SentBy::Hand),
            signer_problem: obstacle,
        }
    }
}
