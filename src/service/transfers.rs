//! Steps that payouts and refunds have in common, starting with the request.
//!
//! `payouts` and `refunds` check requests, `listing` lists transfers for the operator, and `sending` records
//! the results of the signer.
//!
//! Invariant: each step books its amounts in its own transaction. A request moves the amount from `available` to
//! reserved. The reservation ends when the transfer is closed. The amount returns to `available` if the transfer is
//! failed, rejected or cancelled.

pub(super) mod acts;
pub(super) mod by_hand;
pub(super) mod destination;
mod hold;
pub mod listing;
pub(super) mod loading;
mod reviews;
mod save;
mod simulated;
mod view;
pub(super) mod watch;

pub(super) use destination::watched_destination;
pub(super) use hold::hold_of_transfer;
pub use reviews::list_transfers_to_review;
pub(super) use save::newest_proposals;
pub(super) use watch::{oldest_approval_without_height, transactions_to_query};

use super::events::{EventSubject, record_event};
use super::transfers::destination::settle_destination_of;
use super::{Error, Scope, Step, audit_log};
use crate::domain::{
    Cents, Posting, Refusal, Time, Transfer, TransferAction, TransferKind, TransferStatus,
    TransferStep, id,
};
use crate::render;
use crate::store::booking::{Booking, BookingSource};
use crate::store::ledger::{insert_booking, unreversed_entries};
use crate::store::{Reader, Tx, balances, chain_cursors, destinations, invoices, transfers};
use serde_json::{Value, json};

/// Person or component that performs a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepActor<'a> {
    /// A person, identified by email.
    Person(&'a str),
    /// The sandbox's API.
    Sandbox,
    /// The signer command.
    Command,
    /// An observation on the chain.
    Chain,
}

impl StepActor<'_> {
    pub(super) fn actor_name(&self) -> &str {
        match self {
            StepActor::Person(email) => email,
            StepActor::Sandbox => "sandbox",
            StepActor::Command => "signer command",
            StepActor::Chain => "chain",
        }
    }
}

/// Performs a step, and settles the destination of the transfer.
pub(super) fn apply_step(
    step: &Step<'_>,
    by: StepActor<'_>,
    transfer: &Transfer,
    transition: TransferStep,
) -> Result<Transfer, Error> {
    let after = book_step(step, by, transfer, transition)?;
    settle_destination_of(step, &after)
}

/// Performs a step: saves the transfer, books the amounts, releases the reservation, and records the event and
/// the audit log entry. Every step of a transfer passes through this function.
fn book_step(
    step: &Step<'_>,
    by: StepActor<'_>,
    transfer: &Transfer,
    transition: TransferStep,
) -> Result<Transfer, Error> {
    let Step { service, tx, now } = *step;
    let (action, insisted_on) = (transition.action(), transition.accepted_fields());
    let mut after = transfer.after_step(transition, now)?;
    if action == TransferAction::Process {
        transfers::mark_started(tx, after.seq, by.actor_name(), now)?;
    }
    if after.status == TransferStatus::Approved && transfer.status != after.status {
        service.watch_destination(tx, &mut after)?;
    }
    transfers::update(tx, &after, transfer.status)?;
    if !after.status.is_open() {
        let free = after.amount.negated()?;
        balances::reserve(tx, after.account, after.mode, after.currency, free)?;
    }
    if after.status.is_put_back() {
        reverse_request_booking(step, &after)?;
    }
    record_status_event(step, &after)?;
    let detail = json!({
        "status": after.status, "rate": after.terms.map(|terms| terms.rate.to_string()),
        "networkFee": after.terms.map(|terms| after.asset.format_units(terms.network_fee)),
        "basis": after.terms_source.map(|source| source.basis),
        "networkFeeFrom": after.terms_source.map(|source| source.fee), "insistedOn": insisted_on, "sentBy": after.sent_by,
        "txid": after.txid, "reason": after.failure_reason, "sending": after.sending,
        "settledBy": after.sending_progress.settled_by, "settledReason": after.sending_progress.settled_reason,
    });
    write_audit_entry(tx, now, by.actor_name(), action.as_str(), &after, &detail)?;
    Ok(after)
}

fn record_status_event(step: &Step<'_>, transfer: &Transfer) -> Result<(), Error> {
    let Step { service, tx, now } = *step;
    let Some(kind) = transfer.status.event(transfer.kind) else {
        return Ok(());
    };
    let object = render::transfer(transfer)?;
    let invoice = match &transfer.invoice {
        None => None,
        Some((seq, _)) => {
            let invoice = invoices::by_seq(tx, *seq)?;
            Some(render::invoice(&invoice, &service.links, &[])?)
        }
    };
    let subject = EventSubject {
        account: transfer.account,
        mode: transfer.mode,
        id: &transfer.id,
        object: &object,
        own_url: None,
        status_before: None,
        invoice: invoice.as_deref(),
    };
    record_event(tx, now, kind, &subject)
}

/// Stores a requested transfer, and moves its amount from the balance to reserved.
pub(super) fn request_transfer(
    step: &Step<'_>,
    actor: &str,
    mut transfer: Transfer,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let chain = transfer.asset.chain;
    transfer.destination = destinations::put(tx, transfer.mode, chain, &transfer.to_address)?.seq;
    let cursor = chain_cursors::of_chain(tx, chain)?.filter(|_| transfer.mode.is_live());
    transfer.requested_height = cursor.map(|cursor| cursor.reached.block.height);
    transfer.seq = transfers::insert(tx, &transfer)?;
    let posting = Posting {
        kind: transfer.kind.ledger_kind(),
        amount: transfer.amount.negated()?,
        fee_bps: None,
        sale_fee_bps: None,
        reverses: None,
        memo: None,
    };
    let entry = id::new(now).to_string();
    insert_booking(tx, &entry, &booking_of_transfer(&transfer), &posting, now)?;
    let Transfer { account, mode, currency, amount, .. } = transfer;
    balances::reserve(tx, account, mode, currency, amount)?;
    refresh_refunded_amount(tx, &transfer)?;
    let detail = json!({
        "amount": transfer.amount, "currency": transfer.currency, "asset": transfer.asset.id,
        "toAddress": transfer.to_address,
    });
    write_audit_entry(tx, now, actor, "request", &transfer, &detail)?;
    Ok(transfer)
}

fn reverse_request_booking(step: &Step<'_>, transfer: &Transfer) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    for (seq, amount) in unreversed_entries(tx, BookingSource::Transfer(transfer.seq))? {
        let posting = Posting {
            kind: transfer.kind.reversal_kind(),
            amount: amount.negated()?,
            fee_bps: None,
            sale_fee_bps: None,
            reverses: Some(seq),
            memo: None,
        };
        let entry = id::new(now).to_string();
        insert_booking(tx, &entry, &booking_of_transfer(transfer), &posting, now)?;
    }
    refresh_refunded_amount(tx, transfer)
}

/// Returns the fields that are equal in all ledger entries of a transfer.
fn booking_of_transfer(transfer: &Transfer) -> Booking<'_> {
    Booking {
        account: transfer.account,
        mode: transfer.mode,
        currency: transfer.currency,
        ref_type: transfer.kind.ref_type(),
        ref_id: &transfer.id,
        source: BookingSource::Transfer(transfer.seq),
    }
}

fn refresh_refunded_amount(tx: &Tx<'_>, transfer: &Transfer) -> Result<(), Error> {
    let Some((seq, _)) = transfer.invoice else {
        return Ok(());
    };
    let mut invoice = invoices::by_seq(tx, seq)?;
    let refunded = transfers::sum_of_refunds(tx, seq)?;
    invoice.refunded = (refunded > Cents::ZERO).then_some(refunded);
    Ok(invoices::update(tx, &invoice)?)
}

/// Returns the payout or refund with this id, of any account.
pub(super) fn find(db: &Reader<'_>, kind: TransferKind, id: &str) -> Result<Transfer, Error> {
    let found = match id::parse(id) {
        Some(id) => transfers::by_id(db, &id)?,
        None => None,
    };
    found
        .filter(|transfer| transfer.kind == kind)
        .ok_or_else(|| Refusal::not_found(kind.as_str()).into())
}

/// Returns the payout or refund with this id if it belongs to the caller.
pub fn owned_transfer(
    db: &Reader<'_>,
    scope: &Scope,
    kind: TransferKind,
    id: &str,
) -> Result<Transfer, Error> {
    let transfer = find(db, kind, id)?;
    if transfer.account != scope.account() || transfer.mode != scope.mode() {
        return Err(Refusal::not_found(kind.as_str()).into());
    }
    Ok(transfer)
}

/// Returns the name of a step in the audit log, for example `payout.approve`.
pub(super) fn audit_action_name(kind: TransferKind, verb: &str) -> String {
    format!("{kind}.{verb}")
}

pub(in crate::service) fn write_audit_entry(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    verb: &str,
    transfer: &Transfer,
    detail: &Value,
) -> Result<(), Error> {
    let action = audit_action_name(transfer.kind, verb);
    let (account, id) = (Some(transfer.account), Some(transfer.id.as_str()));
    audit_log::record(tx, now, actor, &action, account, id, detail)
}
