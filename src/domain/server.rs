//! Servers that resellers order.
//!
//! Invariant: only [`OrderedServer::take_step`] changes a server's state.

pub mod order;
pub mod outcome;
pub mod state;

use super::refusal::Refusal;
use super::time::Time;
use order::ServerOrder;
use serde_json::{Value, json};
use state::{ProvisionerTask, ServerState, ServerStep};

/// An ordered server.
#[derive(Clone, Debug)]
pub struct OrderedServer {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the reseller's account.
    pub account: i64,
    /// The order: type, host name and size.
    pub order: ServerOrder,
    /// State of the order and of its provisioner.
    pub state: ServerState,
    /// Network address of the server.
    pub address: Option<String>,
    /// The provider's reference for the server, as returned by the provisioner.
    pub provider_ref: Option<String>,
    /// Reason why the server was not created or not deleted.
    pub failure_reason: Option<String>,
    /// Time of the order.
    pub created_at: Time,
    /// Time of activation.
    pub activated_at: Option<Time>,
    /// Time at which deletion was requested.
    pub deletion_requested_at: Option<Time>,
    /// Time of deletion.
    pub deleted_at: Option<Time>,
}

impl OrderedServer {
    /// Returns a new order, in the state `queued`.
    pub fn new(id: String, account: i64, order: ServerOrder, now: Time) -> OrderedServer {
        OrderedServer {
            seq: 0,
            id,
            account,
            order,
            state: ServerState::Queued,
            address: None,
            provider_ref: None,
            failure_reason: None,
            created_at: now,
            activated_at: None,
            deletion_requested_at: None,
            deleted_at: None,
        }
    }

    /// Applies a step and sets the timestamps of the step.
    ///
    /// # Errors
    /// `invalid_transition`; nothing changes then.
    pub fn take_step(&mut self, step: ServerStep, now: Time) -> Result<(), Refusal> {
        self.state = self.state.after_step(step)?;
        match self.state {
            ServerState::Active => {
                self.activated_at = self.activated_at.or(Some(now));
                self.deletion_requested_at = None;
            }
            ServerState::Unwanted => {
                self.deletion_requested_at = self.deletion_requested_at.or(Some(now));
                self.failure_reason = None;
            }
            ServerState::Deleted => self.deleted_at = self.deleted_at.or(Some(now)),
            ServerState::Queued
            | ServerState::Creating(_)
            | ServerState::Deleting(_)
            | ServerState::Failed => {}
        }
        Ok(())
    }

    /// Returns the JSON that the provisioner reads from its standard input.
    pub fn job_json(&self, task: ProvisionerTask) -> Value {
        let order = &self.order;
        match task {
            ProvisionerTask::Create => json!({
                "action": "create", "id": self.id, "type": order.kind, "hostname": order.hostname,
                "cpu": order.cpu, "ramMb": order.ram_mb, "diskGb": order.disk_gb,
            }),
            ProvisionerTask::Delete => json!({
                "action": "delete", "id": self.id, "ref": self.provider_ref,
            }),
        }
    }
}
