//! Turns the second factor of a user on and off.
//!
//! Invariant: [`Service::begin_second_factor`] returns a secret once.

use super::codes::{use_up_code, wrong_code_refusal};
use super::members::{Member, remember_client};
use super::{UserWithAccount, find_by_id, with_account_id};
use crate::domain::second_factor::{RECOVERY_CODES, recovery_code};
use crate::domain::{EnteredCode, Refusal, RefusalCode, Time, TotpSecret, User};
use crate::service::audit_log::record_user_change;
use crate::service::{Error, Service, Step, random_bytes};
use crate::store::{Reader, Tx, recovery_codes, sessions, used_steps, users};
use std::sync::Arc;

/// A new secret for an authenticator app, shown once.
pub struct NewSecret {
    /// Secret in base32.
    pub secret: String,
    /// Secret as an `otpauth://` link.
    pub uri: String,
}

impl Service {
    /// Creates a secret, which replaces an earlier unconfirmed secret. Codes are not required until the secret is
    /// confirmed.
    ///
    /// # Errors
    ///
    /// `invalid_transition` if the second factor is on.
    pub async fn begin_second_factor(
        self: &Arc<Self>,
        member: &Member,
    ) -> Result<NewSecret, Error> {
        let (user, secret) = (member.user().clone(), TotpSecret(random_bytes()?));
        self.store
            .write(move |tx| {
                if !users::begin_second_factor_setup(tx, user.seq, &secret.0)? {
                    return Err(already_on_error());
                }
                Ok(NewSecret { secret: secret.to_base32(), uri: secret.otpauth_uri(&user) })
            })
            .await
    }

    /// Turns the second factor on with a first code of the app. Returns the recovery codes, which are not stored.
    ///
    /// Ends all other sessions of the user and stores the client as known.
    ///
    /// # Errors
    /// `invalid_credentials` if the code is wrong. `invalid_transition` if there is no secret or the second factor is
    /// on.
    pub async fn confirm_second_factor(
        self: &Arc<Self>,
        now: Time,
        real_now: Time,
        member: &Member,
        code: EnteredCode,
        client: String,
    ) -> Result<Vec<String>, Error> {
        let (user, session) = (member.user().clone(), *member.session_hash());
        let mut codes = Vec::with_capacity(RECOVERY_CODES);
        for _ in 0..RECOVERY_CODES {
            codes.push(recovery_code(random_bytes()?));
        }
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let user = current_user(tx, &user)?;
            if user.second_factor_at.is_some() {
                return Err(already_on_error());
            }
            let Some(secret) = users::second_factor_secret(tx, user.seq)? else {
                let message =
                    "start a second factor first: POST /dashboard/api/session/second-factor";
                return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
            };
            let step = match &code {
                EnteredCode::OfApp(digits) => TotpSecret(secret).matching_step(digits, real_now),
                EnteredCode::Recovery(_) => None,
            };
            let step = step.ok_or_else(wrong_code_refusal)?;
            if !users::turn_second_factor_on(tx, user.seq, now)? {
                return Err(already_on_error());
            }
            used_steps::use_step(tx, user.seq, step, step)?;
            let mut shown = Vec::with_capacity(codes.len());
            for (text, hash) in codes {
                recovery_codes::insert(tx, user.seq, &hash)?;
                shown.push(text);
            }
            sessions::delete_others(tx, user.seq, &session)?;
            if let Some((user, password_hash)) = users::by_email(tx, &user.email)? {
                remember_client(tx, &user, &password_hash, &client)?;
            }
            record_user_change(tx, &user.email, "user.second_factor_on", &user, now)?;
            Ok(shown)
        })
        .await
    }

    /// Turns off the member's own second factor with a code.
    ///
    /// # Errors
    ///
    /// `invalid_credentials` if the code is wrong. `invalid_transition` if the second factor is off.
    pub async fn end_own_second_factor(
        self: &Arc<Self>,
        now: Time,
        real_now: Time,
        member: &Member,
        code: EnteredCode,
    ) -> Result<(), Error> {
        let user = member.user().clone();
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let user = current_user(tx, &user)?;
            if user.second_factor_at.is_none() {
                let message = "the second factor is not on";
                return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
            }
            use_up_code(tx, &user, Some(&code), now, real_now)?;
            delete_second_factor(tx, &user.email, &user, now)
        })
        .await
    }

    /// Turns off the second factor of another user and ends the sessions of this user.
    ///
    /// # Errors
    ///
    /// As [`turn_off`]. `not_found`. `forbidden` for the member's own second factor, which needs a code.
    pub async fn turn_off_factor_of_other(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        user_id: String,
    ) -> Result<(), Error> {
        let (own, actor) = (member.user().seq, member.actor());
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let user = find_by_id(tx, &user_id)?;
            if user.seq == own {
                let message = "your own second factor is turned off by a code of it: \
                    POST /dashboard/api/session/second-factor/off";
                return Err(Refusal::new(RefusalCode::Forbidden, message).into());
            }
            turn_off(tx, &actor, user, now).map(drop)
        })
        .await
    }

    /// Returns the number of unused recovery codes of a member.
    pub fn unused_recovery_code_count(&self, member: &Member) -> Result<i64, Error> {
        self.read(|db| Ok(recovery_codes::count_unused(db, member.user().seq)?))
    }
}

/// Turns off a user's second factor, confirmed or not, and ends the user's sessions. Does nothing if the user has
/// none.
pub fn turn_off(
    tx: &Tx<'_>,
    actor: &str,
    mut user: User,
    now: Time,
) -> Result<UserWithAccount, Error> {
    if users::second_factor_secret(tx, user.seq)?.is_some() {
        delete_second_factor(tx, actor, &user, now)?;
        sessions::delete_of_user(tx, user.seq)?;
        user.second_factor_at = None;
    }
    with_account_id(tx, user)
}

/// Deletes the secret and the recovery codes.
fn delete_second_factor(tx: &Tx<'_>, actor: &str, user: &User, now: Time) -> Result<(), Error> {
    users::turn_second_factor_off(tx, user.seq)?;
    used_steps::delete_of_user(tx, user.seq)?;
    recovery_codes::delete_of_user(tx, user.seq)?;
    record_user_change(tx, actor, "user.second_factor_off", user, now)
}

fn current_user(db: &Reader<'_>, user: &User) -> Result<User, Error> {
    let found = users::by_id(db, &user.id)?;
    Ok(found.ok_or_else(|| Refusal::not_found("user"))?)
}

fn already_on_error() -> Error {
    let message = "the second factor is already on; turn it off first";
    Refusal::new(RefusalCode::InvalidTransition, message).into()
}
