//! Users who sign in: operators and merchants.
//!
//! Invariant: a merchant's user has exactly one account. An operator has no account and may see all accounts.

pub mod inputs;

use super::refusal::Refusal;
use super::text_enum::text_enum;
use super::time::{HOUR_MS, MINUTE_MS, Time};

/// Lifetime of a session, in milliseconds. Activity does not extend the lifetime.
pub const SESSION_MS: i64 = 12 * HOUR_MS;
/// Time during which sensitive actions are allowed after the user entered the password, in milliseconds of real time.
pub const PASSWORD_MS_MAX: i64 = 15 * MINUTE_MS;
/// Longest email address, in characters.
pub const EMAIL_CHARS_MAX: usize = 200;
/// Shortest password, in characters.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// Longest password, in characters. Longer passwords cost more time to hash.
pub const PASSWORD_CHARS_MAX: usize = 200;

text_enum! {
    /// Role of a user.
    pub enum Role {
        /// May do everything, on every account.
        Operator = "operator",
        /// May do everything on its own account.
        Merchant = "merchant",
    }
}

/// A person who can sign in.
#[derive(Clone, Debug)]
pub struct User {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Email address with which the user signs in.
    pub email: String,
    /// Role of the user.
    pub role: Role,
    /// `seq` of the account, for a merchant's user.
    pub account: Option<i64>,
    /// Time of creation.
    pub created_at: Time,
    /// Time since which the user may not sign in.
    pub disabled_at: Option<Time>,
    /// Time since which the second factor is required besides the password.
    pub second_factor_at: Option<Time>,
}

/// Checks the length of a password. The public password of the sandbox is exempt.
///
/// # Errors
/// `invalid_request` that names the limits.
pub fn check_password(text: &str) -> Result<(), Refusal> {
    if (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&text.chars().count()) {
        Ok(())
    } else {
        Err(Refusal::field(
            "password",
            format!("must have {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::check_password;

    #[test]
    fn password_length_is_limited() {
        for (text, fits) in
            [("", false), ("ninechars", false), ("ten chars!", true), ("ÄÖÜäöüßßßß", true)]
        {
            assert_eq!(check_password(text).is_ok(), fits, "{text}");
        }
        assert!(check_password(&"x".repeat(200)).is_ok());
        assert!(check_password(&"x".repeat(201)).is_err());
    }
}
