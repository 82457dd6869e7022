//! Passwords in requests: checks them, or hashes them for storage.
//!
//! Invariant: every password is hashed in the one queue (`hashing`). An attempt is counted before it is made
//! (`throttle`). If the caller disconnects before the answer, the count is undone.

use super::client;
use super::front::Front;
use super::request::Call;
use super::throttle::{Client, Target, Throttle};
use crate::domain::refusal::Refusal;
use crate::domain::user::check_password;
use crate::service::operator::members::{Mark, Proven};
use crate::service::{Error, Member};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Identity of a client, for the queue and for counting attempts.
pub(super) struct Turn {
    /// Key by which attempts of the client are counted.
    pub(super) client: String,
    /// `true` if the client has a session.
    pub(super) is_member: bool,
}

impl Turn {
    /// Returns the identity of a signed-in member, which nobody else can use.
    pub(super) fn of_member(member: &Member) -> Turn {
        Turn {
            client: format!("user {}", member.user().id),
            is_member: true,
        }
    }

    /// Returns the kind of client: known if the marked user has signed in from this client before. A member's client
    /// is always known.
    ///
    /// # Errors
    /// [`Error::Failed`] if the database cannot be read.
    pub(super) fn client_kind(&self, front: &Front, mark: &Mark) -> Result<Client, Error> {
        let is_known = self.is_member || front.service.is_known_client(mark, &self.client)?;
        Ok(if is_known {
            Client::Known
        } else {
            Client::Unknown
        })
    }

    /// Returns the identity of a client without a session: its address.
    pub(super) fn of_client(call: &Call) -> Turn {
        Turn {
            client: client::limit_key(call.client()),
            is_member: false,
        }
    }
}

/// An attempt of a client to guess a password.
struct Attempt {
    throttle: Arc<Throttle>,
    target: Target,
    client: String,
    is_counted: AtomicBool,
}

impl Attempt {
    /// Counts the attempt as failed before its result is known.
    fn begin(&self) -> Result<(), Refusal> {
        self.throttle.begin(&self.target, &self.client)?;
        self.is_counted.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Undoes the count of an attempt after the caller has disconnected. Does nothing if the attempt was refused, as
    /// it was not counted.
    fn take_back(&self) {
        if self.is_counted.load(Ordering::Relaxed) {
            self.throttle.take_back(&self.target, &self.client);
        }
    }
}

/// Checks the password and returns the proven user.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`, `overloaded`.
pub(super) async fn prove(
    front: &Front,
    turn: &Turn,
    email: &str,
    password: String,
) -> Result<Proven, Error> {
    prove_and_hash(front, turn, email, password, None)
        .await
        .map(|(proven, _)| proven)
}

/// Checks the password, and returns the proven user and the hash of the new password.
///
/// # Errors
/// As [`prove`]; `invalid_request` for a new password that is too short.
pub(super) async fn replace(
    front: &Front,
    turn: &Turn,
    email: &str,
    password: String,
    new: String,
) -> Result<(Proven, String), Error> {
    check_password(&new)?;
    let (proven, hash) = prove_and_hash(front, turn, email, password, Some(new)).await?;
    let hash = hash.ok_or_else(|| Error::Failed("a password was not hashed".to_owned()))?;
    Ok((proven, hash))
}

/// Hashes a password for storage.
///
/// # Errors
/// `invalid_request` if the password is too short, `too_many_attempts`, `overloaded`.
pub(super) async fn hash(front: &Front, turn: &Turn, password: String) -> Result<String, Error> {
    check_password(&password)?;
    let hashing = &front.hashing;
    hashing
        .run(&turn.client, move |hasher| hasher.hash(&password), || ())
        .await?
}

async fn prove_and_hash(
    front: &Front,
    turn: &Turn,
    email: &str,
    password: String,
    new: Option<String>,
) -> Result<(Proven, Option<String>), Error> {
    let client = turn.client.clone();
    let credentials = front.service.credentials(email)?;
    let target = match credentials.mark() {
        Some(mark) => Target::User(mark, turn.client_kind(front, &mark)?),
        None => Target::Nobody(email.to_owned()),
    };
    let slowed = |refusal: &Refusal| {
        log::warn!(
            "sign-in delayed: email={email:?} reason={}",
            refusal.message
        );
    };
    front.throttle.check(&target, &client).inspect_err(slowed)?;
    let attempt = Arc::new(Attempt {
        throttle: Arc::clone(&front.throttle),
        target,
        client,
        is_counted: AtomicBool::new(false),
    });
    let (tried, unheard) = (Arc::clone(&attempt), Arc::clone(&attempt));
    let proved = front.hashing.run(
        &attempt.client,
        move |hasher| {
            tried.begin()?;
            let proven = credentials.prove(hasher, &password)?;
            let hash = new.map(|new| hasher.hash(&new)).transpose()?;
            Ok((proven, hash))
        },
        move || unheard.take_back(),
    );
    let proved: Result<_, Error> = proved.await?;
    match &proved {
        Ok(_) => front.throttle.succeeded(&attempt.target, &attempt.client),
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
pub(super) fn check_set_up(call: &Call, token: &str) -> Result<(), Error> {
    let (throttle, Turn { client, .. }) = (&call.front.throttle, Turn::of_client(call));
    throttle.begin(&Target::SetUp, &client)?;
    call.front.service.check_setup(call.now, token)?;
    throttle.succeeded(&Target::SetUp, &client);
    Ok(())
}
