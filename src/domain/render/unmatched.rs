//! A payment that matched nothing, as it is answered.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, Shown, view};
use crate::domain::money::Cents;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::domain::unmatched::{AssignUnmatchedPayment, Resolution, Unmatched, UnmatchedReason};
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

impl Shown for &Candidate {
    const SCHEMA: Schema = Schema::Component(&AssignUnmatchedPayment::COMPONENT);
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

view! {
    /// Money that came to an address of nobody's, or in a coin that was never quoted there.
    pub UnmatchedPaymentView<'a> as "UnmatchedPayment", object "unmatched_payment" {
        /// Payment id.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// False when it belongs to test mode.
        livemode: bool = true;
        /// Why it matched nothing.
        reason: UnmatchedReason = "unquoted_coin";
        /// The account whose address it is; null where it is nobody's.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd63-3620-76bf-bbc8-d96f3ea9d132";
        /// The invoice whose address it is; null where it is nobody's.
        invoice: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// The invoice or the customer whose address it came to, as the body that gives it to them at one press; null
        /// where it is nobody's, or cannot be given away.
        candidate: Option<&'a Candidate> = { "invoice": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946" };
        /// Chain it was seen on.
        chain: Chain [Schema::CHAIN] = "base";
        /// Coin it came in.
        asset: &'static str [Schema::ASSET] = "USDC-BASE";
        /// Ticker of the coin.
        asset_symbol: &'static str = "USDC";
        /// The address it came to.
        address: &'a str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        /// Transaction id on the chain.
        txid: &'a str = "0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Place in the transaction: on utxo chains the output's index.
        position: u32 = 3;
        /// Where a person looks the transaction up; null for what is simulated or of a test network.
        explorer_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = "https://basescan.org/tx/0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// What came, in whole coins.
        amount_crypto: String = "25";
        /// What it is worth in EUR at the rate of now; null where there is none.
        worth_eur: Option<Cents> [Schema::Nullable(&Schema::STRING)] = "23.00";
        /// What it is worth in USD at the rate of now; null where there is none.
        worth_usd: Option<Cents> [Schema::Nullable(&Schema::STRING)] = "25.00";
        /// Where it stands on its chain.
        state: PaymentState = "confirmed";
        /// When it was seen, in UTC.
        seen_at: Time = "2026-11-21T09:31:02.000Z";
        /// What a person made of it: it was given to somebody, paid back, or nothing is to be done; null while nobody
        /// has.
        outcome: Option<Resolution> = null;
        /// When somebody first made something of it, in UTC; null while nobody has.
        resolved_at: Option<Time> = null;
        /// Why.
        note: Option<&'a str> = null;
        /// The transaction that paid it back.
        return_txid: Option<&'a str> = null;
        /// Id of the payment that it has become.
        payment: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Id of the deposit that it has become.
        deposit: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Whether what was made of it can be undone: false once it was given to somebody and has been confirmed.
        can_be_undone: bool = false;
    }
}

view! {
    /// What a payment that matched nothing has become: a payment of an invoice, or a deposit.
    pub AssignmentView<'a> as "UnmatchedPaymentAssignment", object "unmatched_payment_assignment" {
        /// Its id, by which that can be undone.
        unmatched_payment: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// Id of the payment; null where it is a deposit.
        payment: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = "01a1fd72-a6c4-7d05-9f2a-6a1f6a2be9c1";
        /// Id of the deposit; null where it is a payment.
        deposit: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
    }
}

/// A payment that matched nothing.
pub fn unmatched(payment: &Unmatched, around: &Around) -> Rendered {
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

/// What a payment that matched nothing has become: a payment or a deposit, by its id.
pub fn assignment(
    unmatched: &Unmatched,
    payment: Option<&String>,
    deposit: Option<&String>,
) -> Rendered {
    to_raw_value(&AssignmentView {
        unmatched_payment: &unmatched.id,
        payment: payment.map(String::as_str),
        deposit: deposit.map(String::as_str),
    })
}
