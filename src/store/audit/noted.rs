//! Reads payouts and refunds together with their audit log entries.

use crate::domain::{Asset, Cents, Currency, Rate, TransferKind, TransferTerms, Units};
use crate::store::statement::statements;

/// A payout or refund with its newest audit log entries.
pub struct AuditedTransfer {
    /// Id of the transfer.
    pub id: String,
    /// Whether this is a payout or a refund.
    pub kind: TransferKind,
    /// Account, by its `seq`.
    pub account: i64,
    /// Currency of the amount.
    pub currency: Currency,
    /// Amount that the transfer takes from the account's balance.
    pub amount: Cents,
    /// Coin that is sent.
    pub asset: &'static Asset,
    /// Rate, fee and amount that were fixed at the approval; `None` before the approval.
    pub terms: Option<TransferTerms>,
    /// Number of audit log entries that record the request of the transfer.
    pub requests: i64,
    /// Newest audit log entry that records the request of the transfer: action and account.
    pub request: Option<(String, Option<i64>)>,
    /// Whether an audit log entry records the approval of the transfer.
    pub is_approved: bool,
}

statements! {
    row read(
        id, kind, account, currency, amount, asset, rate: Option<Rate>, network_fee: Option<Units>,
        amount_crypto: Option<Units>, requests, request_action: Option<String>, request_account, is_approved,
    ) -> AuditedTransfer {
        let terms = rate.zip(network_fee.zip(amount_crypto));
        let terms = terms.map(|(rate, (network_fee, amount_crypto))| TransferTerms { rate, network_fee, amount_crypto });
        let request = request_action.map(|action| (action, request_account));
        Ok(AuditedTransfer {
            id, kind, account, currency, amount, asset, terms, requests, request, is_approved,
        })
    }

    /// Passes every payout and refund to `each`, oldest first.
    pub fn each_audited_transfer(db) -> each AuditedTransfer = file "sql/audit/noted_transfers.sql";
}
