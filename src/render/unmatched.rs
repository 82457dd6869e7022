//! JSON of a payment that matched no invoice and no customer.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, ViewField, view};
use crate::domain::unmatched::AssignUnmatchedPayment;
use crate::domain::{
    Cents, PaymentState, Time, UnmatchedPayment, UnmatchedReason, UnmatchedResolution,
};
use serde::Serialize;
use serde_json::value::to_raw_value;

/// A proposed recipient of an unmatched payment. The fields are those of the request that assigns the payment.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum AssignmentCandidate {
    /// The invoice that owns the address.
    Invoice {
        /// Invoice id.
        invoice: String,
    },
    /// The customer who owns the address.
    Customer {
        /// Id of the customer's account.
        account: String,
        /// The merchant's reference for the customer.
        customer: String,
    },
}

impl ViewField for &AssignmentCandidate {
    const SCHEMA: Schema = Schema::Component(&AssignUnmatchedPayment::COMPONENT);
}

/// Data in the JSON of an unmatched payment that the row of the payment does not contain.
#[derive(Clone, Debug, Default)]
pub struct UnmatchedContext {
    /// URL of the transaction in a block explorer.
    pub explorer_url: Option<String>,
    /// Value at the current rate, in EUR and in USD; `None` without a rate.
    pub worth: [Option<Cents>; 2],
    /// Recipient that is proposed to the operator.
    pub candidate: Option<AssignmentCandidate>,
    /// Id of the invoice payment to which the unmatched payment was assigned.
    pub payment: Option<String>,
    /// Id of the deposit to which the unmatched payment was assigned.
    pub deposit: Option<String>,
    /// `true` if the assignment can be undone.
    pub can_be_undone: bool,
}

view! {
    /// A payment to an unknown address, or in a coin that was not quoted there.
    pub UnmatchedPaymentView<'a> as "UnmatchedPayment", object "unmatched_payment" {
        /// Payment id.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// False when it belongs to test mode.
        livemode: bool = true;
        /// Reason why it is unmatched.
        reason: UnmatchedReason = "unquoted_coin";
        /// Account of the address; null if there is none.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd63-3620-76bf-bbc8-d96f3ea9d132";
        /// Invoice of the address; null if there is none.
        invoice: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Invoice or customer of the address, as the body that assigns the payment; null if there is none, or if it
        /// cannot be assigned.
        candidate: Option<&'a AssignmentCandidate> = { "invoice": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946" };
        /// Chain of the payment.
        chain: Chain [Schema::CHAIN] = "base";
        /// Coin of the payment.
        asset: &'static str [Schema::ASSET] = "USDC-BASE";
        /// Ticker of the coin.
        asset_symbol: &'static str = "USDC";
        /// Recipient address.
        address: &'a str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        /// Transaction id on the chain.
        txid: &'a str = "0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Index in the transaction; on utxo chains the output's index.
        position: u32 = 3;
        /// Page of the transaction in a block explorer; null on test networks and simulated chains.
        explorer_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = "https://basescan.org/tx/0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Amount in whole coins.
        amount_crypto: String = "25";
        /// Value in EUR at the present rate; null without a rate.
        worth_eur: Option<Cents> [Schema::Nullable(&Schema::STRING)] = "23.00";
        /// Value in USD at the present rate; null without a rate.
        worth_usd: Option<Cents> [Schema::Nullable(&Schema::STRING)] = "25.00";
        /// State on the chain.
        state: PaymentState = "confirmed";
        /// Time at which it was seen, in UTC.
        seen_at: Time = "2026-11-21T09:31:02.000Z";
        /// Outcome that an operator recorded: assigned, returned or no action; null without one.
        outcome: Option<UnmatchedResolution> = null;
        /// Time of the first outcome, in UTC; null without one.
        resolved_at: Option<Time> = null;
        /// Note of the operator.
        note: Option<&'a str> = null;
        /// Transaction id of the return.
        return_txid: Option<&'a str> = null;
        /// Id of the resulting payment.
        payment: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Id of the resulting deposit.
        deposit: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Whether the outcome can be undone. An assignment that was confirmed cannot.
        can_be_undone: bool = false;
    }
}

view! {
    /// The payment or deposit of an assigned unmatched payment.
    pub AssignmentView<'a> as "UnmatchedPaymentAssignment", object "unmatched_payment_assignment" {
        /// Id of the unmatched payment, with which the assignment can be undone.
        unmatched_payment: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// Id of the payment; null for a deposit.
        payment: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd72-a6c4-7d05-9f2a-6a1f6a2be9c1";
        /// Id of the deposit; null for a payment.
        deposit: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
    }
}

/// Returns the JSON of an unmatched payment.
pub fn unmatched_payment(payment: &UnmatchedPayment, around: &UnmatchedContext) -> Rendered {
    let [worth_eur, worth_usd] = around.worth;
    to_raw_value(&UnmatchedPaymentView {
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
        amount_crypto: payment.asset.format_units(payment.amount),
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

/// Returns the JSON of an assignment, with the id of the new payment or deposit.
pub fn assignment(
    unmatched: &UnmatchedPayment,
    payment: Option<&String>,
    deposit: Option<&String>,
) -> Rendered {
    to_raw_value(&AssignmentView {
        unmatched_payment: &unmatched.id,
        payment: payment.map(String::as_str),
        deposit: deposit.map(String::as_str),
    })
}
