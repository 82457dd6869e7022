//! Sending by a signer command: what the worker that runs it tells, and in which order.
//!
//! What does not live here: the command (`worker`), and steps by hand (`transfers`). What always holds: that a command
//! is about to be started is in the file before it is started, so no crash starts it twice; and only its own outcome,
//! or a person once that is unknown, ends what it began.
//!
//! ```text
//! approved ──begin_sending──→ processing, running ──sent─────────────→ paid
//!                                    ├──────────────not_sent─────────→ failed
//!                                    └──────────────sending_unknown──→ processing, unknown ──a person──→ paid | failed
//! ```

use super::transfers::{By, find, note};
use super::{Error, Service};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::transfer::step::{REASON_CHARS_MAX, Step, txid};
use crate::domain::transfer::{Sending, Transfer, TransferKind};
use crate::store::{Tx, transfers};
use serde_json::json;
use std::sync::Arc;

impl Service {
    /// Approved payouts and refunds of live mode that the signer is to send, oldest first.
    pub fn to_send(&self, limit: u32) -> Result<Vec<Transfer>, Error> {
        self.read(|db| Ok(transfers::to_send(db, limit)?))
    }

    /// approved → processing, with a command about to be started. The command may be started once this has returned
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
            if transfer.sending.is_some() {
                return Err(refused(
                    "it is on hold until a person has found out whether it was sent",
                ));
            }
            let step = Step::Process(Some(Sending::Running));
            service.step(tx, now, By::Command, &transfer, step)
        })
        .await
    }

    /// processing → paid: the command said which transaction it sent.
    ///
    /// # Errors
    /// `not_found`; `invalid_request` where `text` is no transaction id, which is an unknown outcome;
    /// `invalid_transition` where no command is running for it.
    pub async fn sent(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        text: &str,
    ) -> Result<Transfer, Error> {
        let step = Step::Pay(txid(text)?);
        self.end_sending(now, kind, id, step).await
    }

    /// processing → failed: the command said that it sent nothing, and why. The amount goes back.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where no command is running for it.
    pub async fn not_sent(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        reason: &str,
    ) -> Result<Transfer, Error> {
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let reason = (!reason.is_empty()).then_some(reason);
        self.end_sending(now, kind, id, Step::Fail(reason)).await
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
            hold(tx, now, &transfer, &cause)
        })
        .await
    }

    /// Whatever a command was running for when the process ended is unknown from here on; how many. To be called when
    /// the server starts, before any command is.
    pub async fn hold_interrupted_sendings(self: &Arc<Self>, now: Time) -> Result<usize, Error> {
        self.write(move |_, tx| {
            let interrupted = transfers::sending(tx)?;
            for transfer in &interrupted {
                hold(tx, now, transfer, "the server ended while it was running")?;
            }
            Ok(interrupted.len())
        })
        .await
    }

    /// What a running command ended with.
    async fn end_sending(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        step: Step,
    ) -> Result<Transfer, Error> {
        let id = id.to_owned();
        self.write(move |service, tx| {
            let transfer = running(tx, kind, &id)?;
            service.step(tx, now, By::Command, &transfer, step)
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

/// From running to unknown.
fn hold(tx: &Tx<'_>, now: Time, transfer: &Transfer, cause: &str) -> Result<(), Error> {
    let held = Transfer {
        sending: Some(Sending::Unknown),
        ..transfer.clone()
    };
    transfers::update(tx, &held, transfer.status)?;
    let detail = json!({ "cause": cause });
    note(tx, now, By::Command.name(), "unknown", &held, &detail)
}

/// 409 `invalid_transition`.
fn refused(message: &str) -> Error {
    Refusal::new(Code::InvalidTransition, message).into()
}
