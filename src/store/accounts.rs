//! The table `accounts`.

use super::memo::recall;
use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::account::{Account, Branding};
use crate::domain::time::Time;
use rusqlite::types::Type;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<Account> {
    let mut next = Columns::of(row);
    Ok(Account {
        seq: next.take()?,
        id: next.take()?,
        name: next.take()?,
        status: next.take()?,
        fee: next.take()?,
        settlement_enabled: next.take()?,
        customers_enabled: next.take()?,
        payout_asset: next.take()?,
        invoice_max: next.take()?,
        payout_min: next.take()?,
        payout_daily_max: next.take()?,
        under: next.take()?,
        over: next.take()?,
        ttl_seconds: next.take()?,
        success_url: next.take()?,
        cancel_url: next.take()?,
        legacy_secret: next.take()?,
        created_at: next.take()?,
        branding: Branding {
            color: next.take()?,
            logo_url: next.take()?,
        },
        checkout_lang: next.take()?,
        allowed_origins: origins(&next.take::<String>()?)?,
        server_quota: next.take()?,
    })
}

/// The JSON array of origins in a column.
fn origins(text: &str) -> rusqlite::Result<Vec<String>> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(21, Type::Text, error.into()))
}

/// Origins as they stand in the column.
fn origins_text(origins: &[String]) -> String {
    serde_json::json!(origins).to_string()
}

/// The account a key belongs to.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Account, StoreError> {
    recall(db.memo.map(|memo| &memo.accounts), seq, || {
        let found = db.first(
            include_str!("../../sql/accounts/by_seq.sql"),
            named_params! { ":seq": seq },
            read,
        )?;
        found.ok_or_else(|| StoreError::Failed(format!("account {seq} is missing")))
    })
}

/// The account with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Account>, StoreError> {
    db.first(
        include_str!("../../sql/accounts/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// Every account, oldest first.
pub fn all(db: &Reader<'_>) -> Result<Vec<Account>, StoreError> {
    db.all(include_str!("../../sql/accounts/all.sql"), [], read)
}

/// Is there an active account besides this one?
pub fn another_is_active(db: &Reader<'_>, seq: i64) -> Result<bool, StoreError> {
    let sql = include_str!("../../sql/accounts/another_is_active.sql");
    let found = db.first(sql, named_params! { ":seq": seq }, |row| row.get(0))?;
    Ok(found.unwrap_or(false))
}

/// Adds an account; its `seq`.
pub fn insert(tx: &Tx<'_>, account: &Account) -> Result<i64, StoreError> {
    tx.changes_accounts();
    let params = named_params! {
        ":id": account.id,
        ":name": account.name,
        ":status": account.status,
        ":fee_bps": account.fee,
        ":settlement_enabled": account.settlement_enabled,
        ":customers_enabled": account.customers_enabled,
        ":payout_asset": account.payout_asset.id,
        ":invoice_max": account.invoice_max,
        ":payout_min": account.payout_min,
        ":payout_daily_max": account.payout_daily_max,
        ":under_bps": account.under,
        ":over_bps": account.over,
        ":ttl_seconds": account.ttl_seconds,
        ":success_url": account.success_url,
        ":cancel_url": account.cancel_url,
        ":legacy_secret": account.legacy_secret,
        ":created_at": account.created_at,
        ":branding_color": account.branding.color,
        ":branding_logo_url": account.branding.logo_url,
        ":checkout_lang": account.checkout_lang,
        ":allowed_origins": origins_text(&account.allowed_origins),
        ":server_quota": account.server_quota,
    };
    tx.insert(include_str!("../../sql/accounts/insert.sql"), params)
}

/// Saves what can change of an account.
pub fn update(tx: &Tx<'_>, account: &Account) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! {
        ":seq": account.seq,
        ":name": account.name,
        ":status": account.status,
        ":fee_bps": account.fee,
        ":settlement_enabled": account.settlement_enabled,
        ":customers_enabled": account.customers_enabled,
        ":payout_asset": account.payout_asset.id,
        ":invoice_max": account.invoice_max,
        ":payout_min": account.payout_min,
        ":payout_daily_max": account.payout_daily_max,
        ":under_bps": account.under,
        ":over_bps": account.over,
        ":ttl_seconds": account.ttl_seconds,
        ":success_url": account.success_url,
        ":cancel_url": account.cancel_url,
        ":legacy_secret": account.legacy_secret,
        ":branding_color": account.branding.color,
        ":branding_logo_url": account.branding.logo_url,
        ":checkout_lang": account.checkout_lang,
        ":allowed_origins": origins_text(&account.allowed_origins),
        ":server_quota": account.server_quota,
    };
    tx.run(include_str!("../../sql/accounts/update.sql"), params)
        .map(drop)
}

/// Gives an account a new legacy secret; the one before signs beside it until then.
pub fn roll_legacy_secret(
    tx: &Tx<'_>,
    seq: i64,
    secret: &str,
    until: Time,
) -> Result<(), StoreError> {
    tx.changes_accounts();
    let params = named_params! { ":seq": seq, ":secret": secret, ":until": until };
    let roll = include_str!("../../sql/accounts/roll_legacy_secret.sql");
    tx.run(roll, params).map(drop)
}

/// Until when the legacy secret before the present one signs, or signed; nothing where it was never rolled.
pub fn old_secret_until(db: &Reader<'_>, seq: i64) -> Result<Option<Time>, StoreError> {
    let read = include_str!("../../sql/accounts/old_secret_until.sql");
    let found = db.first(read, named_params! { ":seq": seq }, |row| row.get(0))?;
    Ok(found.flatten())
}

/// Forgets the rolled legacy secrets whose time is up.
pub fn forget_old_secrets(tx: &Tx<'_>, now: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    let forget = include_str!("../../sql/accounts/forget_old_secrets.sql");
    tx.run(forget, named_params! { ":now": now }).map(drop)
}
