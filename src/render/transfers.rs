//! JSON of payouts and refunds.
//!
//! Invariant: the operator interface has all fields of the merchant's interface, and more.

use super::Rendered;
use super::approvals::ApprovalView;
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, view};
use crate::domain::qr::Qr;
use crate::domain::{
    Cents, Currency, Depth, FeeSource, OnChainState, RateBasis, ReviewDecision, ReviewKind,
    SendingState, SentBy, Time, Transfer, TransferKind, TransferStatus,
};
use serde_json::value::to_raw_value;

view! {
    /// Part of the balance sent to the merchant's own wallet. A request subtracts the amount from the balance; a
    /// failed, rejected or cancelled payout returns it.
    pub(crate) PayoutView<'a> as "Payout" {
        /// Payout id.
        id: &'a str [Schema::UUID] = "01a1fd8c-6a00-7c3e-8a55-0d2f4c9be111";
        /// Status.
        status: TransferStatus = "paid";
        [flatten] money: MoneyView<'a>;
        [flatten] end: EndView<'a>;
    }
}

view! {
    /// Part of a paid invoice sent back to the customer. A request subtracts the amount from the balance; a failed,
    /// rejected or cancelled refund returns it.
    pub(crate) RefundView<'a> as "Refund", object "refund" {
        /// Refund id.
        id: &'a str [Schema::UUID] = "01a1fd8d-2c10-7b41-9e07-5a1c33f0d222";
        /// Id of the refunded invoice.
        invoice_id: Option<&'a str> [Schema::UUID] = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// State of the payment.
        status: TransferStatus = "requested";
        /// False when it belongs to test mode.
        livemode: bool = false;
        [flatten] money: MoneyView<'a>;
        /// Reason for the request.
        reason: Option<&'a str> = "One ticket too many";
        [flatten] end: EndView<'a>;
    }
    example differs {
        "amount": "5.00", "asset": "LTC", "assetSymbol": "LTC", "chain": "litecoin",
        "toAddress": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "amountCrypto": null, "networkFeeCrypto": null,
        "rate": null, "txid": null, "requestedAt": "2026-11-21T10:00:50.000Z", "approvedAt": null, "finalizedAt": null
    }
}

view! {
    pub(crate) MoneyView<'a> {
        /// Currency of the amount.
        currency: Currency = "EUR";
        /// Amount taken from the balance.
        amount: Cents [Schema::PRICE] = "150.00";
        /// Coin of the transfer (asset id from currencies).
        asset: &'static str [Schema::ASSET] = "SOL";
        /// Ticker symbol of the coin.
        asset_symbol: &'static str = "SOL";
        /// Chain of the transfer.
        chain: Chain [Schema::CHAIN] = "solana";
        /// Recipient address.
        to_address: &'a str = "GsbwXfJraMomNxBcjYLcG3mxkBUiyWXAB32fGbSkQRdW";
        /// Amount to send in whole coins, after the network fee; null until approved.
        amount_crypto: Option<String> [Schema::Nullable(&Schema::COINS)] = "0.999995";
        /// Network fee in whole coins; null until approved.
        network_fee_crypto: Option<String> [Schema::Nullable(&Schema::COINS)] = "0.000005";
        /// Fiat per whole coin, fixed at approval; null until then.
        rate: Option<String> [Schema::Nullable(&Schema::COINS)] = "150";
        /// Transaction id on the chain; null until paid.
        txid: Option<&'a str> = "5wHu1qwD7q3j6dRk6MMmBxcT4bSnbGvQ5dUo6oyhJq4EJzv6dUo6oyhJq4EJzv5wHu1qwD7q3j6dRk6MMmBxcT4b";
    }
}

view! {
    pub(crate) EndView<'a> {
        /// Reason for the failure, rejection or cancellation, if one was given.
        failure_reason: Option<&'a str> = null;
        /// Time of the request, in UTC.
        requested_at: Time = "2026-11-21T10:00:00.000Z";
        /// Time of the approval, in UTC; null until then.
        approved_at: Option<Time> = "2026-11-21T10:05:00.000Z";
        /// Time at which it was paid, failed, rejected or cancelled, in UTC; null until then.
        finalized_at: Option<Time> = "2026-11-21T10:06:30.000Z";
    }
}

view! {
    /// A payout with its account and its progress.
    pub(crate) DashboardPayoutView<'a> as "DashboardPayout" {
        [flatten] base: PayoutView<'a>;
        [flatten] sending: SendingView<'a>;
    }
}

view! {
    /// A refund with its account and its progress.
    pub(crate) DashboardRefundView<'a> as "DashboardRefund" {
        [flatten] base: RefundView<'a>;
        [flatten] sending: SendingView<'a>;
    }
    example differs { "sentBy": null, "rateBasis": null, "networkFeeFrom": null }
}

view! {
    /// A payout with its account, its progress, and the payment data for a wallet.
    pub(crate) DashboardPayoutDetailView<'a> as "DashboardPayoutDetail" {
        [flatten] base: PayoutView<'a>;
        [flatten] sending: SendingView<'a>;
        [flatten] to_send: ToSend<'a>;
    }
    example differs {
        "status": "processing", "txid": null, "finalizedAt": null, "sentBy": "hand", "approval": null,
        "paymentUri": "solana:GsbwXfJraMomNxBcjYLcG3mxkBUiyWXAB32fGbSkQRdW?amount=0.999995",
        "qr": { "size": 41, "path": "M4 4h7v1h-7z" },
        "begun": { "by": "ada@example.com", "at": "2026-11-21T10:05:30.000Z" }
    }
}

view! {
    /// A refund with its account, its progress, and the payment data for a wallet.
    pub(crate) DashboardRefundDetailView<'a> as "DashboardRefundDetail" {
        [flatten] base: RefundView<'a>;
        [flatten] sending: SendingView<'a>;
        [flatten] to_send: ToSend<'a>;
    }
    example differs { "sentBy": null, "rateBasis": null, "networkFeeFrom": null }
}

view! {
    pub(crate) SendingView<'a> {
        /// Id of the account.
        account: &'a str [Schema::UUID] = "01a1fd55-7a80-7af2-9132-9b2fc82e5efe";
        /// State of the signer, or the hold of a restore. unknown, declined and restored wait for an operator.
        sending: Option<SendingState> = null;
        /// Sender after approval: a person with a wallet, or the signer; null before approval.
        sent_by: Option<SentBy> = "signer";
        /// Basis of the rate: the coins that came in for the refunded invoice, or the market; null before approval.
        rate_basis: Option<RateBasis> = "market";
        /// Source of the network fee: given at approval, the node's estimate, the coin's setting, or the built-in
        /// fee; null before approval.
        network_fee_from: Option<FeeSource> = "estimate";
        /// Reason why the signer did not send it, or why that is unknown.
        sending_reason: Option<&'a str> = null;
        [flatten] chain: &'a TransferOnChain;
    }
}

view! {
    /// State of a transfer on its chain.
    pub(crate) TransferOnChain {
        on_chain: OnChainView = {
            "state": "waiting", "txid": null, "confirmations": null, "confirmationsNeeded": null, "amountSeen": null,
            "problem": null
        };
        /// Incoming transactions at its destination that an operator may attach with pay, or dismiss; the newest 20.
        proposals: Vec<ProposalView> = [];
        /// Reviews, newest first. An open review has no endedAt.
        reviews: Vec<ReviewView> = [];
    }
}

view! {
    /// State of a payout or refund on its chain.
    pub(crate) OnChainView as "TransferOnChain" {
        /// waiting: no transaction is attached, or no node has it; seen: it is in the mempool or in a block and pays
        /// the amount; needs_review: an operator has to decide; settled: it is final; unwatched: the chain has no
        /// node.
        state: OnChainState = "waiting";
        /// Attached transaction.
        txid: Option<String> = null;
        /// Confirmations of the transaction, until it is settled.
        confirmations: Option<u32> = null;
        /// Confirmations that it needs, or final.
        confirmations_needed: Option<Depth> = null;
        /// Sum of the outputs that count for this payout or refund, in its coin.
        amount_seen: Option<String> = null;
        /// The problem; if there is none, the state that the worker waits for.
        problem: Option<String> = null;
    }
}

view! {
    /// An incoming transaction at the destination of a payout or refund that an operator may attach.
    pub(crate) ProposalView as "TransferProposal" {
        /// Transaction id.
        txid: String = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        /// Amount in the coin of the payout or refund.
        amount_crypto: String = "0.25";
        /// Time at which it was first seen.
        seen_at: Time = "2026-11-21T10:07:00.000Z";
        /// Height of the block; null in the mempool.
        block_height: Option<u32> = null;
    }
}

view! {
    /// A finding for an operator about a payout or refund that has ended.
    pub(crate) ReviewView as "TransferReview" {
        /// Id of the review, for resolve and adjust.
        id: String [Schema::UUID] = "01a1fd8c-6a00-7c3e-8a55-0d2f4c9be333";
        /// overpaid: more than 1 % too much was sent; gone: the transaction is not confirmed any more; arrived: money
        /// arrived after failed or cancelled; beyond_reach: the approval is older than the blocks that are read back.
        kind: ReviewKind = "gone";
        /// Transaction that the finding is about.
        txid: Option<String> = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        /// The finding.
        problem: String = "transaction 9f86d081 is not confirmed any more, after it was paid";
        /// Time of the finding.
        opened_at: Time = "2026-11-21T11:07:00.000Z";
        /// Time of the end.
        ended_at: Option<Time> = null;
        /// Email of the person who ended it; chain where the facts changed.
        ended_by: Option<String> = null;
        /// resolved: a person gave a reason; adjusted: a person booked the amount; cleared: the facts changed.
        decision: Option<ReviewDecision> = null;
        /// Reason for the end.
        reason: Option<String> = null;
    }
}

view! {
    /// Additions for one transfer.
    pub(crate) ToSend<'a> {
        /// Terms that an approval without its own would fix now; for operators while it is requested.
        approval: Option<ApprovalView<'a>> = {
            "basis": "market", "received": null, "rate": "80", "rateSource": "median", "rateAt": "2026-11-21T10:00:10.000Z", "rateAgeSeconds": 42,
            "rateFigures": [
                { "source": "kraken", "rate": "80.1", "via": "LTC/EUR", "at": "2026-11-21T10:00:10.000Z" },
                { "source": "coinbase", "rate": "79.9", "via": "LTC/EUR", "at": "2026-11-21T10:00:20.000Z" }
            ],
            "rateProblem": null, "networkFeeCrypto": "0.0001", "networkFeeFrom": "estimate",
            "networkFeeAt": "2026-11-21T10:00:30.000Z", "networkFee": "0.01", "amountCrypto": "0.0624",
            "sentBy": "signer", "signerProblem": null
        };
        /// Payment URI for wallets (BIP 321, EIP-681, Solana Pay), while it is processing and no command sends it;
        /// null for tron, which has no standard, and on simulated chains.
        payment_uri: Option<&'a str> = null;
        /// QR code of the payment URI, or of the address without one; null if it is not sent by hand, and on
        /// simulated chains.
        qr: Option<Qr> = null;
        /// The sender while it is processing. Nobody else sends it.
        begun: Option<BegunView<'a>> = null;
    }
}

view! {
    /// The sender of a payout or refund.
    pub(crate) BegunView<'a> as "TransferBegun" {
        /// Email of the user; or the signer command, or sandbox.
        by: &'a str = "ada@example.com";
        /// Time at which sending began.
        at: Time = "2026-11-21T10:05:30.000Z";
    }
}

impl<'a> PayoutView<'a> {
    fn new(transfer: &'a Transfer) -> PayoutView<'a> {
        PayoutView {
            id: &transfer.id,
            status: transfer.status,
            money: MoneyView::new(transfer),
            end: EndView::new(transfer),
        }
    }
}

impl<'a> RefundView<'a> {
    fn new(transfer: &'a Transfer) -> RefundView<'a> {
        RefundView {
            id: &transfer.id,
            invoice_id: transfer.invoice.as_ref().map(|(_, id)| id.as_str()),
            status: transfer.status,
            livemode: transfer.mode.is_live(),
            money: MoneyView::new(transfer),
            reason: transfer.reason.as_deref(),
            end: EndView::new(transfer),
        }
    }
}

impl<'a> MoneyView<'a> {
    fn new(transfer: &'a Transfer) -> MoneyView<'a> {
        let (asset, terms) = (transfer.asset, transfer.terms.as_ref());
        MoneyView {
            currency: transfer.currency,
            amount: transfer.amount,
            asset: asset.id,
            asset_symbol: asset.symbol,
            chain: asset.chain,
            to_address: &transfer.to_address,
            amount_crypto: terms.map(|terms| asset.format_units(terms.amount_crypto)),
            network_fee_crypto: terms.map(|terms| asset.format_units(terms.network_fee)),
            rate: terms.map(|terms| terms.rate.to_string()),
            txid: transfer.txid.as_deref(),
        }
    }
}

impl<'a> EndView<'a> {
    fn new(transfer: &'a Transfer) -> EndView<'a> {
        EndView {
            failure_reason: transfer.failure_reason.as_deref(),
            requested_at: transfer.requested_at,
            approved_at: transfer.approved_at,
            finalized_at: transfer.finalized_at,
        }
    }
}

impl<'a> SendingView<'a> {
    fn new(transfer: &'a Transfer, chain: &'a TransferOnChain) -> SendingView<'a> {
        SendingView {
            account: &transfer.account_id,
            sending: transfer.sending,
            sent_by: transfer.sent_by,
            rate_basis: transfer.terms_source.map(|source| source.basis),
            network_fee_from: transfer.terms_source.map(|source| source.fee),
            sending_reason: transfer.sending_progress.sending_reason.as_deref(),
            chain,
        }
    }
}

/// Returns the JSON of a payout or refund for the merchant.
pub fn transfer(transfer: &Transfer) -> Rendered {
    match transfer.kind {
        TransferKind::Payout => to_raw_value(&PayoutView::new(transfer)),
        TransferKind::Refund => to_raw_value(&RefundView::new(transfer)),
    }
}

/// Returns the JSON of a payout or refund for the operator interface.
pub(crate) fn transfer_for_operator(transfer: &Transfer, chain: &TransferOnChain) -> Rendered {
    let sending = SendingView::new(transfer, chain);
    match transfer.kind {
        TransferKind::Payout => {
            to_raw_value(&DashboardPayoutView { base: PayoutView::new(transfer), sending })
        }
        TransferKind::Refund => {
            to_raw_value(&DashboardRefundView { base: RefundView::new(transfer), sending })
        }
    }
}

/// Returns the JSON of [`transfer_for_operator`], with the data that a wallet needs to send the transfer.
pub(crate) fn transfer_to_send(
    transfer: &Transfer,
    chain: &TransferOnChain,
    to_send: ToSend<'_>,
) -> Rendered {
    let sending = SendingView::new(transfer, chain);
    match transfer.kind {
        TransferKind::Payout => to_raw_value(&DashboardPayoutDetailView {
            base: PayoutView::new(transfer),
            sending,
            to_send,
        }),
        TransferKind::Refund => to_raw_value(&DashboardRefundDetailView {
            base: RefundView::new(transfer),
            sending,
            to_send,
        }),
    }
}
