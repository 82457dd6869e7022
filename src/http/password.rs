//! Passwords that come in by HTTP: proved, or hashed to be kept.
//!
//! What always holds: every one of them is hashed in the one queue (`hashing`), and one that is tried is counted before
//! (`guessing`).

use super::request::Call;
use super::{client, guessing};
use crate::domain::user::check_password;
use crate::service::Error;
use crate::service::members::Proven;

/// The user with this email, if this is the password.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`, `overloaded`.
pub(super) async fn prove(call: &Call, email: &str, password: String) -> Result<Proven, Error> {
    prove_and_hash(call, email, password, None)
        .await
        .map(|(proven, _)| proven)
}

/// The user with this email, if this is the password, and the hash of the one that is to follow it.
///
/// # Errors
/// As [`prove`]; `invalid_request` for a new password that is too short.
pub(super) async fn replace(
    call: &Call,
    email: &str,
    password: String,
    new: String,
) -> Result<(Proven, String), Error> {
    check_password(&new)?;
    let (proven, hash) = prove_and_hash(call, email, password, Some(new)).await?;
    let hash = hash.ok_or_else(|| Error::Failed("a password was not hashed".to_owned()))?;
    Ok((proven, hash))
}

/// The hash of a password that is to be kept.
///
/// # Errors
/// `invalid_request` for one that is too short, `too_many_attempts`, `overloaded`.
pub(super) async fn hash(call: &Call, password: String) -> Result<String, Error> {
    check_password(&password)?;
    let hashing = &call.front.hashing;
    hashing
        .run(&turn(call), move |hasher| hasher.hash(&password))
        .await?
}

async fn prove_and_hash(
    call: &Call,
    email: &str,
    password: String,
    new: Option<String>,
) -> Result<(Proven, Option<String>), Error> {
    let front = &call.front;
    if let Err(seconds) = front.guessing.begin(email, front.clock.real_now()) {
        log::warn!("sign-ins as {email:?} are slowed down: too many have failed");
        return Err(guessing::refusal(seconds).into());
    }
    let (credentials, turn) = (front.service.credentials(email)?, turn(call));
    let proved = front.hashing.run(&turn, move |hasher| {
        let proven = credentials.prove(hasher, &password)?;
        let hash = new.map(|new| hasher.hash(&new)).transpose()?;
        Ok((proven, hash))
    });
    let proved: Result<_, Error> = proved.await?;
    match &proved {
        Ok(_) => front.guessing.succeeded(email),
        Err(Error::Refused(_)) => log::warn!("a sign-in as {email:?} failed"),
        Err(Error::Failed(_)) => {}
    }
    proved
}

/// Whose turn it is in the queue: the user's who is signed in, so that nobody beside them can take it, or the client's.
fn turn(call: &Call) -> String {
    match &call.member {
        Some(member) => format!("user {}", member.user().id),
        None => client::limit_key(client::address(call)),
    }
}
