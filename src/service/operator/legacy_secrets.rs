//! The account's legacy secret, which signs deliveries to an invoice's own webhookUrl: showing and rolling it.
//!
//! What always holds: each showing is in the audit log, and for a day after a roll both the old and the new secret
//! sign.

use crate::domain::render::operator::Secret;
use crate::domain::time::{DAY_MS, Time};
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, Member, Scope, Service, new_secret};
use crate::store::{Tx, accounts};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// How long a secret that was rolled signs beside the new one.
pub(in crate::service) const BOTH_SIGN_MS: i64 = DAY_MS;

impl Service {
    /// Shows the legacy secret, and notes to whom.
    pub async fn show_legacy_secret(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
    ) -> Result<Json, Error> {
        let (account, actor) = (scope.account(), member.actor());
        self.write(move |_, tx| shown(tx, &actor, "legacy_secret.show", account, now))
            .await
    }

    /// Makes a new legacy secret; for a day the old one signs too.
    ///
    /// # Errors
    /// [`Error::Failed`] where there is no randomness or the file fails.
    pub async fn roll_legacy_secret(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
    ) -> Result<Json, Error> {
        let (account, actor) = (scope.account(), member.actor());
        self.write(move |_, tx| {
            let secret = new_secret("legacy_")?;
            accounts::roll_legacy_secret(tx, account, &secret, now.plus_ms(BOTH_SIGN_MS))?;
            shown(tx, &actor, "legacy_secret.roll", account, now)
        })
        .await
    }
}

/// The secret as it is answered, after noting why.
fn shown(tx: &Tx<'_>, actor: &str, action: &str, account: i64, now: Time) -> Result<Json, Error> {
    let account = accounts::by_seq(tx, account)?;
    let until = accounts::old_secret_until(tx, account.seq)?;
    let (seq, id) = (Some(account.seq), Some(account.id.as_str()));
    let noted = Entry {
        action,
        account: seq,
        object: id,
        detail: &json!({}),
    };
    audit_log::record(tx, now, actor, &noted)?;
    Ok(to_raw_value(&Secret {
        secret: &account.legacy_secret,
        previous_until: until.filter(|until| now < *until),
    })?)
}
