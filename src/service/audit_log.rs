//! The audit log: records who did what, and pages through it.
//!
//! What does not live here: what is worth an entry, which each use case decides in its own transaction. What always
//! holds: a merchant's user reads what concerns its own account, and no more.

use super::events::{Page, unknown_before};
use super::{Error, Json, Member, Service};
use crate::domain::history::LogHead;
use crate::domain::id;
use crate::domain::refusal::Refusal;
use crate::domain::render::settings::AuditLogEntryView;
use crate::domain::time::Time;
use crate::store::{PageBounds, Tx, accounts, audit_log, history};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A page of the audit log.
pub struct AuditLogQuery {
    /// Only what concerns the account with this id.
    pub account: Option<String>,
    /// Only what was done before the entry with this id.
    pub before: Option<String>,
    /// How many at most.
    pub limit: u32,
}

/// What was done.
pub struct Entry<'a> {
    /// Such as `account.create`.
    pub action: &'a str,
    /// The account that it concerns, where it is one's.
    pub account: Option<i64>,
    /// The id of what it was done to.
    pub object: Option<&'a str>,
    /// A JSON object without secrets.
    pub detail: &'a Value,
}

/// Records who did what, in the transaction that does it. `actor` is the email of who is signed in, or what else acted.
pub fn record(tx: &Tx<'_>, now: Time, actor: &str, entry: &Entry<'_>) -> Result<(), Error> {
    let entry = audit_log::NewEntry {
        actor,
        action: entry.action,
        account: entry.account,
        object_id: entry.object,
        detail: &entry.detail.to_string(),
    };
    Ok(audit_log::insert(tx, &entry, now)?)
}

impl Service {
    /// The head of each log that is chained.
    pub fn heads(&self) -> Result<Vec<LogHead>, Error> {
        self.read(|db| Ok(history::heads(db)?))
    }

    /// A page of the audit log, newest first.
    ///
    /// # Errors
    /// `not_found` for an account that is not there or not the member's; `invalid_request` where `before` is no entry's
    /// id.
    pub fn audit_log(&self, member: &Member, query: &AuditLogQuery) -> Result<Page, Error> {
        let own = member.user().account;
        self.read(|db| {
            let account = match &query.account {
                None => own,
                Some(text) => {
                    let id = id::parse(text);
                    let found = id.map(|id| accounts::by_id(db, &id)).transpose()?.flatten();
                    let mine = |seq: &i64| member.is_operator() || own == Some(*seq);
                    let seq = found.map(|account| account.seq).filter(mine);
                    Some(seq.ok_or_else(|| Refusal::not_found("account"))?)
                }
            };
            let before = query.before.as_ref().map(|text| text.parse());
            let before = before.transpose().map_err(|_| unknown_before())?;
            let page = PageBounds::with_one_more(before, query.limit);
            let found = audit_log::page(db, account, page)?;
            let rendered = found.iter().map(shown);
            Ok(Page::cut(
                rendered.collect::<Result<_, Error>>()?,
                query.limit,
            ))
        })
    }
}

/// An entry as it is answered, and its id.
fn shown(entry: &audit_log::Entry) -> Result<(String, Json), Error> {
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
