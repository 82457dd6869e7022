//! Renders servers that resellers order.

use super::Rendered;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{CommandState, OrderedServer, ServerStatus, ServerType, Time};
use serde_json::value::to_raw_value;

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
pub fn server(server: &OrderedServer) -> Rendered {
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
pub fn server_for_operator(server: &OrderedServer, account: &str) -> Rendered {
    to_raw_value(&OperatedServerView {
        server: ServerView::from(server),
        account,
        r#ref: server.provider_ref.as_deref(),
        command: server.state.command(),
    })
}
