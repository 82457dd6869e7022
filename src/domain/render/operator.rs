//! Users and sessions as the operator interface answers them.

use super::Rendered;
use crate::domain::qr::Qr;
use crate::domain::time::Time;
use crate::domain::user::{Role, User};
use serde::Serialize;
use serde_json::value::to_raw_value;

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
