//! The table `endpoints`: who is told of an account's events.

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

/// The endpoints of an account, oldest first, without removed ones.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<Endpoint>, StoreError> {
    db.all(
        include_str!("../../sql/endpoints/of_account.sql"),
        named_params! { ":account": account },
        read,
    )
}

/// Adds an endpoint; its `seq` and the account come from the file.
pub fn insert(
    tx: &Tx<'_>,
    account: i64,
    endpoint: &Endpoint,
    now: Time,
) -> Result<i64, StoreError> {
    let types = endpoint
        .types
        .as_ref()
        .map(serde_json::to_string)
        .transpose();
    let types = types.map_err(|error| StoreError::Failed(error.to_string()))?;
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

/// Removes every endpoint of an account, and gives up what was still to be sent to them.
pub fn remove_all(tx: &Tx<'_>, account: i64, now: Time) -> Result<(), StoreError> {
    let params = named_params! { ":account": account, ":now": now };
    tx.run(include_str!("../../sql/endpoints/remove_all.sql"), params)?;
    let params = named_params! { ":account": account };
    let give_up = include_str!("../../sql/deliveries/give_up_removed.sql");
    tx.note(|changes| changes.deliveries = true);
    tx.run(give_up, params).map(drop)
}
