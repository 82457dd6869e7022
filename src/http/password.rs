//! Passwords in requests: checks them, or hashes them for storage.
//!
//! Invariant: every password is hashed in the one queue (`hashing`). An attempt is counted before the password is
//! checked (`throttle`). If the caller disconnects before the answer, the count is undone.

use super::client;
use super::request::Call;
use super::state::HttpState;
use super::throttle::{ClientKind, Target, Throttle};
use crate::domain::Refusal;
use crate::domain::user::check_password;
use crate::service::users::members::{CredentialSnapshot, VerifiedUser};
use crate::service::{Error, Member};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Identity of a client, for the hashing queue and for counting attempts.
pub(super) struct ClientIdentity {
    /// Key by which attempts of the client are counted.
    pub(super) client: String,
    /// `true` if the client has a session.
    pub(super) is_member: bool,
}

impl ClientIdentity {
    /// Returns the identity of a signed-in member. No other client has this identity.
    pub(super) fn for_member(member: &Member) -> ClientIdentity {
        ClientIdentity { client: format!("user {}", member.user().id), is_member: true }
    }

    /// Returns the kind of client: known if the user with this credential mark has signed in from this client before.
    /// The client of a signed-in member is always known.
    pub(super) fn client_kind(
        &self,
        http: &HttpState,
        mark: &CredentialSnapshot,
    ) -> Result<ClientKind, Error> {
        let is_known = self.is_member || http.service.is_known_client(mark, &self.client)?;
        Ok(if is_known { ClientKind::Known } else { ClientKind::Unknown })
    }

    /// Returns the identity of a client without a session, made from the client's address.
    pub(super) fn for_client(call: &Call) -> ClientIdentity {
        ClientIdentity { client: client::limit_key(call.client_address()), is_member: false }
    }
}

struct PasswordAttempt {
    throttle: Arc<Throttle>,
    target: Target,
    client: String,
    is_counted: AtomicBool,
}

impl PasswordAttempt {
    /// Counts the attempt as failed before its password is checked.
    fn count_attempt(&self) -> Result<(), Refusal> {
        self.throttle.count_attempt(&self.target, &self.client)?;
        self.is_counted.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Undoes the count of an attempt after the caller has disconnected. Does nothing if the attempt was refused,
    /// because refused attempts are not counted.
    fn undo_attempt(&self) {
        if self.is_counted.load(Ordering::Relaxed) {
            self.throttle.undo_attempt(&self.target, &self.client);
        }
    }
}

/// Checks the password and returns the verified user.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`, `overloaded`.
pub(super) async fn verify_user(
    http: &HttpState,
    turn: &ClientIdentity,
    email: &str,
    password: String,
) -> Result<VerifiedUser, Error> {
    verify_and_hash(http, turn, email, password, None).await.map(|(proven, _)| proven)
}

/// Checks the password, and returns the verified user and the hash of the new password.
///
/// # Errors
/// The errors of [`verify_user`]; `invalid_request` for a new password that is too short.
pub(super) async fn verify_and_hash_new(
    http: &HttpState,
    turn: &ClientIdentity,
    email: &str,
    password: String,
    new: String,
) -> Result<(VerifiedUser, String), Error> {
    check_password(&new)?;
    let (proven, hash) = verify_and_hash(http, turn, email, password, Some(new)).await?;
    let hash = hash.ok_or_else(|| Error::Failed("a password was not hashed".to_owned()))?;
    Ok((proven, hash))
}

/// Hashes a password for storage.
///
/// # Errors
/// `invalid_request` if the password is too short, `too_many_attempts`, `overloaded`.
pub(super) async fn hash_password(
    http: &HttpState,
    turn: &ClientIdentity,
    password: String,
) -> Result<String, Error> {
    check_password(&password)?;
    let hashing = &http.hashing;
    hashing.run(&turn.client, move |hasher| hasher.hash(&password), || ()).await?
}

async fn verify_and_hash(
    http: &HttpState,
    turn: &ClientIdentity,
    email: &str,
    password: String,
    new: Option<String>,
) -> Result<(VerifiedUser, Option<String>), Error> {
    let client = turn.client.clone();
    let credentials = http.service.credentials_by_email(email)?;
    let target = match credentials.credential_snapshot() {
        Some(mark) => Target::User(mark, turn.client_kind(http, &mark)?),
        None => Target::UnknownEmail(email.to_owned()),
    };
    let slowed = |refusal: &Refusal| {
        log::warn!("sign-in delayed: email={email:?} reason={}", refusal.message);
    };
    http.throttle.check(&target, &client).inspect_err(slowed)?;
    let attempt = Arc::new(PasswordAttempt {
        throttle: Arc::clone(&http.throttle),
        target,
        client,
        is_counted: AtomicBool::new(false),
    });
    let (tried, unheard) = (Arc::clone(&attempt), Arc::clone(&attempt));
    let proved = http.hashing.run(
        &attempt.client,
        move |hasher| {
            tried.count_attempt()?;
            let proven = credentials.verify(hasher, &password)?;
            let hash = new.map(|new| hasher.hash(&new)).transpose()?;
            Ok((proven, hash))
        },
        move || unheard.undo_attempt(),
    );
    let proved: Result<_, Error> = proved.await?;
    match &proved {
        Ok(_) => http.throttle.record_success(&attempt.target, &attempt.client),
        Err(Error::Refused(refusal)) => {
            log::warn!("sign-in failed: email={email:?} reason={}", refusal.message);
        }
        Err(Error::Failed(_)) => {}
    }
    proved
}

/// Checks the token of the set-up link. A wrong token counts as a failed attempt.
///
/// # Errors
/// `forbidden`, `too_many_attempts`.
pub(super) fn check_setup_token(call: &Call, token: &str) -> Result<(), Error> {
    let (throttle, ClientIdentity { client, .. }) =
        (&call.http.throttle, ClientIdentity::for_client(call));
    throttle.count_attempt(&Target::SetUp, &client)?;
    call.http.service.check_setup_token(call.now, token)?;
    throttle.record_success(&Target::SetUp, &client);
    Ok(())
}
