//! Simulates the blockchain transactions of transfers in the sandbox, which settle the transfers.

use super::StepActor;
use crate::domain::payment::simulated_txid;
use crate::domain::transfer::invalid_step;
use crate::domain::{
    AttachedState, Observation, ObservationKey, ObservationOwner, PaymentState, Refusal,
    RefusalCode, SimulatedChainState, Time, Transfer, TransferAction, TransferStatus, TransferStep,
    TransferStepRequest, TxidSource, Units, id,
};
use crate::service::transfers::acts::enter_transaction;
use crate::service::transfers::apply_step;
use crate::service::transfers::destination::{insert_destination_output, touch_destination};
use crate::service::{Error, Step};
use crate::store::{Tx, observation_owners, observations, sent_transactions, transfers};

/// Simulates a state of a transfer's transaction. An approved transfer changes to `processing` first.
///
/// # Errors
/// `invalid_transition` if the transfer is not in `processing` and has no simulated transaction.
pub(super) fn simulate_transaction(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    request: &TransferStepRequest,
) -> Result<Transfer, Error> {
    let Step { service, tx, now } = *step;
    let case = request.state.ok_or_else(|| {
        let texts = SimulatedChainState::TEXTS.join(", ");
        Refusal::field("state", format!("must be one of {texts}"))
    })?;
    if !service.is_simulated(of.mode) {
        let message = "the chain of a real transfer is not simulated";
        return Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into());
    }
    let mut at = of.clone();
    if at.status == TransferStatus::Approved {
        at = apply_step(step, by, &at, TransferStep::Process(None))?;
    }
    let is_sent = has_simulated_transaction(tx, &at)?;
    if at.status != TransferStatus::Processing && !is_sent {
        return Err(invalid_step(at.kind, at.status, TransferAction::Chain).into());
    }
    if !is_sent {
        let txid = simulated_txid(at.asset.chain, &id::new(now).to_string());
        at = enter_transaction(step, by, &at, &txid, TxidSource::Signer)?;
    }
    let txid = at.txid.clone().unwrap_or_default();
    match case {
        SimulatedChainState::OtherAddress => {
            simulate_nonpaying_transaction(step, &at, &txid, AttachedState::Mempool)?
        }
        SimulatedChainState::Dropped => {
            simulate_nonpaying_transaction(step, &at, &txid, AttachedState::Absent)?
        }
        SimulatedChainState::Seen | SimulatedChainState::Confirmed | SimulatedChainState::Short => {
            simulate_paying_transaction(step, &at, &txid, case)?;
        }
    }
    Ok(transfers::by_seq(tx, of.seq)?)
}

/// Simulates a transaction that pays the whole or half of the amount to the destination.
fn simulate_paying_transaction(
    step: &Step<'_>,
    of: &Transfer,
    txid: &str,
    case: SimulatedChainState,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let amount = of.terms.map_or(Units::ZERO, |terms| terms.amount_crypto);
    let amount = match case {
        SimulatedChainState::Short => Units(amount.0.div_ceil(2)),
        SimulatedChainState::Seen
        | SimulatedChainState::Confirmed
        | SimulatedChainState::Dropped
        | SimulatedChainState::OtherAddress => amount,
    };
    let seen = simulated_output(of, txid, amount, now);
    let place = seen.key();
    let known = observations::by_key(tx, &place)?;
    let state = known.as_ref().map(|known| known.state);
    let is_other = known.is_some_and(|known| known.seen.amount != amount);
    if is_other || state.is_none() {
        record_simulated_output(step, of, &seen)?;
    } else if state == Some(PaymentState::Dropped) {
        change_simulated_output(step, &place, PaymentState::Seen)?;
    }
    set_transaction_state(step, of, txid, AttachedState::Mempool)?;
    let state = observations::by_key(tx, &place)?.map(|known| known.state);
    match (case, state) {
        (SimulatedChainState::Confirmed, Some(PaymentState::Seen)) => {
            change_simulated_output(step, &place, PaymentState::Confirmed)?;
        }
        (SimulatedChainState::Seen, Some(PaymentState::Confirmed)) => {
            change_simulated_output(step, &place, PaymentState::Seen)?;
        }
        _ => {}
    }
    Ok(())
}

/// Simulates a transaction that does not pay the destination. The transaction is in the mempool and pays another
/// address, or the transaction disappeared.
fn simulate_nonpaying_transaction(
    step: &Step<'_>,
    of: &Transfer,
    txid: &str,
    state: AttachedState,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let place = simulated_output(of, txid, Units::ZERO, now).key();
    let known = observations::by_key(tx, &place)?;
    if known.is_some_and(|known| known.state != PaymentState::Dropped) {
        change_simulated_output(step, &place, PaymentState::Dropped)?;
    }
    set_transaction_state(step, of, txid, state)
}

/// Records an output of a simulated transaction to the destination of a transfer. No other observation on a
/// simulated chain belongs to a destination.
fn record_simulated_output(
    step: &Step<'_>,
    of: &Transfer,
    seen: &Observation,
) -> Result<(), Error> {
    let Step { tx, .. } = *step;
    if let Some(known) = observations::by_key(tx, &seen.key())? {
        if known.state != PaymentState::Dropped {
            change_simulated_output(step, &seen.key(), PaymentState::Dropped)?;
        }
        observations::move_to_free_position(tx, known.seq)?;
    }
    let observation = observations::insert(tx, seen)?;
    insert_destination_output(step, observation, seen, of.destination)
}

/// Changes the state of the simulated output with this key.
fn change_simulated_output(
    step: &Step<'_>,
    place: &ObservationKey,
    next: PaymentState,
) -> Result<(), Error> {
    let known = observations::by_key(step.tx, place)?;
    let known = known.ok_or_else(|| Refusal::not_found("payment"))?;
    match observation_owners::of_observation(step.tx, known.seq)? {
        ObservationOwner::Destination(output) => {
            known.state.check_change(next)?;
            observations::update(step.tx, known.seq, known.state, next, step.now)?;
            touch_destination(step, output.destination)
        }
        ObservationOwner::Payment(_)
        | ObservationOwner::Deposit(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_) => {
            Err(Error::Failed(format!("observation {} is no output of a transfer", known.seq)))
        }
    }
}

fn set_transaction_state(
    step: &Step<'_>,
    of: &Transfer,
    txid: &str,
    state: AttachedState,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let chain = of.asset.chain;
    let known = sent_transactions::by_txid(tx, of.mode, chain, txid)?;
    if let Some(mut known) = known {
        known.state = state;
        known.first_seen_at = known.first_seen_at.or(Some(now));
        known.last_seen_at = Some(now);
        sent_transactions::update(tx, &known)?;
        transfers::notify_transfer_change(tx, of);
    }
    touch_destination(step, of.destination)
}

fn simulated_output(of: &Transfer, txid: &str, amount: Units, seen_at: Time) -> Observation {
    Observation {
        mode: of.mode,
        asset: of.asset,
        txid: txid.to_owned(),
        position: 0,
        address: of.to_address.clone(),
        amount,
        seen_at,
        block: None,
        spends: Vec::new(),
    }
}

fn has_simulated_transaction(tx: &Tx<'_>, of: &Transfer) -> Result<bool, Error> {
    let Some(txid) = &of.txid else {
        return Ok(false);
    };
    let known = sent_transactions::by_txid(tx, of.mode, of.asset.chain, txid)?;
    Ok(known.is_some())
}
