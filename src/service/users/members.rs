//! Users' sessions: signs users in and out, and identifies a member by the session cookie.
//!
//! `http` hashes passwords and limits attempts.
//!
//! Invariant: only this module creates a [`Member`], and only for an existing session. Only a [`VerifiedUser`] and the
//! operator of a set-up link get a new session.

use super::codes::use_up_code;
use super::passwords::Hasher;
use crate::domain::signature::hex;
use crate::domain::time::MINUTE_MS;
use crate::domain::user::{PASSWORD_MS_MAX, SESSION_MS};
use crate::domain::{EnteredCode, Mode, Refusal, RefusalCode, Role, Time, User, apikey, id};
use crate::service::{Error, QuotaOwner, Scope, Service, Step, random_bytes};
use crate::store::{Reader, Tx, accounts, known_clients, sessions, users};
use std::sync::Arc;

const CLIENTS_MAX: u32 = 8;

/// Largest step back of the wall clock that does not require the password again, in milliseconds.
const CLOCK_STEP_MS: i64 = MINUTE_MS;

/// A signed-in user, with the session.
#[derive(Clone, Debug)]
pub struct Member {
    user: User,
    /// ID of the account, for a merchant's user.
    account_id: Option<String>,
    /// SHA-256 of the session cookie.
    session: [u8; 32],
    /// Wall-clock time at which the user last entered the password.
    password_at: Time,
}

impl Member {
    /// Returns the signed-in user.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// Returns the email of the user, which identifies the user in the audit log.
    pub fn actor(&self) -> String {
        self.user.email.clone()
    }

    /// Refuses a sensitive action unless the user entered the password in the last 15 minutes. A wall clock that was
    /// set back by more than a minute also causes a refusal.
    ///
    /// # Errors
    ///
    /// `reauthentication_required`.
    pub fn check_recent_password(&self, real_now: Time) -> Result<(), Refusal> {
        let age_ms = real_now.since_ms(self.password_at);
        if (-CLOCK_STEP_MS..PASSWORD_MS_MAX).contains(&age_ms) {
            return Ok(());
        }
        let message = "your password must have been given in the last 15 minutes; \
            send it to POST /dashboard/api/session/confirm and try again";
        Err(Refusal::new(RefusalCode::ReauthenticationRequired, message))
    }

    /// Returns the SHA-256 of the session cookie.
    pub(super) fn session_hash(&self) -> &[u8; 32] {
        &self.session
    }

    /// Returns `true` if the user is an operator.
    pub fn is_operator(&self) -> bool {
        self.user.role == Role::Operator
    }

    /// Returns the party whose quota the member's requests use: all users of the account, or the single operator.
    pub fn quota_owner(&self) -> QuotaOwner {
        match self.user.account {
            Some(account) => QuotaOwner::Users { account },
            None => QuotaOwner::Operator { user: self.user.seq },
        }
    }

    /// Returns the `seq` of the account, for a merchant's user.
    pub(crate) fn account_seq(&self) -> Option<i64> {
        self.user.account
    }

    /// Returns the ID of the account, for a merchant's user.
    pub fn account_id(&self) -> Option<&str> {
        self.account_id.as_deref()
    }
}

/// The user with an email, and the stored password hash. Empty if no user has the email.
pub struct Credentials {
    found: Option<(User, String)>,
}

/// A user together with the current password and second factor. Failed sign-in attempts are counted for each
/// combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialSnapshot {
    /// `seq` of the user.
    pub user: i64,
    /// SHA-256 of the stored password hash.
    pub password: [u8; 32],
    /// Time at which the second factor was turned on. `None` if the second factor is off.
    pub factor: Option<Time>,
}

impl CredentialSnapshot {
    fn new(user: &User, password_hash: &str) -> CredentialSnapshot {
        CredentialSnapshot {
            user: user.seq,
            password: apikey::hash_key(password_hash),
            factor: user.second_factor_at,
        }
    }

    /// Returns the hash of a client together with the user, the password and the second factor.
    fn client_hash(&self, client: &str) -> [u8; 32] {
        let (password, factor) = (hex(&self.password), self.factor.map(|at| at.0));
        apikey::hash_key(&format!("{} {password} {factor:?} {client}", self.user))
    }
}

/// Stores a client as known, after the user has signed in or confirmed the password from this client.
pub(super) fn remember_client(
    tx: &Tx<'_>,
    user: &User,
    password_hash: &str,
    client: &str,
) -> Result<(), Error> {
    let hash = CredentialSnapshot::new(user, password_hash).client_hash(client);
    Ok(known_clients::add(tx, user.seq, &hash, CLIENTS_MAX)?)
}

impl Credentials {
    /// Returns the [`CredentialSnapshot`] of the user, or `None` if the email is unknown.
    pub fn credential_snapshot(&self) -> Option<CredentialSnapshot> {
        self.found.as_ref().map(|(user, hash)| CredentialSnapshot::new(user, hash))
    }

    /// Returns the user if the password is right. Takes the same time if the user does not exist.
    ///
    /// # Errors
    /// `invalid_credentials`, the same for a wrong email and a wrong password.
    pub fn verify(self, hasher: &mut Hasher, password: &str) -> Result<VerifiedUser, Refusal> {
        let hash = self.found.as_ref().map(|(_, hash)| hash.as_str());
        let is_right = hasher.matches_hash(password, hash);
        let found = self.found.filter(|(user, _)| is_right && is_enabled(user));
        let (user, password_hash) = found.ok_or_else(wrong_credentials_refusal)?;
        Ok(VerifiedUser { user, password_hash })
    }
}

/// A user who has just entered the right password.
#[derive(Clone)]
pub struct VerifiedUser {
    user: User,
    password_hash: String,
}

impl VerifiedUser {
    /// Returns the [`CredentialSnapshot`] of the user, with the verified password.
    pub fn credential_snapshot(&self) -> CredentialSnapshot {
        CredentialSnapshot::new(&self.user, &self.password_hash)
    }

    /// Returns the user if the user is enabled and the password has not changed since it was verified.
    ///
    /// # Errors
    ///
    /// `invalid_credentials`.
    fn check_unchanged(&self, db: &Reader<'_>) -> Result<User, Error> {
        let found = users::by_email(db, &self.user.email)?;
        let still = found.filter(|(user, hash)| {
            user.seq == self.user.seq && *hash == self.password_hash && is_enabled(user)
        });
        Ok(still.ok_or_else(wrong_credentials_refusal)?.0)
    }
}

/// Credentials of a request: the verified password, an optional code, the client and the time.
pub struct VerifiedCredentials {
    /// User with the verified password.
    pub proven: VerifiedUser,
    /// Code of the second factor. Ignored if the factor is off.
    pub code: Option<EnteredCode>,
    /// Client of the request: an address or a network of addresses.
    pub client: String,
    /// Wall-clock time, which authenticator apps use. The clock of a sandbox does not change this time.
    pub real_now: Time,
}

impl VerifiedCredentials {
    /// Returns the user if the password is still current and the code, if needed, is right. Uses up the code and
    /// stores the client as known.
    ///
    /// # Errors
    /// `invalid_credentials`. `second_factor_required` if a code is needed and missing.
    pub(super) fn verify(self, tx: &Tx<'_>, now: Time) -> Result<User, Error> {
        let user = self.proven.check_unchanged(tx)?;
        use_up_code(tx, &user, self.code.as_ref(), now, self.real_now)?;
        remember_client(tx, &user, &self.proven.password_hash, &self.client)?;
        Ok(user)
    }
}

fn is_enabled(user: &User) -> bool {
    user.disabled_at.is_none()
}

fn wrong_credentials_refusal() -> Refusal {
    let message = "the email or the password is wrong";
    Refusal::new(RefusalCode::InvalidCredentials, message)
}

fn session_ended_refusal() -> Refusal {
    Refusal::new(RefusalCode::Unauthorized, "the session has ended; sign in again")
}

/// A new session.
pub struct NewSession {
    /// Value of the session cookie. The database does not store this value.
    pub cookie: String,
    /// Signed-in user.
    pub member: Member,
    /// Time at which the session ends.
    pub expires_at: Time,
}

impl Service {
    /// Returns the credentials stored for an email.
    pub fn credentials_by_email(&self, email: &str) -> Result<Credentials, Error> {
        let found = self.read(|db| Ok(users::by_email(db, email)?))?;
        Ok(Credentials { found })
    }

    /// Returns `true` if the user has signed in from this client with the current password and second factor.
    pub fn is_known_client(&self, mark: &CredentialSnapshot, client: &str) -> Result<bool, Error> {
        let hash = mark.client_hash(client);
        self.read(|db| Ok(known_clients::is_known_client(db, &hash)?))
    }

    /// Begins a session.
    ///
    /// # Errors
    ///
    /// As `VerifiedCredentials::verify`.
    pub async fn sign_in(
        self: &Arc<Self>,
        now: Time,
        given: VerifiedCredentials,
    ) -> Result<NewSession, Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let real_now = given.real_now;
            let user = given.verify(tx, now)?;
            begin_session(tx, user, now, real_now)
        })
        .await
    }

    /// Records that a member has entered the password again.
    ///
    /// # Errors
    ///
    /// As `VerifiedCredentials::verify`. `unauthorized` if the session has ended.
    pub async fn confirm_password(
        self: &Arc<Self>,
        now: Time,
        member: &Member,
        given: VerifiedCredentials,
    ) -> Result<(), Error> {
        let session = member.session;
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let real_now = given.real_now;
            let user = given.verify(tx, now)?;
            let is_there = sessions::save_password_check(tx, &session, user.seq, real_now)?;
            is_there.then_some(()).ok_or_else(|| session_ended_refusal().into())
        })
        .await
    }

    /// Returns the member with this session cookie.
    ///
    /// # Errors
    /// `unauthorized` if there is no such session.
    pub fn member_by_cookie(&self, now: Time, cookie: &str) -> Result<Member, Error> {
        let session = apikey::hash_key(cookie);
        let found = self.read(|db| match sessions::find_user(db, &session, now)? {
            Some((user, password_at)) => new_member(db, user, session, password_at).map(Some),
            None => Ok(None),
        })?;
        found.ok_or_else(|| session_ended_refusal().into())
    }

    /// Ends the session with this cookie.
    pub async fn sign_out(self: &Arc<Self>, cookie: &str) -> Result<(), Error> {
        let hash = apikey::hash_key(cookie);
        self.store.write(move |tx| Ok(sessions::delete(tx, &hash)?)).await
    }

    /// Returns the scope of an account. An operator may access every account, other users only their own.
    ///
    /// # Errors
    ///
    /// `not_found` if the account does not exist or the member may not access the account.
    pub fn scope_of_account(
        &self,
        member: &Member,
        account_id: &str,
        mode: Mode,
    ) -> Result<Scope, Error> {
        let own = member.user.account;
        let account = match id::parse(account_id) {
            Some(id) => self.read(|db| Ok(accounts::by_id(db, &id)?))?,
            None => None,
        };
        let account = account.filter(|account| member.is_operator() || own == Some(account.seq));
        let account = account.ok_or_else(|| Refusal::not_found("account"))?;
        Ok(Scope::new(account.seq, mode))
    }
}

/// Begins a session of a user who has just entered or set the password, at the wall-clock time `real_now`.
pub(super) fn begin_session(
    tx: &Tx<'_>,
    user: User,
    now: Time,
    real_now: Time,
) -> Result<NewSession, Error> {
    let cookie = hex(&random_bytes::<32>()?);
    let hash = apikey::hash_key(&cookie);
    let expires_at = now.plus_ms(SESSION_MS);
    sessions::insert(tx, &hash, user.seq, now, expires_at, real_now)?;
    Ok(NewSession { member: new_member(tx, user, hash, real_now)?, cookie, expires_at })
}

/// Returns the member for a user, with the ID of the user's account.
fn new_member(
    db: &Reader<'_>,
    user: User,
    session: [u8; 32],
    password_at: Time,
) -> Result<Member, Error> {
    let account = user.account.map(|seq| accounts::by_seq(db, seq)).transpose()?;
    Ok(Member { user, account_id: account.map(|account| account.id), session, password_at })
}

/// Creates a user. `password_hash` comes from [`Hasher::hash`].
///
/// # Errors
/// `invalid_request` if the email is taken.
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
