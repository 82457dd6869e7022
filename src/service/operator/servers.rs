//! Servers in the operator interface: listing those of all accounts, and an operator's decisions about them.
//!
//! What does not live here: what resellers order (`service::reseller`), and the provisioner (`service::servers`).
//! What always holds: each decision is in the audit log.

use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::server::outcome::Decision;
use crate::domain::server::state::{OperatorStep, ServerStatus, Step};
use crate::domain::server::{Server, render_for_operator};
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, Member, Service};
use crate::store::{Reader, accounts, servers};
use serde_json::json;
use std::sync::Arc;

impl Service {
    /// Everybody's servers, newest first, for the operator.
    pub fn all_servers(
        &self,
        status: Option<ServerStatus>,
        limit: u32,
    ) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let servers = servers::list_all(db, status, limit)?;
            servers.iter().map(|server| rendered(db, server)).collect()
        })
    }

    /// An operator decides about an order.
    ///
    /// # Errors
    /// `not_found`, `invalid_transition`.
    pub async fn decide_server(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        id: &str,
        decision: Decision,
    ) -> Result<Json, Error> {
        let id = id::parse(id).ok_or_else(|| Refusal::not_found("server"))?;
        let actor = member.user().email.clone();
        self.write(move |_, tx| {
            let server = servers::by_id(tx, &id)?;
            let mut server = server.ok_or_else(|| Refusal::not_found("server"))?;
            let before = server.state;
            let detail = json!({
                "from": before.status(), "address": decision.address, "ref": decision.provider_ref,
                "reason": decision.reason,
            });
            server.step(Step::Operator(decision.step), now)?;
            server.address = decision.address.or(server.address);
            server.provider_ref = decision.provider_ref.or(server.provider_ref);
            server.failure_reason = match decision.step {
                OperatorStep::Fail => decision.reason,
                OperatorStep::Activate | OperatorStep::Release => None,
                OperatorStep::Delete => server.failure_reason,
            };
            servers::update(tx, &server, before)?;
            let action = format!("server.{}", decision.step);
            let noted = Entry {
                action: &action,
                account: Some(server.account),
                object: Some(&server.id),
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            rendered(tx, &server)
        })
        .await
    }
}

/// A server as the operator sees it.
fn rendered(db: &Reader<'_>, server: &Server) -> Result<Json, Error> {
    let account = accounts::by_seq(db, server.account)?;
    Ok(render_for_operator(server, &account.id)?)
}
