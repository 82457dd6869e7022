//! The JSON of a payment that matched nothing.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::money::Cents;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::domain::unmatched::{Resolution, Unmatched, UnmatchedReason};
use serde::Serialize;
use serde_json::value::to_raw_value;

/// Whom it can be given to at one press: what the operation that gives it takes.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Candidate {
    /// The invoice whose address it came to.
    Invoice {
        /// Its id.
        invoice: String,
    },
    /// The customer whose address it came to.
    Customer {
        /// The id of the customer's account.
        account: String,
        /// The merchant's own name for the customer.
        customer: String,
    },
}

/// What follows from such a payment just now.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Where a person looks its transaction up.
    pub explorer_url: Option<String>,
    /// What it is worth at the rate of now, in EUR and in USD.
    pub worth: [Option<Cents>; 2],
    /// Whom it can be given to at one press.
    pub candidate: Option<Candidate>,
    /// The id of the payment that it has become.
    pub payment: Option<String>,
    /// The id of the deposit that it has become.
    pub deposit: Option<String>,
    /// Can what a person made of it be undone?
    pub can_be_undone: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnmatchedView<'a> {
    object: &'static str,
    id: &'a str,
    livemode: bool,
    reason: UnmatchedReason,
    account: Option<&'a str>,
    invoice: Option<&'a str>,
    candidate: Option<&'a Candidate>,
    chain: Chain,
    asset: &'static str,
    asset_symbol: &'static str,
    address: &'a str,
    txid: &'a str,
    position: u32,
    explorer_url: Option<&'a str>,
    amount_crypto: String,
    worth_eur: Option<Cents>,
    worth_usd: Option<Cents>,
    state: PaymentState,
    seen_at: Time,
    outcome: Option<Resolution>,
    resolved_at: Option<Time>,
    note: Option<&'a str>,
    return_txid: Option<&'a str>,
    payment: Option<&'a str>,
    deposit: Option<&'a str>,
    can_be_undone: bool,
}

/// A payment that matched nothing.
pub fn unmatched(payment: &Unmatched, around: &Around) -> Rendered {
    let [worth_eur, worth_usd] = around.worth;
    to_raw_value(&UnmatchedView {
        object: "unmatched_payment",
        id: &payment.id,
        livemode: payment.mode.is_live(),
        reason: payment.reason,
        account: payment.account_id.as_deref(),
        invoice: payment.invoice_id.as_deref(),
        candidate: around.candidate.as_ref(),
        chain: payment.asset.chain,
        asset: payment.asset.id,
        asset_symbol: payment.asset.symbol,
        address: &payment.address,
        txid: &payment.txid,
        position: payment.position,
        explorer_url: around.explorer_url.as_deref(),
        amount_crypto: payment.asset.text(payment.amount),
        worth_eur,
        worth_usd,
        state: payment.state,
        seen_at: payment.seen_at,
        outcome: payment.outcome,
        resolved_at: payment.resolved_at,
        note: payment.note.as_deref(),
        return_txid: payment.return_txid.as_deref(),
        payment: around.payment.as_deref(),
        deposit: around.deposit.as_deref(),
        can_be_undone: around.can_be_undone,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssignmentView<'a> {
    object: &'static str,
    unmatched_payment: &'a str,
    payment: Option<&'a str>,
    deposit: Option<&'a str>,
}

/// What a payment that matched nothing has become: a payment or a deposit, by its id.
pub fn assignment(
    unmatched: &Unmatched,
    payment: Option<&String>,
    deposit: Option<&String>,
) -> Rendered {
    to_raw_value(&AssignmentView {
        object: "unmatched_payment_assignment",
        unmatched_payment: &unmatched.id,
        payment: payment.map(String::as_str),
        deposit: deposit.map(String::as_str),
    })
}
