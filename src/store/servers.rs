//! The table `servers`: servers that resellers have ordered.

use super::statement::statements;
use super::{Reader, StoreError};
use crate::domain::{OrderedServer, ServerOrder, ServerState, ServerStatus, Time};
use rusqlite::types::FromSqlError;

statements! {
    row read(
        seq, id: String, account, kind = "type", hostname, cpu, ram_mb, disk_gb, status, ordering, address, provider_ref,
        failure_reason, created_at, activated_at, deletion_requested_at: Option<Time>, deleted_at,
    ) -> OrderedServer {
        let state = ServerState::from_parts(status, deletion_requested_at.is_some(), ordering);
        let state = state.ok_or_else(|| {
            FromSqlError::Other(format!("server {id} is in a state that no server can be in").into())
        })?;
        let order = ServerOrder { kind, hostname, cpu, ram_mb, disk_gb };
        Ok(OrderedServer {
            seq, id, account, order, state, address, provider_ref, failure_reason, created_at, activated_at,
            deletion_requested_at, deleted_at,
        })
    }

    /// Returns the server with this id, whatever its account.
    pub fn by_id(db, id: &str) -> Option<OrderedServer> = select "from servers where id = :id";

    /// Returns the servers of an account, newest first.
    pub fn list(db, account: i64, limit: u32) -> Vec<OrderedServer> =
        select "from servers where account = :account order by seq desc limit :limit";

    fn list_of_all(db, limit: u32) -> Vec<OrderedServer> = select "from servers order by seq desc limit :limit";

    fn list_of_status(db, status: ServerStatus, limit: u32) -> Vec<OrderedServer> =
        select "from servers where status = :status order by seq desc limit :limit";

    /// Returns the oldest order or removal that a provisioner can start.
    pub fn next_pending_order(db) -> Option<OrderedServer> =
        select "from servers \
            where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) \
            and ordering is null order by seq limit 1";

    /// Returns the order for which a provisioner is running.
    pub fn order_in_progress(db) -> Option<OrderedServer> = select "from servers where ordering = 'running'";

    /// Returns the number of servers that an account has or has ordered, without failed and deleted ones.
    pub fn count_current_servers(db, account: i64) -> (count: i64) =
        "select count(*) as count from servers where account = :account and status not in ('failed', 'deleted')";

    /// Inserts a server and returns its `seq`.
    pub fn insert(tx, server: &OrderedServer) -> i64 =
        "insert into servers (id, account, type, hostname, cpu, ram_mb, disk_gb, status, created_at) \
            values (:id, :account, :kind, :hostname, :cpu, :ram_mb, :disk_gb, :status, :created_at)"
        with {
            id: server.id, account: server.account, kind: server.order.kind, hostname: server.order.hostname,
            cpu: server.order.cpu, ram_mb: server.order.ram_mb, disk_gb: server.order.disk_gb,
            status: server.state.status(), created_at: server.created_at,
        }
        noting { tx.record_change(|changes| changes.servers = true); };

    /// Saves the fields of a server that can change. `before` is the state in which the server was read.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the server is not in the state `before`.
    pub fn update(tx, server: &OrderedServer, before: ServerState) =
        file "sql/servers/update.sql"
        with {
            seq: server.seq, status: server.state.status(), ordering: server.state.command(), address: server.address,
            provider_ref: server.provider_ref, failure_reason: server.failure_reason, activated_at: server.activated_at,
            deletion_requested_at: server.deletion_requested_at, deleted_at: server.deleted_at,
            status_before: before.status(), ordering_before: before.command(),
        }
        else("server {} was changed meanwhile", server.id)
        noting { tx.record_change(|changes| changes.servers = true); };
}

/// Returns the servers of all accounts, newest first. With `status`, only servers of this status.
pub fn list_all(
    db: &Reader<'_>,
    status: Option<ServerStatus>,
    limit: u32,
) -> Result<Vec<OrderedServer>, StoreError> {
    match status {
        None => list_of_all(db, limit),
        Some(status) => list_of_status(db, status, limit),
    }
}
