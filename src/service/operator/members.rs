//! Who is signed in: users, sessions, and what each may see.
//!
//! What lives here: making users, signing in and out, telling a member by the cookie. What does not: slowing down
//! who guesses, and where passwords are hashed (`http`). What always holds: only this file makes a [`Member`], and
//! only from a session that exists; a session is made only for a user who has [`Proven`] the password.

use super::passwords::Hasher;
use super::second_factor::prove;
use crate::domain::apikey;
use crate::domain::asset::Mode;
use crate::domain::id;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::second_factor;
use crate::domain::signature::hex;
use crate::domain::time::{MINUTE_MS, Time};
use crate::domain::user::{PASSWORD_MS_MAX, Role, SESSION_MS, User};
use crate::service::{Asker, Error, Scope, Service, random};
use crate::store::{Reader, Tx, accounts, known_clients, sessions, users};
use std::sync::Arc;

/// Clients that are known of one user.
const CLIENTS_MAX: u32 = 8;

/// How far a clock that is being set right may go back without anybody being asked for the password again.
const CLOCK_STEP_MS: i64 = MINUTE_MS;

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub struct Member {
    user: User,
    /// The id of the account of a merchant's user.
    account_id: Option<String>,
    /// SHA-256 of the cookie.
    session: [u8; 32],
    /// When the password was given last, by real time.
    password_at: Time,
}

impl Member {
    /// Who it is.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// The email, which is what the audit log calls them by.
    pub fn actor(&self) -> String {
        self.user.email.clone()
    }

    /// Refuses what is sensitive unless the password was given a short while ago. A clock that was set back since counts
    /// as a long one.
    ///
    /// # Errors
    /// `reauthentication_required`.
    pub fn gave_password_lately(&self, real_now: Time) -> Result<(), Refusal> {
        let age_ms = real_now.since_ms(self.password_at);
        if (-CLOCK_STEP_MS..PASSWORD_MS_MAX).contains(&age_ms) {
            return Ok(());
        }
        let message = "your password must have been given in the last 15 minutes; \
            send it to POST /dashboard/api/session/confirm and try again";
        Err(Refusal::new(Code::ReauthenticationRequired, message))
    }

    /// SHA-256 of the cookie.
    pub(super) fn session(&self) -> &[u8; 32] {
        &self.session
    }

    /// May do everything?
    pub fn is_operator(&self) -> bool {
        self.user.role == Role::Operator
    }

    /// Whose share of what is scarce is used: the account's, whichever of its users asks; an operator's own.
    pub fn asker(&self) -> Asker {
        match self.user.account {
            Some(account) => Asker::Users { account },
            None => Asker::Operator {
                user: self.user.seq,
            },
        }
    }

    /// The id of the account of a merchant's user.
    pub fn account_id(&self) -> Option<&str> {
        self.account_id.as_deref()
    }
}

/// Who has this email, and what the password is checked against; perhaps nobody.
pub struct Credentials {
    found: Option<(User, String)>,
}

/// A user, the present password and the second factor: what attempts are counted against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Which user.
    pub user: i64,
    /// SHA-256 of the stored hash of the password.
    pub password: [u8; 32],
    /// When the second factor was turned on; nothing where it is off.
    pub factor: Option<Time>,
}

impl Mark {
    fn of(user: &User, password_hash: &str) -> Mark {
        Mark {
            user: user.seq,
            password: apikey::hash(password_hash),
            factor: user.second_factor_at,
        }
    }

    /// Returns the hash of a client that proved this password and second factor.
    fn client_hash(&self, client: &str) -> [u8; 32] {
        let (password, factor) = (hex(&self.password), self.factor.map(|at| at.0));
        apikey::hash(&format!("{} {password} {factor:?} {client}", self.user))
    }
}

/// Stores a client as known: the user has just signed in by it, or shown there to be still the same person.
pub(super) fn remember_client(
    tx: &Tx<'_>,
    user: &User,
    password_hash: &str,
    client: &str,
) -> Result<(), Error> {
    let hash = Mark::of(user, password_hash).client_hash(client);
    Ok(known_clients::add(tx, user.seq, &hash, CLIENTS_MAX)?)
}

impl Credentials {
    /// The user and the present password; nothing where nobody has this email.
    pub fn mark(&self) -> Option<Mark> {
        self.found.as_ref().map(|(user, hash)| Mark::of(user, hash))
    }

    /// The user, if this is the password. Takes the same time whether there is such a user or not.
    ///
    /// # Errors
    /// `invalid_credentials`, the same whether the email or the password is wrong.
    pub fn prove(self, hasher: &mut Hasher, password: &str) -> Result<Proven, Refusal> {
        let hash = self.found.as_ref().map(|(_, hash)| hash.as_str());
        let is_right = hasher.is_right(password, hash);
        let found = self.found.filter(|(user, _)| is_right && is_enabled(user));
        let (user, password_hash) = found.ok_or_else(wrong)?;
        Ok(Proven {
            user,
            password_hash,
        })
    }
}

/// A user who has just given the password.
#[derive(Clone)]
pub struct Proven {
    user: User,
    password_hash: String,
}

impl Proven {
    /// The user and the password that was given.
    pub fn mark(&self) -> Mark {
        Mark::of(&self.user, &self.password_hash)
    }

    /// The user, if the password is still the one that was given and they may still sign in.
    ///
    /// # Errors
    /// `invalid_credentials`.
    fn still(self, db: &Reader<'_>) -> Result<User, Error> {
        let found = users::by_email(db, &self.user.email)?;
        let still = found.filter(|(user, hash)| {
            user.seq == self.user.seq && *hash == self.password_hash && is_enabled(user)
        });
        Ok(still.ok_or_else(wrong)?.0)
    }
}

/// What somebody gave to show who they are: the password, which was right, perhaps a code, and when, by real time.
pub struct Given {
    /// Whose password it was.
    pub proven: Proven,
    /// The code of the second factor; not looked at where it is off.
    pub code: Option<second_factor::EnteredCode>,
    /// The client that gave it: an address, or the site of one.
    pub client: String,
    /// When, by the wall clock: authenticator apps go by it, and no sandbox's clock moves it.
    pub real_now: Time,
}

impl Given {
    /// The user, if the password is still that one and the code is right where one is needed; it is used up. The client is
    /// known from then on.
    ///
    /// # Errors
    /// `invalid_credentials`; `second_factor_required` where a code is needed and not given.
    pub(super) fn still(self, tx: &Tx<'_>, now: Time) -> Result<User, Error> {
        let password_hash = self.proven.password_hash.clone();
        let user = self.proven.still(tx)?;
        prove(tx, &user, self.code.as_ref(), now, self.real_now)?;
        remember_client(tx, &user, &password_hash, &self.client)?;
        Ok(user)
    }
}

/// May they sign in?
fn is_enabled(user: &User) -> bool {
    user.disabled_at.is_none()
}

/// What is answered to whoever is not let in.
fn wrong() -> Refusal {
    let message = "the email or the password is wrong";
    Refusal::new(Code::InvalidCredentials, message)
}

/// What is answered to whoever is not signed in any more.
fn ended() -> Refusal {
    Refusal::new(Code::Unauthorized, "the session has ended; sign in again")
}

/// A session that was just begun.
pub struct Begun {
    /// What the cookie holds; not kept.
    pub cookie: String,
    /// Who signed in.
    pub member: Member,
    /// When it ends.
    pub expires_at: Time,
}

impl Service {
    /// Who says to have this email.
    pub fn credentials(&self, email: &str) -> Result<Credentials, Error> {
        let found = self.read(|db| Ok(users::by_email(db, email)?))?;
        Ok(Credentials { found })
    }

    /// Returns `true` if a user has signed in by this client, with the password and the second factor of the mark.
    pub fn is_known_client(&self, mark: &Mark, client: &str) -> Result<bool, Error> {
        let hash = mark.client_hash(client);
        self.read(|db| Ok(known_clients::has(db, &hash)?))
    }

    /// Begins a session.
    ///
    /// # Errors
    /// As `Given::still`.
    pub async fn sign_in(self: &Arc<Self>, now: Time, given: Given) -> Result<Begun, Error> {
        let cookie = hex(&random::<32>()?);
        let hash = apikey::hash(&cookie);
        let expires_at = now.plus_ms(SESSION_MS);
        let member = self.write(move |_, tx| {
            let real_now = given.real_now;
            let user = given.still(tx, now)?;
            sessions::insert(tx, &hash, user.seq, now, expires_at, real_now)?;
            member(tx, user, hash, real_now)
        });
        Ok(Begun {
            member: member.await?,
            cookie,
            expires_at,
        })
    }

    /// Notes that a member has given the password again.
    ///
    /// # Errors
    /// As `Given::still`; `unauthorized` where the session has ended.
    pub async fn confirm_password(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        given: Given,
    ) -> Result<(), Error> {
        let session = member.session;
        self.write(move |_, tx| {
            let real_now = given.real_now;
            let user = given.still(tx, now)?;
            let is_there = sessions::confirm(tx, &session, user.seq, real_now)?;
            is_there.then_some(()).ok_or_else(|| ended().into())
        })
        .await
    }

    /// Who is signed in by this cookie.
    ///
    /// # Errors
    /// `unauthorized` where nobody is.
    pub fn member(&self, now: Time, cookie: &str) -> Result<Member, Error> {
        let session = apikey::hash(cookie);
        let found = self.read(|db| match sessions::user(db, &session, now)? {
            Some((user, password_at)) => member(db, user, session, password_at).map(Some),
            None => Ok(None),
        })?;
        found.ok_or_else(|| ended().into())
    }

    /// Signs out.
    pub async fn sign_out(self: &Arc<Self>, cookie: &str) -> Result<(), Error> {
        let hash = apikey::hash(cookie);
        self.write(move |_, tx| Ok(sessions::delete(tx, &hash)?))
            .await
    }

    /// The data of an account, for a member: the operator's is every account, others' is their own.
    ///
    /// # Errors
    /// `not_found` for an account that is not there or not the member's.
    pub fn scope(&self, member: &Member, account_id: &str, mode: Mode) -> Result<Scope, Error> {
        let own = member.user.account;
        let account = match id::parse(account_id) {
            Some(id) => self.read(|db| Ok(accounts::by_id(db, &id)?))?,
            None => None,
        };
        let account = account.filter(|account| member.is_operator() || own == Some(account.seq));
        let account = account.ok_or_else(|| Refusal::not_found("account"))?;
        Ok(Scope::of(account.seq, mode))
    }
}

/// A user with what is known of the account.
fn member(
    db: &Reader<'_>,
    user: User,
    session: [u8; 32],
    password_at: Time,
) -> Result<Member, Error> {
    let account = user
        .account
        .map(|seq| accounts::by_seq(db, seq))
        .transpose()?;
    Ok(Member {
        user,
        account_id: account.map(|account| account.id),
        session,
        password_at,
    })
}

/// Makes a user; `password_hash` is of [`Hasher::hash`].
///
/// # Errors
/// `invalid_request` where somebody has this email already.
pub fn create(
    tx: &Tx<'_>,
    email: &str,
    password_hash: &str,
    role: Role,
    account: Option<i64>,
    now: Time,
) -> Result<User, Error> {
    if users::by_email(tx, email)?.is_some() {
        return Err(Refusal::field("email", "belongs to another user already").into());
    }
    let mut user = User {
        seq: 0,
        id: id::new(now).to_string(),
        email: email.to_owned(),
        role,
        account,
        created_at: now,
        disabled_at: None,
        second_factor_at: None,
    };
    user.seq = users::insert(tx, &user, password_hash)?;
    Ok(user)
}
