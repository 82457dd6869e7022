//! Simulated chains of the sandbox: adds, confirms, drops, reorganises and replaces transactions.
//!
//! Invariant: a simulated transaction goes through the same code as a transaction on a real chain.

mod depth;
mod fields;

use super::target::{PaymentTarget, parse_amount};
use crate::domain::fields::Fields;
use crate::domain::observation::OUTPUTS_MAX;
use crate::domain::payment::inputs::{SandboxOutput, SandboxPayment, SandboxPaymentState};
use crate::domain::{
    Asset, InputSource, IntakeOutcome, Mode, Observation, ObservationChange, ObservationKey,
    PaymentState, Refusal, RefusalCode, SandboxPaymentStep, StoredObservation, Time, Units,
    UnmatchedResolution, id,
};
use crate::render::sandbox::SandboxTransaction;
use crate::service::idempotency::{IdempotentRequest, IdempotentResponse};
use crate::service::observations::{change_observation, record_observation};
use crate::service::sandbox::key_owner::{key_owner_of_payment, key_owner_of_request};
use crate::service::sandbox::payments::depth::{remove_payment_from_block, set_confirmations};
use crate::service::sandbox::target::payment_target;
use crate::service::{Error, Json, Service, Step};
use crate::store::{Reader, deposits, observations, own_transfers, payments, unmatched_payments};
use fields::{position_or_index, read_inputs, read_seen_at, txid_or_new};
use serde_json::value::to_raw_value;
use std::sync::Arc;

impl Service {
    /// Adds a transaction to a simulated chain: one payment, or several `outputs`. Returns `true` if any payment or
    /// output is new.
    ///
    /// # Errors
    ///
    /// `invalid_request`, `coin_unavailable`.
    pub async fn add_transaction(
        self: &Arc<Self>,
        now: Time,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        self.write(now, move |step| {
            let fields = Fields::new(&request.body);
            request.run_once(step, key_owner_of_request(step.tx, fields)?, || {
                let (is_new, json) = if fields.get("outputs").is_some() {
                    add_outputs(step, fields)?
                } else {
                    add_payment(step, fields)?
                };
                Ok(if is_new {
                    IdempotentResponse::created(json)
                } else {
                    IdempotentResponse::existing(json)
                })
            })
        })
        .await
    }

    /// Changes the state of a payment on its simulated chain.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn change_payment_state(
        self: &Arc<Self>,
        now: Time,
        id: &str,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let id = id.to_owned();
        let moved = self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let fields = Fields::new(&request.body);
            fields.refuse_unknown(SandboxPaymentState::NAMES)?;
            let change = RequestedChange::read(fields)?;
            let id = id::parse(&id).ok_or_else(|| Refusal::not_found("payment"))?;
            for name in ["amount", "txid"] {
                if !matches!(change, RequestedChange::Step(SandboxPaymentStep::Replaced))
                    && fields.get(name).is_some()
                {
                    return Err(
                        Refusal::field(name, "is allowed only with state \"replaced\"").into()
                    );
                }
            }
            let observed =
                find_observation(tx, &id)?.ok_or_else(|| Refusal::not_found("payment"))?;
            let owner = key_owner_of_payment(tx, &observed.seen)?;
            if let Some(kept) = request.stored_response(tx, now, owner)? {
                return Ok(Ok(kept));
            }
            let store = |json| request.store(step, owner, IdempotentResponse::existing(json));
            let outcome = match change {
                RequestedChange::Step(next) => apply_payment_step(step, observed, next, fields)?,
                RequestedChange::Confirmations(count) => set_confirmations(step, observed, count)?,
            };
            if outcome.is_new {
                let json = service.render_owned_payment(tx, &outcome.into_booked_owner()?)?;
                return store(json).map(Ok);
            }
            // The database transaction is committed, although the request is refused.
            match outcome.refusal {
                Some(refusal) => Ok(Err(refusal)),
                None => store(service.render_owned_payment(tx, &outcome.owned)?).map(Ok),
            }
        });
        Ok(moved.await??)
    }
}

/// Adds one payment to a chain. If an output of the transaction already has this address and coin, uses this
/// output. Otherwise adds an output after the existing ones.
fn add_payment(step: &Step<'_>, fields: Fields<'_>) -> Result<(bool, Json), Error> {
    let Step { service, tx, now } = *step;
    fields.refuse_unknown(&["invoice", "address", "asset", "amount", "txid", "seenAt"])?;
    let target = payment_target(step, fields)?;
    let amount = target.requested_amount_or_due(SandboxPayment::amount(fields)?)?;
    let txid = txid_or_new(SandboxPayment::txid(fields)?, target.asset, now)?;
    let known = observations::of_transaction(tx, target.mode, target.asset.chain, &txid)?;
    let same = known.iter().find(|known| pays_target(known, &target));
    let last = known.last().map(|last| last.seen.position);
    let position = match (same, last) {
        (Some(same), _) => same.seen.position,
        (None, Some(last)) => last.saturating_add(1),
        (None, None) => 0,
    };
    let seen_at = read_seen_at(tx, now, &target, fields)?;
    let outcome = add_output(step, seen_at, target, txid, position, amount, &[])?;
    let nothing = || Refusal::field("amount", "must be more than zero");
    let outcome = outcome.ok_or_else(nothing)?;
    let is_new = outcome.is_new;
    Ok((is_new, service.render_owned_payment(tx, &outcome.into_booked_owner()?)?))
}

/// Adds an output at its position. Returns `None` if its amount is zero.
fn add_output(
    step: &Step<'_>,
    seen_at: Time,
    target: PaymentTarget,
    txid: String,
    position: u32,
    amount: Units,
    spends: &[InputSource],
) -> Result<Option<IntakeOutcome>, Error> {
    let place = ObservationKey { mode: target.mode, chain: target.asset.chain, txid, position };
    let known = observations::by_key(step.tx, &place)?;
    let amount = match &known {
        Some(known) if !pays_target(known, &target) => {
            let problem = "is the position of another output of this transaction";
            return Err(Refusal::field("position", problem).into());
        }
        // An output that already exists keeps its amount.
        Some(known) => known.seen.amount,
        None => amount,
    };
    let seen = Observation {
        mode: target.mode,
        asset: target.asset,
        txid: place.txid,
        position,
        address: target.address,
        amount,
        seen_at,
        block: None,
        spends: spends.to_vec(),
    };
    record_observation(step, &seen, target.picked)
}

/// Adds several outputs of one transaction to a chain, in their order. As on a real chain, an output of zero is
/// not stored, and one that cannot be booked is stored as unmatched.
fn add_outputs(step: &Step<'_>, fields: Fields<'_>) -> Result<(bool, Json), Error> {
    let Step { service, tx, now } = *step;
    fields.refuse_unknown(&["txid", "seenAt", "spends", "coinbase", "outputs"])?;
    let spends = read_inputs(tx, fields)?;
    let outputs = SandboxPayment::outputs(fields)?.unwrap_or_default();
    if !(1..=OUTPUTS_MAX).contains(&outputs.len()) {
        let problem = format!("must have 1 to {OUTPUTS_MAX} entries");
        return Err(Refusal::field("outputs", problem).into());
    }
    let mut of: Option<(Mode, &'static Asset, String)> = None;
    let (mut any_new, mut shown, mut positions) = (false, Vec::new(), Vec::new());
    for (at, output) in outputs.iter().enumerate() {
        let inside = |error: Error| match error {
            Error::Refused(refusal) => Error::Refused(Refusal {
                message: format!("outputs[{at}]: {}", refusal.message),
                ..refusal
            }),
            Error::Failed(_) => error,
        };
        let output = output
            .as_object()
            .ok_or_else(|| Refusal::field("outputs", "must be a list of JSON objects"))?;
        let output = Fields::new(output);
        let mut put = || {
            output.refuse_unknown(SandboxOutput::NAMES)?;
            let target = payment_target(step, output)?;
            let amount = target.requested_amount_or_due(SandboxOutput::amount(output)?)?;
            let position = position_or_index(SandboxOutput::position(output)?, at)?;
            if positions.contains(&position) {
                let problem = "must be different for each output of a transaction";
                return Err(Refusal::field("position", problem).into());
            }
            positions.push(position);
            let (mode, first, txid) = match of.take() {
                Some(of) => of,
                None => (
                    target.mode,
                    target.asset,
                    txid_or_new(SandboxPayment::txid(fields)?, target.asset, now)?,
                ),
            };
            if (target.mode, target.asset.chain) != (mode, first.chain) {
                let problem = format!("must be of {} in {mode} mode, like the first", first.chain);
                return Err(Refusal::field("outputs", problem).into());
            }
            if spends.contains(&InputSource::Coinbase) && !first.chain.has_outputs() {
                let problem =
                    format!("must be false or left out: {} has no such transactions", first.chain);
                return Err(Refusal::field("coinbase", problem).into());
            }
            of = Some((mode, first, txid.clone()));
            let seen_at = read_seen_at(tx, now, &target, fields)?;
            add_output(step, seen_at, target, txid, position, amount, &spends)
        };
        if let Some(outcome) = put().map_err(inside)? {
            any_new |= outcome.is_new;
            shown.push(service.render_owned_payment(tx, &outcome.owned)?);
        }
    }
    Ok((any_new, to_raw_value(&SandboxTransaction { data: shown })?))
}

/// Moves a payment to another state on its simulated chain.
///
/// # Errors
/// `invalid_request`, `invalid_transition`.
fn apply_payment_step(
    step: &Step<'_>,
    observed: StoredObservation,
    next: SandboxPaymentStep,
    fields: Fields<'_>,
) -> Result<IntakeOutcome, Error> {
    let Step { tx, now, .. } = *step;
    let place = observed.seen.key();
    let replacing;
    let change = match (next, observed.state) {
        (SandboxPaymentStep::Confirmed, _) => ObservationChange::Confirmed,
        (SandboxPaymentStep::Dropped, _) => ObservationChange::Dropped,
        (SandboxPaymentStep::Seen, PaymentState::Dropped)
        | (SandboxPaymentStep::Orphaned, PaymentState::Confirmed) => ObservationChange::Seen,
        (SandboxPaymentStep::Orphaned, PaymentState::Seen) if observed.seen.block.is_some() => {
            return remove_payment_from_block(step, observed);
        }
        (SandboxPaymentStep::Replaced, PaymentState::Seen) => {
            replacing = replacement_observation(tx, now, observed, fields)?;
            ObservationChange::ReplacedBy(&replacing)
        }
        (
            SandboxPaymentStep::Seen | SandboxPaymentStep::Orphaned | SandboxPaymentStep::Replaced,
            state,
        ) => {
            let message = format!("a payment that is {state} cannot be {next}");
            let code = RefusalCode::InvalidTransition;
            return Err(Refusal::for_param(code, "state", message).into());
        }
    };
    change_observation(step, &place, change)
}

enum RequestedChange {
    Step(SandboxPaymentStep),
    Confirmations(u32),
}

impl RequestedChange {
    /// Reads the change from a request.
    ///
    /// # Errors
    /// `invalid_request` unless exactly one of state and confirmations is given.
    fn read(fields: Fields<'_>) -> Result<RequestedChange, Refusal> {
        let next = SandboxPaymentState::state(fields)?;
        let count = SandboxPaymentState::confirmations(fields)?;
        match (next, count) {
            (Some(next), None) => Ok(RequestedChange::Step(next)),
            (None, Some(count)) => {
                Ok(RequestedChange::Confirmations(u32::try_from(count).unwrap_or(u32::MAX)))
            }
            (None, None) => {
                let problem = "must be one of seen, confirmed, dropped, orphaned, replaced; or give confirmations";
                Err(Refusal::field("state", problem))
            }
            (Some(_), Some(_)) => {
                Err(Refusal::field("confirmations", "is allowed only without state"))
            }
        }
    }
}

/// Returns the replacement of an observation: the same position in another transaction with the same inputs.
fn replacement_observation(
    db: &Reader<'_>,
    now: Time,
    old: StoredObservation,
    fields: Fields<'_>,
) -> Result<Observation, Error> {
    let amount = parse_amount(SandboxPaymentState::amount(fields)?, old.seen.asset)?
        .unwrap_or(old.seen.amount);
    if amount == Units::ZERO {
        let problem = "must be more than zero";
        return Err(Refusal::field("amount", problem).into());
    }
    let seen = Observation {
        txid: txid_or_new(SandboxPaymentState::txid(fields)?, old.seen.asset, now)?,
        amount,
        seen_at: now,
        block: None,
        ..old.seen
    };
    let takes_back = |known: &StoredObservation| {
        let pays = |of: &Observation| (of.asset, of.address.clone(), of.amount);
        known.state == PaymentState::Dropped && pays(&known.seen) == pays(&seen)
    };
    if observations::by_key(db, &seen.key())?.is_some_and(|known| !takes_back(&known)) {
        let problem = "must be a transaction that has nothing at this position, or has the same and was dropped";
        return Err(Refusal::field("txid", problem).into());
    }
    Ok(seen)
}

/// Returns the observation of the payment, deposit, unmatched payment or own transfer with this id.
fn find_observation(db: &Reader<'_>, id: &str) -> Result<Option<StoredObservation>, Error> {
    let seq = if let Some(payment) = payments::by_id(db, id)? {
        payment.observation
    } else if let Some(deposit) = deposits::by_id(db, id)? {
        deposit.observation
    } else if let Some(unmatched) = unmatched_payments::by_id(db, id)?
        && unmatched.outcome != Some(UnmatchedResolution::Assigned)
    {
        unmatched.observation
    } else if let Some(transfer) = own_transfers::by_id(db, id)? {
        transfer.observation
    } else {
        return Ok(None);
    };
    Ok(Some(observations::by_seq(db, seq)?))
}

/// Returns `true` if the output has the target's address and coin.
fn pays_target(known: &StoredObservation, target: &PaymentTarget) -> bool {
    known.seen.address == target.address && known.seen.asset == target.asset
}
