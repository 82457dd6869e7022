//! Reads an account, its balances and its ledger, and changes its status.

use super::events::{EventSubject, record_event};
use super::page::{self, Page};
use super::{Error, Json, Scope, Service, audit_log, new_secret};
use crate::domain::fields::check_one_line;
use crate::domain::{
    Account, AccountStatus, Balance, Currency, Mode, Refusal, Time, WebhookEndpoint, id,
};
use crate::render;
use crate::store::{PageBounds, Reader, Tx, accounts, balances, endpoints, ledger, payments};
use serde_json::json;

/// Query for one page of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerQuery {
    /// Id of an entry: only older entries are returned.
    pub before: Option<String>,
    /// Currency of the entries. `None` for all currencies.
    pub currency: Option<Currency>,
    /// Maximum number of entries.
    pub limit: u32,
}

impl Service {
    /// Returns the id of an account, which must exist.
    pub fn account_id(&self, seq: i64) -> Result<String, Error> {
        self.read(|db| Ok(accounts::by_seq(db, seq)?.id))
    }

    /// Returns the account as JSON, in the mode of the key.
    pub fn account_json(&self, scope: &Scope) -> Result<Json, Error> {
        self.read_snapshot(|db| {
            let account = accounts::by_seq(db, scope.account())?;
            let endpoints = endpoints::of_account(db, account.seq)?;
            let balances = account_balances(db, &account, scope.mode())?;
            Ok(render::merchant(
                &account,
                scope.mode(),
                first_webhook_url(&endpoints, scope.mode()),
                &balances,
            )?)
        })
    }

    /// Returns one balance for each currency, in the mode of the key.
    pub fn balances(&self, scope: &Scope) -> Result<Vec<Json>, Error> {
        self.read_snapshot(|db| {
            let account = accounts::by_seq(db, scope.account())?;
            let balances = account_balances(db, &account, scope.mode())?;
            balances.iter().map(|balance| Ok(render::balance(balance)?)).collect()
        })
    }

    /// Returns a page of the ledger, newest entry first.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is not the id of an entry of the caller.
    pub fn ledger(&self, scope: &Scope, wanted: &LedgerQuery) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            let seq = |id: &str| ledger::seq_by_id(db, account, mode, id);
            let before = page::find_page_start(wanted.before.as_deref(), seq)?;
            let page = PageBounds::with_one_more_row(before, wanted.limit);
            let entries = ledger::page(db, account, mode, wanted.currency, page)?;
            let rendered = entries
                .into_iter()
                .map(|entry| Ok((entry.id.clone(), render::ledger_entry(&entry, mode)?)));
            Page::from_entries(rendered, wanted.limit)
        })
    }
}

/// Returns a balance for each currency, including zero balances. Each balance contains its pending amount.
pub(super) fn account_balances(
    db: &Reader<'_>,
    account: &Account,
    mode: Mode,
) -> Result<Vec<Balance>, Error> {
    let booked = balances::of_account(db, account.seq, mode)?;
    let pending = payments::pending_values(db, account.seq, mode)?;
    let balance = |currency: &Currency| {
        let of_currency = booked.iter().find(|balance| balance.currency == *currency);
        let mut balance = of_currency.copied().unwrap_or(Balance::empty(*currency));
        for (_, value) in pending.iter().filter(|(other, _)| other == currency) {
            balance.pending = balance.pending.plus(value.minus_fee(account.fee)?);
        }
        Ok(balance)
    };
    Currency::ALL.iter().map(balance).collect()
}

/// Returns the value of the field `webhookUrl` of an account: the URL of the first enabled endpoint in this mode.
fn first_webhook_url(endpoints: &[WebhookEndpoint], mode: Mode) -> Option<&str> {
    let of_mode = |endpoint: &&WebhookEndpoint| {
        endpoint.enabled && endpoint.mode.is_none_or(|wanted| wanted == mode)
    };
    endpoints.iter().find(of_mode).map(|endpoint| endpoint.url.as_str())
}

/// Creates an account with the status pending.
///
/// # Errors
///
/// `invalid_request` for a name that is empty or longer than 200 characters.
pub fn create(tx: &Tx<'_>, name: &str, now: Time) -> Result<Account, Error> {
    if !(1..=200).contains(&name.chars().count()) {
        return Err(Refusal::field("name", "must have 1 to 200 characters").into());
    }
    check_one_line("name", name)?;
    let mut account =
        Account::new(id::new(now).to_string(), name.to_owned(), new_secret("legacy_")?, now);
    account.seq = accounts::insert(tx, &account)?;
    Ok(account)
}

/// Returns the account with this id.
///
/// # Errors
///
/// `not_found`.
pub fn find(db: &Reader<'_>, id: &str) -> Result<Account, Error> {
    accounts::by_id(db, id)?.ok_or_else(|| Refusal::not_found("account").into())
}

/// Returns every account, oldest first.
pub fn list(db: &Reader<'_>) -> Result<Vec<Account>, Error> {
    Ok(accounts::all(db)?)
}

/// Changes the status of an account, records the event, and writes an entry to the audit log.
///
/// # Errors
///
/// `invalid_transition` if the status does not allow the change.
pub fn change_status(
    tx: &Tx<'_>,
    actor: &str,
    account: &mut Account,
    status: AccountStatus,
    now: Time,
) -> Result<(), Error> {
    account.status.check_can_become(status)?;
    let before = std::mem::replace(&mut account.status, status);
    save(tx, account, before, now)?;
    let action = match (before, status) {
        (_, AccountStatus::Rejected) => "account.reject",
        (_, AccountStatus::Suspended) => "account.suspend",
        (AccountStatus::Suspended, _) => "account.reactivate",
        (_, AccountStatus::Active | AccountStatus::Pending) => "account.approve",
    };
    let detail = json!({ "from": before, "to": status });
    audit_log::record(tx, now, actor, action, Some(account.seq), Some(&account.id), &detail)
}

/// Sets the maximum number of servers of an account, and writes an entry to the audit log.
pub fn set_server_quota(
    tx: &Tx<'_>,
    actor: &str,
    account: &mut Account,
    quota: i64,
    now: Time,
) -> Result<(), Error> {
    account.server_quota = quota;
    accounts::update(tx, account)?;
    let detail = json!({ "serverQuota": quota });
    let (seq, id) = (Some(account.seq), Some(account.id.as_str()));
    audit_log::record(tx, now, actor, "account.change", seq, id, &detail)
}

/// Saves an account whose previous status was `before`. Records an event if the account became active or suspended.
pub fn save(tx: &Tx<'_>, account: &Account, before: AccountStatus, now: Time) -> Result<(), Error> {
    accounts::update(tx, account)?;
    let Some(kind) = account.status.event_of_change_from(before) else {
        return Ok(());
    };
    let endpoints = endpoints::of_account(tx, account.seq)?;
    let balances = account_balances(tx, account, Mode::Live)?;
    let object = render::account_event(
        account,
        Mode::Live,
        first_webhook_url(&endpoints, Mode::Live),
        &balances,
    )?;
    let subject = EventSubject {
        account: account.seq,
        mode: Mode::Live,
        id: &account.id,
        object: &object,
        own_url: None,
        status_before: None,
        invoice: None,
    };
    record_event(tx, now, kind, &subject)
}
