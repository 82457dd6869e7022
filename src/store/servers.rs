//! The table `servers`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::server::OrderedServer;
use crate::domain::server::order::ServerOrder;
use crate::domain::server::state::{ServerState, ServerStatus};
use crate::domain::time::Time;
use rusqlite::named_params;
use rusqlite::types::FromSqlError;

rows! {
    fn read(
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

    /// The server with this id, whoever's it is.
    pub fn by_id(db, id: &str) -> Option<OrderedServer> = select "from servers where id = :id";

    /// An account's servers, newest first.
    pub fn list(db, account: i64, limit: u32) -> Vec<OrderedServer> =
        select "from servers where account = :account order by seq desc limit :limit";

    LIST_ALL = select "from servers order by seq desc limit :limit";

    LIST_BY_STATUS = select "from servers where status = :status order by seq desc limit :limit";

    /// The oldest order that a provisioner can begin with.
    pub fn next_to_do(db) -> Option<OrderedServer> =
        select "from servers \
            where (status = 'queued' or (status = 'active' and deletion_requested_at is not null)) and ordering is \
            null \
            order by seq limit 1";

    /// The order that a provisioner was started for and has not ended, if there is one.
    pub fn running(db) -> Option<OrderedServer> = select "from servers where ordering = 'running'";
}

values! {
    /// How many servers an account has, or is about to have.
    pub fn held(db, account: i64) -> (count: i64) =
        "select count(*) as count from servers where account = :account and status not in ('failed', 'deleted')";
}

commands! {
    INSERT = "insert into servers (id, account, type, hostname, cpu, ram_mb, disk_gb, status, created_at) \
        values (:id, :account, :type, :hostname, :cpu, :ram_mb, :disk_gb, :status, :created_at)";
    UPDATE = file "sql/servers/update.sql";
}

/// Adds a server; its `seq`.
pub fn insert(tx: &Tx<'_>, server: &OrderedServer) -> Result<i64, StoreError> {
    tx.note(|changes| changes.servers = true);
    let params = named_params! {
        ":id": server.id,
        ":account": server.account,
        ":type": server.order.kind,
        ":hostname": server.order.hostname,
        ":cpu": server.order.cpu,
        ":ram_mb": server.order.ram_mb,
        ":disk_gb": server.order.disk_gb,
        ":status": server.state.status(),
        ":created_at": server.created_at,
    };
    INSERT.insert(tx, params)
}

/// Stores what can change of a server; `before` is where it stood when it was read.
///
/// # Errors
/// [`StoreError::Failed`] where it stands elsewhere by now, which one writer rules out.
pub fn update(tx: &Tx<'_>, server: &OrderedServer, before: ServerState) -> Result<(), StoreError> {
    tx.note(|changes| changes.servers = true);
    let params = named_params! {
        ":seq": server.seq,
        ":status": server.state.status(),
        ":ordering": server.state.command(),
        ":address": server.address,
        ":provider_ref": server.provider_ref,
        ":failure_reason": server.failure_reason,
        ":activated_at": server.activated_at,
        ":deletion_requested_at": server.deletion_requested_at,
        ":deleted_at": server.deleted_at,
        ":status_before": before.status(),
        ":ordering_before": before.command(),
    };
    UPDATE.change_one(tx, params, || {
        format!("server {} was changed meanwhile", server.id)
    })
}

/// Everybody's servers, newest first; only of one status where that is given.
pub fn list_all(
    db: &Reader<'_>,
    status: Option<ServerStatus>,
    limit: u32,
) -> Result<Vec<OrderedServer>, StoreError> {
    match status {
        None => LIST_ALL.all(db, named_params! { ":limit": limit }),
        Some(status) => {
            LIST_BY_STATUS.all(db, named_params! { ":status": status, ":limit": limit })
        }
    }
}
