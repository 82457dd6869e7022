//! Reads transfers together with their entries in the audit log.

use crate::domain::asset::Asset;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Currency};
use crate::domain::transfer::terms::TransferTerms;
use crate::domain::transfer::{SettledBy, TransferKind};
use crate::store::statement::rows;

/// A payout or refund, and its rows of the audit log.
pub struct NotedTransfer {
    /// Id of the transfer.
    pub id: String,
    /// Payout or refund.
    pub kind: TransferKind,
    /// The account, by its `seq`.
    pub account: i64,
    /// Currency of the amount.
    pub currency: Currency,
    /// Amount that leaves the balance.
    pub amount: Cents,
    /// Coin that is sent.
    pub asset: &'static Asset,
    /// Destination.
    pub to_address: String,
    /// Terms of its approval.
    pub terms: Option<TransferTerms>,
    /// Number of requests.
    pub requests: i64,
    /// Newest request: action, account and detail.
    pub request: Option<(String, Option<i64>, String)>,
    /// Detail of the newest approval.
    pub approval: Option<String>,
    /// Reason why it counts as paid.
    pub settled_by: Option<SettledBy>,
    /// Detail of the newest payment.
    pub payment: Option<String>,
}

rows! {
    fn read(
        id, kind, account, currency, amount, asset, to_address, rate: Option<Rate>, network_fee: Option<Units>,
        amount_crypto: Option<Units>, requests, request_action: Option<String>, request_account,
        request: Option<String>, approval, settled_by, payment,
    ) -> NotedTransfer {
        let terms = rate.zip(network_fee.zip(amount_crypto));
        let terms = terms.map(|(rate, (network_fee, amount_crypto))| TransferTerms { rate, network_fee, amount_crypto });
        let request = request_action.zip(request).map(|(action, detail)| (action, request_account, detail));
        Ok(NotedTransfer {
            id, kind, account, currency, amount, asset, to_address, terms, requests, request, approval,
            settled_by, payment,
        })
    }

    /// Passes every payout and refund to `each`, oldest first.
    pub fn transfers(db) -> each NotedTransfer = file "sql/audit/noted_transfers.sql";
}
