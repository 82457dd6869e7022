//! The table `servers`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::server::Server;
use crate::domain::server::order::ServerOrder;
use crate::domain::server::state::{ServerState, ServerStatus};
use crate::domain::time::Time;
use rusqlite::types::FromSqlError;
use rusqlite::{Row, named_params};

/// Reads the columns that every query here has.
fn read(row: &Row<'_>) -> rusqlite::Result<Server> {
    let mut next = Columns::of(row);
    let (seq, id, account) = (next.take()?, next.take()?, next.take()?);
    let order = ServerOrder {
        kind: next.take()?,
        hostname: next.take()?,
        cpu: next.take()?,
        ram_mb: next.take()?,
        disk_gb: next.take()?,
    };
    let (status, command) = (next.take()?, next.take()?);
    let (address, provider_ref, failure_reason) = (next.take()?, next.take()?, next.take()?);
    let (created_at, activated_at) = (next.take()?, next.take()?);
    let deletion_requested_at: Option<Time> = next.take()?;
    let state = ServerState::of(status, deletion_requested_at.is_some(), command);
    let state = state.ok_or_else(|| {
        FromSqlError::Other(format!("server {id} stands where no server can").into())
    })?;
    Ok(Server {
        seq,
        id,
        account,
        order,
        state,
        address,
        provider_ref,
        failure_reason,
        created_at,
        activated_at,
        deletion_requested_at,
        deleted_at: next.take()?,
    })
}

/// Adds a server; its `seq`.
pub fn insert(tx: &Tx<'_>, server: &Server) -> Result<i64, StoreError> {
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
    tx.insert(include_str!("../../sql/servers/insert.sql"), params)
}

/// Stores what can change of a server; `before` is where it stood when it was read.
///
/// # Errors
/// [`StoreError::Failed`] where it stands elsewhere by now, which one writer rules out.
pub fn update(tx: &Tx<'_>, server: &Server, before: ServerState) -> Result<(), StoreError> {
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
    match tx.run(include_str!("../../sql/servers/update.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "server {} was moved meanwhile",
            server.id
        ))),
    }
}

/// The server with this id, whoever's it is.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Server>, StoreError> {
    db.first(
        include_str!("../../sql/servers/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// An account's servers, newest first.
pub fn list(db: &Reader<'_>, account: i64, limit: u32) -> Result<Vec<Server>, StoreError> {
    db.all(
        include_str!("../../sql/servers/list.sql"),
        named_params! { ":account": account, ":limit": limit },
        read,
    )
}

/// Everybody's servers, newest first; only of one status where that is given.
pub fn list_all(
    db: &Reader<'_>,
    status: Option<ServerStatus>,
    limit: u32,
) -> Result<Vec<Server>, StoreError> {
    match status {
        None => db.all(
            include_str!("../../sql/servers/list_all.sql"),
            named_params! { ":limit": limit },
            read,
        ),
        Some(status) => db.all(
            include_str!("../../sql/servers/list_by_status.sql"),
            named_params! { ":status": status, ":limit": limit },
            read,
        ),
    }
}

/// The oldest order that a provisioner can begin with.
pub fn next_to_do(db: &Reader<'_>) -> Result<Option<Server>, StoreError> {
    db.first(include_str!("../../sql/servers/next_to_do.sql"), [], read)
}

/// The order that a provisioner was started for and has not ended, if there is one.
pub fn running(db: &Reader<'_>) -> Result<Option<Server>, StoreError> {
    db.first(include_str!("../../sql/servers/running.sql"), [], read)
}

/// How many servers an account has, or is about to have.
pub fn held(db: &Reader<'_>, account: i64) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/servers/held.sql");
    let found = db.first(sql, named_params! { ":account": account }, |row| row.get(0))?;
    Ok(found.unwrap_or(0))
}
