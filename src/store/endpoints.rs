//! The table `endpoints`: URLs that receive the events of an account.

use super::memo::get_or_read;
use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::text_enum::UnknownText;
use crate::domain::{EventType, Mode, Time, WebhookEndpoint, WebhookFormat};
use rusqlite::named_params;
use rusqlite::types::FromSqlError;

rows! {
    fn read(seq, id, mode, url, secret, format, types, enabled) -> WebhookEndpoint {
        Ok(WebhookEndpoint { seq, id, mode, url, secret, format, types: parse_event_types(types)?, enabled })
    }
    OF_ACCOUNT = select "from endpoints where account = :account and removed_at is null order by seq";
}

values! {
    OLD_SECRET_UNTIL(secret_old_until: Option<Time>) = "select secret_old_until from endpoints where seq = :seq";
}

commands! {
    fn insert_row(tx, account: i64, endpoint: &WebhookEndpoint, types: Option<String>, created_at: Time) -> i64 =
        insert into endpoints {
            id: endpoint.id, account, mode: endpoint.mode, url: endpoint.url, secret: endpoint.secret,
            format: endpoint.format, types, enabled: endpoint.enabled, created_at,
        };

    fn update_row(
        tx, seq: i64, mode: Option<Mode>, url: &str, format: WebhookFormat, types: Option<String>, enabled: bool
    ) =
        "update endpoints set mode = :mode, url = :url, format = :format, types = :types, enabled = :enabled \
            where seq = :seq and removed_at is null";

    ROLL_SECRET = "update endpoints set secret_old = secret, secret_old_until = :until, secret = :secret \
        where seq = :seq and removed_at is null";

    REMOVE = "update endpoints set removed_at = :now where account = :account and id = :id and removed_at is null";

    REMOVE_ALL = "update endpoints set removed_at = :now where account = :account and removed_at is null";

    fn mark_deliveries_failed(tx, account: i64) =
        "update deliveries set state = 'failed', next_attempt_at = null \
            where state = 'pending' \
            and endpoint in (select seq from endpoints where account = :account and removed_at is not null)";

    FORGET_OLD_SECRETS = "update endpoints set secret_old = null, secret_old_until = null where secret_old_until <= :now";
}

fn parse_event_types(text: Option<String>) -> rusqlite::Result<Option<Vec<EventType>>> {
    let Some(text) = text else { return Ok(None) };
    let names: Vec<String> =
        serde_json::from_str(&text).map_err(|error| FromSqlError::Other(error.into()))?;
    let types = names.iter().map(|name| name.parse());
    let types: Result<_, UnknownText> = types.collect();
    Ok(Some(types.map_err(|error| FromSqlError::Other(error.into()))?))
}

/// Returns the event types of an endpoint as a JSON array; `None` for all types.
fn event_types_to_json(endpoint: &WebhookEndpoint) -> Result<Option<String>, StoreError> {
    let types = endpoint.types.as_ref().map(serde_json::to_string);
    types.transpose().map_err(|error| StoreError::Failed(error.to_string()))
}

/// Returns the endpoints of an account that were not removed, oldest first.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<WebhookEndpoint>, StoreError> {
    get_or_read(db.memo.map(|memo| &memo.endpoints), account, || {
        OF_ACCOUNT.all(db, named_params! { ":account": account })
    })
}

/// Inserts an endpoint and returns its `seq`.
pub fn insert(
    tx: &Tx<'_>,
    account: i64,
    endpoint: &WebhookEndpoint,
    now: Time,
) -> Result<i64, StoreError> {
    tx.note_account_change();
    insert_row(tx, account, endpoint, event_types_to_json(endpoint)?, now)
}

/// Saves the fields of an endpoint that can change, except its secret.
pub fn update(tx: &Tx<'_>, endpoint: &WebhookEndpoint) -> Result<(), StoreError> {
    tx.note_account_change();
    let types = event_types_to_json(endpoint)?;
    // A new field is named here, or the compiler reports it.
    let WebhookEndpoint { seq, id: _, mode, url, secret: _, format, types: _, enabled } = endpoint;
    update_row(tx, *seq, *mode, url, *format, types, *enabled)
}

/// Replaces the secret of an endpoint. The previous secret is also used for signing until the time `until`.
pub fn roll_secret(tx: &Tx<'_>, seq: i64, secret: &str, until: Time) -> Result<(), StoreError> {
    tx.note_account_change();
    let params = named_params! { ":seq": seq, ":secret": secret, ":until": until };
    ROLL_SECRET.run(tx, params)
}

/// Removes an endpoint of an account, and marks its pending deliveries as failed.
pub fn remove(tx: &Tx<'_>, account: i64, id: &str, now: Time) -> Result<(), StoreError> {
    tx.note_account_change();
    let params = named_params! { ":account": account, ":id": id, ":now": now };
    REMOVE.run(tx, params)?;
    fail_orphaned_deliveries(tx, account)
}

/// Removes every endpoint of an account, and marks their pending deliveries as failed.
pub fn remove_all(tx: &Tx<'_>, account: i64, now: Time) -> Result<(), StoreError> {
    tx.note_account_change();
    REMOVE_ALL.run(tx, named_params! { ":account": account, ":now": now })?;
    fail_orphaned_deliveries(tx, account)
}

/// Marks pending deliveries to removed endpoints of an account as failed.
fn fail_orphaned_deliveries(tx: &Tx<'_>, account: i64) -> Result<(), StoreError> {
    tx.record_change(|changes| changes.deliveries = true);
    mark_deliveries_failed(tx, account)
}

/// Returns the time until which the previous secret is also used for signing. The time may be in the past. `None` if
/// the secret was never replaced.
pub fn old_secret_until(db: &Reader<'_>, seq: i64) -> Result<Option<Time>, StoreError> {
    let found = OLD_SECRET_UNTIL.first(db, named_params! { ":seq": seq })?;
    Ok(found.flatten())
}

/// Deletes the previous secrets that are no longer used for signing.
pub fn delete_old_secrets(tx: &Tx<'_>, now: Time) -> Result<(), StoreError> {
    tx.note_account_change();
    FORGET_OLD_SECRETS.run(tx, named_params! { ":now": now })
}
