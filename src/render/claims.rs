//! JSON of payment claims.

use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{Claim, ClaimOutcome, Time};

view! {
    /// A payment that a contract sent and that the chain's node does not report, as an operator claims it.
    pub ClaimView<'a> as "Claim", object "claim" {
        /// Claim id.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// The chain.
        chain: Chain [Schema::CHAIN] = "ethereum";
        /// Transaction id.
        txid: &'a str = "0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Page of the transaction in a block explorer; null on test networks.
        explorer_url: Option<String> [Schema::Nullable(&Schema::URL)] = "https://etherscan.io/tx/0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// The coin.
        asset: &'static str [Schema::ASSET] = "ETH";
        /// Recipient address.
        address: &'a str = "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        /// Amount in whole coins.
        amount_crypto: String = "0.05";
        /// Number of the payment among equal ones in the transaction.
        ordinal: u32 [schema!({ "type": "integer", "minimum": 1, "maximum": 1000 })] = 1;
        /// User who made the claim.
        asked_by: &'a str = "operator@shop.test";
        /// Time of the claim, in UTC.
        asked_at: Time = "2026-11-21T09:31:02.000Z";
        /// Outcome: recorded now, recorded before, or refused by the node; null until the node was asked.
        outcome: Option<ClaimOutcome> = null;
        /// Time of the outcome, in UTC.
        ended_at: Option<Time> = null;
        /// Reason for the refusal.
        reason: Option<&'a str> = null;
    }
}

impl ClaimView<'_> {
    /// Returns the view of a claim. `explorer_url` is the explorer page of the claimed transaction.
    pub fn new(claim: &Claim, explorer_url: Option<String>) -> ClaimView<'_> {
        ClaimView {
            id: &claim.id,
            chain: claim.asset.chain,
            txid: &claim.txid,
            explorer_url,
            asset: claim.asset.id,
            address: &claim.address,
            amount_crypto: claim.asset.format_units(claim.amount),
            ordinal: claim.ordinal,
            asked_by: &claim.asked_by,
            asked_at: claim.asked_at,
            outcome: claim.outcome,
            ended_at: claim.ended_at,
            reason: claim.reason.as_deref(),
        }
    }
}
