//! The table `accounts`.

use super::memo::recall;
use super::statement::{commands, rows, values};
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::account::{Account, Branding};
use crate::domain::time::Time;
use rusqlite::named_params;
use rusqlite::types::FromSqlError;

rows! {
    fn read(
        seq, id, name, status, fee_bps, settlement_enabled, customers_enabled, payout_asset, invoice_max,
        payout_min, payout_daily_max, under_bps, over_bps, ttl_seconds, success_url, cancel_url, legacy_secret,
        created_at, branding_color, branding_logo_url, checkout_lang, allowed_origins: String, server_quota,
        rate_spread_bps, signer_max,
    ) -> Account {
        Ok(Account {
            seq, id, name, status, fee: fee_bps, settlement_enabled, customers_enabled, payout_asset,
            invoice_max, payout_min, payout_daily_max, under: under_bps, over: over_bps, ttl_seconds,
            success_url, cancel_url, legacy_secret, created_at,
            branding: Branding {
                color: branding_color, logo_url: branding_logo_url,
            },
            checkout_lang, allowed_origins: origins(&allowed_origins)?, server_quota,
            spread: rate_spread_bps, signer_max,
        })
    }

    BY_SEQ = select "from accounts where seq = :seq";

    /// The account with this id.
    pub fn by_id(db, id: &str) -> Option<Account> = select "from accounts where id = :id";

    /// Every account, oldest first.
    pub fn all(db) -> Vec<Account> = select "from accounts order by seq";
}

values! {
    /// Is there an active account besides this one?
    pub fn another_is_active(db, seq: i64) -> (found: bool) =
        "select exists (select 1 from accounts where status = 'active' and seq <> :seq) as found";

    OLD_SECRET_UNTIL(legacy_secret_old_until: Option<Time>) =
        "select legacy_secret_old_until from accounts where seq = :seq";
}

commands! {
    INSERT = file "sql/accounts/insert.sql";
    UPDATE = file "sql/accounts/update.sql";
    ROLL_LEGACY_SECRET = "update accounts set legacy_secret_old = legacy_secret, legacy_secret_old_until = :until, \
        legacy_secret = :secret where seq = :seq";
    FORGET_OLD_SECRETS =
        "update accounts set legacy_secret_old = null, legacy_secret_old_until = null where legacy_secret_old_until <= :now";
}

/// The JSON array of origins in a column.
fn origins(text: &str) -> rusqlite::Result<Vec<String>> {
    Ok(serde_json::from_str(text).map_err(|error| FromSqlError::Other(error.into()))?)
}

/// Origins as they stand in the column.
fn origins_text(origins: &[String]) -> String {
    serde_json::json!(origins).to_string()
}

/// The account a key belongs to.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Account, StoreError> {
    recall(db.memo.map(|memo| &memo.accounts), seq, || {
        let found = BY_SEQ.first(db, named_params! { ":seq": seq })?;
        found.ok_or_else(|| StoreError::Failed(format!("account {seq} is missing")))
    })
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
        ":rate_spread_bps": account.spread,
        ":signer_max": account.signer_max,
    };
    let seq = INSERT.insert(tx, params)?;
    tx.changes_value(ValueKind::Account, seq);
    Ok(seq)
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
        ":rate_spread_bps": account.spread,
        ":signer_max": account.signer_max,
    };
    tx.changes_value(ValueKind::Account, account.seq);
    UPDATE.run(tx, params)
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
    tx.changes_value(ValueKind::Account, seq);
    ROLL_LEGACY_SECRET.run(tx, params)
}

/// Until when the legacy secret before the present one signs, or signed; nothing where it was never rolled.
pub fn old_secret_until(db: &Reader<'_>, seq: i64) -> Result<Option<Time>, StoreError> {
    let found = OLD_SECRET_UNTIL.first(db, named_params! { ":seq": seq })?;
    Ok(found.flatten())
}

/// Forgets the rolled legacy secrets whose time is up.
pub fn forget_old_secrets(tx: &Tx<'_>, now: Time) -> Result<(), StoreError> {
    tx.changes_accounts();
    FORGET_OLD_SECRETS.run(tx, named_params! { ":now": now })
}
