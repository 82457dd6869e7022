//! The audit log: records actions with their actor, and returns pages of entries.
//!
//! Each use case decides in its own transaction which actions to record.
//!
//! Invariant: a user of a merchant reads only entries about the user's own account.

use super::page::{Page, unknown_cursor_error};
use super::{Error, Json, Service};
use crate::domain::{LogHead, Refusal, Role, Time, User, id};
use crate::render::settings::AuditLogEntryView;
use crate::store::{PageBounds, Tx, accounts, audit_log, history};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// Query for one page of the audit log.
pub struct AuditLogQuery {
    /// Id of the account of the entries. `None` for all accounts.
    pub account: Option<String>,
    /// Id of an entry: only older entries are returned.
    pub before: Option<String>,
    /// Maximum number of entries.
    pub limit: u32,
}

/// Records an action in the transaction that performs it.
///
/// `actor` is the email of the signed-in user, or the name of the component that acted. `action` is a name like
/// `account.create`. `account` is the account that the action concerns, and `object` the id of the changed object.
/// `detail` is a JSON object without secrets.
pub fn record(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    action: &str,
    account: Option<i64>,
    object: Option<&str>,
    detail: &Value,
) -> Result<(), Error> {
    let detail = &detail.to_string();
    let entry = audit_log::NewAuditEntry { actor, action, account, object_id: object, detail };
    Ok(audit_log::insert(tx, &entry, now)?)
}

pub(super) fn record_user_change(
    tx: &Tx<'_>,
    actor: &str,
    action: &str,
    user: &User,
    now: Time,
) -> Result<(), Error> {
    let detail = json!({ "email": user.email, "role": user.role });
    record(tx, now, actor, action, user.account, Some(&user.id), &detail)
}

impl Service {
    /// Returns the newest hash-chain links of the ledger and the audit log.
    pub fn log_heads(&self) -> Result<Vec<LogHead>, Error> {
        self.read(|db| Ok(history::log_heads(db)?))
    }

    /// Returns a page of the audit log, newest entry first.
    ///
    /// # Errors
    ///
    /// `not_found` if the account does not exist or is not the reader's. `invalid_request` if `before` is not the id
    /// of an entry.
    pub fn audit_log(&self, reader: &User, query: &AuditLogQuery) -> Result<Page, Error> {
        let own = reader.account;
        let is_operator = reader.role == Role::Operator;
        self.read(|db| {
            let account = match &query.account {
                None => own,
                Some(text) => {
                    let id = id::parse(text);
                    let found = id.map(|id| accounts::by_id(db, &id)).transpose()?.flatten();
                    let mine = |seq: &i64| is_operator || own == Some(*seq);
                    let seq = found.map(|account| account.seq).filter(mine);
                    Some(seq.ok_or_else(|| Refusal::not_found("account"))?)
                }
            };
            let before = query.before.as_ref().map(|text| text.parse());
            let before = before.transpose().map_err(|_| unknown_cursor_error())?;
            let page = PageBounds::with_one_more_row(before, query.limit);
            let found = audit_log::page(db, account, page)?;
            let rendered = found.iter().map(render_entry);
            Page::from_entries(rendered, query.limit)
        })
    }
}

/// Returns the id of an entry, and the entry as JSON.
fn render_entry(entry: &audit_log::AuditEntry) -> Result<(String, Json), Error> {
    let id = entry.seq.to_string();
    let detail: Box<RawValue> = RawValue::from_string(entry.detail.clone())?;
    let answer = to_raw_value(&AuditLogEntryView {
        id: &id,
        at: entry.at,
        actor: &entry.actor,
        action: &entry.action,
        account: entry.account.as_deref(),
        object_id: entry.object_id.as_deref(),
        detail: &detail,
    })?;
    Ok((id, answer))
}
