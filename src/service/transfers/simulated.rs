//! Simulates the chains of transfers in the sandbox, so that a transfer can be settled by its chain.

use super::By;
use crate::domain::id;
use crate::domain::money::coin::Units;
use crate::domain::observation::Observation;
use crate::domain::payment::{PaymentState, simulated_txid};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::SentState;
use crate::domain::transfer::request::MoveRequest;
use crate::domain::transfer::step::{ChainCase, TransferAction, TransferStep};
use crate::domain::transfer::{Transfer, TransferStatus, TxidSource, invalid_step};
use crate::service::intake::ObservationChange as ChainMove;
use crate::service::{Error, Service};
use crate::store::{Tx, observations, sent_transactions, transfers};

impl Service {
    /// Simulates a state of a transfer's transaction. An approved transfer changes to `processing` first.
    ///
    /// # Errors
    /// `invalid_transition` if the transfer is not in `processing` and has no simulated transaction.
    pub(super) fn simulate_chain(
        &self,
        tx: &Tx<'_>,
        now: Time,
        by: By<'_>,
        of: &Transfer,
        request: &MoveRequest,
    ) -> Result<Transfer, Error> {
        let case = request.state.ok_or_else(|| {
            let texts = ChainCase::TEXTS.join(", ");
            Refusal::field("state", format!("must be one of {texts}"))
        })?;
        if !self.is_simulated(of.mode) {
            let message = "the chain of a real transfer is not simulated";
            return Err(Refusal::about(Code::InvalidTransition, "action", message).into());
        }
        let mut at = of.clone();
        if at.status == TransferStatus::Approved {
            at = self.step(tx, now, by, &at, TransferStep::Process(None))?;
        }
        let is_sent = sent_transaction(tx, &at)?;
        if at.status != TransferStatus::Processing && !is_sent {
            return Err(invalid_step(at.kind, at.status, TransferAction::Chain).into());
        }
        if !is_sent {
            let txid = simulated_txid(at.asset.chain, &id::new(now).to_string());
            at = self.attach(tx, now, by, &at, (&txid, TxidSource::Signer))?;
        }
        let txid = at.txid.clone().unwrap_or_default();
        match case {
            ChainCase::OtherAddress => {
                self.pay_nothing(tx, now, &at, (&txid, SentState::Mempool))?
            }
            ChainCase::Dropped => self.pay_nothing(tx, now, &at, (&txid, SentState::Absent))?,
            ChainCase::Seen | ChainCase::Confirmed | ChainCase::Short => {
                self.pay_simulated(tx, now, &at, (&txid, case))?;
            }
        }
        Ok(transfers::by_seq(tx, of.seq)?)
    }

    /// Simulates a transaction that pays the destination the amount, or half of it.
    fn pay_simulated(
        &self,
        tx: &Tx<'_>,
        now: Time,
        of: &Transfer,
        (txid, case): (&str, ChainCase),
    ) -> Result<(), Error> {
        let amount = of.terms.map_or(Units::ZERO, |terms| terms.amount_crypto);
        let amount = match case {
            ChainCase::Short => Units(amount.0.div_ceil(2)),
            ChainCase::Seen
            | ChainCase::Confirmed
            | ChainCase::Dropped
            | ChainCase::OtherAddress => amount,
        };
        let seen = arrival(of, txid, (amount, now));
        let place = seen.key();
        let known = observations::at(tx, &place)?;
        let state = known.as_ref().map(|known| known.state);
        let is_other = known.is_some_and(|known| known.seen.amount != amount);
        if is_other || state.is_none() {
            self.observe(tx, now, &seen, None)?;
        } else if state == Some(PaymentState::Dropped) {
            self.advance(tx, now, &place, ChainMove::Seen)?.booked()?;
        }
        self.set_simulated(tx, now, of, (txid, SentState::Mempool))?;
        let state = observations::at(tx, &place)?.map(|known| known.state);
        match (case, state) {
            (ChainCase::Confirmed, Some(PaymentState::Seen)) => {
                self.advance(tx, now, &place, ChainMove::Confirmed)?
                    .booked()?;
            }
            (ChainCase::Seen, Some(PaymentState::Confirmed)) => {
                self.advance(tx, now, &place, ChainMove::Seen)?.booked()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Simulates a transaction that does not pay the destination: it is in the mempool and pays elsewhere, or it is
    /// gone.
    fn pay_nothing(
        &self,
        tx: &Tx<'_>,
        now: Time,
        of: &Transfer,
        (txid, state): (&str, SentState),
    ) -> Result<(), Error> {
        let place = arrival(of, txid, (Units::ZERO, now)).key();
        let known = observations::at(tx, &place)?;
        if known.is_some_and(|known| known.state != PaymentState::Dropped) {
            self.advance(tx, now, &place, ChainMove::Dropped)?
                .booked()?;
        }
        self.set_simulated(tx, now, of, (txid, state))
    }

    fn set_simulated(
        &self,
        tx: &Tx<'_>,
        now: Time,
        of: &Transfer,
        (txid, state): (&str, SentState),
    ) -> Result<(), Error> {
        let chain = of.asset.chain;
        let known = sent_transactions::by_txid(tx, of.mode, chain, txid)?;
        if let Some(mut known) = known {
            known.state = state;
            known.first_seen_at = known.first_seen_at.or(Some(now));
            known.last_seen_at = Some(now);
            sent_transactions::update(tx, &known)?;
            transfers::note_change(tx);
        }
        Ok(())
    }
}

/// Returns the only output of a simulated transaction.
fn arrival(of: &Transfer, txid: &str, (amount, seen_at): (Units, Time)) -> Observation {
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

/// Returns `true` if the transfer has a simulated transaction.
fn sent_transaction(tx: &Tx<'_>, of: &Transfer) -> Result<bool, Error> {
    let Some(txid) = &of.txid else {
        return Ok(false);
    };
    let known = sent_transactions::by_txid(tx, of.mode, of.asset.chain, txid)?;
    Ok(known.is_some())
}
