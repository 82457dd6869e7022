//! Accounts in the operator interface: making, reading, changing and deciding on them, and their payout addresses.
//!
//! What does not live here: the fields of a change (`account_settings`) and the states (`domain::account`). What
//! always holds: only operators change an account's terms, and every change is in the audit log.

use super::account_settings::{SETTINGS, TERMS, change_settings, change_terms};
use crate::domain::account::{Account, AccountStatus};
use crate::domain::asset::{Chain, Mode};
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::render;
use crate::domain::render::operator::PayoutAddress;
use crate::domain::time::Time;
use crate::service::audit_log::{self, Entry};
use crate::service::payouts::COOLING_MS;
use crate::service::{Error, Json, Member, Scope, Service, accounts as rules};
use crate::store::{Reader, accounts, payout_addresses};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Service {
    /// Every account, oldest first.
    pub fn all_accounts(&self) -> Result<Vec<Json>, Error> {
        self.read(|db| {
            let all = accounts::all(db)?;
            all.iter().map(|account| shown(db, account)).collect()
        })
    }

    /// One account.
    pub fn account_in_full(&self, scope: &Scope) -> Result<Json, Error> {
        self.read(|db| shown(db, &accounts::by_seq(db, scope.account())?))
    }

    /// Makes an account, pending.
    ///
    /// # Errors
    /// `invalid_request`.
    pub async fn create_account(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let actor = member.actor();
        self.write(move |_, tx| {
            let fields = Fields::of(&body);
            fields.only(&["name"])?;
            let name = fields
                .text("name", 1..=200)?
                .ok_or_else(|| Refusal::field("name", "must be given"))?;
            let account = rules::create(tx, name, now)?;
            let detail = json!({ "name": name });
            let noted = Entry {
                action: "account.create",
                account: Some(account.seq),
                object: Some(&account.id),
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)?;
            shown(tx, &account)
        })
        .await
    }

    /// Changes an account's settings, and its terms where an operator does it; all of them or none.
    ///
    /// # Errors
    /// `invalid_request` that names the first that is wrong, `forbidden` for terms that a merchant sends.
    pub async fn change_account(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (scope, actor, is_operator) = (*scope, member.actor(), member.is_operator());
        self.write(move |_, tx| {
            let fields = Fields::of(&body);
            fields.only(&[&SETTINGS[..], &TERMS[..]].concat())?;
            let own_terms = TERMS.into_iter().find(|name| fields.names(name));
            if let (Some(name), false) = (own_terms, is_operator) {
                let message = format!("{name} is changed by operators only");
                return Err(Refusal::of(Code::Forbidden, name, message).into());
            }
            let mut account = accounts::by_seq(tx, scope.account())?;
            change_settings(&mut account, &fields)?;
            change_terms(&mut account, &fields)?;
            accounts::update(tx, &account)?;
            let noted = Entry {
                action: "account.change",
                account: Some(account.seq),
                object: Some(&account.id),
                detail: &json!(body),
            };
            audit_log::record(tx, now, &actor, &noted)?;
            shown(tx, &account)
        })
        .await
    }

    /// Approves, rejects, suspends or reactivates an account.
    ///
    /// # Errors
    /// `invalid_request`, `invalid_transition`.
    pub async fn decide_on_account(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (scope, actor) = (*scope, member.actor());
        self.write(move |_, tx| {
            let fields = Fields::of(&body);
            fields.only(&["status"])?;
            let status = fields
                .choice::<AccountStatus>("status")?
                .ok_or_else(|| Refusal::field("status", "must be given"))?;
            let mut account = accounts::by_seq(tx, scope.account())?;
            rules::decide(tx, &actor, &mut account, status, now)?;
            shown(tx, &account)
        })
        .await
    }

    /// Sets where payouts on a chain go; its cooling starts, unless it is the address that is set already.
    ///
    /// # Errors
    /// `not_found` for a chain that is none, `invalid_request`.
    pub async fn set_payout_address(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        chain: &str,
        body: Map<String, Value>,
    ) -> Result<Json, Error> {
        let (scope, actor, chain) = (*scope, member.actor(), chain_of(chain)?);
        self.derive_upcoming()?;
        self.write(move |service, tx| {
            let fields = Fields::of(&body);
            fields.only(&["address"])?;
            let text = fields
                .text("address", 1..=128)?
                .ok_or_else(|| Refusal::field("address", "must be given"))?;
            let address = service.outside_destination(tx, Mode::Live, chain, text)?;
            let address = address.map_err(|problem| Refusal::field("address", problem))?;
            let account = accounts::by_seq(tx, scope.account())?;
            let existing = payout_addresses::get(tx, account.seq, chain)?;
            if existing.as_ref().is_none_or(|(old, _)| *old != address) {
                payout_addresses::put(tx, account.seq, chain, &address, now)?;
                let before = existing.map(|(old, _)| old);
                let detail = json!({ "chain": chain, "address": address, "before": before });
                let noted = Entry {
                    action: "payout_address.set",
                    account: Some(account.seq),
                    object: Some(&account.id),
                    detail: &detail,
                };
                audit_log::record(tx, now, &actor, &noted)?;
            }
            shown(tx, &account)
        })
        .await
    }

    /// Forgets where payouts on a chain go.
    ///
    /// # Errors
    /// `not_found` where no address is set.
    pub async fn remove_payout_address(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        member: &Member,
        chain: &str,
    ) -> Result<(), Error> {
        let (scope, actor, chain) = (*scope, member.actor(), chain_of(chain)?);
        self.write(move |_, tx| {
            let account = accounts::by_seq(tx, scope.account())?;
            let existing = payout_addresses::get(tx, account.seq, chain)?;
            let (before, _) = existing.ok_or_else(|| Refusal::not_found("payout address"))?;
            payout_addresses::remove(tx, account.seq, chain)?;
            let detail = json!({ "chain": chain, "before": before });
            let noted = Entry {
                action: "payout_address.remove",
                account: Some(account.seq),
                object: Some(&account.id),
                detail: &detail,
            };
            audit_log::record(tx, now, &actor, &noted)
        })
        .await
    }
}

/// The chain of a path.
fn chain_of(text: &str) -> Result<Chain, Refusal> {
    text.parse().map_err(|_| Refusal::not_found("chain"))
}

/// An account as the operator interface answers it.
fn shown(db: &Reader<'_>, account: &Account) -> Result<Json, Error> {
    let mut addresses = Vec::new();
    for chain in Chain::ALL {
        if let Some((address, at)) = payout_addresses::get(db, account.seq, *chain)? {
            addresses.push(PayoutAddress {
                chain: *chain,
                address,
                changed_at: at,
                usable_at: at.plus_ms(COOLING_MS),
            });
        }
    }
    Ok(render::operator::account(account, &addresses)?)
}
