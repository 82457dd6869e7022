//! The sandbox: its initial data, the settings of its account, and its state.
//!
//! `payments` simulates payments.
//!
//! Invariant: this module changes only files that a sandbox created.

pub mod chains;
pub mod controls;
mod key_owner;
pub mod payments;
pub mod snapshots;
mod target;

pub use crate::domain::published_keys::{
    ENDPOINT_SECRET, LEGACY, LEGACY_SECRET, PUBLIC_LIVE, PUBLIC_TEST, RESELLER_TOKEN, SECRET_LIVE,
    SECRET_TEST, is_public_credential, is_sandbox_key,
};

use super::users::members;
use super::{Error, Json, Service, Step, accounts as account_rules, keys, mail, reseller};
use crate::domain::account::sandbox::{SandboxAccount, SandboxEndpoint};
use crate::domain::fields::Fields;
use crate::domain::signature::has_signing_key;
use crate::domain::time::DAY_MS;
use crate::domain::{
    Account, AccountStatus, KeyClass, Mode, Refusal, Role, Time, WebhookEndpoint, address, id,
};
use crate::render::sandbox as render;
use crate::store::{Reader, Tx, accounts, endpoints, file, payout_addresses};
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// Email of the operator who can sign in with the password `sandbox`.
pub const OPERATOR: &str = "operator@sandbox.test";
/// Precomputed hash of the password `sandbox`, so that a start takes only milliseconds. Cheap to verify, because the
/// password is public.
const OPERATOR_PASSWORD_HASH: &str =
    "$argon2id$v=19$m=8,t=1,p=1$Y29mZmVyIHNhbmRib3g$BuQAhfy9Ht1I6sHGavfuCvCpG8d76+QrsiXmTHGm9Mg";

/// Maximum number of servers of the initial account.
const SERVER_QUOTA: i64 = 100;

/// Label from which the initial payout address is derived. No known person has the private key of this address.
const PAYOUT_LABEL: &str = "coffer sandbox payout";

impl Service {
    /// Resets the file to the initial data.
    pub async fn reset_sandbox(self: &Arc<Self>, now: Time) -> Result<(), Error> {
        self.clear_faults();
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            file::reset(tx)?;
            mail::start_cursor(tx)?;
            seed(tx, now)
        })
        .await?;
        self.clock_moves.note_reset();
        Ok(())
    }

    /// Stores the sandbox's clock in the file, so that the next start continues from this time.
    pub async fn store_sandbox_clock(
        self: &Arc<Self>,
        offset_ms: i64,
        frozen_at: Option<Time>,
    ) -> Result<(), Error> {
        self.store.write(move |tx| Ok(file::set_clock(tx, offset_ms, frozen_at)?)).await
    }

    /// Returns the time, the account's settings and some counts.
    pub fn sandbox_state(&self, now: Time, frozen: bool) -> Result<Json, Error> {
        self.read(|db| {
            let account = initial_account(db)?;
            let chain = account.payout_asset.chain;
            let payout_address = payout_addresses::get(db, account.seq, chain)?;
            let endpoints = endpoints::of_account(db, account.seq)?;
            Ok(to_raw_value(&render::SandboxStateView {
                time: now,
                frozen,
                account: render::SwitchesView {
                    status: account.status,
                    fee_bps: account.fee.0,
                    customers_enabled: account.customers_enabled,
                    settlement_enabled: account.settlement_enabled,
                    server_quota: account.server_quota,
                    maintenance: file::read_file_row(db)?.is_some_and(|file| file.maintenance),
                    max_invoice_amount: account.invoice_max,
                    payout_minimum: account.payout_min,
                    payout_daily_limit: account.payout_daily_max,
                    payout_asset: account.payout_asset.id,
                    payout_address: payout_address.as_ref().map(|(address, _)| address.as_str()),
                    endpoints: endpoints.iter().map(render::EndpointSwitchView::new).collect(),
                },
                faults: self.faults_view(),
                hanging_receivers: self.clock_moves.hanging_origins(),
                counts: file::counts(db)?,
            })?)
        })
    }

    /// Changes some settings of the account: all of them, or none.
    ///
    /// # Errors
    ///
    /// `invalid_request` that names the first wrong field.
    pub async fn change_sandbox_account(
        self: &Arc<Self>,
        now: Time,
        input: SandboxAccount,
    ) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let mut account = initial_account(tx)?;
            let before = account.status;
            input.apply(&mut account);
            if let Some(maintenance) = input.maintenance {
                file::set_maintenance(tx, maintenance)?;
            }
            if let Some(address) = input.payout_address {
                change_payout_address(service, tx, &account, address, now)?;
            }
            if let Some(list) = input.endpoints.transpose()? {
                endpoints::remove_all(tx, account.seq, now)?;
                for (at, item) in list.iter().enumerate() {
                    let endpoint = service.parse_endpoint_item(at, item, now)?;
                    endpoints::insert(tx, account.seq, &endpoint, now)?;
                }
            }
            account_rules::save(tx, &account, before, now)
        })
        .await
    }

    fn parse_endpoint_item(
        &self,
        at: usize,
        item: &Value,
        now: Time,
    ) -> Result<WebhookEndpoint, Refusal> {
        let inside = |refusal: Refusal| Refusal {
            message: format!("endpoints[{at}]: {}", refusal.message),
            ..refusal
        };
        let map = item
            .as_object()
            .ok_or_else(|| Refusal::field("endpoints", "must be a list of JSON objects"))?;
        self.parse_endpoint(Fields::new(map), now).map_err(inside)
    }

    fn parse_endpoint(&self, fields: Fields<'_>, now: Time) -> Result<WebhookEndpoint, Refusal> {
        fields.refuse_unknown(SandboxEndpoint::NAMES)?;
        let url = SandboxEndpoint::url(fields)?;
        (self.webhook_check)(&url).map_err(|problem| Refusal::field("url", problem))?;
        let secret = SandboxEndpoint::secret(fields)?;
        let secret = secret.unwrap_or_else(|| ENDPOINT_SECRET.to_owned());
        if !has_signing_key(&secret) {
            let problem = "must have something after whsec_: with an empty key anybody can sign";
            return Err(Refusal::field("secret", problem));
        }
        Ok(WebhookEndpoint {
            seq: 0,
            id: id::new(now).to_string(),
            mode: SandboxEndpoint::mode(fields)?,
            url,
            secret,
            format: SandboxEndpoint::format(fields)?,
            types: SandboxEndpoint::types(fields)?,
            enabled: true,
        })
    }
}

/// Returns the initial account, which the sandbox's routes use.
pub(super) fn initial_account(db: &Reader<'_>) -> Result<Account, Error> {
    accounts::all(db)?
        .into_iter()
        .next()
        .ok_or_else(|| Error::Failed("the sandbox has no account".to_owned()))
}

/// Writes the initial data into a file without an account.
pub fn seed_if_empty(tx: &Tx<'_>, now: Time) -> Result<(), Error> {
    if accounts::all(tx)?.is_empty() { seed(tx, now) } else { Ok(()) }
}

/// Writes the account and its keys, the operator and the reseller.
fn seed(tx: &Tx<'_>, now: Time) -> Result<(), Error> {
    let mut account = Account::new(
        id::new(now).to_string(),
        "Sandbox Shop".to_owned(),
        LEGACY_SECRET.to_owned(),
        now,
    );
    account.status = AccountStatus::Active;
    account.settlement_enabled = true;
    account.customers_enabled = true;
    account.server_quota = SERVER_QUOTA;
    account.seq = accounts::insert(tx, &account)?;
    let chain = account.payout_asset.chain;
    let payout_address = address::test_mode_address(chain, PAYOUT_LABEL, 0);
    payout_addresses::put(tx, account.seq, chain, &payout_address, now.plus_ms(-DAY_MS))?;
    for (class, mode, text) in [
        (KeyClass::Secret, Mode::Test, SECRET_TEST),
        (KeyClass::Secret, Mode::Live, SECRET_LIVE),
        (KeyClass::Public, Mode::Test, PUBLIC_TEST),
        (KeyClass::Public, Mode::Live, PUBLIC_LIVE),
        (KeyClass::Legacy, Mode::Live, LEGACY),
    ] {
        keys::insert_key(tx, account.seq, class, mode, text, now)?;
    }
    reseller::insert_token(tx, account.seq, RESELLER_TOKEN, now)?;
    members::create(tx, OPERATOR, OPERATOR_PASSWORD_HASH, Role::Operator, None, now)?;
    Ok(())
}

/// Sets the payout address on the payout coin's chain, or removes the address if the value is null. Addresses of test
/// networks are accepted, because the sandbox sends nothing.
fn change_payout_address(
    service: &Service,
    tx: &Tx<'_>,
    account: &Account,
    address: Option<String>,
    now: Time,
) -> Result<(), Error> {
    let chain = account.payout_asset.chain;
    let Some(text) = address else {
        return Ok(payout_addresses::remove(tx, account.seq, chain)?);
    };
    let parsed = service.valid_destination(tx, Mode::Live, chain, &text)?;
    let parsed = parsed.map_err(|problem| Refusal::field("payoutAddress", problem))?;
    Ok(payout_addresses::put(tx, account.seq, chain, &parsed, now)?)
}
