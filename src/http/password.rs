//! Passwords in requests: proving them, or hashing them to be stored.
//!
//! What always holds: every password is hashed in the one queue (`hashing`), and an attempt is counted before it is
//! made (`throttle`). An attempt whose caller hangs up before the answer reveals nothing and is not counted.

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

/// Whose turn it is in the queue.
pub(super) struct Turn {
    /// What a client is counted by.
    pub(super) client: String,
    /// Is somebody signed in?
    pub(super) is_member: bool,
}

impl Turn {
    /// That of whoever is signed in: nobody beside them can take it.
    pub(super) fn of_member(member: &Member) -> Turn {
        Turn {
            client: format!("user {}", member.user().id),
            is_member: true,
        }
    }

    /// Returns whether the user of this mark has signed in by this client. Who is signed in has.
    ///
    /// # Errors
    /// [`Error::Failed`] where the file fails.
    pub(super) fn client_kind(&self, front: &Front, mark: &Mark) -> Result<Client, Error> {
        let is_known = self.is_member || front.service.is_known_client(mark, &self.client)?;
        Ok(if is_known {
            Client::Known
        } else {
            Client::Unknown
        })
    }

    /// That of a client that nobody is signed in at.
    pub(super) fn of_client(call: &Call) -> Turn {
        Turn {
            client: client::limit_key(call.client()),
            is_member: false,
        }
    }
}

/// Who tries what.
struct Attempt {
    throttle: Arc<Throttle>,
    target: Target,
    client: String,
    is_counted: AtomicBool,
}

impl Attempt {
    /// Counts it, before it is known whether it fails.
    fn begin(&self) -> Result<(), Refusal> {
        self.throttle.begin(&self.target, &self.client)?;
        self.is_counted.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// It was answered to nobody. One that was refused was not counted, so there is nothing to take back.
    fn take_back(&self) {
        if self.is_counted.load(Ordering::Relaxed) {
            self.throttle.take_back(&self.target, &self.client);
        }
    }
}

/// The user with this email, if this is the password.
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

/// The user with this email, if this is the password, and the hash of the one that is to follow it.
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

/// The hash of a password that is to be kept.
///
/// # Errors
/// `invalid_request` for one that is too short, `too_many_attempts`, `overloaded`.
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
        log::warn!("a sign-in as {email:?} waits: {}", refusal.message);
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
            log::warn!("a sign-in as {email:?} failed: {}", refusal.message);
        }
        Err(Error::Failed(_)) => {}
    }
    proved
}

/// Is this the token of the set-up link? A wrong one is counted like a password.
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
