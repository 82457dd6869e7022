//! Sending by a signer command: what the worker that runs it tells, and in which order.
//!
//! What does not live here: the command (`worker`), and steps by hand (`transfers`). What always holds: that a command
//! is about to be started is in the file before it is started, so no crash starts it twice; and nothing becomes `failed` by what it answers.
//!
//! ```text
//! approved ──begin_sending──→ processing, running ──sent────→ processing, its transaction attached
//!                                    ├──────────────declined→ processing, declined: a person looks
//!                                    ├──────────────retry───→ processing, retry ──begin_sending, 10 minutes later──→ running
//!                                    └──────────────unknown─→ processing, unknown: a person looks
//! ```

use super::transfers::{By, find, note};
use super::{Error, Service};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, Time};
use crate::domain::transfer::request::{txid, txid_on};
use crate::domain::transfer::step::{REASON_CHARS_MAX, TransferAction, TransferStep};
use crate::domain::transfer::{Sending, Transfer, TransferKind, TxidSource};
use crate::store::{Tx, transfer_proposals, transfers};
use serde_json::json;
use std::sync::Arc;

/// Time until a signer that asked for a retry is run again.
const RETRY_MS: i64 = 10 * MINUTE_MS;

impl Service {
    /// Live payouts and refunds that the signer is to send now, oldest first: approved ones, and those whose retry is due.
    pub fn to_send(&self, now: Time, limit: u32) -> Result<Vec<Transfer>, Error> {
        self.read(|db| Ok(transfers::to_send(db, now, limit)?))
    }

    /// Time of the next retry of the signer after now.
    pub fn next_retry(&self, now: Time) -> Result<Option<Time>, Error> {
        self.read(|db| Ok(transfers::next_retry(db, now)?))
    }

    /// approved → processing, or a retry once more, with a command about to be started. The command may be started once this has returned
    /// `Ok`, which is after the commit, and for that answer only.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where it is not approved (any more), or where nothing real is sent: a command
    /// never runs for test mode nor in the sandbox.
    pub async fn begin_sending(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
    ) -> Result<Transfer, Error> {
        let id = id.to_owned();
        self.write(move |service, tx| {
            let transfer = find(tx, kind, &id)?;
            if service.is_simulated(transfer.mode) {
                return Err(refused(
                    "nothing real is sent here, so no command is started",
                ));
            }
            // It may have arrived since the transfer was read as one to send.
            if transfer_proposals::holds_signer(tx, transfer.seq)? {
                return Err(refused(
                    "an arrival of exactly its amount waits for a person to decide",
                ));
            }
            let is_due =
                transfer.dispatch.retry.is_some_and(|(_, at)| at <= now) && transfer.txid.is_none();
            match transfer.sending {
                Some(Sending::Retry) if is_due => return run_again(tx, now, &transfer),
                Some(_) => {
                    return Err(refused(
                        "it is on hold until a person has found out whether it was sent",
                    ));
                }
                None => {}
            }
            let step = TransferStep::Process(Some(Sending::Running));
            service.step(tx, now, By::Command, &transfer, step)
        })
        .await
    }

    /// The signer said which transaction it sent: it is attached, and the transfer stays in `processing` until its chain has
    /// settled it. An id that is none on its chain is an unknown outcome that is kept.
    ///
    /// # Errors
    /// `not_found`; `invalid_request` where `text` is no transaction id at all; `invalid_transition` where no command is running
    /// for the transfer.
    pub async fn sent(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        text: &str,
    ) -> Result<Transfer, Error> {
        let (id, text) = (id.to_owned(), txid(text)?);
        self.write(move |service, tx| {
            let transfer = running(tx, kind, &id)?;
            match txid_on(transfer.asset.chain, &text) {
                Ok(txid) => {
                    let sent = (txid.as_str(), TxidSource::Signer);
                    service.attach(tx, now, By::Command, &transfer, sent)
                }
                Err(refusal) => {
                    let cause = format!(
                        "it answered the transaction {text}, which {}",
                        refusal.message
                    );
                    hold(tx, now, &transfer, (Sending::Unknown, &cause))
                }
            }
        })
        .await
    }

    /// The signer said that it sent nothing, and why: a person looks. With `retry` it is run again after 10 minutes.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where no command is running for it.
    pub async fn not_sent(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        (reason, retry): (&str, bool),
    ) -> Result<Transfer, Error> {
        let id = id.to_owned();
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let ended = if retry {
            Sending::Retry
        } else {
            Sending::Declined
        };
        self.write(move |_, tx| {
            let transfer = running(tx, kind, &id)?;
            hold(tx, now, &transfer, (ended, &reason))
        })
        .await
    }

    /// The command ended in a way that does not say what it sent: it stays processing, and a person decides with
    /// `pay` or `fail`. `cause` goes to the audit log, so it holds no secrets.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where no command is running for it.
    pub async fn sending_unknown(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        cause: &str,
    ) -> Result<(), Error> {
        let (id, cause) = (id.to_owned(), cause.to_owned());
        self.write(move |_, tx| {
            let transfer = running(tx, kind, &id)?;
            hold(tx, now, &transfer, (Sending::Unknown, &cause)).map(drop)
        })
        .await
    }

    /// Whatever a command was running for when the process ended is unknown from here on; how many. To be called when
    /// the server starts, before any command is.
    pub async fn hold_interrupted_sendings(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(move |_, tx| {
            let interrupted = transfers::sending(tx)?;
            for transfer in &interrupted {
                let cause = "the server ended while it was running";
                hold(tx, now, transfer, (Sending::Unknown, cause))?;
            }
            Ok(interrupted.len())
        })
        .await
    }
}

/// The transfer, if a command is running for it.
fn running(tx: &Tx<'_>, kind: TransferKind, id: &str) -> Result<Transfer, Error> {
    let transfer = find(tx, kind, id)?;
    if transfer.sending == Some(Sending::Running) {
        Ok(transfer)
    } else {
        Err(refused("no command is running for it"))
    }
}

/// From running to the state that a signer without a transaction leaves.
fn hold(
    tx: &Tx<'_>,
    now: Time,
    transfer: &Transfer,
    (sending, cause): (Sending, &str),
) -> Result<Transfer, Error> {
    let mut held = transfer.clone();
    let since = held.dispatch.retry.map_or(now, |(since, _)| since);
    held.clear_sending();
    held.sending = Some(sending);
    held.dispatch.sending_reason = Some(cause.to_owned());
    let is_retry = sending == Sending::Retry;
    held.dispatch.retry = is_retry.then_some((since, now.plus_ms(RETRY_MS)));
    transfers::update(tx, &held, transfer.status)?;
    let detail = json!({ "cause": cause });
    note(
        tx,
        now,
        By::Command.name(),
        sending.as_str(),
        &held,
        &detail,
    )?;
    Ok(held)
}

/// From retry to running.
fn run_again(tx: &Tx<'_>, now: Time, transfer: &Transfer) -> Result<Transfer, Error> {
    let mut running = transfer.clone();
    running.sending = Some(Sending::Running);
    running.dispatch.sending_reason = None;
    transfers::update(tx, &running, transfer.status)?;
    let detail = json!({ "again": true });
    let verb = TransferAction::Process.as_str();
    note(tx, now, By::Command.name(), verb, &running, &detail)?;
    Ok(running)
}

/// 409 `invalid_transition`.
fn refused(message: &str) -> Error {
    Refusal::new(Code::InvalidTransition, message).into()
}
