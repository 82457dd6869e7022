//! JSON of the terms that an approval would fix, to be checked before approval.

use crate::domain::fields::{Schema, view};
use crate::domain::time::SECOND_MS;
use crate::domain::{
    ApprovalProposal, Cents, FeeSource, Rate, RateBasis, RateFigure, RateSource, SenderConditions,
    SentBy, Time, Transfer,
};

view! {
    /// Terms that an approval without its own would fix now.
    pub(crate) ApprovalView<'a> as "TransferApproval" {
        /// Basis of the rate that an approval without its own takes.
        basis: RateBasis = "market";
        /// Coins that came in for the refunded invoice, in the coin of the refund; null if none did.
        received: Option<ReceivedView> = null;
        /// Market rate, fiat per whole coin; null without a fresh rate. Then an approval at the market rate needs rate and
        /// acceptRate.
        rate: Option<String> [Schema::Nullable(&Schema::COINS)] = "80";
        /// Source of the rate.
        rate_source: Option<RateSource> = "median";
        /// Time of the rate.
        rate_at: Option<Time> = "2026-11-21T10:00:10.000Z";
        /// Age of the rate in seconds.
        rate_age_seconds: Option<i64> [Schema::Nullable(&Schema::COUNT)] = 42;
        /// Last rate of each source.
        rate_figures: &'a [RateFigure] = [
            { "source": "kraken", "rate": "80.1", "via": "LTC/EUR", "at": "2026-11-21T10:00:10.000Z" },
            { "source": "coinbase", "rate": "79.9", "via": "LTC/EUR", "at": "2026-11-21T10:00:20.000Z" }
        ];
        /// Reason for the missing rate.
        rate_problem: Option<String> = null;
        /// Network fee in whole coins.
        network_fee_crypto: String [Schema::COINS] = "0.0001";
        /// Source of the network fee.
        network_fee_from: FeeSource = "estimate";
        /// Time of the node's estimate.
        network_fee_at: Option<Time> = "2026-11-21T10:00:30.000Z";
        /// Network fee in the transfer's currency.
        network_fee: Option<Cents> [Schema::Nullable(&Schema::PRICE)] = "0.01";
        /// Amount to send; null without a rate, or if nothing would be left.
        amount_crypto: Option<String> [Schema::Nullable(&Schema::COINS)] = "0.0624";
        /// Sender that would be chosen.
        sent_by: SentBy = "signer";
        /// Reason why the signer may not send it.
        signer_problem: Option<String> = null;
    }
}

view! {
    /// Confirmed payments of the refunded invoice, in the coin of the refund.
    pub(crate) ReceivedView as "ReceivedCoins" {
        /// Sum of the payments in whole coins.
        amount: String [Schema::COINS] = "0.25";
        /// Value at which they were booked, in the invoice's currency.
        value: Cents [Schema::PRICE] = "20.00";
        /// Rate at which they were booked, fiat per whole coin.
        rate: String [Schema::COINS] = "80";
        /// Share of the coins that belongs to the amount of the refund. To send more needs acceptRate.
        share: String [Schema::COINS] = "0.0625";
    }
}

impl<'a> ApprovalView<'a> {
    /// Returns the terms and the sender that an approval of this transfer would fix now.
    pub(crate) fn new(
        transfer: &Transfer,
        proposal: &'a ApprovalProposal,
        conditions: &SenderConditions,
    ) -> ApprovalView<'a> {
        let (asset, fee) = (transfer.asset, proposal.fee);
        let fresh = proposal.market.now.as_ref().ok();
        let rate = fresh.map(|quoted| quoted.rate);
        let worth = |rate: Rate| rate.value(fee.amount, asset.decimals).ok();
        let terms = proposal.default_terms(transfer);
        let received = proposal.received.map(|received| ReceivedView {
            amount: asset.format_units(received.amount),
            value: received.value,
            rate: received.rate.to_string(),
            share: asset.format_units(received.share(transfer.amount, asset)),
        });
        let worth_rate = proposal.rate_of(proposal.basis());
        let obstacle = conditions.signer_obstacle();
        ApprovalView {
            basis: proposal.basis(),
            received,
            rate: rate.map(|rate| rate.to_string()),
            rate_source: fresh.map(|quoted| quoted.source),
            rate_at: fresh.map(|quoted| quoted.at),
            rate_age_seconds: fresh
                .map(|quoted| proposal.now.since_ms(quoted.at).max(0) / SECOND_MS),
            rate_figures: &proposal.market.figures,
            rate_problem: proposal.market.now.as_ref().err().map(ToString::to_string),
            network_fee_crypto: asset.format_units(fee.amount),
            network_fee_from: fee.source,
            network_fee_at: fee.estimated_at,
            network_fee: worth_rate.and_then(worth),
            amount_crypto: terms.map(|(terms, _)| asset.format_units(terms.amount_crypto)),
            sent_by: obstacle.as_ref().map_or(SentBy::Signer, |_| SentBy::Hand),
            signer_problem: obstacle,
        }
    }
}
