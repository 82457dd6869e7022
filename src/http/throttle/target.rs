//! Targets of guesses, and the rates at which all clients together may fail at them.

use super::rate::Rate;
use super::{Key, PasswordLimits, key};
use crate::domain::signature::hex;
use crate::domain::time::{HOUR_MS, SECOND_MS};
use crate::service::operator::members::Mark;

/// Failures of all unknown clients at one email: many more than one client can make.
pub(super) const GUESSES_OF_ALL_MAX: i64 = 300;
/// Time after which all unknown clients may fail once more at an email: two in a minute.
pub(super) const BY_EMAIL_MS: i64 = 30 * SECOND_MS;
/// Wrong codes of all clients for one user, whose password they all gave. A right code undoes only its own count, so
/// that a guesser cannot continue between two sign-ins of the user.
///
/// Three codes in a million are valid at a time, so a guess is right with a chance of 1 in 333 333. A guesser who knows
/// the password makes 20 guesses and then 24 a day, from any number of clients: 8 780 in a year. One of them is right in
/// 2.6 % of all years, and signs in once, as the secret stays unknown.
///
/// Clients that have given a right code are counted separately at the same rate, at most eight of them, and so is a
/// session. Only a guesser at such a client's address, or with a stolen session, makes further guesses there: at most
/// ten times as many in all.
pub(super) const BY_USER: Rate = Rate {
    burst: 20,
    cost_ms: HOUR_MS,
};

/// Whether the user has signed in from the client before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Client {
    Known,
    Unknown,
}

/// Target of a guess.
pub(in crate::http) enum Target {
    /// Password of an existing user.
    User(Mark, Client),
    /// Password at an unknown email, in any case.
    Nobody(String),
    /// Code of the user's authenticator app, given to sign in.
    Code(Mark, Client),
    /// Code of the user's authenticator app, given in a session of the user.
    OwnCode(Mark),
    /// Recovery code of the user, which is too long to guess.
    RecoveryCode(Mark),
    SetUp,
}

impl Target {
    /// Returns the rate at which all clients together may fail, `None` for a target that is too long to guess.
    fn rate(&self, limits: &PasswordLimits) -> Option<Rate> {
        match self {
            Target::User(..) | Target::Nobody(_) => Some(Rate {
                burst: limits.guesses_of_all_max,
                cost_ms: BY_EMAIL_MS,
            }),
            Target::Code(..) | Target::OwnCode(_) => Some(BY_USER),
            Target::RecoveryCode(_) | Target::SetUp => None,
        }
    }

    /// Returns the rate that a client shares with other clients, and the key of that group. A known client shares no rate
    /// for passwords. Its codes have a rate of their own, so that another client at its address gains nothing. `None`
    /// without a shared rate.
    pub(super) fn together(&self, client: &str, limits: &PasswordLimits) -> Option<(Rate, Key)> {
        let rate = self.rate(limits)?;
        match self {
            Target::User(_, Client::Known) => None,
            Target::Code(_, Client::Known) => Some((rate, self.key(client))),
            _ => Some((rate, self.key(""))),
        }
    }

    /// Returns `true` if a failure counts for its client at all targets. A client that tries a code has already given
    /// the password.
    pub(super) fn is_of_clients(&self) -> bool {
        matches!(self, Target::User(..) | Target::Nobody(_))
    }

    /// Returns the key of the target and a client, or of the target alone if the client is empty. A new password
    /// makes a new target.
    pub(super) fn key(&self, client: &str) -> Key {
        match self {
            Target::User(mark, _) => mark_key("user", mark, client),
            Target::Code(mark, _) => mark_key("code", mark, client),
            Target::OwnCode(mark) => mark_key("own code", mark, client),
            Target::RecoveryCode(mark) => mark_key("recovery", mark, client),
            Target::Nobody(email) => {
                let email = email.to_lowercase();
                key(&format!("email {} {email} {client}", email.len()))
            }
            Target::SetUp => key(&format!("set-up {client}")),
        }
    }
}

/// Returns the key of a target of the user with this password.
fn mark_key(what: &str, mark: &Mark, client: &str) -> Key {
    let password = hex(&mark.password);
    key(&format!("{what} {} {password} {client}", mark.user))
}
