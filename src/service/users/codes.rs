//! Verifies codes of a user's second factor.
//!
//! Invariant: a code is used up in the same transaction as the action that it permits, so no code works twice.

use crate::domain::second_factor::{CODE_MISSING, used_code_refusal};
use crate::domain::{EnteredCode, Refusal, RefusalCode, Time, TotpSecret, User};
use crate::service::Error;
use crate::service::audit_log::record_user_change;
use crate::store::{Tx, recovery_codes, used_steps, users};

/// Verifies and uses up a code of a user whose password was right. Does nothing if the second factor is off.
///
/// # Errors
///
/// `second_factor_required` if a code is needed and missing. `invalid_credentials` if the code is wrong or was used
/// before.
pub(super) fn use_up_code(
    tx: &Tx<'_>,
    user: &User,
    code: Option<&EnteredCode>,
    now: Time,
    real_now: Time,
) -> Result<(), Error> {
    if user.second_factor_at.is_none() {
        return Ok(());
    }
    let is_right = match code {
        None => {
            return Err(Refusal::for_param(
                RefusalCode::SecondFactorRequired,
                "code",
                CODE_MISSING,
            )
            .into());
        }
        Some(EnteredCode::OfApp(digits)) => {
            let secret = users::second_factor_secret(tx, user.seq)?.map(TotpSecret);
            match secret.and_then(|secret| secret.matching_step(digits, real_now)) {
                Some(step) => {
                    let newest = TotpSecret::newest_step(real_now);
                    if !used_steps::use_step(tx, user.seq, step, newest)? {
                        return Err(used_code_refusal().into());
                    }
                    true
                }
                None => false,
            }
        }
        Some(EnteredCode::Recovery(hash)) => {
            let is_right = recovery_codes::use_code(tx, user.seq, hash)?;
            if is_right {
                record_user_change(tx, &user.email, "user.recovery_code", user, now)?;
            }
            is_right
        }
    };
    is_right.then_some(()).ok_or_else(wrong_code_refusal)
}

pub(super) fn wrong_code_refusal() -> Error {
    let message = "code must be what your authenticator app shows now, and each works once; or a recovery code that \
                   is left";
    Refusal::for_param(RefusalCode::InvalidCredentials, "code", message).into()
}
