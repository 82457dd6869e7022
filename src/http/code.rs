//! Codes of the second factor in requests: reading them, and counting them before it is known whether they are right.
//!
//! What does not live here: what a code is (`domain`), what it permits (`service`). What always holds: no code is looked
//! at before it is counted, and a right password takes back no wrong code.

use super::front::Front;
use super::password::Turn;
use super::throttle::Target;
use crate::domain::fields::Fields;
use crate::domain::refusal::{self, Refusal};
use crate::domain::second_factor::{CODE_CHARS_MAX, Code};
use crate::service::Error;
use crate::service::operator::members::Mark;

/// The field `code`; nothing where it is not given.
///
/// # Errors
/// `invalid_request` where it is no code.
pub(super) fn code(fields: &Fields<'_>) -> Result<Option<Code>, Refusal> {
    let text = fields.text("code", 1..=CODE_CHARS_MAX)?;
    text.map(Code::read).transpose()
}

/// A code that is tried, or none.
pub(super) struct CodeAttempt {
    /// What is guessed at, and by which client.
    at: Option<(Target, String)>,
}

impl CodeAttempt {
    /// Whose turn it is, whose code it is to be, and which one was given.
    pub(super) fn of(turn: &Turn, mark: Mark, code: Option<&Code>) -> CodeAttempt {
        let target = code.map(|code| match code {
            Code::OfApp(_) => Target::Code(mark),
            Code::Recovery(_) => Target::RecoveryCode(mark),
        });
        CodeAttempt {
            at: target.map(|target| (target, turn.0.clone())),
        }
    }

    /// Does what looks at the code, which counts as wrong until it was right.
    ///
    /// # Errors
    /// `too_many_attempts`: it is not looked at; else what `work` fails with.
    pub(super) async fn around<T>(
        self,
        front: &Front,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let Some((target, client)) = self.at else {
            return work.await;
        };
        let throttle = &front.throttle;
        throttle
            .begin(&target, &client)
            .inspect_err(|refusal| log::warn!("a code from {client} waits: {}", refusal.message))?;
        let done = work.await;
        match &done {
            Ok(_) => throttle.succeeded(&target, &client),
            Err(Error::Refused(refusal)) if is_wrong_code(refusal) => {
                log::warn!("a code of the second factor from {client} was wrong");
            }
            Err(_) => throttle.take_back(&target, &client),
        }
        done
    }
}

fn is_wrong_code(refusal: &Refusal) -> bool {
    refusal.code == refusal::Code::InvalidCredentials && refusal.param.as_deref() == Some("code")
}
