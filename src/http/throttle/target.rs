//! What is guessed at, and how often all clients together may fail at it.

use super::rate::Rate;
use super::{Key, PasswordLimits, key};
use crate::domain::signature::hex;
use crate::domain::time::{HOUR_MS, SECOND_MS};
use crate::service::operator::members::Mark;

/// Failures of all unknown clients at one email: many more than one client can make.
pub(super) const GUESSES_OF_ALL_MAX: i64 = 300;
/// Time after which all unknown clients may fail once more at an email: two in a minute.
pub(super) const BY_EMAIL_MS: i64 = 30 * SECOND_MS;
/// Wrong codes of all clients for one user, whose password they all gave. A right one takes back itself alone, so that
/// nobody guesses on between two of the user's own.
///
/// Three codes in a million are valid at a time, so a guess is right in 1 of 333 333. Who knows the password makes 20
/// guesses and then 24 a day from whatever clients: 8 780 in a year without a pause, one of which is right in 2.6 % of
/// all years (and then signs in once: the secret stays unknown). Clients that have given a code are counted each by
/// itself at the same rate, at most eight of them, and so is who is signed in: only who sends from such a client's own
/// address, or has stolen a session, makes as many guesses there again, and no combination makes more than ten times as
/// many.
pub(super) const BY_USER: Rate = Rate {
    burst: 20,
    cost_ms: HOUR_MS,
};

/// Is the client known, because the user has signed in by it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Client {
    Known,
    Unknown,
}

/// What is guessed at.
pub(in crate::http) enum Target {
    /// A user that exists.
    User(Mark, Client),
    /// An email that nobody has; in any case.
    Nobody(String),
    /// What the user's authenticator app shows, given to sign in.
    Code(Mark, Client),
    /// The same, given in a session of the user's.
    OwnCode(Mark),
    /// A recovery code of the user's, which is too long to be guessed.
    RecoveryCode(Mark),
    /// The set-up token.
    SetUp,
}

impl Target {
    /// How often all clients together may fail at it; nothing where it is too long to be guessed.
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

    /// Returns the rate at which a client may fail together with others, and what stands for all of them. Others do not keep
    /// a known client from a password or a code. Its codes are counted by itself, so whoever shares its address guesses no
    /// faster there. `None` where there is no such rate.
    pub(super) fn together(&self, client: &str, limits: &PasswordLimits) -> Option<(Rate, Key)> {
        let rate = self.rate(limits)?;
        match self {
            Target::User(_, Client::Known) => None,
            Target::Code(_, Client::Known) => Some((rate, self.key(client))),
            _ => Some((rate, self.key(""))),
        }
    }

    /// Does a failure count against its client elsewhere, too? Whoever tries a code has given the password.
    pub(super) fn is_of_clients(&self) -> bool {
        matches!(self, Target::User(..) | Target::Nobody(_))
    }

    /// What stands for it and a client; for it alone where that is empty. A user with another password is another one.
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

/// What stands for a guess at something of a user with this password.
fn mark_key(what: &str, mark: &Mark, client: &str) -> Key {
    let password = hex(&mark.password);
    key(&format!("{what} {} {password} {client}", mark.user))
}
