//! The JSON of payouts and refunds.
//!
//! What always holds: the merchant's interface shows what it documents; the operator interface shows that, and what
//! else helps to decide.

use super::Rendered;
use super::approvals::ApprovalView;
use super::operator::QrCode;
use crate::domain::asset::Chain;
use crate::domain::chain::Depth;
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use crate::domain::transfer::approval::FeeSource;
use crate::domain::transfer::on_chain::{OnChainState, ReviewKind};
use crate::domain::transfer::sender::SentBy;
use crate::domain::transfer::{Sending, Transfer, TransferKind, TransferStatus};
use serde::Serialize;
use serde_json::value::to_raw_value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PayoutView<'a> {
    id: &'a str,
    status: TransferStatus,
    #[serde(flatten)]
    money: MoneyView<'a>,
    #[serde(flatten)]
    end: EndView<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefundView<'a> {
    object: &'static str,
    id: &'a str,
    invoice_id: Option<&'a str>,
    status: TransferStatus,
    livemode: bool,
    #[serde(flatten)]
    money: MoneyView<'a>,
    reason: Option<&'a str>,
    #[serde(flatten)]
    end: EndView<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoneyView<'a> {
    currency: Currency,
    amount: Cents,
    asset: &'static str,
    asset_symbol: &'static str,
    chain: Chain,
    to_address: &'a str,
    amount_crypto: Option<String>,
    network_fee_crypto: Option<String>,
    rate: Option<String>,
    txid: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndView<'a> {
    failure_reason: Option<&'a str>,
    requested_at: Time,
    approved_at: Option<Time>,
    finalized_at: Option<Time>,
}

/// A view with what only the operator interface tells.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperatorView<'a, T> {
    #[serde(flatten)]
    of: T,
    account: &'a str,
    sending: Option<Sending>,
    sent_by: Option<SentBy>,
    network_fee_from: Option<FeeSource>,
    sending_reason: Option<&'a str>,
    #[serde(flatten)]
    chain_told: &'a TransferOnChain,
    /// Where one is read by itself.
    #[serde(flatten)]
    to_send: Option<ToSend<'a>>,
}

/// State of a transfer on its chain.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferOnChain {
    /// State on its chain.
    pub on_chain: OnChainView,
    /// Arrivals that a person may attach.
    pub proposals: Vec<ProposalView>,
    /// Reviews by a person, open and ended.
    pub reviews: Vec<ReviewView>,
}

/// State of a transfer on its chain.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OnChainView {
    /// State.
    pub state: OnChainState,
    /// Attached transaction.
    pub txid: Option<String>,
    /// Blocks that confirm it, while it is not settled.
    pub confirmations: Option<u32>,
    /// Blocks that it needs.
    pub confirmations_needed: Option<Depth>,
    /// Sum of the outputs that count for the transfer, in its coin.
    pub amount_seen: Option<String>,
    /// Problem, or event that is waited for.
    pub problem: Option<String>,
}

/// An arrival that a person may attach.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalView {
    /// Its transaction.
    pub txid: String,
    /// Its amount, in the coin of the transfer.
    pub amount_crypto: String,
    /// Time of its first sighting.
    pub seen_at: Time,
    /// Height of its block.
    pub block_height: Option<u32>,
}

/// Something that a person has, or had, to look at.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Its id.
    pub id: String,
    /// Kind of its subject.
    pub kind: ReviewKind,
    /// Finding that opened it.
    pub problem: String,
    /// When.
    pub opened_at: Time,
    /// Time of its end.
    pub ended_at: Option<Time>,
    /// Reason of its end.
    pub reason: Option<String>,
}

/// Additions to one transfer by itself: its approval, the input of a wallet, and the person who has begun to send it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToSend<'a> {
    pub(crate) approval: Option<ApprovalView<'a>>,
    pub(crate) payment_uri: Option<&'a str>,
    pub(crate) qr: Option<QrCode>,
    pub(crate) begun: Option<Begun<'a>>,
}

/// Who began to send a transfer.
#[derive(Serialize)]
pub(crate) struct Begun<'a> {
    pub(crate) by: &'a str,
    pub(crate) at: Time,
}

impl<'a> PayoutView<'a> {
    fn of(transfer: &'a Transfer) -> PayoutView<'a> {
        PayoutView {
            id: &transfer.id,
            status: transfer.status,
            money: MoneyView::of(transfer),
            end: EndView::of(transfer),
        }
    }
}

impl<'a> RefundView<'a> {
    fn of(transfer: &'a Transfer) -> RefundView<'a> {
        RefundView {
            object: "refund",
            id: &transfer.id,
            invoice_id: transfer.invoice.as_ref().map(|(_, id)| id.as_str()),
            status: transfer.status,
            livemode: transfer.mode.is_live(),
            money: MoneyView::of(transfer),
            reason: transfer.reason.as_deref(),
            end: EndView::of(transfer),
        }
    }
}

impl<'a> MoneyView<'a> {
    fn of(transfer: &'a Transfer) -> MoneyView<'a> {
        let (asset, terms) = (transfer.asset, transfer.terms.as_ref());
        MoneyView {
            currency: transfer.currency,
            amount: transfer.amount,
            asset: asset.id,
            asset_symbol: asset.symbol,
            chain: asset.chain,
            to_address: &transfer.to_address,
            amount_crypto: terms.map(|terms| asset.text(terms.amount_crypto)),
            network_fee_crypto: terms.map(|terms| asset.text(terms.network_fee)),
            rate: terms.map(|terms| terms.rate.to_string()),
            txid: transfer.txid.as_deref(),
        }
    }
}

impl<'a> EndView<'a> {
    fn of(transfer: &'a Transfer) -> EndView<'a> {
        EndView {
            failure_reason: transfer.failure_reason.as_deref(),
            requested_at: transfer.requested_at,
            approved_at: transfer.approved_at,
            finalized_at: transfer.finalized_at,
        }
    }
}

/// A payout or a refund, as `GET /v1/payouts/{id}` or `GET /v1/refunds/{id}` answers it.
pub fn transfer(transfer: &Transfer) -> Rendered {
    match transfer.kind {
        TransferKind::Payout => to_raw_value(&PayoutView::of(transfer)),
        TransferKind::Refund => to_raw_value(&RefundView::of(transfer)),
    }
}

/// The same with its account, with the state of the signer, and with what its chain tells.
pub fn transfer_for_operator(transfer: &Transfer, chain_told: &TransferOnChain) -> Rendered {
    for_operator(transfer, chain_told, None)
}

/// The same with what a wallet is given to send it.
pub(crate) fn transfer_to_send(
    transfer: &Transfer,
    chain_told: &TransferOnChain,
    to_send: ToSend<'_>,
) -> Rendered {
    for_operator(transfer, chain_told, Some(to_send))
}

fn for_operator(
    transfer: &Transfer,
    chain_told: &TransferOnChain,
    to_send: Option<ToSend<'_>>,
) -> Rendered {
    match transfer.kind {
        TransferKind::Payout => {
            let of = PayoutView::of(transfer);
            to_raw_value(&OperatorView::of(of, transfer, chain_told, to_send))
        }
        TransferKind::Refund => {
            let of = RefundView::of(transfer);
            to_raw_value(&OperatorView::of(of, transfer, chain_told, to_send))
        }
    }
}

impl<'a, T> OperatorView<'a, T> {
    fn of(
        of: T,
        transfer: &'a Transfer,
        chain_told: &'a TransferOnChain,
        to_send: Option<ToSend<'a>>,
    ) -> OperatorView<'a, T> {
        OperatorView {
            of,
            account: &transfer.account_id,
            sending: transfer.sending,
            sent_by: transfer.sent_by,
            network_fee_from: transfer.fee_source,
            sending_reason: transfer.dispatch.sending_reason.as_deref(),
            chain_told,
            to_send,
        }
    }
}
