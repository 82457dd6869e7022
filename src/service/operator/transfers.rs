//! Payouts and refunds in the operator interface: listing them, and moving them by hand.
//!
//! What does not live here: what a step does (`service::transfers`). What always holds: a step by hand goes through
//! the same code as every other, and the audit log has the person who asked for it.

use crate::domain::asset::Mode;
use crate::domain::render;
use crate::domain::time::Time;
use crate::domain::transfer::step::Wanted;
use crate::domain::transfer::{TransferKind, TransferStatus};
use crate::service::transfers::{By, TransfersWanted, find};
use crate::service::{Error, Json, Scope, Service};
use crate::store::transfers;
use serde_json::{Map, Value};
use std::sync::Arc;

impl Service {
    /// The newest payouts or refunds, with what only the operator interface shows.
    pub fn transfers_for_operator(
        &self,
        scope: &Scope,
        wanted: &TransfersWanted,
    ) -> Result<Vec<Json>, Error> {
        self.list(scope, wanted, render::transfer_for_operator)
    }

    /// The newest payouts or refunds of every account, of one status where one is given: what waits for the operator.
    pub fn transfers_of_all(
        &self,
        mode: Mode,
        kind: TransferKind,
        status: Option<TransferStatus>,
        limit: u32,
    ) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let found = transfers::of_all(db, mode, kind, status, limit)?;
            found
                .iter()
                .map(|transfer| Ok(render::transfer_for_operator(transfer)?))
                .collect()
        })
    }

    /// Does a step that the operator asks for: `action`, and `rate`, `networkFee`, `txid` or `reason` as it needs them.
    /// Where chains are simulated what is left out is made up.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn move_transfer(
        self: &Arc<Self>,
        now: Time,
        actor: &str,
        kind: TransferKind,
        id: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let known = ["action", "rate", "networkFee", "txid", "reason"];
        let wanted = Wanted::parse(&body, &known)?;
        let (actor, id) = (actor.to_owned(), id.to_owned());
        self.write(move |service, tx| {
            let transfer = find(tx, kind, &id)?;
            let after = service.step_by_hand(tx, now, By::Person(&actor), &transfer, wanted)?;
            Ok(render::transfer_for_operator(&after)?)
        })
        .await
    }
}
