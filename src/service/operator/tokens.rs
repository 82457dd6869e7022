//! Resellers' tokens in the operator interface: making, listing, revoking them.
//!
//! What does not live here: telling a reseller by the token (`service::reseller`). What always holds: a token's
//! text is answered once, when the token is made, and is neither stored nor logged; a revoked token opens nothing
//! from that moment on.

use crate::domain::apikey;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::render::operator::ResellerToken;
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Json, Member, Scope, Service, keys, reseller};
use crate::store::reseller_tokens::{self, TokenRow};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// The most tokens of an account that work at a time.
const TOKENS_MAX: i64 = 100;

impl Service {
    /// Every reseller token of an account, oldest first.
    pub fn reseller_tokens_of(&self, scope: &Scope) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let all = reseller_tokens::of_account(db, scope.account())?;
            all.iter()
                .map(|token| Ok(to_raw_value(&view(token, None))?))
                .collect()
        })
    }

    /// Makes a reseller token.
    ///
    /// # Errors
    /// `invalid_request` where the account has as many as it may have.
    pub async fn create_reseller_token(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
    ) -> Result<Json, Error> {
        let (account, actor) = (scope.account(), member.actor());
        self.write(move |_, tx| {
            if reseller_tokens::count_in_use(tx, account)? >= TOKENS_MAX {
                let message = format!(
                    "the account has {TOKENS_MAX} reseller tokens that work, which is the most; revoke one first"
                );
                return Err(Refusal::new(Code::InvalidRequest, message).into());
            }
            let text = keys::from_chance(apikey::generate_token)?;
            let id = reseller::keep(tx, account, &text, now)?;
            let (seq, of) = (Some(account), Some(id.as_str()));
            let noted = Entry { action: "reseller_token.create", account: seq, object: of, detail: &json!({}) };
audit_log::record(tx, now, &actor, &noted)?;
            let token = reseller_tokens::by_id(tx, account, &id)?;
            let token = token.ok_or_else(|| Error::Failed(format!("token {id} is missing")))?;
            Ok(to_raw_value(&view(&token, Some(&text)))?)
        })
        .await
    }

    /// Revokes a reseller token of an account.
    ///
    /// # Errors
    /// `not_found` where there is no such token in use.
    pub async fn revoke_reseller_token(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        id: &str,
    ) -> Result<(), Error> {
        let (account, actor, id) = (scope.account(), member.actor(), id.to_owned());
        self.write(move |_, tx| {
            if !reseller_tokens::revoke(tx, account, &id, now)? {
                return Err(Refusal::not_found("reseller token").into());
            }
            let (seq, of) = (Some(account), Some(id.as_str()));
            let noted = Entry {
                action: "reseller_token.revoke",
                account: seq,
                object: of,
                detail: &json!({}),
            };
            audit_log::record(tx, now, &actor, &noted)
        })
        .await
    }
}

/// A token as it is answered, with its text where it was just made.
fn view<'a>(token: &'a TokenRow, text: Option<&'a str>) -> ResellerToken<'a> {
    ResellerToken {
        id: &token.id,
        last4: &token.last4,
        created_at: token.created_at,
        last_used_at: token.last_used_at,
        revoked_at: token.revoked_at,
        token: text,
    }
}
