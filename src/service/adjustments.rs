//! Corrections of an account's ledger by an operator.
//!
//! Invariant: a correction has a reason, and its author is in the audit log.

use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::{Error, Json, Scope, Service, Step, audit_log};
use crate::domain::ledger::adjustment::CreateAdjustment;
use crate::domain::{LedgerEntry, LedgerKind, RefType, Refusal, Time, id};
use crate::render;
use crate::store::{Reader, ledger};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Service {
    /// Books a correction, or returns the correction that was already booked with this idempotency key.
    ///
    /// # Errors
    ///
    /// `invalid_request`, `idempotency_conflict`.
    pub async fn create_adjustment(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: &str,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let (scope, actor) = (*scope, actor.to_owned());
        let entry = read_adjustment(&request.body, now);
        let check = |_: &Reader<'_>| Ok(entry.as_ref().map(drop).map_err(Refusal::clone)?);
        if let Some(kept) = self.check_before_write(now, scope, &request, check)? {
            return Ok(kept);
        }
        self.write(now, move |step| {
            request.run_once(step, scope, || {
                let answer = book_adjustment(step, &scope, &actor, entry?)?;
                Ok(IdempotentResponse::created(answer))
            })
        })
        .await
    }
}

fn read_adjustment(body: &Map<String, Value>, now: Time) -> Result<LedgerEntry, Refusal> {
    let input = CreateAdjustment::read(body)?;
    let currency = input.currency;
    Ok(LedgerEntry {
        seq: 0,
        id: id::new(now).to_string(),
        currency: currency.ok_or_else(|| Refusal::field("currency", "must be given"))?,
        amount: input.amount,
        kind: LedgerKind::Adjustment,
        ref_type: RefType::Admin,
        ref_id: None,
        fee_bps: None,
        memo: Some(input.memo),
        created_at: now,
    })
}

/// Books an entry to the ledger, and writes the change to the audit log.
fn book_adjustment(
    step: &Step<'_>,
    scope: &Scope,
    actor: &str,
    entry: LedgerEntry,
) -> Result<Json, Error> {
    let Step { tx, now, .. } = *step;
    ledger::insert_adjustment(tx, scope.account(), scope.mode(), &entry, now)?;
    let detail = json!({
        "mode": scope.mode(), "currency": entry.currency, "amount": entry.amount, "memo": entry.memo
    });
    audit_log::record(
        tx,
        now,
        actor,
        "adjustment.create",
        Some(scope.account()),
        Some(&entry.id),
        &detail,
    )?;
    Ok(render::ledger_entry(&entry, scope.mode())?)
}
