//! The table `endpoints`: URLs that receive the events of an account.

use super::memo::get_or_read;
use super::statement::statements;
use super::{Reader, StoreError, Tx};
use crate::domain::text_enum::UnknownText;
use crate::domain::{EventType, Mode, Time, WebhookEndpoint, WebhookFormat};
use rusqlite::types::FromSqlError;

statements! {
    row read(seq, id, mode, url, secret, format, types, enabled) -> WebhookEndpoint {
        Ok(WebhookEndpoint { seq, id, mode, url, secret, format, types: parse_event_types(types)?, enabled })
    }

    fn read_of_account(db, account: i64) -> Vec<WebhookEndpoint> =
        select "from endpoints where account = :account and removed_at is null order by seq";

    /// Returns the time until which the previous secret is also used for signing. The time may be in the past. `None` if
    /// the secret was never replaced.
    pub fn old_secret_until(db, seq: i64) -> Option<(secret_old_until: Time)> =
        "select secret_old_until from endpoints where seq = :seq and secret_old_until is not null";

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

    /// Replaces the secret of an endpoint. The previous secret is also used for signing until the time `until`.
    pub fn roll_secret(tx, seq: i64, secret: &str, until: Time) =
        "update endpoints set secret_old = secret, secret_old_until = :until, secret = :secret \
            where seq = :seq and removed_at is null"
        noting { tx.note_account_change(); };

    fn mark_removed(tx, account: i64, id: &str, now: Time) =
        "update endpoints set removed_at = :now where account = :account and id = :id and removed_at is null"
        noting { tx.note_account_change(); };

    fn mark_all_removed(tx, account: i64, now: Time) =
        "update endpoints set removed_at = :now where account = :account and removed_at is null"
        noting { tx.note_account_change(); };

    /// Marks pending deliveries to removed endpoints of an account as failed.
    fn fail_orphaned_deliveries(tx, account: i64) =
        "update deliveries set state = 'failed', next_attempt_at = null \
            where state = 'pending' \
            and endpoint in (select seq from endpoints where account = :account and removed_at is not null)"
        noting { tx.record_change(|changes| changes.deliveries = true); };

    /// Deletes the previous secrets that are no longer used for signing.
    pub fn delete_old_secrets(tx, now: Time) =
        "update endpoints set secret_old = null, secret_old_until = null where secret_old_until <= :now"
        noting { tx.note_account_change(); };
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
    get_or_read(db.memo.map(|memo| &memo.endpoints), account, || read_of_account(db, account))
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

/// Removes an endpoint of an account, and marks its pending deliveries as failed.
pub fn remove(tx: &Tx<'_>, account: i64, id: &str, now: Time) -> Result<(), StoreError> {
    mark_removed(tx, account, id, now)?;
    fail_orphaned_deliveries(tx, account)
}

/// Removes every endpoint of an account, and marks their pending deliveries as failed.
pub fn remove_all(tx: &Tx<'_>, account: i64, now: Time) -> Result<(), StoreError> {
    mark_all_removed(tx, account, now)?;
    fail_orphaned_deliveries(tx, account)
}
