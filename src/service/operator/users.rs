//! The users who may sign in: the first operator's link, making users, changing them.
//!
//! What does not live here: signing in (`members`). What always holds: once there was an operator who can sign in,
//! there is always one; and a changed password ends the sessions that began with the old one.

use super::members::{Given, create, remember_client};
use crate::domain::apikey;
use crate::domain::id;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::signature::hex;
use crate::domain::time::{HOUR_MS, Time};
use crate::domain::user::{Role, User};
use crate::service::audit_log::{self, Entry};
use crate::service::{Error, Service, random};
use crate::store::{Reader, Tx, accounts, file, sessions, users};
use serde_json::json;
use std::sync::Arc;

/// How long the first operator's link can be used.
const SETUP_MS: i64 = HOUR_MS;
/// What the audit log calls whoever uses it.
const BY_SETUP: &str = "set-up link";

/// A user to be made.
pub struct NewUser {
    /// What they sign in with.
    pub email: String,
    /// What they may do.
    pub role: Role,
    /// The id of the account of a merchant's user.
    pub account: Option<String>,
}

/// A user, and the id of the account of a merchant's user.
pub type Known = (User, Option<String>);

impl Service {
    /// The token of a new link by which the first operator is made, while there is none; it replaces the one before.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file or the system's randomness fails.
    pub fn begin_setup(self: &Arc<Self>, now: Time) -> Result<Option<String>, Error> {
        let token = hex(&random::<32>()?);
        let hash = apikey::hash(&token);
        self.write_and_wait(move |_, tx| {
            if users::has_operator(tx)? {
                return Ok(None);
            }
            file::set_setup(tx, Some((&hash, now.plus_ms(SETUP_MS))))?;
            Ok(Some(token))
        })
    }

    /// Can this token still be used?
    ///
    /// # Errors
    /// `forbidden` where it is wrong, used, or too old.
    pub fn check_setup(&self, now: Time, token: &str) -> Result<(), Error> {
        self.read(|db| check_setup(db, now, token))
    }

    /// Makes the first operator; the link is used up.
    ///
    /// # Errors
    /// `forbidden` where the token is wrong, used, or too old; `invalid_request` where the email is taken.
    pub async fn finish_setup(
        self: &Arc<Self>,
        now: Time,
        token: String,
        email: String,
        password_hash: String,
    ) -> Result<Known, Error> {
        self.write(move |_, tx| {
            check_setup(tx, now, &token)?;
            file::set_setup(tx, None)?;
            let user = create(tx, &email, &password_hash, Role::Operator, None, now)?;
            told(tx, BY_SETUP, "user.create", &user, now)?;
            Ok((user, None))
        })
        .await
    }

    /// Every user, oldest first.
    pub fn users(&self) -> Result<Vec<Known>, Error> {
        self.read(list)
    }

    /// Makes a user whose password has this hash.
    ///
    /// # Errors
    /// As [`make`].
    pub async fn make_user(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        new: NewUser,
        password_hash: String,
    ) -> Result<Known, Error> {
        self.write(move |_, tx| make(tx, &actor, &new, &password_hash, now))
            .await
    }

    /// Changes a user: whether they may sign in, or the password, by its hash.
    ///
    /// # Errors
    /// As [`change`]; `not_found`.
    pub async fn change_user(
        self: &Arc<Self>,
        now: Time,
        actor: String,
        user_id: String,
        disabled: Option<bool>,
        password_hash: Option<String>,
    ) -> Result<Known, Error> {
        self.write(move |_, tx| {
            let user = named(tx, &user_id)?;
            change(tx, &actor, user, disabled, password_hash.as_deref(), now)
        })
        .await
    }

    /// Changes one's own password to one with this hash, which ends all of one's sessions.
    ///
    /// # Errors
    /// As `Given::still`.
    pub async fn change_own_password(
        self: &Arc<Self>,
        now: Time,
        given: Given,
        password_hash: String,
    ) -> Result<(), Error> {
        self.write(move |_, tx| {
            let client = given.client.clone();
            let user = given.still(tx, now)?;
            let email = user.email.clone();
            // The session ends with the old password, and the client has to be known under the new one to sign in.
            remember_client(tx, &user, &password_hash, &client)?;
            change(tx, &email, user, None, Some(&password_hash), now).map(drop)
        })
        .await
    }
}

/// Is this the token of a link that can still be used? Hashes are compared, so the time tells nothing of the token.
fn check_setup(db: &Reader<'_>, now: Time, token: &str) -> Result<(), Error> {
    // An operator made on the command line meanwhile ends it too.
    let found = file::setup(db)?.filter(|_| !matches!(users::has_operator(db), Ok(true)));
    let is_right = found.is_some_and(|(hash, end)| hash == apikey::hash(token) && now < end);
    if is_right {
        return Ok(());
    }
    let message = "the set-up link is wrong, used, or older than an hour; start the server again for a new one";
    Err(Refusal::new(Code::Forbidden, message).into())
}

/// Makes a user whose password has this hash.
///
/// # Errors
/// `invalid_request` where the email is taken, the account is not there, or an account does not go with the role.
pub fn make(
    tx: &Tx<'_>,
    actor: &str,
    new: &NewUser,
    password_hash: &str,
    now: Time,
) -> Result<Known, Error> {
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
            return Err(Refusal::field("account", "goes with role \"merchant\" only").into());
        }
        (Role::Merchant, None) => {
            return Err(Refusal::field("account", "must be given for role \"merchant\"").into());
        }
    };
    let seq = account.as_ref().map(|account| account.seq);
    let user = create(tx, &new.email, password_hash, new.role, seq, now)?;
    told(tx, actor, "user.create", &user, now)?;
    Ok((user, account.map(|account| account.id)))
}

/// Lets a user sign in again or no longer, or gives them another password; both end their sessions.
///
/// # Errors
/// `invalid_transition` where nobody could operate the service any more.
pub fn change(
    tx: &Tx<'_>,
    actor: &str,
    mut user: User,
    disabled: Option<bool>,
    password_hash: Option<&str>,
    now: Time,
) -> Result<Known, Error> {
    if let Some(disabled) = disabled.filter(|disabled| *disabled != user.disabled_at.is_some()) {
        user.disabled_at = disabled.then_some(now);
        users::set_disabled(tx, user.seq, user.disabled_at)?;
        if user.role == Role::Operator && !users::has_operator(tx)? {
            let message = "disabled must stay false: this is the last operator who can sign in";
            return Err(Refusal::about(Code::InvalidTransition, "disabled", message).into());
        }
        let action = if disabled {
            "user.disable"
        } else {
            "user.enable"
        };
        told(tx, actor, action, &user, now)?;
    }
    if let Some(hash) = password_hash {
        users::set_password(tx, user.seq, hash)?;
        told(tx, actor, "user.password", &user, now)?;
    }
    sessions::delete_of_user(tx, user.seq)?;
    known(tx, user)
}

/// Every user, oldest first.
pub fn list(db: &Reader<'_>) -> Result<Vec<Known>, Error> {
    users::all(db)?
        .into_iter()
        .map(|user| known(db, user))
        .collect()
}

/// The user with this email.
///
/// # Errors
/// `not_found`.
pub fn find(db: &Reader<'_>, email: &str) -> Result<User, Error> {
    let found = users::by_email(db, email)?;
    Ok(found.ok_or_else(|| Refusal::not_found("user"))?.0)
}

/// The user with this id.
///
/// # Errors
/// `not_found`.
pub(super) fn named(db: &Reader<'_>, user_id: &str) -> Result<User, Error> {
    let user = match id::parse(user_id) {
        Some(id) => users::by_id(db, &id)?,
        None => None,
    };
    Ok(user.ok_or_else(|| Refusal::not_found("user"))?)
}

pub(super) fn known(db: &Reader<'_>, user: User) -> Result<Known, Error> {
    let account = user
        .account
        .map(|seq| accounts::by_seq(db, seq))
        .transpose()?;
    Ok((user, account.map(|account| account.id)))
}

/// Into the audit log.
pub(super) fn told(
    tx: &Tx<'_>,
    actor: &str,
    action: &str,
    user: &User,
    now: Time,
) -> Result<(), Error> {
    let detail = json!({ "email": user.email, "role": user.role });
    let noted = Entry {
        action,
        account: user.account,
        object: Some(&user.id),
        detail: &detail,
    };
    audit_log::record(tx, now, actor, &noted)
}
