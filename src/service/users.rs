//! Users: creates and changes them, and creates the first operator by a set-up link.
//!
//! Invariant: once an operator can sign in, at least one operator can always sign in. A changed password ends the
//! sessions of the user.

mod codes;
pub mod members;
pub mod passwords;
pub mod second_factor;

use super::accounts::change_status;
use super::audit_log::{record, record_user_change};
use super::{Error, Service, Step, random_bytes};
use crate::domain::signature::hex;
use crate::domain::time::HOUR_MS;
use crate::domain::{AccountStatus, Refusal, RefusalCode, Role, Time, User, apikey, id};
use crate::store::{Reader, Tx, accounts, file, sessions, users};
use members::{NewSession, VerifiedCredentials, begin_session, create, remember_client};
use serde_json::json;
use std::sync::Arc;

/// Time for which the set-up link is valid, in milliseconds.
const SETUP_MS: i64 = HOUR_MS;
/// Actor in the audit log for changes by the set-up link.
const SETUP_ACTOR: &str = "set-up link";

/// A user to create.
pub struct NewUser {
    /// Email to sign in with.
    pub email: String,
    /// Role of the user.
    pub role: Role,
    /// ID of the account, for a merchant's user.
    pub account: Option<String>,
}

/// The first operator, as entered on the page of the set-up link.
pub struct FirstOperator {
    /// Token of the link.
    pub token: String,
    /// Email to sign in with.
    pub email: String,
    /// Hash of the password.
    pub password_hash: String,
    /// Name of the first account, if one is to be created.
    pub shop: Option<String>,
    /// Client of the request: an address or a network of addresses.
    pub client: String,
    /// Wall-clock time.
    pub real_now: Time,
}

/// A user and the user's account.
pub struct UserWithAccount {
    /// The user.
    pub user: User,
    /// ID of the account; `None` for an operator.
    pub account_id: Option<String>,
}

impl Service {
    /// Returns the token of a new set-up link, which replaces the previous one. Returns `None` if an operator exists.
    pub fn create_setup_link(self: &Arc<Self>, now: Time) -> Result<Option<String>, Error> {
        self.write_and_wait(now, move |step| replace_setup_link(step.tx, now))
    }

    /// Refuses a token that cannot be used.
    ///
    /// # Errors
    ///
    /// `forbidden` if the token is wrong, used, or too old.
    pub fn check_setup_token(&self, now: Time, token: &str) -> Result<(), Error> {
        self.read(|db| check_setup_token(db, now, token))
    }

    /// Creates the first operator, and the first account if it has a name. Uses up the link and begins a session.
    ///
    /// # Errors
    /// `forbidden` if the token is wrong, used, or too old. `invalid_request` if the email is taken.
    pub async fn create_first_operator(
        self: &Arc<Self>,
        now: Time,
        first: FirstOperator,
    ) -> Result<NewSession, Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let FirstOperator { token, email, password_hash, shop, client, real_now } = first;
            check_setup_token(tx, now, &token)?;
            file::set_setup_link(tx, None)?;
            let user = create(tx, &email, &password_hash, Role::Operator, None, now)?;
            record_user_change(tx, SETUP_ACTOR, "user.create", &user, now)?;
            if let Some(shop) = shop {
                create_active_account(tx, &shop, now)?;
            }
            remember_client(tx, &user, &password_hash, &client)?;
            begin_session(tx, user, now, real_now)
        })
        .await
    }

    /// Returns all users, oldest first.
    pub fn users(&self) -> Result<Vec<UserWithAccount>, Error> {
        self.read(list)
    }

    /// Creates a user with this password hash.
    ///
    /// # Errors
    /// As [`insert_user`].
    pub async fn create_user(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        new: NewUser,
        password_hash: String,
    ) -> Result<UserWithAccount, Error> {
        self.write(now, move |step| insert_user(step.tx, &actor, &new, &password_hash, now)).await
    }

    /// Enables or disables a user, or replaces the password hash.
    ///
    /// # Errors
    ///
    /// As [`change_user`]; `not_found`.
    pub async fn change_user(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        user_id: String,
        disabled: Option<bool>,
        password_hash: Option<String>,
    ) -> Result<UserWithAccount, Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let user = find_by_id(tx, &user_id)?;
            change_user(tx, &actor, user, disabled, password_hash.as_deref(), now)
        })
        .await
    }

    /// Replaces the password hash of the user who makes the request. Ends all sessions of the user.
    ///
    /// # Errors
    ///
    /// As `VerifiedCredentials::verify`.
    pub async fn change_own_password(
        self: &Arc<Self>,
        now: Time,
        given: VerifiedCredentials,
        password_hash: String,
    ) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let client = given.client.clone();
            let user = given.verify(tx, now)?;
            let email = user.email.clone();
            // A client is known only for one password, so this client is stored again for the new password.
            remember_client(tx, &user, &password_hash, &client)?;
            change_user(tx, &email, user, None, Some(&password_hash), now).map(drop)
        })
        .await
    }
}

/// Replaces the set-up link and returns its token; `None` if an operator exists.
pub fn replace_setup_link(tx: &Tx<'_>, now: Time) -> Result<Option<String>, Error> {
    if users::has_operator(tx)? {
        return Ok(None);
    }
    let token = hex(&random_bytes::<32>()?);
    let link = (&apikey::hash_key(&token), now.plus_ms(SETUP_MS));
    file::set_setup_link(tx, Some(link))?;
    Ok(Some(token))
}

/// Refuses a token of a set-up link that cannot be used. Compares hashes, so the duration reveals nothing about the
/// token.
fn check_setup_token(db: &Reader<'_>, now: Time, token: &str) -> Result<(), Error> {
    // The link also becomes invalid when an operator is created on the command line.
    let found = file::setup_link(db)?.filter(|_| !matches!(users::has_operator(db), Ok(true)));
    let is_right = found.is_some_and(|(hash, end)| hash == apikey::hash_key(token) && now < end);
    if is_right {
        return Ok(());
    }
    let message = "the set-up link is wrong, used, or older than an hour; start the server again for a new one";
    Err(Refusal::new(RefusalCode::Forbidden, message).into())
}

/// Creates the first account, active, with the entries in the audit log.
fn create_active_account(tx: &Tx<'_>, name: &str, now: Time) -> Result<(), Error> {
    let mut account = crate::service::accounts::create(tx, name, now)?;
    let (seq, id) = (Some(account.seq), Some(account.id.as_str()));
    record(tx, now, SETUP_ACTOR, "account.create", seq, id, &json!({ "name": name }))?;
    change_status(tx, SETUP_ACTOR, &mut account, AccountStatus::Active, now)
}

/// Creates a user with this password hash.
///
/// # Errors
/// `invalid_request` if the email is taken, the account does not exist, or an account does not fit the role.
pub fn insert_user(
    tx: &Tx<'_>,
    actor: &str,
    new: &NewUser,
    password_hash: &str,
    now: Time,
) -> Result<UserWithAccount, Error> {
    let account = match (new.role, &new.account) {
        (Role::Operator, None) => None,
        (Role::Merchant, Some(id)) => {
            let found = match id::parse(id) {
                Some(id) => accounts::by_id(tx, &id)?,
                None => None,
            };
            Some(found.ok_or_else(|| Refusal::field("account", "must be the id of an account"))?)
        }
        (Role::Operator, Some(_)) => {
            return Err(Refusal::field("account", "is allowed only with role \"merchant\"").into());
        }
        (Role::Merchant, None) => {
            return Err(Refusal::field("account", "must be given for role \"merchant\"").into());
        }
    };
    let seq = account.as_ref().map(|account| account.seq);
    let user = create(tx, &new.email, password_hash, new.role, seq, now)?;
    record_user_change(tx, actor, "user.create", &user, now)?;
    Ok(UserWithAccount { user, account_id: account.map(|account| account.id) })
}

/// Enables or disables a user, or changes the password. Ends the user's sessions.
///
/// # Errors
///
/// `invalid_transition` if no operator could sign in any more.
pub fn change_user(
    tx: &Tx<'_>,
    actor: &str,
    mut user: User,
    disabled: Option<bool>,
    password_hash: Option<&str>,
    now: Time,
) -> Result<UserWithAccount, Error> {
    if let Some(disabled) = disabled.filter(|disabled| *disabled != user.disabled_at.is_some()) {
        user.disabled_at = disabled.then_some(now);
        users::set_disabled(tx, user.seq, user.disabled_at)?;
        if user.role == Role::Operator && !users::has_operator(tx)? {
            let message = "disabled must stay false: this is the last operator who can sign in";
            return Err(
                Refusal::for_param(RefusalCode::InvalidTransition, "disabled", message).into()
            );
        }
        let action = if disabled { "user.disable" } else { "user.enable" };
        record_user_change(tx, actor, action, &user, now)?;
    }
    if let Some(hash) = password_hash {
        users::set_password(tx, user.seq, hash)?;
        record_user_change(tx, actor, "user.password", &user, now)?;
    }
    sessions::delete_of_user(tx, user.seq)?;
    with_account_id(tx, user)
}

/// Returns all users, oldest first.
pub fn list(db: &Reader<'_>) -> Result<Vec<UserWithAccount>, Error> {
    users::all(db)?.into_iter().map(|user| with_account_id(db, user)).collect()
}

/// Returns the user with this email.
///
/// # Errors
/// `not_found`.
pub fn find(db: &Reader<'_>, email: &str) -> Result<User, Error> {
    let found = users::by_email(db, email)?;
    Ok(found.ok_or_else(|| Refusal::not_found("user"))?.0)
}

pub(super) fn find_by_id(db: &Reader<'_>, user_id: &str) -> Result<User, Error> {
    let user = match id::parse(user_id) {
        Some(id) => users::by_id(db, &id)?,
        None => None,
    };
    Ok(user.ok_or_else(|| Refusal::not_found("user"))?)
}

pub(super) fn with_account_id(db: &Reader<'_>, user: User) -> Result<UserWithAccount, Error> {
    let account = user.account.map(|seq| accounts::by_seq(db, seq)).transpose()?;
    Ok(UserWithAccount { user, account_id: account.map(|account| account.id) })
}
