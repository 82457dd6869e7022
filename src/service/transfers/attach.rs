//! Attaches transactions to transfers, and assigns their outputs to the transfers.

use super::{StepActor, write_audit_entry};
use crate::domain::asset::{Chain, Mode};
use crate::domain::money::coin::Units;
use crate::domain::observation::{Observation, ObservationKey};
use crate::domain::payment::PaymentState;
use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::{AttachedState, SentOutput};
use crate::domain::transfer::share::assign_outputs;
use crate::domain::transfer::step::TransferAction;
use crate::domain::transfer::{Transfer, TransferStatus, TxidSource, invalid_step};
use crate::service::{Error, Service};
use crate::store::{
    Tx, observations, sent_outputs, sent_transactions, transfer_proposals, transfers,
};
use serde_json::json;

impl Service {
    /// Attaches a transaction to a transfer, in place of its previous transaction, if any.
    ///
    /// # Errors
    ///
    /// `invalid_transition` if a person attaches a transaction whose known outputs to the destination all count for
    /// other transfers.
    pub(in crate::service) fn attach_transaction(
        &self,
        tx: &Tx<'_>,
        now: Time,
        by: StepActor<'_>,
        of: &Transfer,
        (txid, from): (&str, TxidSource),
    ) -> Result<Transfer, Error> {
        let (mode, chain) = (of.mode, of.asset.chain);
        if from == TxidSource::Person {
            check_has_free_output(tx, of, txid)?;
        }
        let mut after = of.clone();
        after.attach_txid(txid, from, now);
        after.clear_sending();
        transfers::update(tx, &after, of.status)?;
        let detail = json!({ "transaction": txid, "from": from, "before": of.txid });
        write_audit_entry(tx, now, by.actor_name(), "attach", &after, &detail)?;
        sent_transactions::insert(tx, mode, chain, txid)?;
        if !has_output_to_destination(tx, of, txid)? {
            sent_transactions::ask_again(tx, mode, chain, txid)?;
        }
        if let Some(before) = of.txid.as_deref().filter(|before| *before != txid) {
            self.assign_outputs(tx, now, (mode, chain, before))?;
        }
        self.store_proposed_outputs(tx, now, (mode, chain, txid))?;
        self.assign_outputs(tx, now, (mode, chain, txid))?;
        Ok(transfers::by_seq(tx, of.seq)?)
    }

    /// Detaches the transaction of a transfer in status `processing`.
    pub(super) fn detach_transaction(
        &self,
        tx: &Tx<'_>,
        now: Time,
        by: StepActor<'_>,
        of: &Transfer,
    ) -> Result<Transfer, Error> {
        let Some(txid) = of.txid.as_deref() else {
            let message = format!("no transaction is attached to this {}", of.kind);
            return Err(
                Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into()
            );
        };
        if of.status != TransferStatus::Processing {
            return Err(invalid_step(of.kind, of.status, TransferAction::Detach).into());
        }
        let mut after = of.clone();
        after.detach_txid();
        transfers::update(tx, &after, of.status)?;
        let detail = json!({ "transaction": txid });
        write_audit_entry(tx, now, by.actor_name(), "detach", &after, &detail)?;
        self.assign_outputs(tx, now, (of.mode, of.asset.chain, txid))?;
        Ok(after)
    }

    /// Stores the proposed outputs of a transaction that is now attached as observations.
    fn store_proposed_outputs(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (mode, chain, txid): (Mode, Chain, &str),
    ) -> Result<(), Error> {
        let mut arrivals: Vec<Observation> = Vec::new();
        for seq in transfer_proposals::transfers_with_txid(tx, mode, chain, txid)? {
            let transfer = transfers::by_seq(tx, seq)?;
            let proposed = transfer_proposals::of_transfer(tx, seq)?;
            for one in proposed.into_iter().filter(|one| one.txid == txid) {
                let is_known = arrivals.iter().any(|known| known.position == one.position);
                if !is_known {
                    arrivals.push(Observation {
                        mode,
                        asset: transfer.asset,
                        txid: one.txid,
                        position: one.position,
                        address: transfer.to_address.clone(),
                        amount: one.amount,
                        seen_at: one.seen_at,
                        block: one.block,
                        spends: one.spends,
                    });
                }
            }
        }
        for arrival in arrivals {
            self.record_observation(tx, now, &arrival, None)?;
        }
        Ok(transfer_proposals::remove(tx, mode, chain, txid)?)
    }

    /// Records that a transaction was seen with one of its outputs.
    pub(in crate::service) fn record_seen_transaction(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
    ) -> Result<(), Error> {
        let (mode, chain) = (seen.mode, seen.asset.chain);
        let Some(mut known) = sent_transactions::by_txid(tx, mode, chain, &seen.txid)? else {
            return Ok(());
        };
        let block_height = seen.block.as_ref().map(|block| block.height);
        known.state = match block_height {
            Some(_) => AttachedState::Mined,
            None => AttachedState::Mempool,
        };
        known.block_height = block_height;
        known.first_seen_at = known.first_seen_at.or(Some(seen.seen_at));
        known.last_seen_at = Some(now);
        if !seen.spends.is_empty() {
            known.spends.clone_from(&seen.spends);
        }
        known.problem = None;
        Ok(sent_transactions::update(tx, &known)?)
    }

    /// Stores a new observation as a sent output. Its transaction is attached already, or is attached now to the
    /// transfer of exactly this amount.
    pub(in crate::service) fn store_sent_output(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (observation, seen): (i64, &Observation),
        exact: Option<&Transfer>,
    ) -> Result<(), Error> {
        let (mode, chain, txid) = (seen.mode, seen.asset.chain, seen.txid.as_str());
        sent_outputs::insert(tx, observation)?;
        if let Some(of) = exact {
            let mut after = of.clone();
            after.attach_txid(txid, TxidSource::Chain, now);
            after.clear_sending();
            transfers::update(tx, &after, of.status)?;
            let detail = json!({ "transaction": txid, "from": TxidSource::Chain });
            write_audit_entry(tx, now, StepActor::Chain.actor_name(), "attach", &after, &detail)?;
            sent_transactions::insert(tx, mode, chain, txid)?;
        }
        self.record_seen_transaction(tx, now, seen)?;
        self.assign_outputs(tx, now, (mode, chain, txid))
    }

    /// Assigns the outputs of a transaction to its transfers. Then settles each transfer or opens a review.
    ///
    /// If the chain attached the transaction to a transfer that gets no output, the transaction is detached.
    pub(super) fn assign_outputs(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (mode, chain, txid): (Mode, Chain, &str),
    ) -> Result<(), Error> {
        let outputs = sent_outputs::of_transaction(tx, mode, chain, txid)?;
        let attached = transfers::list_with_attached_txid(tx, mode, chain, txid)?;
        let shares = assign_outputs(&outputs, &attached);
        for (output, share) in outputs.iter().zip(&shares) {
            if output.transfer != *share {
                sent_outputs::assign_to_transfer(tx, output.observation, *share)?;
            }
        }
        for transfer in attached {
            let is_found = transfer.sending_progress.txid_from == Some(TxidSource::Chain);
            let is_open = transfer.status == TransferStatus::Processing;
            if is_found && is_open && !shares.contains(&Some(transfer.seq)) {
                let mut after = transfer.clone();
                after.detach_txid();
                transfers::update(tx, &after, transfer.status)?;
                let detail = json!({ "transaction": txid });
                write_audit_entry(
                    tx,
                    now,
                    StepActor::Chain.actor_name(),
                    "detach",
                    &after,
                    &detail,
                )?;
            } else {
                self.settle_or_review_transfer(tx, now, &transfer)?;
            }
        }
        Ok(())
    }

    /// Handles a replacement of the transaction `txid` by `by`. Attaches `by` to each transfer that waits for `txid`,
    /// if the known outputs of `by` pay enough.
    pub(super) fn follow_replacement(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (txid, by): (&str, &str),
    ) -> Result<(), Error> {
        for transfer in transfers::list_with_attached_txid(tx, Mode::Live, chain, txid)? {
            let proposed = transfer_proposals::of_transfer(tx, transfer.seq)?;
            let mut of_other = proposed.iter().filter(|one| one.txid == by);
            let paid = of_other.try_fold(Units::ZERO, |sum, one| sum.plus(one.amount));
            let other = sent_outputs::of_transaction(tx, Mode::Live, chain, by)?;
            let to_it = other
                .iter()
                .filter(|output| pays_destination(output, &transfer))
                .map(|output| Ok((may_count_for_transfer(tx, output, &transfer)?, output.amount)));
            let to_it: Vec<(bool, Units)> = to_it.collect::<Result<_, Error>>()?;
            let free = to_it.iter().filter(|(is_free, _)| *is_free);
            let free = free.map(|(_, amount)| *amount).max();
            let needed = transfer.terms.map(|terms| terms.amount_crypto);
            let is_enough = paid.ok() >= needed || free >= needed;
            if transfer.status == TransferStatus::Processing && needed.is_some() && is_enough {
                let from = transfer.sending_progress.txid_from.unwrap_or(TxidSource::Chain);
                self.attach_transaction(tx, now, StepActor::Chain, &transfer, (by, from))?;
            }
        }
        Ok(())
    }

    /// Returns `true` if the observation with this key is a sent output.
    pub(in crate::service) fn is_sent_output(
        &self,
        tx: &Tx<'_>,
        place: &ObservationKey,
    ) -> Result<bool, Error> {
        let Some(observed) = observations::by_key(tx, place)? else {
            return Ok(false);
        };
        Ok(sent_outputs::of_observation(tx, observed.seq)?.is_some())
    }
}

/// Returns `true` if an output goes to the destination of a transfer, in its coin, and is not dropped.
fn pays_destination(output: &SentOutput, of: &Transfer) -> bool {
    output.address == of.to_address
        && output.asset == of.asset
        && output.state != PaymentState::Dropped
}

/// Returns `true` if an output may count for a transfer. The output must count for no other transfer, or for a
/// transfer in `processing` to which the chain attached the transaction.
///
/// An attachment by a person or the signer takes precedence over one by the chain.
fn may_count_for_transfer(tx: &Tx<'_>, output: &SentOutput, of: &Transfer) -> Result<bool, Error> {
    let Some(counted) = output.transfer.filter(|seq| *seq != of.seq) else {
        return Ok(true);
    };
    let other = transfers::by_seq(tx, counted)?;
    let is_found = other.sending_progress.txid_from == Some(TxidSource::Chain);
    Ok(is_found && other.status == TransferStatus::Processing)
}

/// Returns `true` if a known output of a transaction goes to the destination of a transfer.
fn has_output_to_destination(tx: &Tx<'_>, of: &Transfer, txid: &str) -> Result<bool, Error> {
    let outputs = sent_outputs::of_transaction(tx, of.mode, of.asset.chain, txid)?;
    Ok(outputs.iter().any(|output| pays_destination(output, of)))
}

/// Refuses a transaction whose known outputs to the destination all count for other transfers.
fn check_has_free_output(tx: &Tx<'_>, of: &Transfer, txid: &str) -> Result<(), Error> {
    let outputs = sent_outputs::of_transaction(tx, of.mode, of.asset.chain, txid)?;
    let mut is_known = false;
    for output in outputs.iter().filter(|output| pays_destination(output, of)) {
        if may_count_for_transfer(tx, output, of)? {
            return Ok(());
        }
        is_known = true;
    }
    if !is_known {
        return Ok(());
    }
    let message = format!(
        "transaction {txid} has no output to {} that does not count for another transfer. Enter the transaction that sent \
         this one",
        of.to_address
    );
    Err(Refusal::for_param(RefusalCode::InvalidTransition, "txid", message).into())
}
