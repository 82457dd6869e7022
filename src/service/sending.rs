//! Sends transfers with a signer command: records each start of the command and its outcome.
//!
//! Invariant: the start of a command is committed before the command runs, so a crash never starts it twice. No outcome
//! of the command makes a transfer `failed`. `worker` runs the command, and `transfers` has the manual steps.
//!
//! ```text
//! approved ──begin_sending──→ processing, running ──sent────→ processing, its transaction attached
//!                                    ├──────────────declined→ processing, declined: an operator decides
//!                                    ├──────────────retry───→ processing, retry ──after 10 minutes──→ running
//!                                    └──────────────unknown─→ processing, unknown: an operator decides
//! ```

use super::transfers::acts::enter_transaction;
use super::transfers::destination::settle_destination_of;
use super::transfers::{StepActor, apply_step, find, hold_of_transfer, write_audit_entry};
use super::{Error, Service, Step};
use crate::domain::time::MINUTE_MS;
use crate::domain::transfer::request::{parse_txid, parse_txid_on};
use crate::domain::transfer::step::REASON_CHARS_MAX;
use crate::domain::{
    Refusal, RefusalCode, SendingState, Time, Transfer, TransferAction, TransferKind, TransferStep,
    TxidSource,
};
use crate::store::{Tx, transfers};
use serde_json::json;
use std::sync::Arc;

/// Number of waiting transfers that are read at once, to find one that nothing holds.
const CANDIDATES: u32 = 100;
/// Wait before the signer command runs again after it asked for a retry, in milliseconds.
const RETRY_MS: i64 = 10 * MINUTE_MS;

impl Service {
    /// Returns the oldest live payout or refund for the signer to send: one that is approved, or whose retry is due. Skips
    /// those that something holds.
    pub fn next_transfer_to_send(&self, now: Time) -> Result<Option<Transfer>, Error> {
        self.read(|db| {
            let mut after = 0;
            loop {
                let waiting = transfers::list_sendable(db, now, after, CANDIDATES)?;
                let Some(last) = waiting.last() else {
                    return Ok(None);
                };
                after = last.seq;
                for transfer in waiting {
                    if hold_of_transfer(db, now, &transfer)?.is_none() {
                        return Ok(Some(transfer));
                    }
                }
            }
        })
    }

    /// Returns the time of the signer's next retry after `now`.
    pub fn next_signer_retry(&self, now: Time) -> Result<Option<Time>, Error> {
        self.read(|db| Ok(transfers::next_retry_time(db, now)?))
    }

    /// Records the start of a signer command: moves a transfer from approved to processing, or begins a retry.
    ///
    /// When this function returns `Ok`, the start is committed and the caller may run one command.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_transition` if the transfer is not approved, or if transfers are simulated. A command
    /// never runs in test mode or in the sandbox.
    pub async fn begin_sending(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
    ) -> Result<Transfer, Error> {
        let id = id.to_owned();
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let transfer = find(tx, kind, &id)?;
            if service.is_simulated(transfer.mode) {
                return Err(invalid_transition(
                    "a sandbox sends no real transfers, so no command is started",
                ));
            }
            // A payment may have arrived at the destination after the worker read the transfer.
            if let Some(hold) = hold_of_transfer(tx, now, &transfer)? {
                return Err(invalid_transition(hold.problem()));
            }
            let is_due = transfer.sending_progress.retry.is_some_and(|(_, at)| at <= now)
                && transfer.txid.is_none();
            match transfer.sending {
                Some(SendingState::Retry) if is_due => {
                    return restart_sending(step, &transfer);
                }
                Some(_) => {
                    return Err(invalid_transition(
                        "it is on hold until a person has checked whether it was sent",
                    ));
                }
                None => {}
            }
            let transition = TransferStep::Process(Some(SendingState::Running));
            apply_step(step, StepActor::Command, &transfer, transition)
        })
        .await
    }

    /// Attaches the transaction that the signer sent. The transfer stays in `processing` until its chain settles it.
    ///
    /// An id that is invalid on the transfer's chain is stored as an unknown outcome.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_request` if `text` is not a transaction id. `invalid_transition` if no command is
    /// running for the transfer.
    pub async fn record_sent_transaction(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        text: &str,
    ) -> Result<Transfer, Error> {
        let (id, text) = (id.to_owned(), parse_txid(text)?);
        self.write(now, move |step| {
            let transfer = find_running_transfer(step.tx, kind, &id)?;
            match parse_txid_on(transfer.asset.chain, &text) {
                Ok(txid) => {
                    let by = StepActor::Command;
                    enter_transaction(step, by, &transfer, &txid, TxidSource::Signer)
                }
                Err(refusal) => {
                    let cause =
                        format!("it answered the transaction {text}, which {}", refusal.message);
                    let ended = SendingState::Unknown;
                    end_command_without_transaction(step, &transfer, ended, &cause)
                }
            }
        })
        .await
    }

    /// Records that the signer sent nothing, with the signer's reason. With `retry`, the signer runs again after 10
    /// minutes. Otherwise an operator must decide.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_transition` if no command is running for the transfer.
    pub async fn record_nothing_sent(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        reason: &str,
        retry: bool,
    ) -> Result<Transfer, Error> {
        let id = id.to_owned();
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let ended = if retry { SendingState::Retry } else { SendingState::Declined };
        self.write(now, move |step| {
            let transfer = find_running_transfer(step.tx, kind, &id)?;
            end_command_without_transaction(step, &transfer, ended, &reason)
        })
        .await
    }

    /// Records that the outcome of a command is unknown. The transfer stays in `processing`, and an operator decides
    /// with `pay` or `fail`.
    ///
    /// `cause` is written to the audit log, so it must not contain secrets.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_transition` if no command is running for the transfer.
    pub async fn record_unknown_outcome(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        cause: &str,
    ) -> Result<(), Error> {
        let (id, cause) = (id.to_owned(), cause.to_owned());
        self.write(now, move |step| {
            let transfer = find_running_transfer(step.tx, kind, &id)?;
            let ended = SendingState::Unknown;
            end_command_without_transaction(step, &transfer, ended, &cause).map(drop)
        })
        .await
    }

    /// Records an unknown outcome for each command that was running when the process ended. Returns the number of
    /// these commands.
    ///
    /// The server calls this function at start, before it runs any command.
    pub async fn record_interrupted_commands(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(now, move |step| {
            let interrupted = transfers::list_with_running_command(step.tx)?;
            let cause = "the server ended while it was running";
            for transfer in &interrupted {
                end_command_without_transaction(step, transfer, SendingState::Unknown, cause)?;
            }
            Ok(interrupted.len())
        })
        .await
    }
}

fn find_running_transfer(tx: &Tx<'_>, kind: TransferKind, id: &str) -> Result<Transfer, Error> {
    let transfer = find(tx, kind, id)?;
    if transfer.sending == Some(SendingState::Running) {
        Ok(transfer)
    } else {
        Err(invalid_transition("no command is running for it"))
    }
}

/// Ends the running state of a transfer whose command sent no transaction. The new state is declined, retry or
/// unknown.
fn end_command_without_transaction(
    step: &Step<'_>,
    transfer: &Transfer,
    sending: SendingState,
    cause: &str,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let mut held = transfer.clone();
    let since = held.sending_progress.retry.map_or(now, |(since, _)| since);
    held.clear_sending();
    held.sending = Some(sending);
    held.sending_progress.sending_reason = Some(cause.to_owned());
    let is_retry = sending == SendingState::Retry;
    held.sending_progress.retry = is_retry.then_some((since, now.plus_ms(RETRY_MS)));
    transfers::update(tx, &held, transfer.status)?;
    let (actor, detail) = (StepActor::Command.actor_name(), json!({ "cause": cause }));
    write_audit_entry(tx, now, actor, sending.as_str(), &held, &detail)?;
    settle_destination_of(step, &held)
}

/// Moves a transfer from state `retry` to state `running`.
fn restart_sending(step: &Step<'_>, transfer: &Transfer) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let mut running = transfer.clone();
    running.sending = Some(SendingState::Running);
    running.sending_progress.sending_reason = None;
    let (actor, detail) = (StepActor::Command.actor_name(), json!({ "again": true }));
    transfers::mark_started(tx, transfer.seq, actor, now)?;
    transfers::update(tx, &running, transfer.status)?;
    write_audit_entry(tx, now, actor, TransferAction::Process.as_str(), &running, &detail)?;
    settle_destination_of(step, &running)
}

fn invalid_transition(message: &str) -> Error {
    Refusal::new(RefusalCode::InvalidTransition, message).into()
}
