//! The table `accounts`: merchants, with their terms, limits and settings.

use super::memo::get_or_read;
use super::statement::statements;
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::{Account, Asset, Branding, Time};
use rusqlite::types::FromSqlError;

statements! {
    row read(
        seq, id, name, status, fee_bps, settlement_enabled, customers_enabled, payout_asset, invoice_max,
        payout_min, payout_daily_max, under_bps, over_bps, ttl_seconds, success_url, cancel_url, legacy_secret,
        created_at, branding_color, branding_logo_url, checkout_lang, allowed_origins: String, server_quota,
        rate_spread_bps, signer_max, favorite_coins: String, address_lines: String,
    ) -> Account {
        Ok(Account {
            seq, id, name, status, fee: fee_bps, settlement_enabled, customers_enabled, payout_asset,
            invoice_max, payout_min, payout_daily_max, under: under_bps, over: over_bps, ttl_seconds,
            success_url, cancel_url, legacy_secret, created_at,
            branding: Branding {
                color: branding_color, logo_url: branding_logo_url,
            },
            checkout_lang, allowed_origins: parse_texts(&allowed_origins)?, server_quota,
            spread: rate_spread_bps, signer_max, favorite_coins: parse_coins(&favorite_coins)?,
            address_lines: parse_texts(&address_lines)?,
        })
    }

    fn read_by_seq(db, seq: i64) -> only Account =
        select "from accounts where seq = :seq" else("account {seq} is missing");

    /// Returns the account with this id.
    pub fn by_id(db, id: &str) -> Option<Account> = select "from accounts where id = :id";

    /// Returns every account, oldest first.
    pub fn all(db) -> Vec<Account> = select "from accounts order by seq";

    /// Returns `true` if an account other than this one is active.
    pub fn has_other_active(db, seq: i64) -> (found: bool) =
        "select exists (select 1 from accounts where status = 'active' and seq <> :seq) as found";

    /// Returns the time until which the previous legacy secret is also used for signing. The time may be in the past.
    /// `None` if the secret was never replaced.
    pub fn old_secret_until(db, seq: i64) -> Option<(legacy_secret_old_until: Time)> =
        "select legacy_secret_old_until from accounts where seq = :seq and legacy_secret_old_until is not null";

    fn insert_row(tx, account: &Account) -> i64 = insert into accounts {
        id: account.id, name: account.name, status: account.status, fee_bps: account.fee,
        settlement_enabled: account.settlement_enabled, customers_enabled: account.customers_enabled,
        payout_asset: account.payout_asset.id, invoice_max: account.invoice_max, payout_min: account.payout_min,
        payout_daily_max: account.payout_daily_max, under_bps: account.under, over_bps: account.over,
        ttl_seconds: account.ttl_seconds, success_url: account.success_url, cancel_url: account.cancel_url,
        legacy_secret: account.legacy_secret, created_at: account.created_at, branding_color: account.branding.color,
        branding_logo_url: account.branding.logo_url, checkout_lang: account.checkout_lang,
        allowed_origins: texts_to_json(&account.allowed_origins), server_quota: account.server_quota,
        rate_spread_bps: account.spread, signer_max: account.signer_max,
        favorite_coins: coins_to_json(&account.favorite_coins), address_lines: texts_to_json(&account.address_lines),
    };

    /// Saves the fields of an account that can change.
    pub fn update(tx, account: &Account) =
        file "sql/accounts/update.sql"
        with {
            seq: account.seq, name: account.name, status: account.status, fee_bps: account.fee,
            settlement_enabled: account.settlement_enabled, customers_enabled: account.customers_enabled,
            payout_asset: account.payout_asset.id, invoice_max: account.invoice_max, payout_min: account.payout_min,
            payout_daily_max: account.payout_daily_max, under_bps: account.under, over_bps: account.over,
            ttl_seconds: account.ttl_seconds, success_url: account.success_url, cancel_url: account.cancel_url,
            legacy_secret: account.legacy_secret, branding_color: account.branding.color,
            branding_logo_url: account.branding.logo_url, checkout_lang: account.checkout_lang,
            allowed_origins: texts_to_json(&account.allowed_origins), server_quota: account.server_quota,
            rate_spread_bps: account.spread, signer_max: account.signer_max,
            favorite_coins: coins_to_json(&account.favorite_coins), address_lines: texts_to_json(&account.address_lines),
        }
        noting {
            tx.note_account_change();
            tx.note_value_change(ValueKind::Account, account.seq);
        };

    /// Replaces the legacy secret of an account. The previous secret is also used for signing until the time `until`.
    pub fn roll_legacy_secret(tx, seq: i64, secret: &str, until: Time) =
        "update accounts set legacy_secret_old = legacy_secret, legacy_secret_old_until = :until, \
            legacy_secret = :secret where seq = :seq"
        noting {
            tx.note_account_change();
            tx.note_value_change(ValueKind::Account, seq);
        };

    /// Deletes the previous legacy secrets that are no longer used for signing.
    pub fn delete_old_secrets(tx, now: Time) =
        "update accounts set legacy_secret_old = null, legacy_secret_old_until = null \
            where legacy_secret_old_until <= :now"
        noting { tx.note_account_change(); };
}

fn parse_texts(text: &str) -> rusqlite::Result<Vec<String>> {
    Ok(serde_json::from_str(text).map_err(|error| FromSqlError::Other(error.into()))?)
}

fn texts_to_json(texts: &[String]) -> String {
    serde_json::json!(texts).to_string()
}

/// Reads the JSON array of coin ids in a column. Omits ids of unknown coins.
fn parse_coins(text: &str) -> rusqlite::Result<Vec<&'static Asset>> {
    let ids = parse_texts(text)?;
    Ok(ids.iter().filter_map(|id| Asset::find(id)).collect())
}

fn coins_to_json(coins: &[&Asset]) -> String {
    let ids: Vec<_> = coins.iter().map(|asset| asset.id).collect();
    serde_json::json!(ids).to_string()
}

/// Returns the account with this `seq`, which must exist.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Account, StoreError> {
    get_or_read(db.memo.map(|memo| &memo.accounts), seq, || read_by_seq(db, seq))
}

/// Inserts an account and returns its `seq`.
pub fn insert(tx: &Tx<'_>, account: &Account) -> Result<i64, StoreError> {
    tx.note_account_change();
    let seq = insert_row(tx, account)?;
    tx.note_value_change(ValueKind::Account, seq);
    Ok(seq)
}
