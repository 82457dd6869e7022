//! Servers that resellers order: the server and its JSON.
//!
//! Invariant: only [`OrderedServer::take_step`] changes a server's state.

pub mod order;
pub mod outcome;
pub mod state;

use super::fields::{Schema, schema, view};
use super::refusal::Refusal;
use super::render::Rendered;
use super::time::Time;
use order::{ServerOrder, ServerType};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use state::{CommandState, ProvisionerTask, ServerState, ServerStatus, ServerStep};

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

view! {
    /// An ordered server.
    pub(crate) ServerView<'a> as "Server" {
        id: &'a str [Schema::UUID] = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7b10";
        object: &'static str [schema!({ "type": "string", "const": "server" })] = "server";
        r#type: ServerType = "kvm";
        hostname: &'a str = "web-1.example.com";
        cpu: i64 = 2;
        ram_mb: i64 = 2048;
        disk_gb: i64 = 40;
        status: ServerStatus = "active";
        /// Address of the server, once it is known.
        address: Option<&'a str> = "203.0.113.7";
        /// Reason for a failed order or a failed removal.
        failure_reason: Option<&'a str> = null;
        created_at: Time = "2026-11-21T09:30:00.000Z";
        activated_at: Option<Time> = "2026-11-21T09:30:41.000Z";
        /// Time of the request to delete it. The server stays active until it is removed.
        deletion_requested_at: Option<Time> = null;
        deleted_at: Option<Time> = null;
    }
}

impl<'a> From<&'a OrderedServer> for ServerView<'a> {
    fn from(of: &'a OrderedServer) -> ServerView<'a> {
        ServerView {
            id: &of.id,
            object: "server",
            r#type: of.order.kind,
            hostname: &of.order.hostname,
            cpu: of.order.cpu,
            ram_mb: of.order.ram_mb,
            disk_gb: of.order.disk_gb,
            status: of.state.status(),
            address: of.address.as_deref(),
            failure_reason: of.failure_reason.as_deref(),
            created_at: of.created_at,
            activated_at: of.activated_at,
            deletion_requested_at: of.deletion_requested_at,
            deleted_at: of.deleted_at,
        }
    }
}

/// Renders a server for its reseller.
pub fn render(server: &OrderedServer) -> Rendered {
    to_raw_value(&ServerView::from(server))
}

view! {
    /// A server in the operator interface.
    pub(crate) OperatedServerView<'a> as "OperatedServer" {
        [flatten] server: ServerView<'a>;
        /// Id of the account.
        account: &'a str [Schema::UUID] = "0199a0c4-5f3e-7c11-8a52-3d1d2f6b7a11";
        /// Reference of the provisioner.
        r#ref: Option<&'a str> = null;
        /// running: the provisioner is at work; unknown: the result is not known, and an operator has to decide.
        command: Option<CommandState> = "unknown";
    }
    example differs { "status": "provisioning", "address": null, "activatedAt": null }
}

/// Renders a server for the operator; `account` is the id of the reseller's account.
pub fn render_for_operator(server: &OrderedServer, account: &str) -> Rendered {
    to_raw_value(&OperatedServerView {
        server: ServerView::from(server),
        account,
        r#ref: server.provider_ref.as_deref(),
        command: server.state.command(),
    })
}
