//! The table `endpoints`: who is told of an account's events.

use super::memo::recall;
use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::account::Endpoint;
use crate::domain::event::EventType;
use crate::domain::time::Time;
use rusqlite::types::Type;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<Endpoint> {
    let mut next = Columns::of(row);
    Ok(Endpoint {
        seq: next.take()?,
        id: next.take()?,
        mode: next.take()?,
        url: next.take()?,
        secret: next.take()?,
        format: next.take()?,
        types: types(next.take()?)?,
        enabled: next.take()?,
    })
}

/// The JSON array of event types in a column.
fn types(text: Option<String>) -> rusqlite::Result<Option<Vec<EventType>>> {
    let Some(text) = text else { return Ok(None) };
    let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(6, Type::Text, error)
    };
    let names: Vec<String> =
        serde_json::from_str(&text).map_err(|error| unreadable(error.into()))?;
    names
        .iter()
        .map(|name| {
            name.parse()
                .map_err(|error: crate::domain::text_enum::UnknownText| unreadable(error.into()))
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The types as they stand in the column.
fn types_text(endpoint: &Endpoint) -> Result<Option<String>, StoreError> {
    let types = endpoint.types.as_ref().map(serde_json::to_string);
    types
        .transpose()
        .map_err(|error| StoreError::Failed(error.to_string()))
}

/// The endpoints of an account, oldest first, without removed ones.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<Endpoint>, StoreError> {
    recall(db.memo.map(|memo| &memo.endpoints), account, || {
        db.all(
            include_str!("../../sql/endpoints/of_account.sql"),
            named_params! { ":account": account },
            read,
        )
    })
}

/// Adds an endpoint; its `seq` and the account come from the file.
pub fn insert(
    tx: &Tx<'_>,
    account: i64,
    endpoint: &Endpoint,
    now: Time,
) -> Result<i64, StoreError> {
    tx.changes_accounts();
    let types = types_text(endpoint)?;
    let params = named_params! {
        ":id": endpoint.id,
        ":account": account,
        ":mode": endpoint.mode,
        ":url": endpoint.url,
        ":secret": endpoint.secret,
        ":format": endpoint.format,
        ":types": types,
        ":enabled": endpoint.enabled,
        ":created_at": now,
    };
    tx.insert(include_str!("../../sql/endpoints/insert.sql"), params)
}

/// Saves what can change of an endpoint, but for its secret.
pub fn update(tx: &Tx<'_>, endpoint: &Endpoint) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! {
        ":seq": endpoint.seq,
        ":mode": endpoint.mode,
        ":url": endpoint.url,
        ":format": endpoint.format,
        ":types": types_text(endpoint)?,
        ":enabled": endpoint.enabled,
    };
    tx.run(include_str!("../../sql/endpoints/update.sql"), params)
        .map(drop)
}

/// Gives an endpoint a new secret; the one before signs beside it until then.
pub fn roll_secret(tx: &Tx<'_>, seq: i64, secret: &str, until: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! { ":seq": seq, ":secret": secret, ":until": until };
    tx.run(include_str!("../../sql/endpoints/roll_secret.sql"), params)
        .map(drop)
}

/// Removes an endpoint of an account, and gives up what was still to be sent to it.
pub fn remove(tx: &Tx<'_>, account: i64, id: &str, now: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! { ":account": account, ":id": id, ":now": now };
    tx.run(include_str!("../../sql/endpoints/remove.sql"), params)?;
    give_up_removed(tx, account)
}

/// Removes every endpoint of an account, and gives up what was still to be sent to them.
pub fn remove_all(tx: &Tx<'_>, account: i64, now: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! { ":account": account, ":now": now };
    tx.run(include_str!("../../sql/endpoints/remove_all.sql"), params)?;
    give_up_removed(tx, account)
}

/// Gives up what is still to be sent to endpoints that are gone.
fn give_up_removed(tx: &Tx<'_>, account: i64) -> Result<(), StoreError> {
    let params = named_params! { ":account": account };
    let give_up = include_str!("../../sql/deliveries/give_up_removed.sql");
    tx.note(|changes| changes.deliveries = true);
    tx.run(give_up, params).map(drop)
}

/// Until when the secret before the present one signs, or signed; nothing where it was never rolled.
pub fn old_secret_until(db: &Reader<'_>, seq: i64) -> Result<Option<Time>, StoreError> {
    let read = include_str!("../../sql/endpoints/old_secret_until.sql");
    let found = db.first(read, named_params! { ":seq": seq }, |row| row.get(0))?;
    Ok(found.flatten())
}

/// Forgets the rolled secrets whose time is up.
pub fn forget_old_secrets(tx: &Tx<'_>, now: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    let forget = include_str!("../../sql/endpoints/forget_old_secrets.sql");
    tx.run(forget, named_params! { ":now": now }).map(drop)
}
