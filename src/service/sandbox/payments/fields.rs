//! Reads the fields of a transaction on a simulated chain: ID, time, inputs, and the position of each output.
//!
//! Invariant: reading changes nothing.

use super::find_observation;
use crate::domain::fields::Fields;
use crate::domain::observation::OUTPUTS_MAX;
use crate::domain::payment::inputs::SandboxPayment;
use crate::domain::payment::simulated_txid;
use crate::domain::{Asset, InputSource, Mode, Refusal, Time, id};
use crate::service::Error;
use crate::service::sandbox::target::PaymentTarget;
use crate::store::{Reader, chains};
use serde_json::Value;

pub(super) fn txid_or_new(
    txid: Option<String>,
    asset: &Asset,
    now: Time,
) -> Result<String, Refusal> {
    match txid {
        Some(txid) if txid.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(asset.chain.canonical_txid(&txid))
        }
        Some(_) => Err(Refusal::field("txid", "must be printable ASCII without spaces")),
        None => Ok(simulated_txid(asset.chain, &id::new(now).to_string())),
    }
}

/// Returns the inputs of a transaction: the outputs or addresses of the given payments, or the coinbase.
pub(super) fn read_inputs(db: &Reader<'_>, fields: Fields<'_>) -> Result<Vec<InputSource>, Error> {
    let ids = SandboxPayment::spends(fields)?.unwrap_or_default();
    if SandboxPayment::coinbase(fields)? == Some(true) {
        if ids.is_empty() {
            return Ok(vec![InputSource::Coinbase]);
        }
        let problem = "must be false or left out if spends has entries";
        return Err(Refusal::field("coinbase", problem).into());
    }
    if ids.len() > OUTPUTS_MAX {
        let problem = format!("must have at most {OUTPUTS_MAX} entries");
        return Err(Refusal::field("spends", problem).into());
    }
    let spent = |id: &Value| {
        let observed = id.as_str().and_then(id::parse).map(|id| find_observation(db, &id));
        let none = || Refusal::field("spends", "must be a list of ids of payments");
        let seen = observed.transpose()?.flatten().ok_or_else(none)?.seen;
        Ok(if seen.asset.chain.has_outputs() {
            InputSource::Output(seen.txid, seen.position)
        } else {
            InputSource::Address(seen.address)
        })
    };
    ids.iter().map(spent).collect()
}

/// Returns the time of the transaction: now, or the requested time. The requested time must not be before the latest
/// scan of the chain.
pub(super) fn read_seen_at(
    db: &Reader<'_>,
    now: Time,
    target: &PaymentTarget,
    fields: Fields<'_>,
) -> Result<Time, Error> {
    let wrong = |problem: String| Refusal::field("seenAt", problem);
    let Some(text) = SandboxPayment::seen_at(fields)? else {
        return Ok(now);
    };
    let at: Time = text.parse().map_err(wrong)?;
    let scanned_to = match target.mode {
        Mode::Live => chains::lagging_chains(db)?.scanned_to(target.asset.chain),
        Mode::Test => None,
    };
    let first = scanned_to.unwrap_or(now);
    if (first..=now).contains(&at) {
        Ok(at)
    } else {
        let problem = format!("must be from {first} to {now}: earlier times have been read");
        Err(wrong(problem).into())
    }
}

/// Returns the position of an output: the requested position, or else the output's index in the list.
pub(super) fn position_or_index(position: Option<i64>, at: usize) -> Result<u32, Refusal> {
    let position = match position {
        Some(position) => u32::try_from(position).ok(),
        None => u32::try_from(at).ok(),
    };
    position.ok_or_else(|| Refusal::field("position", "is too large"))
}
