//! Payments that a person claims because the chain's node does not report them: a contract sent the coins.
//!
//! Invariant: a claim books nothing. A payment that the node verifies is recorded by `observations`, like any observation,
//! and only once.

use crate::domain::asset::{ASSETS, Chain};
use crate::domain::claim::{ClaimPayment, OPEN_MAX};
use crate::domain::fields::Fields;
use crate::domain::observation::{CLAIMS_FROM, CONTRACTS_FROM, REPLACED_FROM};
use crate::domain::{
    Asset, AssetKind, ChainPosition, Claim, ClaimCheck, ClaimOutcome, Mode, Observation, Refusal,
    RefusalCode, StoredObservation, Time, Units, address, id, wallet,
};
use crate::render::claims::ClaimView;
use crate::service::observations::record_observation;
use crate::service::{Error, Service, Step, audit_log};
use crate::store::{Reader, Tx, addresses, claims, observations, pool_addresses, unexplained};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

impl Service {
    /// Returns the fields of a claim for the response.
    pub fn render_claim<'a>(
        &self,
        db: &Reader<'_>,
        claim: &'a Claim,
    ) -> Result<ClaimView<'a>, Error> {
        let explorer = self.explorer_url(db, Mode::Live, claim.asset.chain, &claim.txid)?;
        Ok(ClaimView::new(claim, explorer))
    }
}

/// Stores a claim. The next step asks the chain's node about the claim.
///
/// # Errors
///
/// `invalid_request` that names the field, or `chain` if the chain is not followed or has no coin to claim.
/// `invalid_transition` if the payment is known, the same claim is open, or too many claims are open.
pub fn claim_payment(
    step: &Step<'_>,
    asked_by: String,
    chain: Chain,
    body: &Map<String, Value>,
) -> Result<Claim, Error> {
    let Step { service, tx, now } = *step;
    // A transaction ID looks like a private key, so the field `txid` is not checked for secrets.
    let is_other = |(name, _): &(&String, &Value)| name.as_str() != "txid";
    let others = body.iter().filter(is_other);
    let others = others.map(|(name, value)| (name.clone(), value.clone()));
    wallet::refuse_secrets_in_body(&others.collect())?;
    let Some(network) = service.followed_network(tx, chain)? else {
        let problem = format!("{chain} is not watched, so payments on it are not seen");
        return Err(Refusal::field("chain", problem).into());
    };
    let asset = native_coin(chain)?;
    let claim = read_claim(Fields::new(body), now, asset, &network, asked_by)?;
    check_claim(tx, &claim)?;
    claims::insert(tx, &claim)?;
    write_claim_audit_entry(step, "claim.ask", &claim, &Value::Null)?;
    Ok(claim)
}

pub(super) fn end_claim(step: &Step<'_>, claimed: &ClaimCheck) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let claim = claims::by_seq(tx, claimed.claim)?;
    let Some(claim) = claim.filter(|claim| claim.outcome.is_none()) else {
        return Ok(());
    };
    let ended = match &claimed.found {
        Ok(reached) => record_claimed_payment(step, &claim, reached)?,
        Err(why) => Err(why.clone()),
    };
    let (outcome, reason) = match ended {
        Ok((outcome, observation)) => {
            claims::end_claim(tx, claim.seq, outcome, None, Some(observation), now)?;
            (outcome, None)
        }
        Err(why) => {
            claims::end_claim(tx, claim.seq, ClaimOutcome::Refused, Some(&why), None, now)?;
            (ClaimOutcome::Refused, Some(why))
        }
    };
    let detail = json!({ "outcome": outcome, "reason": reason });
    write_claim_audit_entry(step, "claim.end", &claim, &detail)
}

/// Records a payment that the node verified. Returns its observation, or the reason why the payment was refused.
fn record_claimed_payment(
    step: &Step<'_>,
    claim: &Claim,
    reached: &ChainPosition,
) -> Result<Result<(ClaimOutcome, i64), String>, Error> {
    let Step { tx, .. } = *step;
    if let Some(known) = find_claimed_observation(tx, claim)? {
        return Ok(Ok((ClaimOutcome::Known, known)));
    }
    let of_transaction = current_observations(tx, claim.asset.chain, &claim.txid)?;
    let claimed = of_transaction.map(|observed| observed.seen.position);
    let last = claimed.filter(|position| *position >= CLAIMS_FROM).max();
    let seen = Observation {
        mode: Mode::Live,
        asset: claim.asset,
        txid: claim.txid.clone(),
        position: last.map_or(CLAIMS_FROM, |last| last.saturating_add(1)),
        address: claim.address.clone(),
        amount: claim.amount,
        seen_at: reached.time,
        block: Some(reached.block.clone()),
        spends: Vec::new(),
    };
    let observed = tx.attempt(|| record_observation(step, &seen, None).map(drop))?;
    match observed {
        Ok(()) => {
            let observed = observations::by_key(tx, &seen.key())?;
            let none = || Error::Failed(format!("claim {} was not taken in", claim.id));
            let seq = observed.ok_or_else(none)?.seq;
            // The next balance check shows whether another amount is missing.
            unexplained::remove(tx, claim.asset.chain, &claim.address)?;
            Ok(Ok((ClaimOutcome::Recorded, seq)))
        }
        Err(Error::Refused(refusal)) => Ok(Err(refusal.message)),
        Err(failed) => Err(failed),
    }
}

/// Reads a claim from a request. Checks each field against the chain before the next field is read.
fn read_claim(
    fields: Fields<'_>,
    now: Time,
    asset: &'static Asset,
    network: &str,
    asked_by: String,
) -> Result<Claim, Refusal> {
    fields.refuse_unknown(ClaimPayment::NAMES)?;
    let id = asset.id;
    if ClaimPayment::asset(fields)?.is_some_and(|other| other != id) {
        let problem = format!("must be {id}: each transfer of a token is seen by its log");
        return Err(Refusal::field("asset", problem));
    }
    let txid = asset.chain.canonical_txid(&ClaimPayment::txid(fields)?);
    // `canonical_txid` returns any other text unchanged, so the form of the ID is checked here.
    let digits = txid.strip_prefix("0x").filter(|digits| digits.len() == 64);
    if !digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
        return Err(Refusal::field("txid", "must be 0x and 64 hexadecimal digits"));
    }
    let address =
        address::parse_on_named_network(asset.chain, network, &ClaimPayment::address(fields)?);
    let address = address.map_err(|problem| Refusal::field("address", format!("is {problem}")))?;
    let amount = Units::parse(&ClaimPayment::amount(fields)?, asset.decimals);
    let amount = amount.map_err(|problem| Refusal::field("amount", problem))?;
    if amount == Units::ZERO {
        return Err(Refusal::field("amount", "must be more than zero"));
    }
    let ordinal = ClaimPayment::ordinal(fields)?;
    Ok(Claim {
        seq: 0,
        id: id::new(now).to_string(),
        txid,
        asset,
        address,
        amount,
        ordinal: ordinal.and_then(|ordinal| u32::try_from(ordinal).ok()).unwrap_or(1),
        asked_by,
        asked_at: now,
        outcome: None,
        ended_at: None,
        reason: None,
    })
}

/// Refuses a claim if the address is unknown, the payment is known, the same claim is open, or too many claims are
/// open.
fn check_claim(db: &Reader<'_>, claim: &Claim) -> Result<(), Error> {
    let chain = claim.asset.chain;
    if !is_our_address(db, chain, &claim.address)? {
        let problem = "must be an address that this server has assigned";
        return Err(Refusal::field("address", problem).into());
    }
    let problem = if find_claimed_observation(db, claim)?.is_some() {
        "it is known already: another equal one in this transaction is claimed with the next ordinal"
    } else if claims::has_equal_open_claim(db, claim)? {
        "it is claimed already: its node is asked with the next step of the chain"
    } else if claims::count_open_claims(db, chain)? >= OPEN_MAX {
        "too many claims wait for the chain's node already: claim it later"
    } else {
        return Ok(());
    };
    Err(Refusal::new(RefusalCode::InvalidTransition, problem).into())
}

/// Returns an observation with the position from its claim, if a claim recorded the payment before the node reported
/// it. Otherwise returns the observation unchanged.
pub(super) fn with_claimed_position<'s>(
    tx: &Tx<'_>,
    seen: &'s Observation,
) -> Result<Cow<'s, Observation>, Error> {
    let is_of_contract = (CONTRACTS_FROM..CLAIMS_FROM).contains(&seen.position);
    if !is_of_contract || observations::by_key(tx, &seen.key())?.is_some() {
        return Ok(Cow::Borrowed(seen));
    }
    let claimed = claims::match_observation(tx, seen)?
        .map(|position| Observation { position, ..seen.clone() });
    Ok(claimed.map_or(Cow::Borrowed(seen), Cow::Owned))
}

/// Returns the observations of a transaction, except those that were replaced.
fn current_observations(
    db: &Reader<'_>,
    chain: Chain,
    txid: &str,
) -> Result<impl Iterator<Item = StoredObservation>, Error> {
    let of_transaction = observations::of_transaction(db, Mode::Live, chain, txid)?;
    let all = of_transaction.into_iter();
    Ok(all.filter(|observed| observed.seen.position < REPLACED_FROM))
}

/// Returns the observation that a claim describes, if it exists. If several observations are equal, the claim's
/// ordinal selects one.
fn find_claimed_observation(db: &Reader<'_>, claim: &Claim) -> Result<Option<i64>, Error> {
    let is_it = |of: &StoredObservation| {
        of.seen.asset == claim.asset
            && of.seen.address == claim.address
            && of.seen.amount == claim.amount
    };
    let mut equal = current_observations(db, claim.asset.chain, &claim.txid)?.filter(is_it);
    let before = usize::try_from(claim.ordinal.saturating_sub(1)).unwrap_or(usize::MAX);
    Ok(equal.nth(before).map(|observed| observed.seq))
}

/// Returns the native coin of a chain whose contracts can send this coin without an event log.
pub(super) fn native_coin(chain: Chain) -> Result<&'static Asset, Refusal> {
    let is_native = |asset: &&Asset| asset.chain == chain && asset.kind == AssetKind::Native;
    let found = ASSETS.iter().find(is_native);
    let found = found.filter(|_| chain.address_pool() == Chain::Ethereum.address_pool());
    found.ok_or_else(|| {
        let problem = format!("must be ethereum: on {chain} every payment is seen");
        Refusal::field("chain", problem)
    })
}

fn write_claim_audit_entry(
    step: &Step<'_>,
    action: &str,
    claim: &Claim,
    came: &Value,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let asset = claim.asset;
    let detail = json!({
        "chain": asset.chain, "txid": claim.txid, "asset": asset.id, "address": claim.address,
        "amount": asset.format_units(claim.amount), "ordinal": claim.ordinal, "came": came,
    });
    audit_log::record(tx, now, &claim.asked_by, action, None, Some(&claim.id), &detail)
}

/// Returns `true` if the file has this address. A scan's address filter has false positives, so the file is checked.
pub(super) fn is_our_address(db: &Reader<'_>, chain: Chain, address: &str) -> Result<bool, Error> {
    Ok(addresses::find_owner(db, Mode::Live, chain, address)?.is_some()
        || pool_addresses::has_address(db, chain, address)?)
}
