//! Confirmations of payments on simulated chains: a test sets their number, or takes a payment out of its block.
//!
//! Invariant: the number is stored and read as on a real chain: by the block of the payment and the newest block.

use crate::domain::confirmations::{
    OnChain, SIMULATED_HEIGHT, block_confirmations, is_deep_enough, simulated_block_height,
};
use crate::domain::payment::simulated_txid;
use crate::domain::{
    Block, IntakeOutcome, Observation, ObservationChange, ObservationOwner, PaymentState, Refusal,
    RefusalCode, StoredObservation,
};
use crate::render::sandbox::{OWN, SandboxPaymentSeenView, UNMATCHED};
use crate::service::confirmations::ConfirmablePayment;
use crate::service::observations::{change_observation, record_observation};
use crate::service::settle::{SettleCause, settle_invoice};
use crate::service::{Error, Json, Service, Step};
use crate::store::observations_on_chain::Payer;
use crate::store::{Reader, observations};
use serde_json::value::to_raw_value;

impl Service {
    fn state_on_chain(&self, db: &Reader<'_>, owned: &ObservationOwner) -> Result<OnChain, Error> {
        let observed = observations::by_seq(db, owned.observation_seq())?;
        let payer = match owned {
            ObservationOwner::Payment(both) => Some(Payer::Invoice(both.1.invoice)),
            ObservationOwner::Deposit(deposit) => Some(Payer::Customer(deposit.customer)),
            ObservationOwner::Own(_)
            | ObservationOwner::Unmatched(_)
            | ObservationOwner::Destination(_) => None,
        };
        let shown = ConfirmablePayment::observed(&observed, payer);
        self.on_chain_reader().read_state(db, shown)
    }

    pub(super) fn render_owned_payment(
        &self,
        db: &Reader<'_>,
        owned: &ObservationOwner,
    ) -> Result<Json, Error> {
        let (id, txid, state) = match owned {
            ObservationOwner::Payment(both) => (&both.1.id, &both.1.txid, both.1.state.as_str()),
            ObservationOwner::Deposit(deposit) => {
                (&deposit.id, &deposit.txid, deposit.status.payment_state().as_str())
            }
            ObservationOwner::Own(transfer) => (&transfer.id, &transfer.txid, OWN),
            ObservationOwner::Unmatched(unmatched) => (&unmatched.id, &unmatched.txid, UNMATCHED),
            ObservationOwner::Destination(_) => {
                let message = "this address is the destination of a payout or refund: move it with action chain";
                return Err(Refusal::field("address", message).into());
            }
        };
        let OnChain { confirmations, confirmations_needed, .. } = self.state_on_chain(db, owned)?;
        let view = SandboxPaymentSeenView { id, txid, state, confirmations, confirmations_needed };
        Ok(to_raw_value(&view)?)
    }
}

/// Gives a seen payment this number of confirmations, and confirms it if it needs no more.
///
/// # Errors
///
/// `invalid_transition` if the payment is confirmed or dropped, or has more confirmations.
pub(super) fn set_confirmations(
    step: &Step<'_>,
    observed: StoredObservation,
    count: u32,
) -> Result<IntakeOutcome, Error> {
    let Step { service, tx, .. } = *step;
    let refused = |message: String| {
        let code = RefusalCode::InvalidTransition;
        Error::from(Refusal::for_param(code, "confirmations", message))
    };
    if observed.state != PaymentState::Seen {
        let message = format!("a payment that is {} gets no confirmations", observed.state);
        return Err(refused(message));
    }
    let block = observed.seen.block.as_ref();
    let present = block.map_or(0, |block| block_confirmations(block.height, SIMULATED_HEIGHT));
    if count < present {
        let message = format!(
            "must be at least {present}, as many as the payment has; state orphaned takes its block away"
        );
        return Err(refused(message));
    }
    let (place, chain) = (observed.seen.key(), observed.seen.asset.chain);
    let Some(height) = simulated_block_height(count) else {
        return store_block(step, observed, None);
    };
    let block = Block { height, hash: simulated_txid(chain, &height.to_string()) };
    let outcome = store_block(step, observed, Some(block))?;
    match service.state_on_chain(tx, &outcome.owned)?.confirmations_needed {
        Some(needed) if is_deep_enough(needed, height, SIMULATED_HEIGHT, None) => {
            change_observation(step, &place, ObservationChange::Confirmed)
        }
        Some(_) | None => Ok(outcome),
    }
}

/// Removes a seen payment from its block, as a reorg does.
pub(super) fn remove_payment_from_block(
    step: &Step<'_>,
    observed: StoredObservation,
) -> Result<IntakeOutcome, Error> {
    observations::remove_from_block(step.tx, observed.seq)?;
    store_block(step, observed, None)
}

/// Records a payment again, with this block. Settles its invoice, so that pages that show the invoice are updated.
fn store_block(
    step: &Step<'_>,
    observed: StoredObservation,
    block: Option<Block>,
) -> Result<IntakeOutcome, Error> {
    let seen = Observation { block, ..observed.seen };
    let outcome = record_observation(step, &seen, None)?;
    let outcome = outcome.ok_or_else(|| Error::Failed("a payment has no amount".to_owned()))?;
    if let ObservationOwner::Payment(both) = &outcome.owned {
        settle_invoice(step, both.0.clone(), SettleCause::Other)?;
    }
    Ok(outcome)
}
