//! The reseller interface: authenticates resellers by token, and orders, reads and removes their servers.
//!
//! `servers` performs the later steps of an order.
//!
//! Invariant: a reseller accesses only the servers of the token's account.

use super::callers::unauthorized;
use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::{Error, Json, Scope, Service, Step};
use crate::domain::time::MINUTE_MS;
use crate::domain::{
    Account, AccountStatus, Mode, OrderedServer, Refusal, RefusalCode, ServerOrder, ServerState,
    ServerStep, Time, apikey, id,
};
use crate::render;
use crate::store::{FileKind, Reader, Tx, accounts, reseller_tokens, servers};
use std::sync::Arc;

/// Result of a request to remove a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardOutcome {
    /// The server is removed.
    Gone,
    /// The server exists until the provisioner has removed it.
    Later,
}

impl Service {
    /// Returns the scope of the reseller for the text of a token.
    ///
    /// # Errors
    ///
    /// `unauthorized` if the token is unknown or revoked. In production a checksum detects a typing error without a
    /// read of the file. The sandbox's token has no checksum.
    pub fn authenticate_reseller(self: &Arc<Self>, now: Time, text: &str) -> Result<Scope, Error> {
        if self.kind == FileKind::Production && !apikey::is_plausible_token(text) {
            return Err(unauthorized("the token is mistyped: its checksum does not match").into());
        }
        let hash = apikey::hash_key(text);
        let token = self.read(|db| Ok(reseller_tokens::by_hash(db, &hash)?))?;
        let token = token.ok_or_else(|| unauthorized("the token is unknown or revoked"))?;
        let is_noted = token.last_used_at.is_some_and(|at| now.since_ms(at) < MINUTE_MS);
        if !is_noted {
            let id = token.id.clone();
            // The request does not wait for this write, and succeeds even if the write fails.
            let told = self.write_detached(now, move |step| {
                Ok(reseller_tokens::save_last_used_at(step.tx, &id, now)?)
            });
            if let Err(error) = told {
                log::debug!("last use of a token not recorded: error={error}");
            }
        }
        // Servers have no mode, so the scope of every token has live mode.
        Ok(Scope::new(token.account, Mode::Live))
    }

    /// Orders a server, or returns the server that was already ordered with this Idempotency-Key.
    ///
    /// # Errors
    ///
    /// As documented for `POST /reseller/servers`.
    pub async fn order_server(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let (scope, account) = (*scope, scope.account());
        let limits = self.server_limits;
        let check = |db: &Reader<'_>| {
            server_quota(&accounts::by_seq(db, account)?)?;
            ServerOrder::parse(&request.body, limits)?;
            Ok(())
        };
        if let Some(kept) = self.check_before_write(now, scope, &request, check)? {
            return Ok(kept);
        }
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let order = || {
                let quota = server_quota(&accounts::by_seq(tx, account)?)?;
                let order = ServerOrder::parse(&request.body, service.server_limits)?;
                check_server_quota(tx, account, quota)?;
                let server = OrderedServer::new(id::new(now).to_string(), account, order, now);
                servers::insert(tx, &server)?;
                Ok(IdempotentResponse::created(render::server(&server)?))
            };
            request.run_once(step, scope, order)
        })
        .await
    }

    /// Returns the caller's servers, newest first.
    pub fn servers(&self, scope: &Scope, limit: u32) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let servers = servers::list(db, scope.account(), limit)?;
            Ok(servers.iter().map(render::server).collect::<Result<_, _>>()?)
        })
    }

    /// Returns one server of the caller.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub fn server(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        self.read(|db| Ok(render::server(&owned_server(db, scope.account(), id)?)?))
    }

    /// Removes a server. An order that has not started is removed at once. An existing server is first removed by the
    /// provisioner.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_transition` while the provisioner creates the server.
    pub async fn discard_server(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        id: &str,
    ) -> Result<(DiscardOutcome, Json), Error> {
        let (account, id) = (scope.account(), id.to_owned());
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let mut server = owned_server(tx, account, &id)?;
            let before = server.state;
            server.take_step(ServerStep::Discard, now)?;
            if server.state != before {
                servers::update(tx, &server, before)?;
            }
            let discarded = match server.state {
                ServerState::Deleted => DiscardOutcome::Gone,
                _ => DiscardOutcome::Later,
            };
            Ok((discarded, render::server(&server)?))
        })
        .await
    }
}

/// Returns the maximum number of servers of the account.
///
/// # Errors
///
/// `account_not_active`. `servers_disabled` if the maximum is zero.
fn server_quota(account: &Account) -> Result<i64, Refusal> {
    let status = account.status;
    if status != AccountStatus::Active {
        let message = format!("the account is {status}; it may not order servers");
        return Err(Refusal::new(RefusalCode::AccountNotActive, message));
    }
    if account.server_quota == 0 {
        let message = "servers are not enabled for this account: the operator sets its serverQuota";
        return Err(Refusal::new(RefusalCode::ServersDisabled, message));
    }
    Ok(account.server_quota)
}

/// Refuses a server above the quota. Failed and deleted servers do not count.
fn check_server_quota(db: &Reader<'_>, account: i64, quota: i64) -> Result<(), Error> {
    if servers::count_current_servers(db, account)? < quota {
        return Ok(());
    }
    let message = format!(
        "the account may have {quota} servers, and has no room for another; delete one first"
    );
    Err(Refusal::new(RefusalCode::ServerQuotaExceeded, message).into())
}

fn owned_server(db: &Reader<'_>, account: i64, id: &str) -> Result<OrderedServer, Error> {
    let server = servers::by_id(db, id)?.filter(|server| server.account == account);
    server.ok_or_else(|| Refusal::not_found("server").into())
}

/// Stores a token with a given text. Returns the id of the token.
///
/// # Errors
///
/// [`Error::Failed`] if the file fails or the token already exists.
pub fn insert_token(tx: &Tx<'_>, account: i64, text: &str, now: Time) -> Result<String, Error> {
    let id = id::new(now).to_string();
    let (hash, last4) = (apikey::hash_key(text), apikey::last4(text));
    reseller_tokens::insert(tx, &id, account, &hash, &last4, now)?;
    Ok(id)
}
