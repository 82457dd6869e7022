//! The JSON of what the operator interface has besides money: accounts, settings, users.
//!
//! What lives here: which fields they have, in their order. What does not: where these come from. What always holds: a
//! secret is in one of them only where its field is filled, which is when it was just made.

use super::Rendered;
use crate::domain::asset::{Asset, Chain};
use crate::domain::confirmations::Tiers;
use crate::domain::qr::Qr;
use crate::domain::time::Time;
use crate::domain::transfer::approval::FeeSource;
use crate::domain::user::{Role, User};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// The settings of the service.
#[derive(Serialize)]
#[serde(tag = "object", rename = "settings", rename_all = "camelCase")]
pub(crate) struct Settings {
    pub(crate) maintenance: bool,
    /// Of every coin, by its id.
    pub(crate) confirmations: BTreeMap<&'static str, Tiers>,
    /// Of every coin, by its id.
    pub(crate) network_fees: BTreeMap<&'static str, NetworkFee>,
}

/// The network fee of a coin where its node tells none.
#[derive(Serialize)]
pub(crate) struct NetworkFee {
    /// In whole coins.
    pub(crate) amount: String,
    /// Set by the operator, or built in.
    pub(crate) source: FeeSource,
}

#[derive(Serialize)]
#[serde(tag = "object", rename = "coin", rename_all = "camelCase")]
struct Coin {
    asset: &'static str,
    symbol: &'static str,
    name: &'static str,
    chain: Chain,
    enabled: bool,
    off_since: Option<Time>,
}

/// A coin, and since when it is not offered.
///
/// # Errors
/// serde_json's, which no coin causes.
pub(crate) fn coin(asset: &'static Asset, off_since: Option<Time>) -> Rendered {
    to_raw_value(&Coin {
        asset: asset.id,
        symbol: asset.symbol,
        name: asset.name,
        chain: asset.chain,
        enabled: off_since.is_none(),
        off_since,
    })
}

#[derive(Serialize)]
#[serde(tag = "object", rename = "user", rename_all = "camelCase")]
struct UserView<'a> {
    #[serde(flatten)]
    who: Who<'a>,
    created_at: Time,
    disabled_at: Option<Time>,
    second_factor_at: Option<Time>,
}

#[derive(Serialize)]
struct Who<'a> {
    id: &'a str,
    email: &'a str,
    role: Role,
    account: Option<&'a str>,
}

impl<'a> Who<'a> {
    fn of(user: &'a User, account: Option<&'a str>) -> Who<'a> {
        Who {
            id: &user.id,
            email: &user.email,
            role: user.role,
            account,
        }
    }
}

/// A user, with the id of the account of a merchant's.
///
/// # Errors
/// serde_json's, which no user causes.
pub(crate) fn user(user: &User, account: Option<&str>) -> Rendered {
    to_raw_value(&UserView {
        who: Who::of(user, account),
        created_at: user.created_at,
        disabled_at: user.disabled_at,
        second_factor_at: user.second_factor_at,
    })
}

#[derive(Serialize)]
#[serde(tag = "object", rename = "session", rename_all = "camelCase")]
struct Session<'a> {
    user: Who<'a>,
    second_factor: SecondFactor,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Time>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SecondFactor {
    enabled: bool,
    recovery_codes_left: i64,
}

/// What an authenticator app is to be given, once.
#[derive(Serialize)]
#[serde(tag = "object", rename = "second_factor")]
pub(crate) struct NewSecondFactor<'a> {
    pub(crate) secret: &'a str,
    pub(crate) uri: &'a str,
    pub(crate) qr: Option<Qr>,
}

/// The recovery codes of a second factor that was just turned on.
#[derive(Serialize)]
#[serde(tag = "object", rename = "recovery_codes")]
pub(crate) struct RecoveryCodes<'a> {
    pub(crate) codes: &'a [String],
}

/// A session, with the id of the account of a merchant's user; where it was just begun, with its end.
///
/// # Errors
/// serde_json's, which no session causes.
pub(crate) fn session(
    user: &User,
    account: Option<&str>,
    recovery_codes_left: i64,
    expires_at: Option<Time>,
) -> Rendered {
    to_raw_value(&Session {
        user: Who::of(user, account),
        second_factor: SecondFactor {
            enabled: user.second_factor_at.is_some(),
            recovery_codes_left,
        },
        expires_at,
    })
}

/// An entry of the audit log.
#[derive(Serialize)]
#[serde(tag = "object", rename = "audit_log_entry", rename_all = "camelCase")]
pub(crate) struct AuditLogEntry<'a> {
    pub(crate) id: &'a str,
    pub(crate) at: Time,
    pub(crate) actor: &'a str,
    pub(crate) action: &'a str,
    pub(crate) account: Option<&'a str>,
    pub(crate) object_id: Option<&'a str>,
    pub(crate) detail: &'a RawValue,
}
