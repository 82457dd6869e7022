//! Second-factor codes in requests.
//!
//! Invariant: a code counts as wrong until the check has accepted the code, even if the caller disconnects. A right
//! password does not reset the count of wrong codes. A right code that was used before does not count as wrong.

use super::password::ClientIdentity;
use super::request::Call;
use super::state::HttpState;
use super::throttle::{Target, Throttle};
use crate::domain::{EnteredCode, Refusal, RefusalCode, second_factor};
use crate::service::users::members::{CredentialSnapshot, VerifiedCredentials, VerifiedUser};
use crate::service::{Error, Service};
use std::sync::Arc;

/// An attempt to enter a second-factor code. The attempt is counted only if the request contains a code.
pub(super) struct CodeAttempt {
    /// Target of the attempt and key of the client, for counting. `None` for a request without a code.
    at: Option<(Target, String)>,
}

impl CodeAttempt {
    /// Prepares an attempt for the code in a request. `run_counted` counts the attempt.
    pub(super) fn new(
        http: &HttpState,
        turn: &ClientIdentity,
        mark: CredentialSnapshot,
        code: Option<&EnteredCode>,
    ) -> Result<CodeAttempt, Error> {
        let target = match code {
            None => None,
            Some(EnteredCode::OfApp(_)) if turn.is_member => Some(Target::SessionCode(mark)),
            Some(EnteredCode::OfApp(_)) => Some(Target::Code(mark, turn.client_kind(http, &mark)?)),
            Some(EnteredCode::Recovery(_)) => Some(Target::RecoveryCode(mark)),
        };
        Ok(CodeAttempt { at: target.map(|target| (target, turn.client.clone())) })
    }

    /// Runs `work`, which checks the code. The code counts as wrong until `work` succeeds. A disconnect stops neither
    /// `work` nor the count, because the caller may learn the result from another request.
    ///
    /// # Errors
    /// `too_many_attempts` if the client must wait; else the errors of `work`.
    pub(super) async fn run_counted<T: Send + 'static>(
        self,
        throttle: &Arc<Throttle>,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let Some((target, client)) = self.at else {
            return work.await;
        };
        throttle.count_attempt(&target, &client).inspect_err(|refusal| {
            log::warn!("code delayed: client={client} reason={}", refusal.message)
        })?;
        let throttle = Arc::clone(throttle);
        let seen_through = tokio::spawn(async move {
            let done = work.await;
            match &done {
                Ok(_) => throttle.record_success(&target, &client),
                Err(Error::Refused(refusal)) if *refusal == second_factor::used_code_refusal() => {
                    log::warn!("code used before: client={client}");
                    throttle.undo_attempt(&target, &client);
                }
                Err(Error::Refused(refusal)) if is_wrong_code(refusal) => {
                    log::warn!("code wrong: client={client}");
                }
                Err(_) => throttle.undo_attempt(&target, &client),
            }
            done
        });
        seen_through
            .await
            .map_err(|error| Error::Failed(format!("a code was not looked at: {error}")))?
    }
}

/// Runs `work` with a verified password and the code of the request, and counts the code.
///
/// # Errors
/// The errors of [`CodeAttempt::run_counted`].
pub(super) async fn run_with_code<T, F>(
    call: &Call,
    turn: &ClientIdentity,
    proven: VerifiedUser,
    code: Option<EnteredCode>,
    work: impl FnOnce(Arc<Service>, VerifiedCredentials) -> F,
) -> Result<T, Error>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let http = &call.http;
    let attempt = CodeAttempt::new(http, turn, proven.credential_snapshot(), code.as_ref())?;
    let client = ClientIdentity::for_client(call).client;
    let given = VerifiedCredentials { proven, code, client, real_now: http.clock.real_now() };
    attempt.run_counted(&http.throttle, work(Arc::clone(&http.service), given)).await
}

fn is_wrong_code(refusal: &Refusal) -> bool {
    refusal.code == RefusalCode::InvalidCredentials && refusal.param.as_deref() == Some("code")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::CodeAttempt;
    use crate::clock::Stopwatch;
    use crate::domain::{Refusal, RefusalCode, second_factor};
    use crate::http::throttle::{PasswordLimits, Target, Throttle};
    use crate::service::Error;
    use crate::service::users::members::CredentialSnapshot;
    use std::sync::Arc;
    use tokio::sync::oneshot;

    /// Lets ten callers send a code and disconnect before the check ends. Returns the number of checked codes.
    async fn count_codes_checked(outcome: impl Fn() -> Result<(), Error>) -> usize {
        let limits = PasswordLimits::default();
        let throttle = Arc::new(Throttle::new(Stopwatch::start(), limits));
        let mark = CredentialSnapshot { user: 1, password: [1; 32], factor: None };
        let mut looked_at: usize = 0;
        for _ in 0..10 {
            let attempt = CodeAttempt { at: Some((Target::SessionCode(mark), "a".to_owned())) };
            let (begun, has_begun) = oneshot::channel();
            let (found, is_found) = oneshot::channel();
            let work = async move {
                begun.send(()).unwrap();
                is_found.await.unwrap()
            };
            let mut caller = Box::pin(attempt.run_counted(&throttle, work));
            tokio::select! {
                begun = has_begun => begun.unwrap(),
                refused = &mut caller => {
                    refused.unwrap_err();
                    continue;
                }
            }
            drop(caller);
            looked_at = looked_at.saturating_add(1);
            // Sending fails if the disconnect has cancelled the check.
            found.send(outcome()).ok();
            tokio::task::yield_now().await;
        }
        looked_at
    }

    #[tokio::test]
    async fn disconnect_keeps_wrong_codes_counted() {
        assert_eq!(count_codes_checked(|| Ok(())).await, 10);
        assert_eq!(count_codes_checked(|| Err(Error::Failed("disk".to_owned()))).await, 10);
        assert_eq!(count_codes_checked(|| Err(wrong_code())).await, 6);
        assert_eq!(
            count_codes_checked(|| Err(second_factor::used_code_refusal().into())).await,
            10
        );
    }

    fn wrong_code() -> Error {
        Refusal::for_param(RefusalCode::InvalidCredentials, "code", "wrong").into()
    }
}
