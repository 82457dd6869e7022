//! The JSON of a claim, for the operator interface.
//!
//! What always holds: field names and their order are the interface's.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::claim::{Claim, ClaimOutcome};
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::to_raw_value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClaimView<'a> {
    object: &'static str,
    id: &'a str,
    chain: Chain,
    txid: &'a str,
    explorer_url: Option<&'a str>,
    asset: &'static str,
    address: &'a str,
    amount_crypto: String,
    ordinal: u32,
    asked_by: &'a str,
    asked_at: Time,
    outcome: Option<ClaimOutcome>,
    ended_at: Option<Time>,
    reason: Option<&'a str>,
}

/// A claim, and where a person looks its transaction up.
pub fn claim(claim: &Claim, explorer_url: Option<&str>) -> Rendered {
    to_raw_value(&ClaimView {
        object: "claim",
        id: &claim.id,
        chain: claim.asset.chain,
        txid: &claim.txid,
        explorer_url,
        asset: claim.asset.id,
        address: &claim.address,
        amount_crypto: claim.asset.text(claim.amount),
        ordinal: claim.ordinal,
        asked_by: &claim.asked_by,
        asked_at: claim.asked_at,
        outcome: claim.outcome,
        ended_at: claim.ended_at,
        reason: claim.reason.as_deref(),
    })
}
