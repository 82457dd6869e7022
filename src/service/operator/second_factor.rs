//! The second factor of a user: turning it on and off, and asking for it.
//!
//! What lives here: what a code changes in the file. What does not: what a code is (`domain`), and slowing down who
//! guesses (`http`). What always holds: a code is used up in the transaction that it permits, so none is taken twice, by
//! whichever process or connection, and whatever the clock shows; a secret is answered once, by [`Service::begin_second_factor`].

use super::members::{Member, remember_client};
use super::users::{Known, known, named, told};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::second_factor::{self, CODE_MISSING, RECOVERY_CODES, TotpSecret, recovery_code};
use crate::domain::time::Time;
use crate::domain::user::User;
use crate::service::{Error, Service, random};
use crate::store::{Reader, Tx, recovery_codes, sessions, used_steps, users};
use std::sync::Arc;

/// A second factor that was begun: what an app is to be given, once.
pub struct NewSecret {
    /// In base32.
    pub secret: String,
    /// The same as a link, `otpauth://…`.
    pub uri: String,
}

impl Service {
    /// Begins a second factor, in place of one that was only begun. It is not asked for until it is confirmed.
    ///
    /// # Errors
    /// `invalid_transition` where it is on.
    pub async fn begin_second_factor(
        self: &Arc<Self>,
        member: &Member,
    ) -> Result<NewSecret, Error> {
        let (user, secret) = (member.user().clone(), TotpSecret(random()?));
        self.write(move |_, tx| {
            if !users::begin_second_factor(tx, user.seq, &secret.0)? {
                return Err(is_on_already());
            }
            Ok(NewSecret {
                secret: secret.text(),
                uri: secret.link(&user),
            })
        })
        .await
    }

    /// Turns on what was begun, by a first code of the app: the recovery codes, which are not kept. All other sessions of
    /// the user end. The client is known from then on.
    ///
    /// # Errors
    /// `invalid_credentials` where the code is wrong, `invalid_transition` where nothing was begun or it is on.
    pub async fn confirm_second_factor(
        self: &Arc<Self>,
        now: Time,
        real_now: Time,
        member: &Member,
        code: second_factor::EnteredCode,
        client: String,
    ) -> Result<Vec<String>, Error> {
        let (user, session) = (member.user().clone(), *member.session());
        let mut codes = Vec::with_capacity(RECOVERY_CODES);
        for _ in 0..RECOVERY_CODES {
            codes.push(recovery_code(random()?));
        }
        self.write(move |_, tx| {
            let user = of_id(tx, &user.id)?;
            if user.second_factor_at.is_some() {
                return Err(is_on_already());
            }
            let Some(secret) = users::second_factor(tx, user.seq)? else {
                let message =
                    "a second factor must be begun first: POST /dashboard/api/session/second-factor";
                return Err(Refusal::new(Code::InvalidTransition, message).into());
            };
            let step = match &code {
                second_factor::EnteredCode::OfApp(digits) => TotpSecret(secret).step_of(digits, real_now),
                second_factor::EnteredCode::Recovery(_) => None,
            };
            let step = step.ok_or_else(wrong)?;
            if !users::turn_second_factor_on(tx, user.seq, now)? {
                return Err(is_on_already());
            }
            used_steps::take(tx, user.seq, step, step)?;
            let mut shown = Vec::with_capacity(codes.len());
            for (text, hash) in codes {
                recovery_codes::insert(tx, user.seq, &hash)?;
                shown.push(text);
            }
            sessions::delete_others(tx, user.seq, &session)?;
            if let Some((user, password_hash)) = users::by_email(tx, &user.email)? {
                remember_client(tx, &user, &password_hash, &client)?;
            }
            told(tx, &user.email, "user.second_factor_on", &user, now)?;
            Ok(shown)
        })
        .await
    }

    /// Turns off one's own second factor, by a code.
    ///
    /// # Errors
    /// `invalid_credentials` where the code is wrong, `invalid_transition` where it is not on.
    pub async fn end_own_second_factor(
        self: &Arc<Self>,
        now: Time,
        real_now: Time,
        member: &Member,
        code: second_factor::EnteredCode,
    ) -> Result<(), Error> {
        let user = member.user().clone();
        self.write(move |_, tx| {
            let user = of_id(tx, &user.id)?;
            if user.second_factor_at.is_none() {
                let message = "the second factor is not on";
                return Err(Refusal::new(Code::InvalidTransition, message).into());
            }
            prove(tx, &user, Some(&code), now, real_now)?;
            end(tx, &user.email, &user, now)
        })
        .await
    }

    /// Turns off another user's second factor, and ends their sessions.
    ///
    /// # Errors
    /// As [`turn_off`]; `not_found`; `forbidden` for one's own, which takes a code.
    pub async fn turn_second_factor_off(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        user_id: String,
    ) -> Result<(), Error> {
        let (own, actor) = (member.user().seq, member.actor());
        self.write(move |_, tx| {
            let user = named(tx, &user_id)?;
            if user.seq == own {
                let message = "your own second factor is turned off by a code of it: \
                    POST /dashboard/api/session/second-factor/off";
                return Err(Refusal::new(Code::Forbidden, message).into());
            }
            turn_off(tx, &actor, user, now).map(drop)
        })
        .await
    }

    /// How many recovery codes of a member are left.
    pub fn recovery_codes_left(&self, member: &Member) -> Result<i64, Error> {
        self.read(|db| Ok(recovery_codes::count_left(db, member.user().seq)?))
    }
}

/// Turns off a user's second factor, also one that was only begun, and ends their sessions; does nothing where there is
/// none.
///
/// # Errors
/// [`Error::Failed`] where the file fails.
pub fn turn_off(tx: &Tx<'_>, actor: &str, mut user: User, now: Time) -> Result<Known, Error> {
    if users::second_factor(tx, user.seq)?.is_some() {
        end(tx, actor, &user, now)?;
        sessions::delete_of_user(tx, user.seq)?;
        user.second_factor_at = None;
    }
    known(tx, user)
}

/// Whoever has given the password of this user now proves the second factor, where it is on; uses up the code.
///
/// # Errors
/// `second_factor_required` where a code is needed and not given, `invalid_credentials` where it is wrong or used.
pub(super) fn prove(
    tx: &Tx<'_>,
    user: &User,
    code: Option<&second_factor::EnteredCode>,
    now: Time,
    real_now: Time,
) -> Result<(), Error> {
    if user.second_factor_at.is_none() {
        return Ok(());
    }
    let is_right = match code {
        None => {
            return Err(Refusal::about(Code::SecondFactorRequired, "code", CODE_MISSING).into());
        }
        Some(second_factor::EnteredCode::OfApp(digits)) => {
            let secret = users::second_factor(tx, user.seq)?.map(TotpSecret);
            match secret.and_then(|secret| secret.step_of(digits, real_now)) {
                Some(step) => {
                    let newest = TotpSecret::newest_step(real_now);
                    if !used_steps::take(tx, user.seq, step, newest)? {
                        return Err(second_factor::used_code_refusal().into());
                    }
                    true
                }
                None => false,
            }
        }
        Some(second_factor::EnteredCode::Recovery(hash)) => {
            let is_right = recovery_codes::take(tx, user.seq, hash)?;
            if is_right {
                told(tx, &user.email, "user.recovery_code", user, now)?;
            }
            is_right
        }
    };
    is_right.then_some(()).ok_or_else(wrong)
}

/// Forgets the secret and the recovery codes.
fn end(tx: &Tx<'_>, actor: &str, user: &User, now: Time) -> Result<(), Error> {
    users::end_second_factor(tx, user.seq)?;
    used_steps::delete_of_user(tx, user.seq)?;
    recovery_codes::delete_of_user(tx, user.seq)?;
    told(tx, actor, "user.second_factor_off", user, now)
}

/// Who is signed in, as they stand in the file now.
fn of_id(db: &Reader<'_>, id: &str) -> Result<User, Error> {
    let found = users::by_id(db, id)?;
    Ok(found.ok_or_else(|| Refusal::not_found("user"))?)
}

fn wrong() -> Error {
    let message = "code must be what your authenticator app shows now, and each works once; or a recovery code that \
                   is left";
    Refusal::about(Code::InvalidCredentials, "code", message).into()
}

fn is_on_already() -> Error {
    let message = "the second factor is on already; turn it off first";
    Refusal::new(Code::InvalidTransition, message).into()
}
