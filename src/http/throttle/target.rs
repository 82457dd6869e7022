//! Targets of guesses, and the rate of failures that each target allows to all clients together.

use super::{PasswordLimits, ThrottleKey, hash_key};
use crate::domain::signature::hex;
use crate::domain::time::{HOUR_MS, SECOND_MS};
use crate::http::bucket::Rate;
use crate::service::users::members::CredentialSnapshot;

/// Number of failures of all unknown clients together at one email before these clients must wait. A single client
/// reaches its own limit earlier.
pub(super) const SHARED_GUESSES_MAX: i64 = 300;
/// Interval after which all unknown clients together may fail once more at an email, in milliseconds. Allows two
/// failures a minute.
pub(super) const EMAIL_INTERVAL_MS: i64 = 30 * SECOND_MS;
/// Rate of wrong codes for one user, of all clients together. All these clients sent the right password. A right code
/// undoes only its own count, so a sign-in of the user allows a guesser no additional guesses.
///
/// Three of a million codes are valid at a time, so a guess is right with a chance of 1 in 333 333. A guesser who
/// knows the password can make 20 + 24 × 365 = 8 780 guesses a year, from any number of clients. The chance to guess
/// a right code is 8 780 / 333 333 = 2.6 % a year. A right code allows only one sign-in, because the secret stays
/// unknown.
///
/// The sessions of a user have a separate count with the same rate. Each client that sent a right code, of which
/// there are at most eight, has a separate count too. A guesser with the address of such a client, or with a stolen
/// session, can make more guesses: at most ten times as many in total.
pub(super) const CODE_RATE: Rate = Rate { burst: 20, cost_ms: HOUR_MS };

/// Kind of client: known if the user has signed in from the client before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ClientKind {
    Known,
    Unknown,
}

/// Secret that a client tries to guess.
pub(in crate::http) enum Target {
    User(CredentialSnapshot, ClientKind),
    /// Password for an email that no user has. Upper and lower case are not distinguished.
    UnknownEmail(String),
    /// Code of the user's authenticator app, entered at sign-in.
    Code(CredentialSnapshot, ClientKind),
    /// Code of the user's authenticator app, entered in a session of the user.
    SessionCode(CredentialSnapshot),
    /// Recovery code of the user. A recovery code is too long to guess.
    RecoveryCode(CredentialSnapshot),
    SetUp,
}

impl Target {
    /// Returns the rate at which all clients together may fail at the target. Returns `None` for a secret that is too
    /// long to guess.
    fn rate(&self, limits: &PasswordLimits) -> Option<Rate> {
        match self {
            Target::User(..) | Target::UnknownEmail(_) => {
                Some(Rate { burst: limits.shared_guesses_max, cost_ms: EMAIL_INTERVAL_MS })
            }
            Target::Code(..) | Target::SessionCode(_) => Some(CODE_RATE),
            Target::RecoveryCode(_) | Target::SetUp => None,
        }
    }

    /// Returns the rate and the key of the counter that limits this client at the target. Usually all clients share
    /// one counter for each target. For codes, each known client has its own counter. Returns `None` if no counter
    /// applies: for passwords from known clients, and for secrets that are too long to guess.
    pub(super) fn shared_rate(
        &self,
        client: &str,
        limits: &PasswordLimits,
    ) -> Option<(Rate, ThrottleKey)> {
        let rate = self.rate(limits)?;
        match self {
            Target::User(_, ClientKind::Known) => None,
            Target::Code(_, ClientKind::Known) => Some((rate, self.key(client))),
            _ => Some((rate, self.key(""))),
        }
    }

    /// Returns `true` if a failure also counts against the client's rate at all targets. Wrong codes do not count,
    /// because the client has already sent the right password.
    pub(super) fn counts_for_client(&self) -> bool {
        matches!(self, Target::User(..) | Target::UnknownEmail(_))
    }

    /// Returns the key of the target for this client, or for all clients if `client` is empty. A new password changes
    /// the keys of the user's targets.
    pub(super) fn key(&self, client: &str) -> ThrottleKey {
        match self {
            Target::User(mark, _) => key_of_user_target("user", mark, client),
            Target::Code(mark, _) => key_of_user_target("code", mark, client),
            Target::SessionCode(mark) => key_of_user_target("own code", mark, client),
            Target::RecoveryCode(mark) => key_of_user_target("recovery", mark, client),
            Target::UnknownEmail(email) => {
                let email = email.to_lowercase();
                hash_key(&format!("email {} {email} {client}", email.len()))
            }
            Target::SetUp => hash_key(&format!("set-up {client}")),
        }
    }
}

/// Returns the key of a target that belongs to a user. `mark` identifies the user and the user's current password.
fn key_of_user_target(what: &str, mark: &CredentialSnapshot, client: &str) -> ThrottleKey {
    let password = hex(&mark.password);
    hash_key(&format!("{what} {} {password} {client}", mark.user))
}
